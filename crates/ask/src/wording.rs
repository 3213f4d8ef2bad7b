//! Reads the quantities, causes and measures of a question from its phrases.

use report::measure::book;
use report::{Cause, Language, ProblemType, SegmentKind};

use crate::phrases::{Phrases, QUANTITIES, Quantity, SEGMENTS, SETTINGS, TOPICS};

/// A question prepared for looking up phrases; names are taken out of it before.
pub(crate) struct Wording {
    lower: String,
    /// With Chinese words for English nouns in Chinese sentences: “哪些 stage 只有一个 vertex”.
    chinese: String,
    words: Vec<String>,
}

/// English nouns in Chinese sentences.
const NOUNS: [(&str, &str); 6] = [
    ("stage", "阶段"),
    ("vertices", "顶点"),
    ("vertex", "顶点"),
    ("task", "任务"),
    ("token", "令牌"),
    ("column", "列"),
];

/// A Chinese sentence with Chinese nouns, without spaces.
fn in_chinese(lower: &str) -> String {
    if Language::of(lower) != Language::Zh {
        return String::new();
    }
    let mut text = lower.to_owned();
    for (en, zh) in NOUNS {
        text = text.replace(&format!("{en}s"), zh).replace(en, zh);
    }
    text.replace(' ', "")
}

impl Wording {
    pub(crate) fn of(text: &str) -> Wording {
        let lower = text.to_lowercase().replace('’', "'");
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '#');
        let words = lower.split(|c| !is_part(c)).filter(|w| !w.is_empty());
        Wording {
            words: words.map(str::to_owned).collect(),
            chinese: in_chinese(&lower),
            lower: lower.clone(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.lower
    }

    pub(super) fn has(&self, zh: Phrases, en: Phrases) -> bool {
        let mut zh = zh.split('|').filter(|phrase| !phrase.is_empty());
        let is_in = |phrase| self.lower.contains(phrase) || self.chinese.contains(phrase);
        zh.any(is_in) || en.split('|').any(|p| self.says(p))
    }

    fn says(&self, phrase: &str) -> bool {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let fits = |word: &String, pattern: &&str| match pattern.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => word == pattern,
        };
        let mut places = self.words.windows(wanted.len());
        places.any(|words| words.iter().zip(&wanted).all(|(word, p)| fits(word, p)))
    }

