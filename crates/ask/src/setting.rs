//! Settings of a Spark application: the values in force, and the values that suggestions set.

use report::format::list;
use report::{JobEngine, Setting, StaticText, Text, text};

use crate::intent::Intent;
use crate::said::Said;
use crate::word::{Cue, Quantity};
use crate::{Asked, record};

/// Effects of settings.
#[rustfmt::skip]
const EFFECTS: &[(&str, StaticText)] = &[
    ("spark.memory.storageFraction", StaticText { zh: "统一内存中留给缓存、执行不能驱逐的部分；值越大，排序、连接和聚合可用的内存越少，越容易落盘和触发垃圾回收",
        en: "it is the part of the unified memory that is kept for cached data and that execution can't evict: a larger value leaves less for sorts, joins and aggregations, which then spill or collect garbage" }),
    ("spark.memory.fraction", StaticText { zh: "堆内存中由执行和缓存共用的部分；值越大，留给用户对象的越少，垃圾回收越多",
        en: "it is the part of the heap that execution and cached data share: a larger value leaves less for objects of the user's code, so garbage collection grows" }),
    ("spark.sql.shuffle.partitions", StaticText { zh: "Shuffle 之后的分区数，即下一 Stage 的 Task 数；太少则分区过大，太多则 Task 过小",
        en: "it is the number of partitions after a shuffle, and so of the tasks of the next stage: too few make large partitions, too many make tiny tasks" }),
    ("spark.sql.autoBroadcastJoinThreshold", StaticText { zh: "估计大小不超过它的一侧会被广播，-1 表示不自动广播",
        en: "a join side of at most this estimated size is broadcast; -1 turns automatic broadcasts off" }),
    ("spark.sql.broadcastTimeout", StaticText { zh: "等待广播一侧算完的秒数，超过则查询失败", en: "it is how many seconds a query waits for a broadcast side before it fails" }),
    ("spark.sql.adaptive.enabled", StaticText { zh: "运行时按实际大小合并小分区、拆分倾斜分区、改用广播", en: "at run time it merges small partitions, splits skewed ones and switches to broadcasts by actual sizes" }),
    ("spark.sql.adaptive.coalescePartitions.enabled", StaticText { zh: "AQE 在 Shuffle 之后合并小分区", en: "AQE merges small partitions after a shuffle" }),
    ("spark.sql.adaptive.skewJoin.enabled", StaticText { zh: "AQE 拆分连接中的倾斜分区", en: "AQE splits skewed partitions of joins" }),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", StaticText { zh: "AQE 合并或拆分分区的目标大小", en: "it is the size that AQE aims at when it merges or splits partitions" }),
    ("spark.executor.memory", StaticText { zh: "每个 Executor 的 JVM 堆；太小则落盘、垃圾回收或内存不足", en: "it is the JVM heap of each executor: too little makes tasks spill, collect garbage or run out of memory" }),
    ("spark.executor.memoryOverhead", StaticText { zh: "堆外内存，供 Python、网络和 JVM 自身使用；太小则容器被杀（退出码 137）", en: "it is memory outside of the heap, for Python, the network and the JVM itself: with too little the container is killed (exit code 137)" }),
    ("spark.executor.cores", StaticText { zh: "一个 Executor 同时执行的 Task 数，它们共用堆内存", en: "it is how many tasks an executor runs at once; they share its heap" }),
    ("spark.driver.memory", StaticText { zh: "Driver 的 JVM 堆，collect 和广播的数据都要放得下", en: "it is the JVM heap of the driver, which collected and broadcast data must fit into" }),
    ("spark.driver.maxResultSize", StaticText { zh: "一个动作返回 Driver 的结果总大小上限，超过则失败", en: "it limits the results that an action returns to the driver; beyond it the action fails" }),
    ("spark.task.maxFailures", StaticText { zh: "一个 Task 失败这么多次后作业失败", en: "the job fails when one task has failed this often" }),
    ("spark.stage.maxConsecutiveAttempts", StaticText { zh: "一个 Stage 连续失败这么多次后作业失败", en: "the job fails when a stage has failed this often in a row" }),
    ("spark.speculation", StaticText { zh: "为太慢的 Task 再启动一个副本，先结束的有效", en: "it starts a copy of a slow task; the one that ends first counts" }),
    ("spark.sql.files.maxPartitionBytes", StaticText { zh: "读文件时一个 Task 的最大字节数；越小 Task 越多", en: "it is the most that one task reads of files: a smaller value makes more tasks" }),
    ("spark.default.parallelism", StaticText { zh: "RDD 操作默认的分区数", en: "it is the default number of partitions of RDD operations" }),
    ("spark.dynamicAllocation.enabled", StaticText { zh: "按等待的 Task 数增减 Executor", en: "it adds and removes executors by the number of waiting tasks" }),
    ("spark.cores.max", StaticText { zh: "应用在集群中最多使用的核数", en: "it is the most cores that the application takes from the cluster" }),
    ("spark.serializer", StaticText { zh: "Shuffle 和缓存所用的序列化方式；Kryo 更快也更小", en: "it serializes shuffled and cached objects; Kryo is faster and smaller" }),
];

/// Settings listed without a name.
const LISTED: usize = 12;

