//! The words of questions about numbers, and the scan that accounts for every word of a question.

use std::sync::LazyLock;

use report::StaticText;
use report::measure::{Measure, book};

use crate::phrases::{self, Phrases};

/// The kind of thing that a question counts, ranks or describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
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
pub(crate) enum Word {
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
    /// Executors that went away.
    Lost,
    /// Executors that came.
    Arrived,
    /// The absence of something.
    Not,
    When,
    Who,
    /// A Spark job of an application; the run has no data about single jobs.
    SparkJob,
    /// A definition.
    Define,
    /// A word of questions that other modules answer.
    Other,
    /// A word without meaning for the answer.
    Filler,
}

use Thing::*;
use Word::*;

#[rustfmt::skip]
const WORDS: &[(&[Word], Phrases, Phrases)] = &[
    (&[Noun(Stage)], "步骤|环节|阶段", "stage|stages|step|steps"),
    (&[Noun(Vertex)], "顶点|任务|实例", "vertex|vertices|vertexes|task|tasks"),
    (&[Noun(Operator)], "算子|操作", "operator|operators"),
    (&[Noun(Exchange)], "分发|数据通道|通道|数据交换|交换|洗牌|传输|传了", "cross|crosses|crossed|flows|moved|transferred|channel*|exchange|exchanges|shuffle|shuffles|edge|edges"),
    (&[Noun(Input)], "输入表|源表|数据源|输入|表", "input|inputs|table|tables|dataset*|source|sources"),
    (&[Noun(Column)], "字段|列", "column|columns|field|fields"),
    (&[Noun(Partition)], "重新分区|重分区|分区|桶", "hashed|repartitioned|partition|partitions|partitioned|partitioning|bucket|buckets"),
    (&[Noun(File)], "文件", "file|files"),
    (&[Noun(Executor)], "执行器", "executor|executors|worker|workers"),
    (&[Noun(Execution)], "查询", "query|queries|execution|executions|sql"),
    (&[Noun(Machine)], "机器|主机|节点", "machine|machines|host|hosts|node|nodes"),
    (&[Noun(Cache)], "缓存", "cache|cached|caches|caching"),
    (&[Kind("JOIN")], "反半连接|半连接|反连接|左外连接|右外连接|全外连接|外连接|左连接|内连接|哈希连接|归并连接|连接|关联",
        "joiner|hash join|merge join|sort-merge join|sort merge join|left join|outer join|left outer join|inner join|semi join|anti join|anti-semi join|semijoin|antijoin|join|joins|joined|joining"),
    (&[Kind("JOIN"), Key], "连接键|连接列|join 键|join 的键", "join on|joins on|joined on|joining on|join key|join keys"),
    (&[Kind("GROUP BY"), Key], "聚合键|分组键|分组列", "group on|groups on|grouped on|grouped by|aggregated by|aggregate on|aggregates on|group key|grouping key*"),
    (&[Kind("ORDER BY"), Key], "排序键|排序列", "sorted by|sort on|sorts on|sorted on|ordered by|sort key|sort keys"),
    (&[Kind("COMBINE")], "组合器", "combine|combiner"),
    (&[Kind("GROUP BY")], "聚合|分组|汇总", "aggregate|aggregates|aggregation*|group by|group-by|grouping|groupby"),
    (&[Kind("WHERE")], "过滤条件|过滤器|过滤|筛选", "filter|filters|where clause|predicate*"),
    (&[Kind("ORDER BY")], "排序", "sorted|sort|sorts|sorting|order by"),
    (&[Kind("REDUCE")], "归约|自定义 reducer", "reduce|reducer|reducers"),
    (&[Kind("PROCESS")], "处理器|自定义函数", "processor|processors|udf|udfs|udo|python"),
    (&[Kind("EXTRACT")], "提取器|抽取器|抽取|提取|扫描", "extract|extracts|extractors|extractor|extraction|scan|scans"),
    (&[Kind("OUTPUT")], "输出器|写出语句|输出语句", "outputter|outputters|output statement*|output clause*"),
    (&[Kind("UNION")], "合并", "union|unions|union all"),
    (&[Kind("WINDOW")], "窗口函数|窗口", "window function|window functions|window|windows"),
    (&[Kind("BROADCAST")], "广播", "broadcast*"),
    (&[Kind("DISTINCT")], "去重", "dedup*|de-dup*"),
    (&[Rows], "多少行|行数|多少条|条数|几行|行|记录", "row|rows|record|records|row count"),
    (&[Bytes], "字节|大小|多大|体积|有多大|容量", "byte|bytes|size|sizes|big|large|gib|gb|mib|mb|tb|kb|small|gigabytes"),
    (&[Data], "数据量|数据", "data|volume"),
    (&[Time], "多少小时|几小时|多长时间|多少时间|时间|用时|耗时|多久|多长|时长|几分钟|几秒|秒|分钟|花了|花",
        "execute|executes|executed|how long|time|times|long|duration|second|seconds|minute|minutes|took|take|takes|taken|runtime|run time|running time|wall time|\
         elapsed|lasts|lasted|burn|burns|burned|spend|spends|spent"),
    (&[Run], "跑了|跑", "run|runs|ran|running"),
    (&[Number, Noun(Partition)], "", "into how many partitions|in how many partitions|into how many"),
    (&[Number], "多少个|多少|几个|数量|个数|数目|数", "how many|how much|number of|number|count|amount of|amount"),
    (&[In], "读取|读入|处理|落到|落在|读了|读|进入|流入|收到|进", "read|reads|reading|into|lands on|land on|goes to|go to|went to|process|processes|processed|handle*|enter|enters|entering|feed|feeds|receive*|consume*|ingest*|go in|goes in|comes in|take in|takes in|input rows"),
    (&[Out], "写出|写入|传出|送出|发出|传给|写了|写|输出|产出|产生|流出|出来", "write|writes|wrote|written|writing|output|outputs|produce*|emit*|come out|comes out|came out|out of|leave|leaves|leaving"),
    (&[Passed, Lost], "丢了|丢失|丢", "lose|loses|lost|gone"),
    (&[When, Arrived, Other], "什么时候启动|何时启动|什么时候起来|什么时候到", "when did it register"),
    (&[Arrived], "加入|到达|就绪|上线|注册|来的", "arrive*|register*|came up|come up|show up|showed up|join the application"),
    (&[Other, Lost], "挂掉|挂了|挂|死掉|死了|死|掉线|被杀|没了", "died|die|dies|dead|killed|crash*|removed"),
    (&[Passed, Kind("WHERE")], "过滤掉|滤掉", "filter out|filters out|filtered out"),
    (&[Passed], "膨胀|放大|丢弃|丢掉|扔掉|去掉|减少了|减少|缩减|保留|留下|剩下|剩余|还剩|剩|通过",
        "explode*|blow up|blows up|multipl*|thrown|throws|drop|drops|dropped|discard*|throw away|throws away|thrown away|survive*|remain*|left|\
         pass|passes|keep|keeps|kept|get through|selectivity|shrink*|reduces the rows|reduce the rows|reduces rows|reduced to"),
    (&[Noun(Vertex), Most, Time], "拖后腿的顶点|长尾顶点|拖慢|拖住|拖后腿", "straggler|stragglers|slow task|slow vertex|holds up|hold up|holding up|drags|held up"),
    (&[Most, Time], "最慢|最久|最长|最耗时|最费时|更慢|更久|更长", "slowest|longest|slower|longer"),
    (&[Most], "最大|最多|最高|最重|最宽|更大|更多|更高|较大|大", "largest|biggest|bigger|larger|greater|higher|hot|busiest|hottest|more|most|highest|maximum|max|heaviest|widest|greatest|peak"),
    (&[Most, Time], "最贵|最耗资源|开销最大", "most expensive|costliest|most time"),
    (&[Least, Time], "最快|最短|更短", "fastest|quickest|shortest|shorter"),
    (&[Time, Apart], "慢多少|快多少", "how much slower|how much longer"),
    (&[Least], "最小|最少|最低|更小|更少|更低|较小", "smallest|smaller|fewer|lower|fewest|least|lowest|minimum|min|tiniest"),
    (&[Sum], "总共|一共|合计|总计|全部|所有|总", "total|in total|altogether|overall|in all|sum|all|combined|entire|whole"),
    (&[Mean], "平均|均值", "average|averages|avg|mean|on average|typical|typically"),
    (&[Median], "中位数|中位", "median|medians|p50"),
    (&[Each], "每个|每一个|各个|各自|分别|单个|每|各", "each|per|every|individual|respectively|by"),
    (&[Spread], "倾斜程度|倾斜度|倾斜|均匀|不均|最大与平均|最大/平均", "skew|skewed|skewness|uneven|evenly|even|spread|balanced|imbalance*|max over mean|max/mean|max to mean"),
    (&[Share], "百分之几|百分之多少|百分比|占比|比例|份额|占", "share|percent|percentage|fraction|proportion|what part"),
    (&[Times], "几倍|多少倍|之比|比值|比率|倍数|倍", "factor|ratio|how many times|by how much"),
    (&[Apart], "还有多远|差多远|多远|少多少|多多少|少了|多了|差多少|相差|差距|差异|差别|偏差|相比|对比|差|比", "how far off|how far|how wrong|difference|differ|differs|versus|vs|compared|compare|than|off|deviation|gap"),
    (&[Rate], "每秒|吞吐量|吞吐率|吞吐", "per second|throughput|a second|rows/s|per sec"),
    (&[Estimated], "估计行数|估计|预估|预计|估算|优化器", "misestimate*|mis-estimate*|estimated|estimate|estimates|estimation|expected|expect|predicted|optimizer|optimiser|cardinality"),
    (&[Filler], "实际上|实际|真实", "actual|actually|real"),
    (&[Of(&book::DISTINCT)], "不同值|不同的值|去重后|唯一值", "distinct|distinct values|unique|different values|unique values"),
    (&[Of(&book::NULLS)], "空值", "null|nulls|null values"),
    (&[Of(&book::REVOKED)], "抢占", "preempt*|evicted"),
    (&[Of(&book::MEMORY_PEAK)], "内存峰值|峰值内存|内存的峰值", "peak memory|memory peak"),
    (&[Of(&book::MEMORY_LIMIT)], "内存上限|上限|内存限制", "memory limit*|limit"),
    (&[Of(&book::PLANNED)], "还在跑|还在运行|没有完成|没完成|未完成|没跑完|没有跑完", "still running|were running|was running|did not finish|didn't finish|not finish|never finished|not finished|did not complete|didn't complete|not complete|unfinished|incomplete"),
    (&[Of(&book::STORED_PARTITIONS)], "存储分区", "stored partitions"),
    (&[Of(&book::CPU_TIME)], "cpu 时间|cpu时间", "cpu time"),
    (&[Of(&book::BUSY)], "顶点总时间|顶点时间总和", "vertex time|vertex seconds|task time|machine time"),
    (&[Of(&book::START)], "启动时间|启动要|启动用", "start-up time|startup time|start up"),
        (&[Of(&book::WAVES)], "波次|几波|几轮|多少波|好几波|分波|一波|波", "wave|waves|rounds"),
    (&[Of(&book::BUSY_SLOTS)], "利用|用满|用得", "used well|well used|well utilized|put to use|make use of|make good use"),
    (&[Place], "在脚本的第几行|脚本的第几行|第几行到第几行|脚本第几行|脚本哪里|脚本的哪里|脚本中的位置|第几行|哪几行|哪一行|哪行|脚本|语句|代码|写在",
        "what line*|which line*|on which line*|script lines|script line|line number*|lines|line|statement*|script|code|where in the script"),
    (&[Other], "提示|hint", "hint|hints"),
    (&[Other], "用户代码|退出码|错误码|花了多少钱|花多少钱|多少核小时|多少顶点小时|多少令牌小时|一半|以内|之内|内|压到|控制在|减到|降到|核小时|顶点小时|令牌小时|au 小时", "user code|half|finish*|under|below|within|less than|reach*|exit code*|error code*|core hours|core-hours|vertex hours|vertex-hours|token hours|token-hours|au hours"),
    (&[Not, Other], "没有|不|没|无", "not|no|never|without|none|neither|isn't|wasn't|aren't|weren't|doesn't|didn't|don't|can't|couldn't|won't"),
    (&[When, Other], "什么时候|何时|几点|几时|什么时间", "when|what time|at what point"),
    (&[Define, Other], "什么是|什么叫|何为|是什么|是啥|是个什么|是个啥|啥叫|什么意思|啥意思|意思|是指|指的是什么|指什么|含义|定义|理解|解释|讲讲|区别|什么玩意|啥玩意",
        "explain|explains|describe|define|defined|definition|meaning|means|meant|mean by|stand for|stands for"),
    (&[SparkJob, Other], "哪个 job|哪两个 job|哪几个 job|哪些 job|每个 job|最慢的 job", "which job|which jobs|slowest job|longest job|each job|per job"),
    (&[Who, Other], "谁", "who|who's|whose"),
    (&[Which], "啥|哪里|哪儿|何处|哪边|哪一个|哪一|哪个|哪些|哪几个|哪|叫什么|名字|名称|什么", "which|what|what's|whats|name|names|named|called|list|where|where's"),
    (&[Key, Which], "键是什么|键是啥|键有哪些|key 是什么|键是哪", "what key"),
    (&[Key], "键|key", "key|keys"),
    (&[Other], "为什么|为何|为啥|原因|怎么|如何|应该|建议|优化|如果|假如|要是|能不能|可以|多给|多少钱|成本|证据|上次|昨天|上周|以前|之前|缺|错误|异常|报错|失败|问题|正常|配置|要不要|有没有|是不是|会不会|够不够|值不值|好不好|行不行|严重|厉害|浪费|合理|太高|太低|过高|过低|合适|值得|必要|够|足够|翻|赚|加大|调大|增大|提高|增加|减小|调小|改大|改小|砍|改|关键路径|空闲|排队|编译|瓶颈",
        "why|how come|cause|causes|caused|reason|should|could|would|can|fix|improve|faster|save|saves|saving|savings|if|cost|costs|price|evidence|prove|since|yesterday|before|\
         missing|error|errors|exception|failed|fail|fails|failure|problem|wrong|normal|ok|setting*|config*|critical path|idle|queue*|compil*|bottleneck|mean by|need|bound|happen*|going on|enough|bad|serious|severe|matter|matters|blame|worry|worried|concern*|reasonable|high|low|sensible|appropriate|worth|change|changes|changed|waste|wastes|wasted|wasting|win|wins|gain|tried|except|besides|else|again|often"),
    (&[Filler], "其他|其它|别的|的|了|一个|结果|台|两|又|函数|令牌|吗|呢|是|有|在|和|与|跟|把|被|我们|我|你|请问|请|给|一下|这个|这|那个|那|里面|里|中|上|都|会|要|个|到|从|后|时|还|又|以|用|之间|之|或|多|得|该|它|其|者|整个|作业|应用|job|看|告诉|想|知道|对|出|进行|经过|最后|最终|运行|执行|查|去|来|按|做|大概|大约|究竟|到底|具体|左右|请教|帮|只|也|啊|吧|嘛|各阶段",
        "the|a|an|according|reports|sooner|quicker|payoff|effective|result|results|anything|something|account for|function|functions|side|will|tomorrow|next|make up|made up|token|tokens|in|of|is|are|was|were|did|do|does|done|doing|this|that|these|those|it|its|to|for|from|by|on|at|with|and|or|much|many|how|me|my|we|our|us|i|you|your|please|tell|show|give|there|have|has|had|be|been|\
         job|application|app|s|one|ones|own|just|only|here|then|them|their|they|as|about|so|any|some|get|gets|got|go|goes|went|really|exactly|hi|hello|thanks|also|between|during|across|over|after|through|single|value|values|now|per-stage|using|used|use|uses|ever|itself|within|being|scope|spark|still|actually|would you|can you|could you|\
         set|setup|hey|yo|ok so|well|pls|plz|kindly|folks|guys|dude|bro|man|wtf|wth|heck|hell|damn|darn|freaking|fucking|bloody|on earth|lol|hmm|right|like|kind of|sort of|a bit|quick question|\
         quickly|simply|basically|literally|honestly|seriously|apparently|obviously|probably|maybe|perhaps|possibly|currently|today|this time|already|even|know|wonder|wondering|see|find|find out|look|looking|\
         want|wanted|would like|let|let's|curious|ask|question|understand|figure out|i think|i guess|according|report|say|says|said|thing|things|stuff|guy|part|parts|way|pipeline|workload|workflow|program|\
         so much|that much|this much|such|very|too|quite|pretty|rather|super|extremely|it's|that's|there's|i'm|i've|i'd|we're|we've|they're|if any|at least|at most|each other|both|because|while|up|but|other|others|done|call|calls|wants|we'd|you'd|they'd|it'd|down|off|more or less|\
         start|started|starts|began|begin|begins|approximately|roughly|around|about how|place|own|itself|exclusive|exclusively|self|per-operator|had to|get to|gets to|able|try|trying|boss|team|colleague*|someone|somebody|anyone|everybody|everything|these days|real quick|thx|thank you|cheers|ah|oh|um|uh|\
         top|main|major|until|conclusion|conclude|decide|group|groups|two|three|four|five|first|second|last|nothing|initial|beginning|number|numbers|figure|figures|overall job|go from|goes from|going|come|comes|came|coming|make|makes|made|put|puts|took place"),
    (&[Filler], "慢|快|自定义|可能|离|距|小时|半|天|不足|足|前|久|长|啥也没|也没|提前|提早|久|回答|问题是|问|干嘛|干什么|做什么|干啥|作用|用途|一|二|三|四|次|遍|过|完|才|分|样|能|第一个|首先|分成|不同的|设了|设成|设为|设置|设的|设|自身|自己|本身|呀|哦|哈|嘿|诶|喂|麻烦|劳驾|老板|同事|大家|咱们|咱|您|大佬|兄弟|这活|玩意儿|玩意|这东西|东西|鬼|咋|真的|真|确实|其实|似乎|好像|感觉|觉得|觉着|认为|听说|希望|\
        今天|这次|本次|此次|当前|目前|现在|刚才|刚刚|已经|一直|老是|总是|居然|竟然|特别|非常|很|太|挺|超|蛮|相当|十分|好|这么|那么|如此|搞|弄|整|看看|看下|看一看|说说|说|聊聊|帮忙|帮我|告诉我|说明|描述|介绍|列出|列一下|给出|查下|问下|\
        快速|简单|大致|粗略|一些|有些|某|情况|方面|地方|部分|内容|信息|这种|那种|位置|算|让|由|为|于|则|而|并|且|但|但是|不过|然后|因为|所以|那位|张|每次|用到|磁盘|以及|之中|当中|数值|值|点|些|第|号|几|什么样|怎样的|多么|儿", ""),
];

