//! The thresholds of the rules in words, with their number and unit.

use diagnosis::{Settings, Threshold};
use report::format::{figure, with_unit};
use report::{Language, Phrases, phrases};

/// The condition on a threshold for its rule to find the cause: `{n}` is the number with its unit, `{#}` the number alone.
const WORDS: Phrases = phrases! {
    "min_share" "消除后至少节省运行时间的 {n}", "fixing it saves at least {n} of the run";
    "udo.min_slowdown" "用户代码每行用时至少是通常的 {n}", "user code takes at least {n} the usual time per row";
    "udo.min_stage_share" "用户代码至少占该阶段时间的 {n}", "user code takes at least {n} of the stage's time";
    "gc.min_share" "垃圾回收平均至少占时间的 {n}", "garbage collection takes at least {n} of the time on average";
    "memory.min_excess" "Executor 的内存至少是所用内存的 {#} 倍", "the executors have at least {#} times the memory that they use";
    "queue.min_share" "等待至少占总时间的 {n}", "waiting takes at least {n} of the total time";
    "slow_machine.min_slowdown" "顶点用时至少是同样数据通常用时的 {n}", "a vertex takes at least {n} the usual time for its data";
    "slow_machine.max_share" "慢的机器不超过 {n}", "at most {n} of the machines are slow";
    "misestimate.min_factor" "实际行数与估计至少相差 {#} 倍", "actual and estimated rows differ by a factor of at least {#}";
    "unaligned_input.min_bytes" "重分区的输入至少有 {n}", "the repartitioned input has at least {n}";
    "missed_broadcast.max_bytes" "较小的一侧不超过 {n}", "the smaller side has at most {n}";
    "missed_broadcast.sure_bytes" "优化器没有高估它时不超过 {n}", "at most {n} where the optimizer did not overestimate it";
    "allocation.min_idle" "核空闲的时间至少占 {n}", "the cores are idle for at least {n} of the time";
    "allocation.min_gain" "增加 Executor 至少节省 {n}", "more executors save at least {n}";
    "skew.max_over_mean" "行数最多的顶点至少是平均的 {n}", "the largest vertex has at least {n} the mean number of rows";
    "skew.named_max_over_mean" "统计信息列出热点值时至少是平均的 {n}", "at least {n} the mean where the statistics list the hot value";
    "skew.layout_max_over_mean" "最大的存储分区至少是平均的 {n}", "the largest stored partition has at least {n} the mean size";
    "skew.values_per_partition" "每个分区的不同键值少于 {#} 个", "there are fewer than {#} distinct values of the key per partition";
    "skew.default_explains" "空值或默认值至少占最大顶点行数的 {n}", "the null or default value makes up at least {n} of the rows of the largest vertex";
    "sizing.shuffle_bytes_per_vertex" "通常每个顶点从交换读取约 {n}", "a vertex usually reads about {n} from an exchange";
    "sizing.stored_bytes_per_vertex" "通常每个顶点从存储读取约 {n}", "a vertex usually reads about {n} from storage";
    "sizing.heavy_bytes_per_vertex" "每个顶点从交换读取超过 {n}", "a vertex reads more than {n} from an exchange";
    "sizing.heavy_stored_bytes_per_vertex" "每个顶点从存储读取超过 {n}", "a vertex reads more than {n} from storage";
    "join_explosion.min_factor" "连接输出的行数至少是较大一侧的 {n}", "the join produces at least {n} the rows of its larger side";
    "small_files.max_bytes" "文件平均小于 {n}", "the files are smaller than {n} on average";
    "tiny_vertices.min_start_share" "启动至少占顶点时间的 {n}", "start-up takes at least {n} of the time of a vertex";
    "tiny_vertices.min_waves" "顶点至少分 {#} 批运行", "the vertices run in at least {#} waves";
    "retries.min_count" "至少有 {#} 次失败或被收回", "at least {#} attempts failed or were revoked";
    "memory.min_peak_over_limit" "内存峰值至少达到上限的 {n}", "the memory peak reaches at least {n} of the limit";
    "memory.min_failures" "至少有 {#} 次因内存失败", "at least {#} attempts failed for lack of memory";
};

/// A threshold in words: `the largest vertex has at least 2.0× the mean number of rows`; `None` if it has none.
pub(super) fn in_words(
    threshold: &Threshold,
    settings: &Settings,
    language: Language,
) -> Option<String> {
    let words = WORDS.get(threshold.name, language)?;
    let value = settings.get(threshold);
    let number = with_unit(value, threshold.unit, language);
    Some(words.replace("{n}", &number).replace("{#}", &figure(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_the_one_that_is_configured() {
        let settings = Settings::from_toml("[skew]\nmax_over_mean = 4");
        let settings = settings.expect("a threshold");
        let all = diagnosis::thresholds().iter();
        let named = |name: &str| all.clone().find(|t| t.name == name).copied();
        let skew = named("skew.max_over_mean").expect("a threshold");
        let words = in_words(skew, &settings, Language::En);
        let expected = "the largest vertex has at least 4.0× the mean number of rows";
        assert_eq!(words.as_deref(), Some(expected));
    }

    #[test]
    fn every_threshold_of_a_rule_is_put_in_words() {
        let rules = diagnosis::rules().iter();
        for threshold in rules.flat_map(|rule| rule.thresholds) {
            for language in [Language::Zh, Language::En] {
                let words = in_words(threshold, &Settings::default(), language);
                let words = words.unwrap_or_else(|| panic!("{}", threshold.name));
                assert!(words.contains(|c: char| c.is_ascii_digit()), "{words}");
                assert!(!words.contains(['{', '_']), "{words}");
                let foreign = words.split(|c: char| !c.is_ascii_alphabetic());
                let is_unit = |word: &&str| ["", "MiB", "GiB", "B", "Executor"].contains(word);
                let is_right = language == Language::En || foreign.clone().all(|w| is_unit(&w));
                assert!(is_right, "{words}");
            }
        }
    }
}