/// Says the value of a setting, and the value that a suggestion would set.
pub(crate) fn about(said: &mut Said<'_>, run: &Asked<'_>, key: &str, intent: &Intent) {
    let value = run
        .summary
        .settings
        .get(key)
        .map(|[value, _]| value.as_str());
    if let (Some(value @ ("true" | "false")), true) = (value, intent.asks(Quantity::Settings)) {
        said.affirm(value == "true");
    }
    let sentence = match run.summary.settings.get(key) {
        Some([value, origin]) => text!(
            "{key} = {value}{origin}",
            "{key} is {value}{origin}",
            origin = origin_of(origin)
        ),
        None => text!("日志中没有设置 {key}", "the log does not set {key}"),
    };
    said.say(sentence);
    let effect = EFFECTS.iter().find(|(known, _)| *known == key);
    if let Some((_, effect)) = effect.filter(|_| intent.reading.shows(Cue::Effect)) {
        said.say((*effect).into());
        joins(said, run, key);
    }
    let suggestions = run.report.suggestions.iter();
    let mut wanted = suggestions.flat_map(|s| s.settings.iter().map(move |setting| (s, setting)));
    match wanted.find(|(_, setting)| setting.key == key) {
        Some((suggestion, setting)) => {
            let id = &suggestion.id;
            let (suggested, reason) = (&setting.suggested, &setting.reason);
            said.say(text!(
                "建议 {id} 把 {key} 设为 {suggested}：{reason}",
                "{id} sets {key} to {suggested}: {reason}"
            ));
        }
        None if intent.asks(Quantity::Remedy)
            || intent.asks(Quantity::Verdict)
            || intent.is_polar() =>
        {
            said.say(text!("没有建议要改 {key}", "no suggestion changes {key}"))
        }
        None => {}
    }
}

/// Says how the joins are run, which the threshold of broadcasts decides.
fn joins(said: &mut Said<'_>, run: &Asked<'_>, key: &str) {
    let all = run.operators().filter(|o| record::is_join(o));
    let mut kinds: Vec<&str> = all
        .map(|o| o.id.split('_').next().unwrap_or(&o.id))
        .collect();
    kinds.sort();
    let kinds = kinds.chunk_by(|a, b| a == b);
    let kinds: Vec<String> = kinds
        .map(|own| format!("{} × {}", own[0], own.len()))
        .collect();
    if key.ends_with("autoBroadcastJoinThreshold") && !kinds.is_empty() {
        said.say(text!(
            "这次运行的连接：{kinds}",
            "The joins of this run: {kinds}",
            kinds = list(&kinds, said.language())
        ));
    }
}

/// Says a value that a suggestion sets.
pub(crate) fn suggested(said: &mut Said<'_>, setting: &Setting) {
    let (key, suggested, current) = (&setting.key, &setting.suggested, &setting.current);
    let now = match current {
        None => Text::default(),
        Some(now) => text!("（现在 {now}）", " ({now} now)"),
    };
    said.say(text!(
        "{key} = {suggested}{now}",
        "{key} = {suggested}{now}",
        now = now
    ));
}

/// Lists the settings of the application; only the settings of executors if executors are named.
pub(crate) fn all(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    if intent.asks(Quantity::Remedy) {
        return;
    }
    if run.report.job.engine != Some(JobEngine::Spark) || run.summary.settings.is_empty() {
        if hints(said, run) {
            return;
        }
        return said.say(text!(
            "没有文件给出作业的设置",
            "No file gives the settings of the job"
        ));
    }
    let is_named = |key: &str| match intent.reading.shows(Cue::Executor) {
        true => key.starts_with("spark.executor.") || key.starts_with("spark.dynamicAllocation."),
        false => true,
    };
    let settings = run.summary.settings.iter().filter(|(key, _)| is_named(key));
    // settings of the log come before defaults
    let mut settings: Vec<_> = settings.collect();
    settings.sort_by_key(|(_, [_, origin])| origin != "log");
    let shown = settings.iter().take(LISTED).map(|(key, [value, origin])| {
        text!(
            "{key} = {value}{origin}",
            "{key} = {value}{origin}",
            origin = origin_of(origin)
        )
    });
    let shown: Vec<Text> = shown.collect();
    said.say(text!(
        "设置：{shown}",
        "Settings: {shown}",
        shown = Text::joined(&shown, ["；", "; "])
    ));
}

/// Says the hints of the script, which are the settings of a SCOPE job. Returns false if it has none.
pub(crate) fn hints(said: &mut Said<'_>, run: &Asked<'_>) -> bool {
    let text = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let hints = run.statements().iter().flat_map(|s| &s.hints);
    let shown = hints.take(LISTED).map(|hint| {
        let line = text
            .get(..hint.span.start)
            .unwrap_or_default()
            .matches('\n')
            .count()
            + 1;
        let value = hint
            .value
            .as_ref()
            .map_or(String::new(), |value| format!("={value}"));
        text!(
            "第 {line} 行 {name}{value}",
            "{name}{value} in line {line}",
            name = hint.name
        )
    });
    let shown: Vec<Text> = shown.collect();
    if shown.is_empty() {
        return false;
    }
    said.say(text!(
        "脚本中的提示：{shown}",
        "Hints of the script: {shown}",
        shown = Text::joined(&shown, ["；", "; "])
    ));
    true
}

/// The default that a value comes from; empty for a value that the log sets.
fn origin_of(origin: &str) -> Text {
    match origin.strip_prefix("default of ") {
        Some(version) => text!(
            "（Spark {version} 的默认值）",
            " (default of Spark {version})"
        ),
        None if origin == "default" => text!("（默认值）", " (default)"),
        None => Text::default(),
    }
}