/// One phrase with the words that it stands for.
#[derive(Clone, Copy)]
pub(super) struct Phrase {
    pub(super) text: &'static str,
    pub(super) words: &'static [Word],
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
pub(crate) static ALL: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
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
    all.extend(own.copied());
    all.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.len()));
    all
});

/// Whether a question compares things that it doesn't name: "which one is bigger?".
pub(crate) fn compares_unnamed(text: &str) -> bool {
    let scan = Scan::of(text);
    let is_thing = |word: &Word| matches!(word, Noun(_) | Kind(_));
    scan.has(Which) && scan.has_any(&[Most, Least]) && !scan.words.iter().any(is_thing)
}

/// Whether a question only asks why it isn't another number.
pub(crate) fn only_denies(text: &str) -> bool {
    let scan = Scan::of(text);
    let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
    let is_around = |word: &Word| matches!(word, Not | Other | Filler);
    scan.has(Not)
        && !scan.left.is_empty()
        && scan.left.iter().all(is_number)
        && scan.words.iter().all(is_around)
}

/// Measures of the job and its stages that only these words name.
pub(crate) fn measures(text: &str) -> Vec<&'static Measure> {
    let own = [&book::WAVES, &book::BUSY_SLOTS];
    let words = Scan::of(text).words.into_iter();
    let named = words.filter_map(|word| match word {
        Of(measure) => own.contains(&measure).then_some(measure),
        _ => None,
    });
    named.collect()
}