    /// Quantities in the question, in the order of the answer.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        let named = QUANTITIES.iter().filter(|(_, zh, en)| self.has(zh, en));
        named.map(|(quantity, ..)| *quantity).collect()
    }

    /// Settings that are named.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static str> {
        // "how many executors, and how much memory does each have?"
        let is_memory =
            self.has("executor|执行器", "executor*") && self.has("内存|堆", "memory|heap|ram");
        let is_named = move |(key, zh, en): &&(&str, Phrases, Phrases)| {
            self.has(zh, en) || is_memory && *key == "spark.executor.memory"
        };
        SETTINGS.iter().filter(is_named).map(|(key, ..)| *key)
    }

    pub(crate) fn segments(&self) -> Vec<SegmentKind> {
        let named = SEGMENTS.iter().filter(|(_, zh, en)| self.has(zh, en));
        // waiting for shuffled data is no waiting for capacity
        let is_fetch = self.waits_for_shuffle();
        let kinds = named.map(|(kind, ..)| *kind);
        kinds
            .filter(|kind| !(is_fetch && *kind == SegmentKind::CapacityWait))
            .collect()
    }

    /// Whether it is about waiting for shuffled data.
    pub(crate) fn waits_for_shuffle(&self) -> bool {
        let fetch = &book::FETCH_WAIT.words;
        self.has(fetch.zh, fetch.en)
            || self.has("等", "wait*") && self.has("shuffle|洗牌", "shuffle*")
    }

    /// Causes that are named, by a group or by their title.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        let topics = TOPICS.iter().filter(|(_, zh, en)| self.has(zh, en));
        let topics: Vec<_> = topics.collect();
        let is_named = |cause: &Cause| {
            let title = cause.title();
            topics.iter().any(|(includes, ..)| includes(*cause))
                || self.lower.contains(title.zh)
                || self.lower.contains(title.en)
                || self.lower.contains(cause.code())
        };
        // "which key" is about hot ones, unless the key of something is meant
        let is_key = self.has("哪个 key|哪个key|哪个键", "which key|what key")
            && !self.has(
                "连接|关联|join|分组|聚合|分区|排序|窗口",
                "join*|group*|aggregat*|partition*|sort*|window*",
            );
        let is_hot = |cause: &Cause| is_key && cause.problem_type() == ProblemType::DataSkew;
        Cause::ALL
            .iter()
            .copied()
            .filter(|cause| is_named(cause) || is_hot(cause))
            .collect()
    }

    /// Whether it speaks of the whole job.
    pub(crate) fn is_about_job(&self) -> bool {
        self.has(
            "作业|整个|脚本|应用|任务",
            "job|script|application|whole|overall|run",
        )
    }

    /// Whether it points at something named before: "it", "that stage".
    pub(crate) fn points_back(&self) -> bool {
        self.points_at_stage() || self.has("它", "it|its")
    }

    /// Whether it continues a question: "and how many rows?", “那顶点数呢”, or has just the quantity.
    pub(crate) fn continues(&self) -> bool {
        let characters = self
            .lower
            .chars()
            .filter(|c| !c.is_ascii() && c.is_alphanumeric())
            .count();
        self.begins_with_and() || self.words.len() <= 4 && characters <= 6
    }

    fn begins_with_and(&self) -> bool {
        let starts = ["and ", "what about", "how about", "那", "还有", "以及"];
        let start = self.lower.trim_start();
        starts.iter().any(|s| start.starts_with(s))
            || start.trim_end_matches(['?', '？', ' ']).ends_with('呢')
    }

    /// Whether it continues a question with a name alone: "and SV3?".
    pub(crate) fn says_nothing(&self) -> bool {
        let rest = "and|what|how|about|then|那|那么|还有|以及|呢";
        let mut text = self.lower.clone();
        rest.split('|')
            .for_each(|word| text = text.replace(word, ""));
        self.begins_with_and() && !text.contains(char::is_alphanumeric)
    }

    /// Whether it asks for the trouble of a job, or for changes.
    pub(crate) fn is_open(&self) -> bool {
        self.has(
            "慢|久|失败|挂|优化|瓶颈|性能|正常|出了什么问题|原因|超|怎么改|改法|建议|定位",
            "slow|slower|fail*|optimi*|bottleneck*|wrong|problem*|faster|speed*|sla|reason",
        )
    }

    /// Whether it names errors or failures.
    pub(crate) fn names_failure(&self) -> bool {
        self.has(
            "失败|挂了|挂掉|挂过|报错|出错|错误|异常|崩溃|抛出",
            "fail*|crash*|error*|exception*|threw|blew up|died|broke",
        )
    }

    /// Whether yes or no would answer it.
    pub(crate) fn is_polar(&self) -> bool {
        const FIRST: &str = "is|are|was|were|do|does|did|has|have|had|can|could|would|should|will";
        let first = self.words.first().map(String::as_str);
        first.is_some_and(|word| FIRST.split('|').any(|first| first == word))
            || self.has("吗|是不是|有没有|是否|能不能|会不会|严重", "any")
    }

    /// Whether it asks for a reason explicitly.
    pub(crate) fn asks_why(&self) -> bool {
        self.has(
            "为什么|为何|为啥|原因|怎么回事|怎么会|怎么这么|怎么跑|怎么花|怎么用|咋导致",
            "why|why's|reason*|cause*|what happened|how come|explain|responsible|due to",
        )
    }

    /// Numbers in it.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        let digits = self
            .lower
            .split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        digits.filter_map(|n| n.replace(',', "").parse().ok())
    }

    pub(crate) fn points_at_stage(&self) -> bool {
        self.has(
            "这个阶段|该阶段|这个 stage|该 stage|那个阶段|那个 stage|这一步|这步|那一步",
            "this stage|that stage|the stage|this step|that step",
        )
    }

    pub(crate) fn compares(&self) -> bool {
        self.has(
            "比|对比|相比|差别|区别|哪个更|谁更|哪个慢|哪个快|哪个大|哪个多",
            "than|compar*|versus|vs|difference|differ|which one|which is|slower|faster|longer",
        )
    }

    /// Whether a time in the question is one to reach.
    pub(crate) fn sets_goal(&self) -> bool {
        self.has(
            "以内|之内|压到|降到|控制在|缩短到|减到|更快|快于|一半以内|钟内|秒内|小时内|能不能|能在|可以在",
            "within|under|less than|faster than|below|down to|half the time|in half|at most|finish in|complete in|would it|will it|can it|could it|run in|done in",
        )
    }

    pub(crate) fn says_half(&self) -> bool {
        self.has("一半", "half")
    }
}
