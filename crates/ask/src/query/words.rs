//! The words of questions about numbers, and the scan that accounts for every word of a question.

use std::sync::LazyLock;

use report::StaticText;
use report::measure::{Measure, book};

use crate::phrases::{self, Phrases};

/// The kind of thing that a question counts, ranks or describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Stage,
    Vertex,
    Operator,
    Exchange,
    Input,
    Column,
    Partition,
    File,
    Executor,
    Execution,
    Machine,
    Cache,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Word {
    Noun(Thing),
    /// Operators of a kind, by the keyword of their statement.
    Kind(&'static str),
    Rows,
    Bytes,
    /// Rows and bytes.
    Data,
    Time,
    /// A verb that asks for a time only next to an amount: "how much does it run".
    Run,
    Number,
    In,
    Out,
    /// Rows that go on or that are left out.
    Passed,
    Most,
    Least,
    Sum,
    Mean,
    Median,
    Each,
    Spread,
    Share,
    /// A ratio.
    Times,
    /// A difference.
    Apart,
    Rate,
    Estimated,
    /// Of one measure.
    Of(&'static Measure),
    /// Lines of the script.
    Place,
    /// The name of the answer: "which", "called".
    Which,
    Key,
    /// A word of questions that other modules answer.
    Other,
    /// A word without meaning for the answer.
    Filler,
}

use Thing::*;
use Word::*;

#[rustfmt::skip]
const WORDS: &[(&[Word], Phrases, Phrases)] = &[
    (&[Noun(Stage)], "阶段", "stage|stages|step|steps"),
    (&[Noun(Vertex)], "顶点|任务|实例", "vertex|vertices|vertexes|task|tasks"),
    (&[Noun(Operator)], "算子|操作", "operator|operators"),
    (&[Noun(Exchange)], "数据通道|通道|数据交换|交换|洗牌|传输|传了", "cross|crosses|crossed|flows|moved|transferred|channel*|exchange|exchanges|shuffle|shuffles|edge|edges"),
    (&[Noun(Input)], "输入表|源表|数据源|输入|表", "input|inputs|table|tables|dataset*|source|sources"),
    (&[Noun(Column)], "字段|列", "column|columns|field|fields"),
    (&[Noun(Partition)], "分区|桶", "partition|partitions|bucket|buckets"),
    (&[Noun(File)], "文件", "file|files"),
    (&[Noun(Executor)], "执行器", "executor|executors|worker|workers"),
    (&[Noun(Execution)], "查询", "query|queries|execution|executions|sql"),
    (&[Noun(Machine)], "机器|主机|节点", "machine|machines|host|hosts|node|nodes"),
    (&[Noun(Cache)], "缓存", "cache|cached|caches|caching"),
    (&[Kind("JOIN")], "连接|关联", "join|joins|joined|joining"),
    (&[Kind("COMBINE")], "", "combine|combiner"),
    (&[Kind("GROUP BY")], "聚合|分组|汇总", "aggregate|aggregates|aggregation*|group by|grouping|groupby"),
    (&[Kind("WHERE")], "过滤条件|过滤器|过滤|筛选", "filter|filters|where clause|predicate*"),
    (&[Kind("ORDER BY")], "排序", "sort|sorts|sorting|order by"),
    (&[Kind("REDUCE")], "", "reduce|reducer|reducers"),
    (&[Kind("PROCESS")], "", "processor|udf|udfs|udo|python"),
    (&[Kind("EXTRACT")], "抽取|提取|扫描", "extract|extracts|extractor|extraction|scan|scans"),
    (&[Kind("OUTPUT")], "写出语句|输出语句", "output statement*|output clause*"),
    (&[Kind("UNION")], "合并", "union|unions|union all"),
    (&[Kind("WINDOW")], "窗口", "window|windows"),
    (&[Kind("BROADCAST")], "广播", "broadcast*"),
    (&[Rows], "多少行|行数|多少条|条数|几行|行|记录", "row|rows|record|records|row count"),
    (&[Bytes], "字节|大小|多大|体积|有多大|容量", "byte|bytes|size|sizes|big|large|gib|gb|mib|mb|tb|kb|small|gigabytes"),
    (&[Data], "数据量|数据", "data|volume"),
    (&[Time], "多长时间|多少时间|时间|用时|耗时|多久|多长|时长|几分钟|几秒|秒|分钟|花了|花",
        "how long|time|times|long|duration|second|seconds|minute|minutes|took|take|takes|taken|runtime|run time|running time|wall time|\
         elapsed|last|lasts|lasted|burn|burns|burned|spend|spends|spent"),
    (&[Run], "跑了|跑", "run|runs|ran|running"),
    (&[Number], "多少个|多少|几个|数量|个数|数目|数", "how many|how much|number of|number|count|amount of|amount"),
    (&[In], "读取|读入|处理|落到|落在|读了|读|进入|流入|收到|进", "read|reads|reading|into|lands on|land on|goes to|go to|went to|process|processes|processed|handle*|enter|enters|entering|receive*|consume*|ingest*|go in|goes in|comes in|take in|takes in|input rows"),
    (&[Out], "写出|写入|传出|送出|发出|传给|写了|写|输出|产出|产生|流出|出来", "write|writes|wrote|written|writing|output|outputs|produce*|emit*|come out|comes out|came out|out of|leave|leaves|leaving"),
    (&[Passed], "丢了|丢|膨胀|放大|过滤掉|滤掉|丢弃|丢掉|扔掉|去掉|减少了|减少|缩减|保留|留下|剩下|剩余|还剩|剩|通过",
        "explode*|blow up|blows up|multipl*|thrown|throws|drop|drops|dropped|filter out|filters out|filtered out|discard*|throw away|throws away|thrown away|lose|loses|survive*|remain*|left|\
         pass|passes|keep|keeps|kept|get through|selectivity|shrink*|reduces the rows|reduce the rows|reduces rows|reduced to"),
    (&[Noun(Vertex), Most, Time], "拖后腿的顶点|长尾顶点", "straggler|stragglers|slow one|slow task|slow vertex"),
    (&[Most, Time], "最慢|最久|最长|最耗时|最费时", "slowest|longest"),
    (&[Most], "最大|最多|最高|最重|最宽", "largest|biggest|hot|busiest|hottest|more|most|highest|maximum|max|heaviest|widest|greatest|peak"),
    (&[Most, Time], "最贵|最耗资源|开销最大", "most expensive|costliest|most time"),
    (&[Least, Time], "最快|最短", "fastest|quickest|shortest"),
    (&[Least], "最小|最少|最低", "smallest|fewest|least|lowest|minimum|min|tiniest"),
    (&[Sum], "总共|一共|合计|总计|全部|所有|总", "total|in total|altogether|overall|in all|sum|all|combined|entire|whole"),
    (&[Mean], "平均|均值", "average|averages|avg|mean|on average|typical|typically"),
    (&[Median], "中位数|中位", "median|medians|p50"),
    (&[Each], "每个|每一个|各个|各自|分别|单个|每|各", "each|per|every|individual|respectively|by"),
    (&[Spread], "倾斜程度|倾斜度|倾斜|均匀|不均|最大与平均|最大/平均", "skew|skewed|skewness|uneven|evenly|even|spread|balanced|imbalance*|max over mean|max/mean|max to mean"),
    (&[Share], "百分之几|百分之多少|百分比|占比|比例|份额|占", "share|percent|percentage|fraction|proportion|what part"),
    (&[Times], "几倍|多少倍|之比|比值|比率|倍数|倍", "factor|ratio|how many times|by how much"),
    (&[Apart], "少多少|多多少|少了|多了|差多少|相差|差距|差异|差别|偏差|相比|对比|差|比", "difference|differ|differs|versus|vs|compared|compare|than|off|deviation|gap"),
    (&[Rate], "每秒|吞吐量|吞吐率|吞吐", "per second|throughput|a second|rows/s|per sec"),
    (&[Estimated], "估计行数|估计|预估|预计|估算|优化器", "misestimate*|mis-estimate*|estimated|estimate|estimates|estimation|expected|expect|predicted|optimizer|optimiser|cardinality"),
    (&[Filler], "实际上|实际|真实", "actual|actually|real"),
    (&[Of(&book::DISTINCT)], "不同值|不同的值|去重后|唯一值", "distinct|distinct values|unique|different values|unique values"),
    (&[Of(&book::NULLS)], "空值", "null|nulls|null values"),
    (&[Of(&book::STORED_PARTITIONS)], "存储分区", "stored partitions"),
    (&[Of(&book::CPU_TIME)], "cpu 时间|cpu时间", "cpu time"),
    (&[Of(&book::BUSY)], "顶点总时间|顶点时间总和", "vertex time|vertex seconds|task time|machine time"),
    (&[Of(&book::START)], "启动时间|启动要|启动用", "start-up time|startup time|start up"),
    (&[Of(&book::WAVES)], "波次|几波|几轮|多少波", "wave|waves|rounds"),
    (&[Of(&book::EXECUTOR_LOST)], "丢失的 executor|丢了几个 executor", "lost executor*|executors died|executors lost|executors were lost"),
    (&[Place], "在脚本的第几行|脚本的第几行|第几行到第几行|脚本第几行|脚本哪里|脚本的哪里|脚本中的位置|第几行|哪几行|哪一行|哪行|脚本|语句|代码|写在",
        "what line*|which line*|on which line*|script lines|script line|line number*|lines|line|statement*|script|code|where in the script"),
    (&[Which], "哪一个|哪一|哪个|哪些|哪几个|哪|叫什么|名字|名称|什么", "which|what|name|names|named|called|list|who|whose|where"),
    (&[Key], "键|key", "key|keys"),
    (&[Other], "为什么|为何|为啥|原因|怎么|如何|应该|建议|优化|如果|假如|要是|能不能|可以|多给|多少钱|成本|证据|上次|昨天|上周|以前|之前|缺|错误|异常|报错|失败|问题|正常|设置|配置|设了|关键路径|空闲|排队|编译|瓶颈|意思",
        "why|how come|cause|causes|caused|reason|should|could|would|can|fix|improve|faster|save|saves|saving|savings|if|cost|costs|price|evidence|prove|since|yesterday|before|\
         missing|error|errors|exception|failed|fail|fails|failure|problem|wrong|normal|ok|setting*|config*|set|critical path|idle|queue*|compil*|bottleneck|mean by|need|bound|happen*|going on|enough"),
    (&[Filler], "的|了|一个|结果|台|两|又|函数|令牌|吗|呢|是|有|在|和|与|跟|把|被|我们|我|你|请问|请|给|一下|这个|这|那个|那|里面|里|中|上|都|会|要|个|到|从|后|时|还|又|以|用|之间|之|或|多|得|该|它|其|者|整个|作业|应用|job|看|告诉|想|知道|对|出|进行|经过|最后|最终|运行|执行|查|去|来|按|做|大概|大约|究竟|到底|具体|左右|请教|帮|只|也|啊|吧|嘛|各阶段",
        "the|a|an|result|results|anything|something|account for|function|functions|side|will|tomorrow|next|make up|made up|token|tokens|in|of|is|are|was|were|did|do|does|done|doing|this|that|these|those|it|its|to|for|from|by|on|at|with|and|or|much|many|how|me|my|we|our|us|i|you|your|please|tell|show|give|there|have|has|had|be|been|\
         job|application|app|s|one|ones|own|just|only|here|then|them|their|they|as|about|so|any|some|get|gets|got|go|goes|went|really|exactly|hi|hello|thanks|also|between|during|across|over|after|through|single|value|values|now|not|per-stage|happen to be|using|used|use|uses|ever|itself|within|being|scope|spark|still|actually|would you|can you|could you"),
];

/// One phrase with the words that it stands for.
struct Phrase {
    text: &'static str,
    words: &'static [Word],
}

/// Measures with the same words, except those that the words of amounts and statistics choose among.
static OF_BOOK: LazyLock<Vec<(StaticText, Vec<Word>)>> = LazyLock::new(|| {
    let general = [
        &book::ROWS_IN,
        &book::BYTES_READ,
        &book::ROWS_MAX,
        &book::MAX_RUN,
        &book::VERTICES,
        &book::PARTITIONS,
        &book::EXECUTORS,
        &book::EXECUTIONS,
    ];
    let mut groups: Vec<(StaticText, Vec<Word>)> = Vec::new();
    for measure in book::ALL.iter().copied() {
        let is_general = general.iter().any(|m| m.words == measure.words);
        if measure.words.en.is_empty() || is_general {
            continue;
        }
        match groups.iter_mut().find(|(words, _)| *words == measure.words) {
            Some((_, words)) => words.push(Of(measure)),
            None => groups.push((measure.words, vec![Of(measure)])),
        }
    }
    groups
});

/// Every phrase, the longest first.
static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let own = WORDS.iter().map(|(words, zh, en)| (*words, *zh, *en));
    let of_book = OF_BOOK.iter();
    let of_book = of_book.map(|(text, words)| (&words[..], text.zh, text.en));
    let mut phrases = Vec::new();
    for (words, zh, en) in own.chain(of_book) {
        let texts = zh.split('|').chain(en.split('|'));
        let texts = texts.map(str::trim).filter(|text| !text.is_empty());
        phrases.extend(texts.map(|text| Phrase { text, words }));
    }
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.len()));
    phrases
});