/// Whether a question names a kind of thing that isn't a part of a stage or an input, so that it isn't about the thing before.
pub(crate) fn names_another(text: &str) -> bool {
    let of_before = [Vertex, Partition, Exchange, Column, Operator, File].map(Noun);
    let scan = Scan::of(text);
    let mut words = scan.words.iter();
    words.any(|word| matches!(word, Noun(_)) && !of_before.contains(word))
}

/// The words of a question in their order, and the parts without a known word.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) words: Vec<Word>,
    /// The words of each phrase.
    pub(super) phrases: Vec<&'static [Word]>,
    pub(crate) left: Vec<String>,
    /// Whether its things are those of the part before it.
    pub(super) inherits: bool,
}

impl Scan {
    pub(crate) fn of(text: &str) -> Scan {
        let lower = text.to_lowercase().replace('’', "'");
        let (mut scan, mut at) = (Scan::default(), 0);
        while let Some(c) = lower[at..].chars().next() {
            let rest = &lower[at..];
            if !c.is_alphanumeric() {
                at += c.len_utf8();
                continue;
            }
            let found = PHRASES
                .iter()
                .find_map(|p| Some((p, length(p.text, rest)?)));
            match found {
                Some((phrase, length)) => {
                    scan.words.extend(phrase.words);
                    scan.phrases.push(phrase.words);
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
        // "the median vertex time" is no sum
        if scan.has(Of(&book::BUSY)) && scan.has_any(&[Mean, Median, Most]) {
            scan.words.retain(|word| *word != Of(&book::BUSY));
            scan.words.extend([Noun(Vertex), Time]);
            scan.phrases.retain(|words| *words != [Of(&book::BUSY)]);
        }
        // "when did the last executor join?"
        if scan.has(Noun(Executor)) {
            let joins = scan.words.iter_mut().filter(|word| **word == Kind("JOIN"));
            joins.for_each(|word| *word = Arrived);
        }
        scan
    }

    /// The parts of a question that each ask for something: "how many rows does it read and how long does it take?". A part
    /// without a thing is about the thing of the first.
    pub(crate) fn parts(text: &str) -> Vec<Scan> {
        let lower = text
            .to_lowercase()
            .replace(" and ", "，")
            .replace([',', '；', ';', '、'], "，");
        let parts = lower.split('，').map(Scan::of);
        let mut parts: Vec<Scan> = parts.filter(|scan| !scan.words.is_empty()).collect();
        // “哪个阶段写出最多，多少？”
        let first = parts.first().is_some_and(|scan| scan.has(Which));
        let mut at = 0;
        parts.retain(|scan| {
            at += 1;
            at == 1 || !(first && scan.is_elliptic())
        });
        if parts.len() == 1 && at > 1 {
            return parts;
        }
        if parts.len() < 2 || !parts.iter().all(Scan::asks) {
            return vec![Scan::of(text)];
        }
        let is_thing = |word: &Word| matches!(word, Noun(_) | Kind(_));
        let is_place = |word: &Word| matches!(word, Noun(Machine | Executor));
        let goes_on =
            |word: &Word| is_thing(word) || matches!(word, Most | Least | Mean | Median | Each);
        let parts_words = parts[0].words.clone();
        let first: Vec<Word> = parts[0].words.iter().copied().filter(goes_on).collect();
        let is_measure = |word: &Word| matches!(word, Of(_));
        let measures: Vec<Word> = parts[0].words.iter().copied().filter(is_measure).collect();
        let is_of_script = parts.iter().any(|scan| scan.has(Place));
        let with_things = |mut scan: Scan| {
            if is_of_script && scan.words.iter().any(|word| matches!(word, Kind(_))) {
                scan.words.push(Place);
            }
            let mut own = scan.words.iter().filter(|word| is_thing(word));
            // "which executor is the busiest, and how many tasks did it run?"
            let of_executor = |word: &Word| {
                *word == Noun(Vertex) && (first.contains(&Noun(Executor)) || scan.has(Mean))
            };
            if own.all(|word| is_place(word) || of_executor(word)) {
                let is_elliptic = scan.is_elliptic();
                let amounts = [Rows, Bytes, Data, Time, In, Out];
                // "how many rows does the largest vertex read, and how many times the mean is that?"
                if scan.has_any(&[Mean, Times]) && !scan.has_any(&amounts) {
                    let of_first = parts_words.iter().filter(|word| amounts.contains(word));
                    scan.words.extend(of_first);
                }
                scan.inherits = !scan.words.iter().any(is_thing);
                scan.words.extend(&first);
                scan.words.extend(measures.iter().filter(|_| is_elliptic));
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

    /// Whether it asks for a time.
    pub(crate) fn is_time(&self) -> bool {
        let amounts = [Mean, Median, Most, Least, Share, Spread, Apart, Times];
        // "how many tasks ran" asks for no time
        let is_count = self.has(Number) && self.has(Noun(Vertex));
        let runs = self.has(Run) && (self.has_any(&amounts) || self.has(Number) && !is_count);
        self.has(Time) || runs
    }

    /// Whether it asks for a number without what it counts: "how many in SV1?".
    pub(crate) fn is_elliptic(&self) -> bool {
        let is_empty = |word: &Word| matches!(word, Filler | Number | Each);
        self.has(Number) && self.left.is_empty() && self.words.iter().all(is_empty)
    }

    pub(crate) fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    pub(crate) fn has_any(&self, words: &[Word]) -> bool {
        words.iter().any(|word| self.has(*word))
    }
}

/// The length of a phrase at the beginning of a text; English ones end with a word, or with a stem before `*`.
pub(crate) fn length(phrase: &str, rest: &str) -> Option<usize> {
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
pub(super) fn word(rest: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'' | '-');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    &rest[..end.max(first)]
}
