//! `scopeagent runs`: saved runs.

use std::path::{Path, PathBuf};

use job::OpenError;
use report::{Language, Report, say, title_of};
use runs::store::{RunFilter, RunRow, RunStatus, Store, StoreError};

use crate::args::{ReportFormat, Runs};
use crate::config::{self, Config};
use crate::exit::Exit;
use crate::render;
use crate::render::layout::shorten;
use crate::render::table::{Table, columns};
use crate::session;
use crate::terminal::{Out, Terminal};
use server::{Analysis, Result, error};

/// Columns of a job's name in the list.
const NAME: usize = 36;

pub(crate) fn run(
    args: &Runs,
    language: Option<Language>,
    config: &Config,
    terminal: &Terminal,
) -> Result<Exit> {
    let store = open(config)?;
    match args {
        Runs::List { job, limit, format } => {
            let filter = RunFilter {
                job: job.clone(),
                limit: Some(*limit),
                ..RunFilter::default()
            };
            let rows = store.runs(&filter)?;
            super::show(terminal, *format, &rows, || list(&rows))?;
            let all = store.count(&filter)? as usize;
            if rows.len() < all {
                let shown = rows.len();
                terminal.remark(&say!(
                    "列出了 {all} 次运行中最新的 {shown} 次；`--limit N` 可列出更多",
                    "the newest {shown} of {all} runs; `--limit N` lists more"
                ));
            }
        }
        Runs::Show {
            run,
            format,
            target,
            verbose,
        } => {
            let report = report(&store, run)?;
            let summary = store.summary(run)?.unwrap_or_default();
            let other = language.filter(|language| *language != report.language);
            let again = match other {
                Some(language) => in_language(&report.run_id, language, config, terminal)?,
                None => None,
            };
            let (report, summary) = again.map_or((report, summary), |a| (a.report, a.summary));
            let format = ReportFormat::of(*format, target);
            let text = render::report(&report, &summary, format, *verbose)?;
            terminal.out(target).write(&text)?;
        }
        Runs::Delete { run } => {
            let row = store.delete(run)?;
            let (run, job) = (&row.run_id, &row.job);
            terminal.remark(&say!(
                "已删除 {job} 的运行 {run}",
                "deleted run {run} of {job}"
            ));
        }
        Runs::Export { run, target } => match run {
            Some(run) => terminal
                .out(target)
                .write(&super::json(&report(&store, run)?)?)?,
            None => export_all(&store, &mut terminal.out(target))?,
        },
    }
    Ok(Exit::Success)
}

/// A run in another language than it was saved in.
fn in_language(
    run: &str,
    language: Language,
    config: &Config,
    terminal: &Terminal,
) -> Result<Option<Analysis>> {
    let runtime = session::runtime()?;
    let session = session::open(config, terminal, &runtime)?;
    let again = session.run_in(run, language)?;
    terminal.remark(&match again {
        Some(_) => say!(
            "该运行以另一种语言保存；以下为按规则重新分析其作业的结果",
            "the run was saved in the other language; this is its job analyzed again by the rules"
        ),
        None => say!(
            "该运行以另一种语言保存，其作业已不在原处，因此按原样显示",
            "the run was saved in the other language and its job is no longer there, so it is shown as it is"
        ),
    });
    Ok(again)
}

pub(crate) fn open(config: &Config) -> Result<Store> {
    Ok(Store::open(&config::data_folder(config))?)
}

/// The run with this identifier, or the newest run of the job at this path.
///
/// # Errors
/// If there is neither; the hint has the nearest run or path.
pub(crate) fn find(store: &Store, name: &str) -> Result<RunRow> {
    let unknown = match store.run(name) {
        Err(error @ StoreError::UnknownRun(_)) => error,
        found => return Ok(found?),
    };
    let rows = store.runs(&RunFilter::default())?;
    let path = Path::new(name);
    if let Ok(place) = path.canonicalize() {
        let of_path =
            |row: &RunRow| Path::new(&row.job).canonicalize().ok().as_ref() == Some(&place);
        return rows.into_iter().find(of_path).ok_or_else(|| {
            error!(
                Input: "`{name}` 还没有运行记录", "no run of `{name}` is saved";
                "`scopeagent analyze {name}` 分析它", "`scopeagent analyze {name}` analyzes it"
            )
        });
    }
    let names = rows.iter().filter_map(|row| row.job_name.as_deref());
    let is_job = |path: &PathBuf| job::open(path, &job::Options::default()).is_ok();
    let near_path = OpenError::near(path).filter(is_job);
    let hint = match (near_path, report::nearest(name, names)) {
        (Some(near), _) => {
            let near = near.display();
            say!("是不是 `{near}`？", "did you mean `{near}`?")
        }
        (None, Some(near)) if !unknown.has_near() => {
            let newest = rows
                .iter()
                .find(|row| row.job_name.as_deref() == Some(near));
            let run = newest.map_or("", |row| &row.run_id);
            say!(
                "是不是 {near} 的运行 `{run}`？",
                "did you mean run `{run}` of {near}?"
            )
        }
        _ => unknown.hint(),
    };
    Err(
        error!(Input: "没有运行、文件或目录 `{name}`", "there is no run, file or folder `{name}`")
            .hint(hint),
    )
}

/// The report of a run that has one.
pub(crate) fn report(store: &Store, run: &str) -> Result<Report> {
    store.report(run)?.ok_or_else(|| server::no_report(run))
}

/// One line of JSON per run, oldest first.
fn export_all(store: &Store, out: &mut Out<'_>) -> Result<()> {
    let rows = store.runs(&RunFilter::default())?;
    for row in rows.iter().rev() {
        if let Some(report) = store.report(&row.run_id)? {
            out.write(&super::json_line(&report)?)?;
        }
    }
    Ok(())
}

fn list(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return say!(
            "没有保存的运行；`scopeagent analyze JOB` 会保存一次\n",
            "no saved runs; `scopeagent analyze JOB` saves one\n"
        );
    }
    let mut table = Table::new(&columns(report::interface().select(
        "运行编号|时间（UTC）|作业|状态|结论|首要原因",
        "run|when (UTC)|job|status|verdict|top cause",
    )));
    for row in rows {
        let name = row.job_name.as_deref().unwrap_or(&row.job);
        let when = row.created_at.get(..19).unwrap_or(&row.created_at);
        table.foreign_row(vec![
            row.run_id.clone(),
            when.replace('T', " "),
            shorten(name, NAME),
            status(row.status),
            row.verdict.as_deref().map(verdict).unwrap_or_default(),
            title_of(
                row.top_cause.as_deref().unwrap_or_default(),
                row.engine,
                report::interface(),
            ),
        ]);
    }
    table.render("")
}

fn status(status: RunStatus) -> String {
    match status {
        RunStatus::Running => say!("运行中", "running"),
        RunStatus::Finished => say!("完成", "finished"),
        RunStatus::Interrupted => say!("已中断", "interrupted"),
        RunStatus::Failed => say!("失败", "failed"),
    }
}

fn verdict(code: &str) -> String {
    match code {
        "problem" => say!("发现问题", "problem"),
        "healthy" => say!("健康", "healthy"),
        "insufficient_information" => say!("信息不足", "no conclusion"),
        code => code.to_owned(),
    }
}