/// Phrases of all modules, the longest first.
static ALL: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let tables = phrases::all().chain(book::ALL.iter().map(|m| (m.words.zh, m.words.en)));
    let texts = tables.flat_map(|(zh, en)| zh.split('|').chain(en.split('|')));
    let texts = texts.map(str::trim).filter(|text| !text.is_empty());
    let mut all: Vec<Phrase> = texts
        .map(|text| Phrase {
            text,
            words: &[Other],
        })
        .collect();
    let own = PHRASES.iter();
    all.extend(own.map(|p| Phrase {
        text: p.text,
        words: p.words,
    }));
    all.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.len()));
    all
});

/// Whether the phrases account for every word of a sentence: "It ran for hours! Where did the time go?"
pub(super) fn has_known_sentence(text: &str) -> bool {
    let sentences = text.split_inclusive(['?', '!', '？', '！', '。', '\n']);
    let mut sentences = sentences.flat_map(|s| s.split(". "));
    sentences.any(|sentence| {
        let scan = Scan::with(sentence, &ALL);
        scan.left.is_empty() && scan.words.iter().any(|word| *word != Filler)
    })
}

/// The words of a question in their order, and the parts without a known word.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) words: Vec<Word>,
    pub(super) left: Vec<String>,
}

impl Scan {
    pub(super) fn of(text: &str) -> Scan {
        Scan::with(text, &PHRASES)
    }

