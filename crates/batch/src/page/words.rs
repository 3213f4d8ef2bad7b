//! The words of the page, in both languages: for the form, and for its script.

use report::{Language, Phrases, phrases};

const WORDS: Phrases = phrases! {
    "title" "批量分析报告", "Batch report";
    "jobs" "作业", "Jobs";
    "with_problem" "有问题的作业", "With a problem";
    "of_analyzed" "占已分析作业的", "of analyzed jobs";
    "run" "运行时间", "Run time";
    "with_waiting" "含编译和排队共", "with compilation and queue";
    "avoidable" "可避免的时间", "Avoidable time";
    "of_total" "占提交至结束时间的", "of the time from submission to end";
    "cost" "资源消耗", "Cost";
    "wasted" "浪费", "wasted";
    "broken" "在集群上失败的作业", "Failed on the cluster";
    "broken_tile" "在集群上失败", "Failed on the cluster";
    "of_all" "占", "of the jobs";
    "slow" "性能回退", "Slower than usual";
    "slow_legend" "比同一脚本此前的正常运行慢，超出其自身波动；至少需要此前 4 次运行。", "Slower than the earlier good runs of the same script, beyond their own spread; needs at least four of them.";
    "usual" "通常", "Usual";
    "change" "变化", "Change";
    "recurring" "重复运行的作业", "Recurring jobs";
    "recurring_legend" "同一脚本运行两次以上，总时间最长的在前。", "Scripts that ran more than once, most total time first.";
    "runs" "次数", "Runs";
    "total" "总时间", "Total time";
    "last_run" "最近一次", "Last run";
    "gap" "其间 # 周没有作业", "# weeks without jobs";
    "unknown" "未知", "unknown";
    "by_week" "每周趋势", "Trend by week";
    "week" "周", "Week";
    "by_cause" "按原因", "By cause";
    "by_script" "按脚本", "By script";
    "by_owner" "按提交者", "By owner";
    "by_queue" "按队列", "By queue";
    "rest_of_run" "其余运行时间", "rest of the run time";
    "avoidable_key" "可避免", "avoidable";
    "avoidable_unit" "可避免的时间", "avoidable time";
    "weeks_legend" "运行时间，按提交周（UTC，周一起）", "Run time by week of submission (from Monday, UTC)";
    "clusters" "优先修复", "What to fix first";
    "clusters_legend" "原因、脚本、阶段作用都相同的问题为一组，通常改一处即可；建议取自组内最耗时的作业。", "Findings with the same cause in the same script and kind of stage: usually one change fixes them all. The advice is that for the costliest job.";
    "cause" "原因", "Cause";
    "script" "脚本", "Script";
    "advice" "建议", "Advice";
    "costliest" "最耗时的作业", "Costliest job";
    "jobs_to_fix" "作业", "Jobs";
    "name" "作业", "Job";
    "finding" "结论", "Finding";
    "owner" "提交者", "Owner";
    "queue" "队列", "Queue";
    "submitted" "提交时间（UTC）", "Submitted (UTC)";
    "run_time" "运行", "Run time";
    "saves" "可避免", "Avoidable";
    "suggestion" "最佳建议", "Best suggestion";
    "problem" "有问题", "problem";
    "healthy" "正常", "healthy";
    "inconclusive" "信息不足", "inconclusive";
    "failed" "未能分析", "not analyzed";
    "line" "脚本第 # 行", "line #";
    "lines" "脚本第 # 行", "lines #";
    "vertex-hour" "顶点小时", "vertex-hours";
    "AU-hour" "AU 小时", "AU-hours";
    "executor-core-hour" "Executor 核小时", "executor core-hours";
    "needs" "缺少", "needs";
    "comma" "，", ", ";
    "colon" "：", ": ";
    "not_analyzed" "未能分析的作业", "Jobs that could not be analyzed";
    "search" "搜索作业、标识、路径", "Search job, id, path";
    "any_verdict" "全部结论", "Any verdict";
    "clear" "清除筛选", "Clear filters";
    "of" "/", "of";
    "show_all" "显示更多", "Show more";
    "show_less" "收起", "Show fewer";
    "previous" "上一页", "Previous";
    "next" "下一页", "Next";
    "page" "页", "Page";
    "none" "没有符合条件的作业。", "No job matches.";
    "empty" "还没有结果。", "There are no results yet.";
    "more" "另有 # 个", "# more";
    "needs_script" "本页需要 JavaScript；相同的数据见 clusters.csv 和 jobs.csv。", "This page needs JavaScript; clusters.csv and jobs.csv have the same rows.";
    "remove" "取消筛选：", "Remove filter: ";
    "skip" "跳到作业列表", "Skip to the jobs";
    "footer" "“可避免”指一并修复某作业的全部问题所节省的时间；有多个问题时，按各自单独修复的收益分摊到原因，因此各项相加等于总计。未知的值不计入总和。", "Avoidable time is the saving of all fixes of a job together. It is divided among its findings in proportion to the saving of each fix alone, so the parts add up. Unknown values are left out of sums.";
};

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) Language);

impl Words {
    /// The word with this name; the name itself if it is unknown.
    pub(super) fn get(self, name: &str) -> &str {
        WORDS.get(name, self.0).unwrap_or(name)
    }

    pub(super) fn all(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        WORDS.all(self.0)
    }
}
