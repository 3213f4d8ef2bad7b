//! How far a batch is, and the totals of its results as a table.

use batch::{Progress, Summary};
use report::format::{JOB, Seconds, Share};
use report::{Localize, interface, say};

use super::table::{Table, columns};

/// The causes with their jobs and seconds, then the whole.
pub(crate) fn table(summary: &Summary, progress: &Progress) -> String {
    let mut table = Table::new(&columns(interface().select(
        "原因|>作业|>发现|>可节省",
        "cause|>jobs|>findings|>would save",
    )));
    for (cause, of) in summary.ranked() {
        table.row(vec![
            cause.to_owned(),
            of.jobs.to_string(),
            of.findings.to_string(),
            if of.seconds_saved > 0.0 {
                Seconds(of.seconds_saved).localize(interface())
            } else {
                "–".to_owned()
            },
        ]);
    }
    if summary.done + summary.failed == 0 && progress.known > 0 {
        let known = JOB.count(progress.known as f64);
        let known = known.localize(interface());
        return say!("没有新作业：{known}已完成\n", "nothing new: {known} done\n");
    }
    let mut out = table.render("  ");
    if !out.is_empty() {
        out.push('\n');
    }
    let bold = anstyle::Style::new().bold();
    let analyzed = summary.done + summary.failed;
    let (problem, healthy, failed) = (summary.problem, summary.healthy, summary.failed);
    let inconclusive = summary.insufficient_information;
    let jobs = JOB.count(analyzed as f64).localize(interface());
    let counts = say!(
        "{problem} 个有问题，{healthy} 个健康，{inconclusive} 个暂无结论，{failed} 个失败",
        "{problem} with a problem, {healthy} healthy, {inconclusive} inconclusive, {failed} failed"
    );
    let colon = interface().select("：", ": ");
    out.push_str(&format!("{bold}{jobs}{bold:#}{colon}{counts}\n"));
    if summary.total_seconds > 0.0 {
        out += &say!(
            "总运行时间 {run}；可避免 {saved}（占提交至结束时间的 {share}）",
            "total run time {run}; avoidable {saved} ({share} of the time from submission to end)",
            run = Seconds(summary.elapsed_seconds),
            saved = Seconds(summary.seconds_saved),
            share = Share(summary.seconds_saved / summary.total_seconds)
        );
        out.push('\n');
    }
    let (rate, known) = (format!("{:.1}", progress.rate()), progress.known);
    out += &say!(
        "{analyzed} 个作业用时 {took}（每秒 {rate} 个），{known} 个已有结果",
        "{analyzed} analyzed in {took} ({rate} jobs per second), {known} had a result already",
        took = Seconds(progress.elapsed().as_secs_f64())
    );
    out.push('\n');
    out
}

/// `1,200 of 10,000 jobs, 32.5 per second, 4 failed, 4 min 31 s left`.
pub(crate) fn progress(progress: &Progress) -> String {
    let (finished, failed) = (progress.finished(), progress.failed);
    let finished = match progress.total {
        Some(total) => say!(
            "共{total}，已完成 {finished} 个",
            "{finished} of {total}",
            total = JOB.count(total as f64)
        ),
        None => say!(
            "已完成{finished}",
            "{finished}",
            finished = JOB.count(finished as f64)
        ),
    };
    let rate = format!("{:.1}", progress.rate());
    let pace = say!(
        "，每秒 {rate} 个，失败 {failed} 个",
        ", {rate} per second, {failed} failed"
    );
    let left = progress.seconds_left();
    let left = left.map(|left| say!("，剩余 {time}", ", {time} left", time = Seconds(left)));
    finished + &pace + &left.unwrap_or_default()
}