    fn with(text: &str, phrases: &[Phrase]) -> Scan {
        let lower = text.to_lowercase().replace('’', "'");
        let (mut scan, mut at) = (Scan::default(), 0);
        while let Some(c) = lower[at..].chars().next() {
            let rest = &lower[at..];
            if !c.is_alphanumeric() {
                at += c.len_utf8();
                continue;
            }
            let found = phrases
                .iter()
                .find_map(|p| Some((p, length(p.text, rest)?)));
            match found {
                Some((phrase, length)) => {
                    scan.words.extend(phrase.words);
                    at += length;
                }
                None => {
                    let word = word(rest);
                    // a number belongs to a condition that no other word accounts for
                    scan.left.push(word.to_owned());
                    at += word.len();
                }
            }
        }
        scan
    }

    /// The parts of a question that each ask for something: "how many rows does it read and how long does it take?". A part
    /// without a thing is about the thing of the first.
    pub(super) fn parts(text: &str) -> Vec<Scan> {
        let lower = text
            .to_lowercase()
            .replace(" and ", "，")
            .replace([',', '；', ';', '、'], "，");
        let parts = lower.split('，').map(Scan::of);
        let parts: Vec<Scan> = parts.filter(|scan| !scan.words.is_empty()).collect();
        if parts.len() < 2 || !parts.iter().all(Scan::asks) {
            return vec![Scan::of(text)];
        }
        let is_thing = |word: &Word| matches!(word, Noun(_) | Kind(_));
        let is_place = |word: &Word| matches!(word, Noun(Machine | Executor));
        let goes_on =
            |word: &Word| is_thing(word) || matches!(word, Most | Least | Mean | Median | Each);
        let first: Vec<Word> = parts[0].words.iter().copied().filter(goes_on).collect();
        let with_things = |mut scan: Scan| {
            let mut own = scan.words.iter().filter(|word| is_thing(word));
            if own.all(is_place) {
                scan.words.extend(&first);
            }
            scan
        };
        parts.into_iter().map(with_things).collect()
    }

    /// Whether it asks for a number or a name.
    fn asks(&self) -> bool {
        let asked = [
            Rows, Bytes, Data, Time, Number, Mean, Median, Spread, Share, Place, Which,
        ];
        self.has_any(&asked) || self.words.iter().any(|word| matches!(word, Of(_)))
    }

    pub(super) fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    pub(super) fn has_any(&self, words: &[Word]) -> bool {
        words.iter().any(|word| self.has(*word))
    }
}

/// The length of a phrase at the beginning of a text; English ones end with a word, or with a stem before `*`.
fn length(phrase: &str, rest: &str) -> Option<usize> {
    let (stem, is_stem) = match phrase.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (phrase, false),
    };
    let after = rest.strip_prefix(stem)?;
    if !stem.ends_with(|c: char| c.is_ascii()) {
        return Some(stem.len());
    }
    let tail = after.len()
        - after
            .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
            .len();
    (is_stem || tail == 0).then_some(stem.len() + tail)
}

/// The first word of a text: letters and digits, or one Chinese character.
fn word(rest: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'' | '-');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    &rest[..end.max(first)]
}
