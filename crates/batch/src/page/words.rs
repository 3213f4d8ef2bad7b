//! The words of the page, in both languages: for the form, and for its script.

use report::{Language, StaticText, Text};

const fn text(zh: &'static str, en: &'static str) -> StaticText {
    Text { zh, en }
}

/// By the name that form and script use.
const WORDS: &[(&str, StaticText)] = &[
    ("title", text("批量分析报告", "Batch report")),
    ("jobs", text("作业", "Jobs")),
    ("with_problem", text("有问题的作业", "With a problem")),
    ("of_analyzed", text("占已分析作业的", "of analyzed jobs")),
    ("run", text("运行时间", "Run time")),
    (
        "with_waiting",
        text("含编译和排队共", "with compilation and queue"),
    ),
    ("avoidable", text("可避免的时间", "Avoidable time")),
    (
        "of_total",
        text("占提交至结束时间的", "of the time from submission to end"),
    ),
    ("cost", text("资源消耗", "Cost")),
    ("wasted", text("浪费", "wasted")),
    (
        "broken",
        text("在集群上失败的作业", "Failed on the cluster"),
    ),
    ("broken_tile", text("在集群上失败", "Failed on the cluster")),
    ("of_all", text("占", "of the jobs")),
    ("slow", text("性能回退", "Slower than usual")),
    (
        "slow_legend",
        text(
            "比同一脚本此前的正常运行慢，超出其自身波动；至少需要此前 4 次运行。",
            "Slower than the earlier good runs of the same script, beyond their own spread; needs at least four of them.",
        ),
    ),
    ("usual", text("通常", "Usual")),
    ("change", text("变化", "Change")),
    ("recurring", text("重复运行的作业", "Recurring jobs")),
    (
        "recurring_legend",
        text(
            "同一脚本运行两次以上，总时间最长的在前。",
            "Scripts that ran more than once, most total time first.",
        ),
    ),
    ("runs", text("次数", "Runs")),
    ("total", text("总时间", "Total time")),
    ("last_run", text("最近一次", "Last run")),
    ("gap", text("其间 # 周没有作业", "# weeks without jobs")),
    ("hours", text("小时", "h")),
    ("unknown", text("未知", "unknown")),
    ("by_week", text("每周趋势", "Trend by week")),
    ("week", text("周", "Week")),
    ("by_cause", text("按原因", "By cause")),
    ("by_script", text("按脚本", "By script")),
    ("by_owner", text("按提交者", "By owner")),
    ("by_queue", text("按队列", "By queue")),
    ("rest_of_run", text("其余运行时间", "rest of the run time")),
    ("avoidable_key", text("可避免", "avoidable")),
    ("avoidable_unit", text("可避免的小时数", "avoidable hours")),
    (
        "weeks_legend",
        text(
            "运行时间（小时），按提交周（UTC，周一起）",
            "Hours run by week of submission (from Monday, UTC)",
        ),
    ),
    ("clusters", text("优先修复", "What to fix first")),
    (
        "clusters_legend",
        text(
            "原因、脚本、阶段作用都相同的问题为一组，通常改一处即可；建议取自组内最耗时的作业。",
            "Findings with the same cause in the same script and kind of stage: usually one change fixes them all. The advice is that for the costliest job.",
        ),
    ),
    ("cause", text("原因", "Cause")),
    ("script", text("脚本", "Script")),
    ("advice", text("建议", "Advice")),
    ("costliest", text("最耗时的作业", "Costliest job")),
    ("jobs_to_fix", text("作业", "Jobs")),
    ("name", text("作业", "Job")),
    ("finding", text("结论", "Finding")),
    ("owner", text("提交者", "Owner")),
    ("queue", text("队列", "Queue")),
    ("submitted", text("提交时间（UTC）", "Submitted (UTC)")),
    ("run_time", text("运行", "Run time")),
    ("saves", text("可避免", "Avoidable")),
    ("suggestion", text("最佳建议", "Best suggestion")),
    ("problem", text("有问题", "problem")),
    ("healthy", text("正常", "healthy")),
    ("inconclusive", text("信息不足", "inconclusive")),
    ("failed", text("未能分析", "not analyzed")),
    ("line", text("脚本第 # 行", "line #")),
    ("lines", text("脚本第 # 行", "lines #")),
    ("vertex-hour", text("顶点小时", "vertex-hours")),
    ("AU-hour", text("AU 小时", "AU-hours")),
    (
        "executor-core-hour",
        text("Executor 核小时", "executor core-hours"),
    ),
    ("needs", text("缺少", "needs")),
    ("comma", text("，", ", ")),
    ("colon", text("：", ": ")),
    (
        "not_analyzed",
        text("未能分析的作业", "Jobs that could not be analyzed"),
    ),
    (
        "search",
        text("搜索作业、标识、路径", "Search job, id, path"),
    ),
    ("any_verdict", text("全部结论", "Any verdict")),
    ("clear", text("清除筛选", "Clear filters")),
    ("of", text("/", "of")),
    ("show_all", text("显示更多", "Show more")),
    ("show_less", text("收起", "Show fewer")),
    ("previous", text("上一页", "Previous")),
    ("next", text("下一页", "Next")),
    ("page", text("页", "Page")),
    ("none", text("没有符合条件的作业。", "No job matches.")),
    ("empty", text("还没有结果。", "There are no results yet.")),
    ("more", text("另有 # 个", "# more")),
    (
        "needs_script",
        text(
            "本页需要 JavaScript；相同的数据见 clusters.csv 和 jobs.csv。",
            "This page needs JavaScript; clusters.csv and jobs.csv have the same rows.",
        ),
    ),
    ("remove", text("取消筛选：", "Remove filter: ")),
    ("skip", text("跳到作业列表", "Skip to the jobs")),
    (
        "footer",
        text(
            "“可避免”指一并修复某作业的全部问题所节省的时间；有多个问题时，按各自单独修复的收益分摊到原因，因此各项相加等于总计。未知的值不计入总和。",
            "Avoidable time is the saving of all fixes of a job together. It is divided among its findings in proportion to the saving of each fix alone, so the parts add up. Unknown values are left out of sums.",
        ),
    ),
];

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) Language);

impl Words {
    /// The word with this name; the name itself if it is unknown.
    pub(super) fn get(self, name: &str) -> &str {
        let word = WORDS.iter().find(|(known, _)| *known == name);
        word.map_or(name, |(_, text)| text.pick(self.0))
    }

    pub(super) fn all(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        WORDS
            .iter()
            .map(move |(name, text)| (*name, self.0.select(text.zh, text.en)))
    }
}
