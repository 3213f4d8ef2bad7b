//! The topics of a phrase, and whether it affirms or denies them, by the words of both languages.

use super::lexicon::{Words, find_word, has_word};

/// The topics of a phrase, as a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Concepts(u32);

impl Concepts {
    pub(crate) fn of(lower: &str) -> Concepts {
        let mut found = Concepts::default();
        for (bit, words) in CONCEPTS.iter().enumerate() {
            if has_word(lower, words) {
                found.0 |= 1 << bit;
            }
        }
        found
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether two phrases may be about the same thing.
    pub(crate) fn fits(self, fact: Concepts) -> bool {
        self.0 & fact.0 != 0 || self.0 == 0 || fact.0 == 0
    }

    fn special(self) -> u32 {
        self.0 & ((1 << SPECIAL) - 1)
    }

    /// The special concepts of a phrase and of its clause; "median" counts for its phrase only.
    fn within(self, clause: Concepts) -> u32 {
        self.special() | clause.special() & ((1 << (SPECIAL - 1)) - 1)
    }

    /// Whether it is about one of the special concepts.
    pub(crate) fn is_special(self) -> bool {
        self.special() != 0
    }
}

/// Whether the special concepts of a phrase fit a value's, each taken with its clause.
pub(crate) fn fit_specially(claim: (Concepts, Concepts), value: (Concepts, Concepts)) -> bool {
    let (own, all) = (claim.0.special(), claim.0.within(claim.1));
    let (its_own, its_all) = (value.0.special(), value.0.within(value.1));
    match (own, its_own) {
        (0, 0) => true,
        (0, _) => its_own & all != 0,
        _ => own & its_all != 0,
    }
}

/// The first concepts: their values are mistaken for others if they go unnamed.
const SPECIAL: usize = 11;

const CONCEPTS: &[Words] = &[
    "compil*|编译",
    "wait*|queue*|queuing|capacity|等待|排队",
    "start|started|starting|start-up|startup|launch*|启动",
    "gc|garbage|gen2*|collections|avgtimeingcpercent|maxtimeingcpercent|垃圾回收",
    "spill*|maxspillbucketcount|buckets|落盘|溢出",
    "user code|udf|udo|python|cpu|用户代码",
    "fail*|retry|retries|revoked|revocation*|失败|重试|收回",
    "driver|job manager|作业管理器",
    "confidence|置信度",
    "score|relevance|progress|得分|充足度|相关度",
    "median|中位*",
    "row|rows|records|rowcount|maxrowcount|data| 行|万行|亿行|行数|的行",
    "vertex|vertices|task|tasks|顶点|任务",
    "mean|average|均值|平均",
    "ran|run|runs|running|took|takes|elapsed*|exclusivetime|runtime|运行|耗时|用时|占用",
    "read|reads|input|inputs|scan*|dataread|totalbytes|读|输入|扫描",
    "write|writes|written|output|outputs|produces|写|输出",
    "shuffle*|exchange*|repartition*|network|move*|重新分区|数据交换",
    "memory|heap|内存",
    "file|files|文件",
    "key|keys|value|values|hot|键|热点|值",
    "partition*|分区",
    "table|表",
    "path|关键路径",
    "sort*|排序",
    "machine|机器",
    "executor*",
];

/// How a phrase uses its numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mood {
    /// It states the saving of a change.
    pub(crate) is_gain: bool,
    /// It says that a change would cost time.
    pub(crate) is_loss: bool,
    pub(crate) is_negated: bool,
    /// It names a limit or the usual value.
    pub(crate) is_norm: bool,
    /// It speaks of other jobs or of experience.
    pub(crate) is_example: bool,
}

impl Mood {
    pub(crate) fn of(lower: &str) -> Mood {
        let is_fix = has_word(lower, FIX);
        let is_gain = has_word(lower, GAIN)
            || has_word(lower, SHORTER) && (is_fix || has_word(lower, RUN_TIME));
        Mood {
            is_gain,
            is_loss: has_word(lower, LOSS) && (is_fix || has_word(lower, RUN_TIME)),
            is_negated: negation(lower).is_some(),
            is_norm: has_word(lower, NORM),
            is_example: has_word(lower, EXAMPLE),
        }
    }
}

/// Where a phrase is negated.
pub(crate) fn negation(lower: &str) -> Option<usize> {
    let mut cleaned = lower.to_owned();
    for phrase in NO_NEGATIONS.split('|') {
        cleaned = cleaned.replace(phrase, &" ".repeat(phrase.len()));
    }
    let contracted = cleaned.find("n't").or_else(|| cleaned.find("n’t"));
    find_word(&cleaned, NEGATIONS).or(contracted)
}

const GAIN: Words = "save|saves|saved|saving|savings|gain|gains|节省|省下|可省|省约|收益|缩短|delay|delays|delayed|延误|耽误";

const SHORTER: Words =
    "reduce|reduces|reducing|cut|cuts|shorten*|faster|speed*|lower*|减少|降低|加快|提速";

pub(crate) const FIX: Words =
    "fix|fixes|fixing|fixed|change|changes|suggestion*|suggested|applying|修复|解决|修改|改动|建议";

/// Words of a sentence that says what to do.
pub(super) const RECOMMENDS: Words = "should|must|consider|need to|needs to|recommend*|to address|can be resolved|can be fixed|can be improved|\
     can be reduced|can be addressed|could be fixed|could be improved|by increasing|by using|by changing|建议|应该|\
     应当|需要|必须|考虑|可以通过|可通过";

const RUN_TIME: Words =
    "run time|runtime|running time|the run|elapsed|job time|运行时间|总时间|时长";

const LOSS: Words = "cost|costs|add|adds|adding|lose|loses|slower|slow down|slows|longer|lengthen*|increase|increases|waste|wastes|\
     增加|延长|变慢|多用|拖慢|多花";

const NEGATIONS: Words = "not|no|never|without|neither|nor|none|cannot|fails to|没有|不会|不是|并非|不能|无法|未|并未|毫无|不再";

/// Phrases with a negating word that are no denial.
const NO_NEGATIONS: Words = "not only|no more than|no less than|not more than|不仅|不超过|没有自己|no later|no wonder|not least|nothing";

pub(crate) const NORM: Words = "healthy|normal|normally|usual|usually|expected|should|limit|threshold|at most|at least|below|above|typical*|\
     ideal*|allowed|exceeds|whether|健康|正常|通常|应为|应该|应在|阈值|上限|下限|以内|以下|以上|预期|不超过|至少|最多|\
     低于|高于|是否|不到|超过";

pub(crate) const EXAMPLE: Words = "example|examples|experience|playbook|another job|other jobs|in that case|e.g|such as|示例|案例|经验|例如|\
     其他作业|比如";

pub(super) const CONDITIONS: Words =
    "if|whether|unless|in case|would|如果|若|是否|假如|假设|的话|除非";

pub(super) const MODALS: Words = "may|might|could|can|possibly|perhaps|probably|可能|也许|或许";
