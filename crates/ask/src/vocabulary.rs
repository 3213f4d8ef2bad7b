//! The vocabulary of questions: each word with its phrases in both languages.
//!
//! English phrases match whole words, and the last word may end in `*`. Words of content match by their longest phrase; words that show
//! the kind of a question match anywhere.

use std::collections::HashMap;
use std::sync::LazyLock;

use report::measure::{Measure, book};
use report::{Cause, ProblemType, SegmentKind, StaticText};

use crate::word::{Amount, Cue, Point, Quantity, Record, Resource, Thing, Word};

/// Phrases with `|` between them.
pub(crate) type Phrases = &'static str;

use Thing::*;
use Word::*;

/// Words with their phrases in Chinese and English.
pub(crate) type Entry = (&'static [Word], Phrases, Phrases);

#[rustfmt::skip]
pub(crate) const WORDS: &[Entry] = &[
    (&[Noun(Stage)], "步骤|环节|阶段", "stage|stages|step|steps"),
    (&[Noun(Vertex)], "顶点|任务|实例", "vertex|vertices|vertexes|task|tasks"),
    (&[Noun(Operator)], "算子|操作", "operator|operators"),
    (&[Noun(Exchange)], "分发|数据通道|通道|数据交换|交换|洗牌|传输|传了", "reshuffle*|re-shuffle*|cross|crosses|crossed|flows|moved|transferred|channel*|exchange|exchanges|shuffle|shuffles|edge|edges"),
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
    (&[Number], "多高|多少个|多少|几个|数量|个数|数目|数", "how many|how much|how busy|how high|number of|number|count|amount of|amount"),
    (&[In], "读取|读入|处理|落到|落在|读了|读|进入|流入|收到|进", "read|reads|reading|into|lands on|land on|goes to|go to|went to|process|processes|processed|handle*|enter|enters|entering|feed|feeds|receive*|consume*|ingest*|go in|goes in|comes in|take in|takes in|input rows"),
    (&[Out], "写出|写入|传出|送出|发出|传给|写了|写|输出|产出|产生|流出|出来", "contribute*|write|writes|wrote|written|writing|output|outputs|produce*|emit*|come out|comes out|came out|out of|leave|leaves|leaving"),
    (&[Out, Most], "写得多|写的多|写得更多|写的更多", ""),
    (&[In, Most], "读得多|读的多|读得更多|读的更多", ""),
    (&[Passed, Lost], "丢了|丢失|丢", "lose|loses|lost|gone"),
    (&[When, Arrived, Other], "什么时候启动|何时启动|什么时候起来|什么时候到", "when did it register"),
    (&[Arrived], "加入|到达|就绪|上线|注册|来的", "arrive*|register*|came up|come up|show up|showed up|join the application"),
    (&[Other, Lost], "挂掉|挂了|挂|死掉|死了|死|掉线|被杀|没了", "died|die|dies|dead|killed|crash*|removed"),
    (&[Passed, Kind("WHERE")], "过滤掉|滤掉", "filter out|filters out|filtered out"),
    (&[Passed], "膨胀|放大|丢弃|丢掉|扔掉|去掉|减少了|减少|缩减|保留|留下|剩下|剩余|还剩|剩|通过",
        "explode*|blow up|blows up|multipl*|thrown|throws|drop|drops|dropped|discard*|throw away|throws away|thrown away|survive*|remain*|left|\
         pass|passes|keep|keeps|kept|get through|selectivity|shrink*|reduces the rows|reduce the rows|reduces rows|reduced to"),
    (&[Noun(Vertex), Most, Time], "拖后腿的顶点|长尾顶点|拖慢|拖住|拖后腿", "straggler|stragglers|slow task|slow vertex|holds up|hold up|holding up|drags|held up"),
    (&[Most, Time], "跑个没完|没完没了|最慢|最久|最长|最耗时|最费时|更慢|更久|更长", "runs forever|takes forever|never ends|slowest|longest|slower|longer"),
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
    (&[Share], "百分之几|百分之多少|百分比|占比|比例|份额|占", "share|percent|percentage|fraction|proportion|what part|how much of"),
    (&[Times], "几倍|多少倍|之比|比值|比率|倍数|倍", "factor|ratio|how many times|by how much"),
    (&[Apart], "还有多远|差多远|多远|少多少|多多少|少了|多了|差多少|相差|差距|差异|差别|偏差|相比|对比|差|比", "how far off|how far|how wrong|difference|differ|differs|versus|vs|compared|compare|than|off|deviation|gap"),
    (&[Rate], "每秒|吞吐量|吞吐率|吞吐", "per second|throughput|a second|rows/s|per sec"),
    (&[Estimated], "准不准|准确|估得准|估计行数|估计|预估|预计|估算|优化器", "accurate|accuracy|inaccurate|misestimate*|mis-estimate*|estimated|estimate|estimates|estimation|expected|expect|predicted|optimizer|optimiser|cardinality"),
    (&[Filler], "实际上|实际|真实", "actual|actually|real"),
    (&[Of(&book::DISTINCT)], "不同值|不同的值|去重后|唯一值", "distinct|distinct values|unique|different values|unique values"),
    (&[Of(&book::NULLS)], "空值", "null|nulls|null values"),
    (&[Of(&book::REVOKED)], "抢占|revoke", "preempt*|evicted|revoke|revokes|revoking"),
    (&[Of(&book::MEMORY_PEAK)], "内存峰值|峰值内存|内存的峰值", "peak memory|memory peak"),
    (&[Of(&book::MEMORY_LIMIT)], "内存上限|上限|内存限制", "memory limit*|limit"),
    (&[Of(&book::PLANNED)], "还在跑|还在运行|没有完成|没完成|未完成|没跑完|没有跑完", "still running|were running|was running|did not finish|didn't finish|not finish|never finished|not finished|did not complete|didn't complete|not complete|unfinished|incomplete"),
    (&[Of(&book::STORED_PARTITIONS)], "存储分区", "stored partitions"),
    (&[Of(&book::CPU_TIME)], "cpu 时间|cpu时间", "cpu time"),
    (&[Of(&book::BUSY)], "顶点总时间|顶点时间总和", "vertex time|vertex seconds|task time|machine time"),
    (&[Of(&book::START)], "启动时间|启动要|启动用", "start-up time|startup time|start up"),
        (&[Of(&book::WAVES)], "波次|几波|几轮|多少波|好几波|分波|一波|波", "wave|waves|rounds"),
    (&[Of(&book::BUSY_SLOTS)], "利用|用满|用光|用足|打满|跑满|占满|用得", "fully used|full use|used up|saturated|maxed out|all used|used well|well used|well utilized|put to use|make use of|make good use"),
    (&[Place], "在脚本的第几行|脚本的第几行|第几行到第几行|脚本第几行|脚本哪里|脚本的哪里|脚本中的位置|第几行|哪几行|哪一行|哪行|脚本|语句|代码|写在",
        "what line*|which line*|on which line*|script lines|script line|line number*|lines|line|statement*|script|code|where in the script"),
    (&[Other], "哪一行数据|哪行数据|哪条数据|哪条记录", "which row|which record|what row"),
    (&[Other], "提示|hint", "hint|hints"),
    (&[Other], "用户代码|退出码|错误码|花了多少钱|花多少钱|多少核小时|多少顶点小时|多少令牌小时|一半|以内|之内|内|压到|控制在|减到|降到|核小时|顶点小时|令牌小时|au 小时", "user code|half|finish*|under|below|within|less than|reach*|exit code*|error code*|core seconds|core-seconds|slot seconds|token seconds|token-seconds|core hours|core-hours|vertex hours|vertex-hours|token hours|token-hours|au hours"),
    (&[Not, Other], "没有|不|没|无", "not|no|never|without|none|neither|isn't|wasn't|aren't|weren't|doesn't|didn't|don't|can't|couldn't|won't"),
    (&[When, Other], "什么时候|何时|几点|几时|什么时间", "when|what time|at what point"),
    (&[Define, Other], "什么是|什么叫|何为|是什么|是啥|是个什么|是个啥|啥叫|什么意思|啥意思|意思|是指|指的是什么|指什么|含义|定义|理解|解释|讲讲|区别|什么玩意|啥玩意",
        "explain|explains|describe|define|defined|definition|meaning|means|meant|mean by|stand for|stands for"),
    (&[SparkJob, Other], "哪个 job|哪两个 job|哪几个 job|哪些 job|每个 job", "which job|which jobs|each job|per job"),
    (&[SparkJob, Most, Other], "最慢的 job|最长的 job|最久的 job|最耗时的 job", "slowest job|longest job|slowest jobs"),
    (&[Who, Other], "谁", "who|who's|whose"),
    (&[Which], "啥|哪里|哪儿|何处|哪边|哪一个|哪一|哪个|哪些|哪几个|哪|叫什么|名字|名称|什么", "which|what|what's|whats|name|names|named|called|list|where|where's"),
    (&[Key, Which], "键是什么|键是啥|键有哪些|key 是什么|键是哪", "what key"),
    (&[Key], "键|key", "key|keys"),
    (&[Other], "报的什么错|报什么错|什么错|啥错|错|造成|引起|为什么|为何|为啥|原因|怎么|如何|应该|建议|优化|如果|假如|要是|能不能|可以|多给|多少钱|成本|证据|上次|昨天|上周|以前|之前|缺|错误|异常|报错|失败|问题|正常|配置|要不要|有没有|是不是|会不会|够不够|值不值|好不好|行不行|严重|厉害|浪费|合理|太高|太低|过高|过低|合适|值得|必要|够|足够|翻|赚|加大|调大|增大|提高|增加|减小|调小|改大|改小|砍|改|关键路径|空闲|排队|编译|瓶颈",
        "why|how come|cause|causes|caused|reason|should|could|would|can|fix|improve|faster|save|saves|saving|savings|if|cost|costs|price|evidence|prove|since|yesterday|before|\
         missing|error|errors|exception|failed|fail|fails|failure|problem|wrong|normal|ok|setting*|config*|critical path|idle|queue*|compil*|bottleneck|mean by|need|bound|happen*|going on|enough|bad|serious|severe|matter|matters|blame|worry|worried|concern*|reasonable|high|low|sensible|appropriate|worth|change|changes|changed|waste|wastes|wasted|wasting|win|wins|gain|tried|except|besides|else|again|often"),
    (&[Filler], "报告里的|报告中的|报告里|报告中|报告|成功跑完|成功完成|成功|跑完|其他|其它|别的|的|了|一个|结果|台|两|又|函数|令牌|吗|呢|是|有|在|和|与|跟|把|被|我们|我|你|请问|请|给|一下|这个|这|那个|那|里面|里|中|上|都|会|要|个|到|从|后|时|还|又|以|用|之间|之|或|多|得|该|它|其|者|整个|作业|应用|job|看|告诉|想|知道|对|出|进行|经过|最后|最终|运行|执行|查|去|来|按|做|大概|大约|究竟|到底|具体|左右|请教|帮|只|也|啊|吧|嘛|各阶段",
        "the|a|an|successful|successfully|succeeded|completed|according|reports|sooner|quicker|payoff|effective|result|results|anything|something|account for|function|functions|side|will|tomorrow|next|make up|made up|token|tokens|in|of|is|are|was|were|did|do|does|done|doing|this|that|these|those|it|its|to|for|from|by|on|at|with|and|or|much|many|how|me|my|we|our|us|i|you|your|please|tell|show|give|gives|there|have|has|had|be|been|\
         job|application|app|s|one|ones|own|just|only|here|then|them|their|they|as|about|so|any|some|get|gets|got|go|goes|went|really|exactly|hi|hello|thanks|also|between|during|across|over|after|through|single|value|values|now|per-stage|using|used|use|uses|ever|itself|within|being|scope|spark|still|actually|would you|can you|could you|\
         set|setup|hey|yo|ok so|well|pls|plz|kindly|folks|guys|dude|bro|man|wtf|wth|heck|hell|damn|darn|freaking|fucking|bloody|on earth|lol|hmm|right|like|kind of|sort of|a bit|quick question|\
         quickly|simply|basically|literally|honestly|seriously|apparently|obviously|probably|maybe|perhaps|possibly|currently|today|this time|already|even|know|wonder|wondering|see|find|find out|look|looking|\
         want|wanted|would like|let|let's|curious|ask|question|understand|figure out|i think|i guess|according|report|say|says|said|thing|things|stuff|guy|part|parts|way|pipeline|workload|workflow|program|\
         so much|that much|this much|such|very|too|quite|pretty|rather|super|extremely|it's|that's|there's|i'm|i've|i'd|we're|we've|they're|if any|at least|at most|each other|both|because|while|up|but|other|others|done|call|calls|wants|we'd|you'd|they'd|it'd|down|off|more or less|\
         start|started|starts|began|begin|begins|approximately|roughly|around|about how|place|own|itself|exclusive|exclusively|self|per-operator|had to|get to|gets to|able|try|trying|boss|team|colleague*|someone|somebody|anyone|everybody|everything|these days|real quick|thx|thank you|cheers|ah|oh|um|uh|\
         top|main|major|until|conclusion|conclude|decide|group|groups|two|three|four|five|first|second|last|nothing|initial|beginning|number|numbers|figure|figures|overall job|go from|goes from|going|come|comes|came|coming|make|makes|made|put|puts|took place"),
    (&[Filler], "放弃|收尾|关机|中途|用户|抱怨|反馈|显示|发现|注意|怀疑|明明|反正|总之|顺便|此外|其次|随便|任何|各种|通通|统统|现象|想问|能否|可否|毕竟|仍然|依然|依旧|再|更|结尾|开头|期间|过程中|过程|算是|属于|遇到|碰到|出现|发生|存在|关于|对于|\
        根据|按照|通过|为了|由于|甚至|尤其是|尤其|比如|例如|等等|之类|几乎|差不多|将近|仅仅|仅|无论|不管|尽管|即使|哪怕|虽然|然而|可是|而且|并且|或者|要么|就|便|却|倒|恰好|刚好|正好|吃掉|吃了|报了|报的|报|先动|动|打|拿|拿到|整体|总体|主要|基本|一般|通常|往往|马上|立即|赶紧|尽快|实在|简直|压根|根本|完全|绝对|稍微|略|有点|有些|"
        , "disk|on disk|to disk|stuck|user|users|complain*|rest|currently|seem|seems|seemed|suppose|supposed|kind|kinds|sort|sorts|mid-run|midway|halfway|end to end|abnormal*|unusual*|strange*|weird*|odd|oddly|suspicious*|notice*|sure|believe|mainly|mostly|deal|case|cases|\
        situation|overall|general|generally|particular|particularly|specific*|certain|certainly|separate*|various|different|similar|same|nearly|almost|fairly|barely|merely|truly|indeed|however|although|though|whether|therefore|thus|despite|otherwise|meanwhile|\
        eventually|finally|initially|originally|recently|lately|soon|eat|eats|eating|ate|hog|hogs|hogging|turn|turns|turned|keep going|point|points|idea|ideas|clue|hint at|short|briefly|asap|quick|main|key point|root|thru|somehow|somewhere|anywhere|everywhere|\
        lot|lots|bunch|couple|few|several|plenty|bit|little|big deal|huge|massive|giant|insane|crazy|ridiculous*|awful|terrible|horrible|nice|good|great|best|better|worse|worst|hard|easy|difficult|possible|impossible|available|present|true|false|yes|yeah|yep|nope|sorry|hello there|\
        those two|these two|other one|others|it all|at all|after all|in the end|in total here|set up|ends up|ended up|end up|happen to|tend*|appear*|become*|became|remain in|stay|stays|stayed|behave*|act|acts|acted|work|works|worked|working|help me|need to|supposed to"),
    (&[Filler], "慢|快|自定义|可能|离|距|小时|半|天|不足|足|前|久|长|啥也没|也没|提前|提早|久|回答|问题是|问|干嘛|干什么|做什么|干啥|作用|用途|一|二|三|四|次|遍|过|完|才|分|样|能|第一个|首先|分成|不同的|设了|设成|设为|设置|设的|设|自身|自己|本身|呀|哦|哈|嘿|诶|喂|麻烦|劳驾|老板|同事|大家|咱们|咱|您|大佬|兄弟|这活|玩意儿|玩意|这东西|东西|鬼|咋|真的|真|确实|其实|似乎|好像|感觉|觉得|觉着|认为|听说|希望|\
        今天|这次|本次|此次|当前|目前|现在|刚才|刚刚|已经|一直|老是|总是|居然|竟然|特别|非常|很|太|挺|超|蛮|相当|十分|好|这么|那么|如此|搞|弄|整|看看|看下|看一看|说说|说|聊聊|帮忙|帮我|告诉我|说明|描述|介绍|列出|列一下|给出|查下|问下|\
        快速|简单|大致|粗略|一些|有些|某|情况|方面|地方|部分|内容|信息|这种|那种|位置|算|让|由|为|于|则|而|并|且|但|但是|不过|然后|因为|所以|那位|张|每次|用到|磁盘|以及|之中|当中|数值|值|点|些|第|号|几|什么样|怎样的|多么|儿", ""),
    (&[Asks(Quantity::Verdict)], "正常|有问题|是问题|问题吗|什么问题|健康|需要优化|能不能优化|可以优化|要优化|需要处理|要不要|值得|有没有|是否|是不是|例行检查|检查一下",
        "main problem|biggest problem|the problem|a problem|any problem*|problem with|an issue|any issue*|wrong|healthy|normal|ok|okay|fine|should we|should i worry|do we need|need to worry|worth|anything to|\
        anything we|check|could this|can this"),
    (&[Asks(Quantity::Reason)], "为什么|为何|为啥|报的什么|什么错|啥错|报什么|错在哪|出了啥|死因|怎么了|咋了|哪里出|哪出|超时|出错|出的错|抛出|原因|怎么回事|怎么会|怎么这么|怎么跑|怎么花|咋|什么问题|定位|卡在|导致|失败|挂了|挂掉|报错|错误|异常|崩溃|被杀|杀掉|杀死|退出码|根因|炸了|性能问题|慢|瓶颈",
        "why|why's|root cause*|what killed|what failed|what's up|what is up|stack trace|traceback|timeout|timed out|time-out|reason*|cause*|what happened|what is wrong|blew up|blow* up|broke|breaks|what's wrong|what went wrong|how come|explain|\
        hold* up|slow|too long|so long|fail*|crash*|died|killed|exception*|error|errors|error message|exit code|threw|ended|bottleneck*|misses its sla|due to|\
        responsible"),
    (&[Asks(Quantity::Remedy)], "改成多少|多少合适|多少才合适|再快|先动|先调|该动|动哪|改啥|咋改|怎么跑通|怎么弄|如何解决|怎么解决|怎么优化|怎么提速|下手|怎么整|怎么处理|让它快|想快|快一点|快点|怎么搞|如何改|咋办|咋整|该怎么做|跑成功|才能成功|怎么成功|如何成功|跑通|怎样让|怎么让|如何让|怎么改|能改|可改|以改|要改|改的|改法|怎么办|建议|优化|解决|修改|改进|改善|提速|加快|加速|缩短|压到|降到|更快|调优|怎么调|先做什么|先改|改哪|改什么|值得改|能直接用|该改|先优化|从哪里入手|从哪入手|从哪开始|从哪里开始|从何入手|第一件事|首要|最先|最值得|最划算|见效最快|先解决|先处理|先看|怎么修|该修|修哪|修什么|先修|修复|第一步|避免",
        "how many should|right number|do i change|do we change|get it thru|get it through|get it to pass|make it pass|make it work|make it faster|make it quicker|make this faster|what now|what to do|should i do|should we do|do i need to change|go faster|what would help|tweak*|\
        get it working|do i fix|do first|first thing|first step|worth fixing|worth changing|leave it alone|next step*|one change|one thing|single change|which change|best change|most effective|payoff|pays off|bang for the buck|sooner|quickest fix|\
        where would you start|where do we start|where should i start|where should we start|start with|begin with|prioritize|prioritise|to succeed|make it succeed|what would you do|would you change|what should|what can|what could|should i change|should we change|to change|can we do|can i do|do about|fix*|optimi*|improv*|\
        speed*|faster|suggest*|recommend*|advise|advice|tune|tuning|reduce|shorten|cut|solve|avoid|remedy|run faster|quick win*|quickest win*|biggest win*|easiest win*|\
        low-hanging|do first|change first|fix first|where do i start|where to start"),
    (&[Asks(Quantity::Gain)], "能省|节省|省多少|省下|收益|能快多少|快多少|提升多少|减少多少|多大影响|影响多大",
        "save*|saving*|gain*|benefit*|how much faster|half the time|in half|impact|worth doing|how much would|how much time would"),
    (&[Asks(Quantity::Account)], "时间都|时间去哪|其余时间|其余的时间|剩下的时间|都去哪|时间花|花在|时间去|耗在|瓶颈|时间线|关键路径|时间分布|主要耗时",
        "did the rest go|rest of the time|the rest go|rest of it go|minutes go|minutes went|seconds go|seconds went|hours go|hours went|time lost|time is lost|time go|time goes|time went|time gone|takes the time|took the time|spend*|spent|bottleneck*|critical path|breakdown|takes so long|took so long|take so long|\
        timeline"),
    (&[Asks(Quantity::Duration)], "多久|多长时间|耗时|用时|时长|运行时间|执行时间|几分钟|多少时间|多少分钟|多少秒",
        "how long|duration|run time|runtime|running time|elapsed|wall time|how many minutes|how many seconds|how much time|how fast"),
    (&[Asks(Quantity::Share)], "占总时间|占全程|占多少时间|时间占比|百分之几|百分比|占多大比例|占比", "share of the time|share of the run|what share|which share|percentage|percent|% of the"),
    (&[Asks(Quantity::Bound)], "cpu 密集|cpu密集|io 密集|io密集|i/o 密集|计算密集|cpu 瓶颈|io 瓶颈|i/o 瓶颈|cpu 还是|io 还是|i/o 还是|受限于|受 cpu|受 io|cpu 限制|cpu 受限|jvm 还是|python 还是|还是 python|还是在 python|还是 jvm|还是在 jvm|还是在等|还是等待",
        "cpu bound|cpu-bound|io bound|io-bound|i/o bound|i/o-bound|bound by|limited by|compute bound|compute-bound|cpu or|io or cpu|jvm or|python or|or python|or in python|or the jvm|in the jvm|cpu-limited|cpu limited|or waiting|mostly waiting|just waiting|is i/o|i/o time|io time"),
    (&[Asks(Quantity::Single)], "只有一个任务|只有一个顶点|只有 1 个|只有1个|只用一个任务|只用一个顶点|单任务|单个任务|单顶点|单个顶点|一个任务的|一个顶点的",
        "one task|single task|single-task|one vertex|single vertex|single-vertex"),
    (&[Asks(Quantity::Settings)], "设置|设为|设成|设的|设多少|应该设|配置|参数|开了|开启|启用|打开了", "set to|setting*|configur*|enabled|disabled|turned on|turned off|switched on|parameter*"),
    (&[Asks(Quantity::Which)], "排名|排行|排个序|哪个阶段|哪个 stage|哪一个阶段|哪一个 stage|哪一步|哪些阶段|哪个stage|哪些 stage|哪几个阶段|哪几个 stage|最慢|最耗时|最大的|最长|最重|最费时",
        "rank|ranks|ranked|ranking|which stage*|what stage*|wich stage*|which one|which step*|slowest|longest|biggest|largest|heaviest|most expensive"),
    (&[Asks(Quantity::Stages)], "多少阶段|多少个阶段|几个阶段|几个 stage|阶段数|多少个 stage|多少 stage|哪些阶段", "how many stages|jobs and stages|stages and|number of stages|stage count|list the stages|what stages|which stages"),
    (&[Asks(Quantity::Cost)], "核秒|占用了多少|美元|多少块|成本|费用|花费多少|资源消耗|vertex-hour|au-hour|au 小时|顶点小时|核小时|令牌小时|多少资源|多少钱",
        "core seconds|core-seconds|slot seconds|token seconds|token-seconds|token hours|token-hours|dollars|usd|euros|cost*|expensive|price|vertex hours|vertex-hours|au hours|au-hours|core hours|resources|money"),
    (&[Asks(Quantity::Inputs)], "哪两张表|哪几张表|哪两个表|哪几个表|哪些数据源|几张表|读的什么|哪些表|哪张表|哪个表|输入表|哪些输入|哪个输入|最大的输入|最大的表|什么表|读了哪些|读哪些|输入有哪些|多少个输入|读取哪些|输入有多|输入数据有多|输入多大",
        "which table|which tables|what tables|inputs|input tables|which input|which inputs|what input|largest input|biggest input|largest table|biggest table|\
        input data|what does it read|what data|which files does it read|how many inputs|how many tables"),
    (&[Asks(Quantity::Place)], "第几行|哪一行|哪行|哪几行|哪里设的|哪里设置|脚本哪|哪段代码|哪段脚本|哪条语句|哪个语句|在哪里|代码在哪|脚本里的哪|对应的脚本|对应脚本",
        "which line*|what line*|which statement*|which code|what code|which part of the script|where in the script|where is|script lines|line number*|\
        lines of the script"),
    (&[Asks(Quantity::Flow)], "数据从哪|从哪个 stage|从哪个阶段|哪个阶段来|来自哪|上游|下游|依赖|输入来自|数据来自|读自|谁读|写给", "where does its data|gets its data from|data come from|upstream|downstream|depend*|feeds|fed by|reads from|read from|comes from|waits for|consumer*|producer*"),
    (&[Asks(Quantity::Change)], "变慢了|变了|变化|上次|上一次|上周|昨天|比之前|和之前|跟之前|之前的运行|之前跑|以前|突然|越来越|改动后|上线后|前几天|比平时|比往常|回归|不一样",
        "chang* since|changed|what changed|last run|last week|last time|yesterday|than before|as before|before the change|used to|went up|compared to|compared with|\
        previous|regress*|twice as long|than usual|last change|earlier run|different from|suddenly|since"),
    (&[Asks(Quantity::Missing)], "缺什么|缺哪|缺的|缺了|缺少|还需要什么|哪些文件|什么文件|补充什么|信息不足|不确定|没法判断",
        "files should|files do you need|provide|missing|what else do you need|which file*|what file*|need more|cannot be decided|not decided|unsure|uncertain"),
    (&[Asks(Quantity::Sources)], "依据|证据|哪里来的|怎么知道|来源|怎么得出|根据什么", "evidence|how do you know|source of|based on|prove|proof|where does that number|how sure|confiden*"),
    (&[Asks(Quantity::Identity)], "谁提交|谁跑的|提交人|什么时候提交|什么时候跑|什么时候开始|什么时候运行|几点|哪个队列|什么队列|虚拟集群|集群|vc|作业 id|作业id",
        "contact|which user ran|which user submitted|who submitted|who ran|who owns|owner|when was|when did|which queue|cluster|vc|virtual cluster|job id|submitted by"),
    (&[Takes(SegmentKind::Compile)], "编译", "compil*"),
    (&[Takes(SegmentKind::Queue)], "排队|队列等|队列里", "queue*|queuing"),
    (&[Takes(SegmentKind::CapacityWait)], "等待资源|等资源|等待令牌|等机器|等了|等那么|等这么|等多久|等待|才开始", "wait*|capacity"),
    (&[Takes(SegmentKind::Startup)], "启动时间|启动开销|启动", "start-up|startup|starting"),
    (&[Takes(SegmentKind::Gc)], "垃圾回收|gc", "gc|garbage"),
    (&[Takes(SegmentKind::Spill)], "落盘|溢出|溢写", "spill*"),
    (&[Takes(SegmentKind::Sort)], "排序", "sort|sorts|sorting"),
    (&[Takes(SegmentKind::Exchange)], "洗牌|shuffle|数据交换", "shuffl*|exchange*|network"),
    (&[Takes(SegmentKind::Retry)], "重试|失败的顶点|重跑", "retr*|failed attempts|failed vert*|failed tasks"),
    (&[Takes(SegmentKind::Straggler)], "长尾|拖尾", "straggler*|long tail"),
    (&[Takes(SegmentKind::UserCode)], "用户代码|udo|udf|自定义函数", "user code|udo*|udf*|c#|python"),
    (&[Takes(SegmentKind::Read)], "读取时间|读数据", "reading"),
    (&[Takes(SegmentKind::Driver)], "作业管理器|驱动程序", "job manager|driver"),
    (&[Takes(SegmentKind::Idle)], "空档|空隙|空窗|空闲|没有 task 在|没有任务在|没有顶点在", "gap|gaps|idle*|no task*|no vertex|no vertices|nothing run*"),
    (&[OfType(ProblemType::DataSkew)], "倾斜|热点|分布不均|数据不均|不均匀|哪个值", "skew*|hot key*|uneven*|imbalance*|unbalanced|which value|heaviest key"),
    (&[Caused(Cause::NullOrDefaultKey)], "空值|默认值|null|默认的", "null|nulls|default key|default value|default guid|default id*"),
    (&[Caused(Cause::FetchWait)], "fetch|等待 shuffle|拉取", "fetch*"),
    (&[OfType(ProblemType::ExcessiveShuffle)], "洗牌|shuffle|重新分区|数据交换", "shuffl*|repartition*"),
    (&[Caused(Cause::HeapPressure)], "垃圾回收|gc", "gc|garbage"),
    (&[Caused(Cause::Spill)], "落盘|溢出|溢写|spill", "spill*"),
    (&[Caused(Cause::MemoryEstimateTooLow), Caused(Cause::Spill), Caused(Cause::HeapPressure), Caused(Cause::LimitFailure)], "内存", "memory|oom|out of memory"),
    (&[Caused(Cause::Misestimate), Caused(Cause::MemoryEstimateTooLow)], "估计|基数|预估", "estimat*|cardinality|misestimat*"),
    (&[Caused(Cause::JoinExplosion)], "膨胀|笛卡尔", "explo*|cartesian|cross join|fan-out"),
    (&[Caused(Cause::CpuBoundUdo)], "用户代码|udo|udf|自定义函数", "user code|udo*|udf*|cpu"),
    (&[Caused(Cause::ParallelismTooLow), Caused(Cause::TinyVertices), Caused(Cause::SerialGather)], "并行|顶点太多|顶点太少|任务太多|任务太少|单个顶点|单核|这么多顶点|顶点这么多|这么多任务|这么多 task",
        "parallel*|too few|too many vertices|too many tasks|so many vertices|so many tasks|so many small tasks|one core|single vertex|one vertex"),
    (&[Caused(Cause::TinyVertices)], "切得太碎|切得太细|太碎|太细|碎片", "tiny vert*|tiny task*|too fine*|too small|so small|over-partitioned|overpartitioned|too many partitions|too granular"),
    (&[Caused(Cause::SmallFiles)], "小文件", "small file*|many files|tiny file*"),
    (&[Caused(Cause::VertexRetries)], "重试|重跑|失败最多|上失败", "retr*|failed attempts|revoked|failures|failed most"),
    (&[Caused(Cause::SlowMachine)], "慢机器|机器慢|坏机器|节点慢|机器有问题|机器问题", "slow machine*|bad machine*|slow node*|bad node*|machine*|hardware"),
    (&[Caused(Cause::QueueWait)], "排队|等待资源", "queue*|queuing|capacity"),
    (&[Caused(Cause::MissedBroadcast), Caused(Cause::BroadcastTooLarge)], "广播", "broadcast*"),
    (&[Caused(Cause::LateFilter)], "过滤|where 提前|where 条件|把 where|先 where|where 写|where 放|where 在|谓词|下推", "where clause|the where|filter*|predicate*|pushdown|push down|pushed down"),
    (&[Caused(Cause::UnusedColumns)], "没用到|没有用到|没被使用|未使用|用不到|无用的列|多余的列|没用的列", "unused column*|too many columns|never used|not used|aren't used|unused"),
    (&[Caused(Cause::IneffectiveCache)], "缓存|重复|几遍|多少遍|读了几次|读了多少次|算了几次",
        "cach*|computed again|recomput*|recalculat*|over and over|repeat*|more than once|same thing|same data|same computation|read again|how many times|again and again"),
    (&[Caused(Cause::OverAllocation), Caused(Cause::UnderAllocation)], "执行器太|executor 太|资源分配",
        "too many executors|too few executors|idle executors|allocat*"),
    (&[Caused(Cause::ExecutorLost)], "丢失|被杀|杀掉|executor 挂|executor 死|executor 被杀|executor 丢|掉线|重跑|再跑|又跑|又运行|重新运行|跑了几次|跑了两次",
        "executor* die*|executor* dead|executor* killed|executor* crash*|executor* gone|recomputed|computed again|computed twice|ran again|run again|rerun|re-run|\
        run twice|ran twice|lost executor*|executor lost|executors lost|executors were lost|executor was lost|lose executor*|losing executor*"),
    (&[Caused(Cause::DriverBottleneck)], "驱动程序|空档|空隙|空窗", "driver|gap|gaps"),
    (&[Setting("priority")], "优先级", "priority"),
    (&[Setting("spark.version")], "哪个版本|什么版本|版本号|spark 版本|spark 的版本", "spark version|which version|what version|version of spark"),
    (&[Setting("spark.sql.adaptive.enabled")], "aqe|自适应", "aqe|adaptive"),
    (&[Setting("spark.sql.shuffle.partitions")], "shuffle 分区|shuffle 的分区|shuffle partition",
        "shuffle partition*|partitions for shuffl*|partitions used for shuffl*|partitions are used for shuffl*"),
    (&[Setting("spark.executor.memory")], "executor 内存|executor 的内存|执行内存|执行器内存",
        "executor memory|memory per executor|memory does an executor|memory does each executor|memory do the executors|memory does one executor"),
    (&[Setting("spark.cores.max")], "最多多少核|总核数上限", "max cores|maximum cores"),
    (&[Setting("spark.executor.cores")], "executor 核|executor 的核|每个 executor 多少核|每个 executor 几核", "executor cores|cores per executor|cores does each executor"),
    (&[Setting("spark.driver.memory")], "driver 内存|driver 的内存", "driver memory"),
    (&[Setting("spark.sql.autoBroadcastJoinThreshold")], "阈值是多少|阈值多少|阈值设|自动广播阈值|广播阈值|广播的阈值", "the threshold|broadcast threshold|broadcast join threshold|threshold for broadcast*"),
    (&[Setting("spark.speculation")], "推测执行", "speculation|speculative execution"),
    (&[Setting("spark.task.maxFailures")], "最多允许失败|允许失败几次|失败几次|最大失败次数|失败上限", "max failures|task failures allowed|may fail|failures are allowed|allowed to fail"),
    (&[Setting("spark.default.parallelism")], "默认并行度", "default parallelism"),
    (&[Setting("spark.serializer")], "序列化", "serializer"),
    (&[Setting("spark.executor.memoryOverhead")], "堆外内存|memory overhead", "memory overhead|overhead memory"),
    (&[Setting("spark.sql.ansi.enabled")], "ansi", "ansi"),
    (&[Setting("spark.master")], "master 是什么", "which master|spark master"),
    (&[Setting("spark.dynamicAllocation.enabled")], "动态分配", "dynamic allocation"),
    (&[Setting("spark.memory.fraction")], "内存比例", "memory fraction"),
    (&[Setting("spark.sql.files.maxPartitionBytes")], "输入分区大小|文件分区大小", "max partition bytes|input partition size|input split size"),
    (&[Cue(Cue::Why)], "为什么|为何|为啥|原因|怎么回事|怎么会|怎么这么|怎么跑|怎么花|怎么用|咋导致", "why|why's|reason*|cause*|what happened|how come|explain|responsible|due to"),
    (&[Cue(Cue::Polar)], "吗|是不是|有没有|是否|能不能|会不会|严重", "any"),
    (&[Cue(Cue::Open)], "什么错|啥错|死因|怎么了|咋了|出了啥|慢|久|失败|挂|优化|瓶颈|性能|正常|出了什么问题|原因|超|怎么改|改法|建议|定位", "root cause*|what killed|what failed|slow|slower|fail*|optimi*|bottleneck*|wrong|problem*|faster|speed*|sla|reason"),
    (&[Cue(Cue::Slow)], "慢|久|失败|报错|卡住|挂了", "slow*|long|fail*|crash*|stuck|hang*"),
    (&[Cue(Cue::Failure)], "搞挂|弄挂|跑挂|搞崩|崩了|失败|挂了|挂掉|挂过|报错|出错|错误|异常|崩溃|抛出", "fail*|crash*|error*|exception*|threw|throws it|throws the|throws this|raises|blew up|died|broke"),
    (&[Cue(Cue::Error)], "错误|异常|报错", "error*|exception*|message*|throws it|throws the|throws this|raises"),
    (&[Cue(Cue::Job)], "作业|整个|脚本|应用|任务", "job|script|application|whole|overall|run"),
    (&[Cue(Cue::It)], "它", "it|its"),
    (&[Cue(Cue::ThisStage)], "这个阶段|该阶段|这个 stage|该 stage|那个阶段|那个 stage|这一步|这步|那一步", "this stage|that stage|the stage|this step|that step"),
    (&[Cue(Cue::Compares)], "比|对比|相比|差别|区别|哪个更|谁更|哪个慢|哪个快|哪个大|哪个多", "than|compar*|versus|vs|difference|differ|which one|which is|slower|faster|longer"),
    (&[Cue(Cue::Or)], "还是|或|和|与|比", "or|than|and|versus|vs"),
    (&[Cue(Cue::Differs)], "不同|不一样|不相等|不等|差别|差这么", "difference|differ|differs|different|not the same|not equal|unequal"),
    (&[Cue(Cue::Goal)], "以内|之内|压到|降到|控制在|缩短到|减到|更快|快于|一半以内|钟内|秒内|小时内|能不能|能在|可以在", "within|under|less than|faster than|below|down to|half the time|in half|at most|finish in|complete in|would it|will it|can it|could it|run in|done in"),
    (&[Cue(Cue::DataRow)], "哪一行数据|哪行数据|哪条数据|哪条记录", "which row|which record|what row"),
    (&[Cue(Cue::Healthy)], "正常|健康|没问题", "healthy|normal|ok|okay|fine"),
    (&[Cue(Cue::Would)], "如果|要是|假如|能不能|可以|会不会|应该|该不该|要不要", "would|could|can|should|will|if"),
    (&[Cue(Cue::Faster)], "快|有用|帮助", "faster|quicker|sooner|help|helps|speed*"),
    (&[Cue(Cue::Enough)], "够|足够", "enough|suffice*"),
    (&[Cue(Cue::Half)], "一半", "half"),
    (&[Cue(Cue::WhatIf)], "如果|假如|要是|会怎样|会怎么样", "what if|what happens if|what happened if|what would happen"),
    (&[Cue(Cue::If)], "如果|要是|假如|假设|若", "if|suppose|supposing|assuming|imagine|would|without"),
    (&[Cue(Cue::Without)], "没有|不用|不需要|不花|去掉|省掉|一开始就|立刻|马上|消除|免费|为零|为 0", "without|no|not|never|hadn't|didn't|weren't|wasn't|at once|immediately|right away|from the start|from the beginning|straight away|removed|free|instant*|nothing|zero|gone"),
    (&[Cue(Cue::Thought)], "如果|假如|要是|若|会|多久|多长时间|能|换成|给它|改成|快多少|慢多少|怎么样|怎样|需要|够|用 |呢|行不行|可以|有用|帮助|要不要|减到|降到|加到|增加到", "would|if|could|will|can|with|how long|how fast|how much time|what about|instead of|need*|enough|happens|help*|too many|too few|worth|should"),
    (&[Cue(Cue::Past)], "上次|上周|昨天|以前|相比|变慢了|比之前", "since|last|yesterday|previous|used to|compared|than before|did"),
    (&[Cue(Cue::Surplus)], "太多|用不完|用不了|过多|是不是多了|浪费", "than we need*|than need*|than it need*|too many|over-provisioned|overprovisioned"),
    (&[Cue(Cue::Needs)], "", "need*|should|required"),
    (&[Cue(Cue::Many)], "", "many"),
    (&[Cue(Cue::OtherAmount)], "", "time|minutes|seconds|hours|with|and"),
    (&[Cue(Cue::Span)], "多久|多长|多少时间|几秒|多少秒|间隔|隔了|相隔|用时|耗时|花了多", "how long|how much time|how many seconds|how many minutes|gap|delay|time between|elapsed|time from|time passed|time passes"),
    (&[Cue(Cue::Moment)], "什么时候|何时|几时", "when did|when does|when was|at what time"),
    (&[Cue(Cue::StartOrEnd)], "开始|结束|完成", "start*|begin|end|finish*|complete|ended"),
    (&[Cue(Cue::What)], "什么|花在|干什么|干嘛", "what|what's|whats|where|wtf|wth"),
    (&[Cue(Cue::Is)], "", "is|are|what's|whats|do|does"),
    (&[Cue(Cue::Purpose)], "干什么|做什么|干嘛|干啥|作用|用途|什么用", ""),
    (&[Cue(Cue::Where)], "哪里", "where"),
    (&[Cue(Cue::How)], "多久|多长|多少", "how"),
    (&[Cue(Cue::HowManyRows)], "多少行|几行|多少条", "how many rows|number of rows|row count|how many records"),
    (&[Cue(Cue::HowBig)], "多大|多少字节|多少 gb|多少 mb", "how big|how large|how many bytes|how many gb|how many mb"),
    (&[Cue(Cue::Explains)], "解释|定义|含义|意思", "explain|define|definition|meaning|means"),
    (&[Cue(Cue::Happens)], "为|慢|失败|原因|问题|花", "why|slow*|fail*|problem*|took|takes|happened|time"),
    (&[Cue(Cue::OfStage)], "阶段|stage|步|慢|久|长|耗时|费时", "stage*|step*|slow*|long*|time|expensive|one|heaviest"),
    (&[Cue(Cue::Stage)], "阶段|stage", "stage*"),
    (&[Cue(Cue::Later)], "第二|第三|最后|第 2|第 3", "second|third|last"),
    (&[Cue(Cue::Order)], "排名|排行|排个序", "rank*|order the"),
    (&[Cue(Cue::Driver)], "driver", "driver"),
    (&[Cue(Cue::Executor)], "executor|执行器", "executor*"),
    (&[Cue(Cue::Waits)], "等", "wait*"),
    (&[Cue(Cue::WhichKey)], "哪个 key|哪个key|哪个键", "which key|what key"),
    (&[Cue(Cue::KeyOf)], "连接|关联|join|分组|聚合|分区|排序|窗口", "join*|group*|aggregat*|partition*|sort*|window*"),
    (&[Cue(Cue::Values)], "列|字段|值", "column*|field*|value*|key|keys"),
    (&[Cue(Cue::Runs)], "运行|跑", "run|runs|running|execution|work"),
    (&[Cue(Cue::Strategy)], "连接方式|连接类型|连接算法|哪种连接|什么连接|join 方式|join 类型|join 算法|哪种 join|什么 join", "join type|type of join|kind of join|join strategy|join algorithm|sort of join"),
    (&[Cue(Cue::Outsider)], "谁写入|谁写的|谁把|是谁写|谁读取|谁读了|谁在用|谁会用|谁用了|谁生成|谁产生|谁导入|谁维护|谁负责|哪个团队|哪些团队|哪个部门", "which team*|what team*|which department*|who read|who reads|who wrote|who writes|who produced|who produces|who uses|who used|who consumes|who generated|who loads|who loaded|who maintains|who created|who is reading|who else"),
    (&[Cue(Cue::Finished)], "跑完了吗|跑完没|跑完了没|跑完了么|结束了吗|结束了没|完成了吗|成功了吗|跑通了吗|还在跑吗|还在运行吗|有没有跑完|是否跑完|是否完成|有没有成功|是否成功|有没有结束",
        "did it finish|did the job finish|did the run finish|did this finish|did this job finish|has it finished|is it finished|did it complete|did the job complete|is it done|has it ended|is it still running|did it succeed|did the job succeed|\
        did this run succeed|did it end|run to the end|did the app finish|did the application finish|did this app*|complete successfully|finish successfully|was it successful|is the job finished|is the application finished|did it get through"),
    (&[Cue(Cue::LastStep)], "最后走到哪|走到哪一步|走到哪|跑到哪|执行到哪|最后一步|最后一个事件|停在哪|到哪一步", "last thing|last step|last event|how far did|how far it|where did it stop|where it stopped"),
    (&[Cue(Cue::Ran)], "跑起来|有没有跑|跑了吗|跑了没|运行了吗|执行了吗|有没有运行|有没有执行|跑过|启动了吗|跑到了吗", "run|ran|start|started|execute|executed"),
    (&[Cue(Cue::Written)], "写出任何|写出了任何|有没有写|写出结果|写了结果|写出东西|产出结果|有没有输出|有没有产出|写出了吗|任何结果|任何输出|任何数据",
        "anything written|write anything|wrote anything|written anything|any output*|any result*|produce anything|output at all|write any*|produce any*|get written|was anything|anything get"),
    (&[Cue(Cue::Uses)], "用没用|用到|用了|使用|用过|读过|读了|引用|被用|用上|在用", "use|uses|used|using|read|reads|reference*|refer*|touch*|need|needs|needed"),
    (&[Cue(Cue::Others)], "除了|以外|之外|别的|其他|其它|另外", "besides|other|others|other than|apart from|another|except|else"),
    (&[Cue(Cue::Wasted)], "浪费|白跑|白费|损失|白做|白白|扔掉", "wast*|burn*|burnt|in vain|for nothing|thrown away|threw away|throw away|lost to"),
    (&[Cue(Cue::Kinds)], "哪些错|哪种错|哪几种|什么类型|哪些类型|几种错|错误类型|哪类", "kinds of|kind of error*|what errors|which errors|types of error*|error types|what kinds|what kind|sort of error*"),
    (&[Cue(Cue::ExitCode)], "退出码|退出代码|返回码", "exit code*|exit status|exitcode|exit with|exited with"),
    (&[Cue(Cue::Slower)], "哪个慢|谁慢|更慢|哪台慢|最慢|哪个比较慢", "slower|slowest|the slow one|which one is slow|is slow"),
    (&[Cue(Cue::Choice)], "还是", "or|rather than|and not"),
    (&[Cue(Cue::Origin)], "谁设|谁定|哪来的|哪里来的|哪儿来的|从哪来|怎么来的|怎么定的|哪里设|哪儿设|由什么决定|什么决定|谁把|谁指定|在哪设|哪里定", "who set|where does|come from|comes from|came from|who decided|what sets|what set|what determines|determined by|set by|what decides|decided by|controls"),
    (&[Cue(Cue::Effect)], "影响|作用|干什么|干嘛|做什么|有什么用|什么用|意思|后果|会怎么样|是什么", "effect*|affect*|impact*|mean|means|do|does|consequence*|control*|implication*|good for"),
    (&[Cue(Cue::Fits)], "放得下|装得下|小于|低于|够小|超过|小于等于|大于", "fit|fits|fitted|under|below|exceed*|small enough|within|larger than|too big|too large|over"),
    (&[Cue(Cue::Target)], "移到哪|挪到哪|放到哪|该放哪|放在哪|挪去哪|移去哪|提到哪|提前到哪|该写在哪|应该写在哪|该加在哪|加在哪", "should it go|should that go|should the filter go|should it be|where should i move|where do i move|where to move|where to put|where should i put|where do i put|where does it belong|move it to|should i add it|where would it go"),
    (&[Cue(Cue::Harm)], "要紧|担心|影响|耽误|拖慢|代价|严重|有关系|碍事|亏|问题", "worry|worried|worrying|concern*|matter|matters|cost us|cost me|cost much|cost a lot|cost anything|hurt*|harm*|serious|a problem|big deal|slow* us|slow* it|slow* the|delay*|bad"),
    (&[Cue(Cue::Attempted)], "几次|多少次|几遍|尝试|两次|两遍|不止一次", "how many times|how often|attempted|attempts|twice|more than once|run again|ran again"),
    (&[Cue(Cue::Late)], "之后|太晚|太迟|后面|白白|提前|放在 join 后|join 后", "late|later|after|before|in vain|for nothing|earlier|too late|needlessly|unnecessar*"),
    (&[Cue(Cue::Succeeded)], "还是成功|还能成功|也成功|却成功|仍然成功|没有失败|没失败", "still succeed*|succeed anyway|succeeded anyway|succeed in the end|still pass*|not fail"),
    (&[Cue(Cue::Hint)], "提示|hint", "hint|hints"),
    (&[Resource(Resource::Tokens)], "令牌|token|au ", "token*|au|aus"),
    (&[Resource(Resource::Executors)], "加机器|加几台机器|多几台机器|更多机器|扩容|executor|执行器|节点", "executor*|worker*|node*|more machines|add machines|additional machines"),
    (&[Resource(Resource::Cores)], "核", "core*|cpu*|slot*"),
    (&[Resource(Resource::Input)], "输入|数据|表", "input*|data|rows|table*|dataset*"),
    (&[Resource(Resource::Memory)], "内存", "memory|ram|heap"),
    (&[Resource(Resource::Partitions)], "分区", "partition*"),
    (&[Resource(Resource::Hardware)], "磁盘|硬盘|网络|带宽", "disk*|ssd*|network|bandwidth|machine*"),
    (&[Amount(Amount::Times(0.25))], "四分之一", "quarter"),
    (&[Amount(Amount::Times(0.5))], "一半|减半|半数|少一半", "half|halve|halves|halved|halving"),
    (&[Amount(Amount::Times(2.0))], "双倍|翻倍|翻一倍|加倍|翻一番|翻番|多一倍|增加一倍|加一倍|大一倍|涨一倍", "twice|double|doubles|doubled|doubling"),
    (&[Amount(Amount::Times(3.0))], "", "triple|triples|tripled|tripling|thrice"),
    (&[Amount(Amount::Times(4.0))], "翻两番", "quadruple|quadrupled"),
    (&[Amount(Amount::Open)], "加机器|加几台|多几台|扩容|更多|更少|增加|减少|需要多少|够不够|够吗|多一些|少一些|加大|调大|加 |加点|多给|减 |再加|多加", "more|fewer|less|additional|extra|enough|adding|reducing"),
    (&[Numeral(1.0)], "一个|一台", "one"),
    (&[Numeral(2.0)], "两倍|两个|两台", "two"),
    (&[Numeral(2.0)], "二倍|二个|二台", ""),
    (&[Numeral(3.0)], "三倍|三个|三台", "three"),
    (&[Numeral(4.0)], "四倍|四个|四台", "four"),
    (&[Numeral(5.0)], "五倍|五个|五台", "five"),
    (&[Numeral(6.0)], "六倍|六个|六台", "six"),
    (&[Numeral(8.0)], "八倍|八个|八台", "eight"),
    (&[Numeral(10.0)], "十倍|十个|十台", "ten"),
    (&[Numeral(100.0)], "百倍|百个|百台", "hundred"),
    (&[Point(Point::Measured(&book::FIRST_EXECUTOR))], "第一个 executor|首个 executor|第一个executor|executor 就绪", "first executor|first worker"),
    (&[Point(Point::FirstStage)], "第一个 job|首个 job|第一个阶段|第一个 stage|第一个顶点|第一个 task|第一个任务", "first job|first stage|first vertex|first task|first spark job"),
    (&[Point(Point::Submission)], "提交|应用启动|应用开始|应用起", "submission|submitted|submit|submitting|application start*|app start*|application launch*"),
    (&[Point(Point::Measured(&book::COMPILED))], "编译完|编译结束|编译好", "compiled|compilation end*|compilation finish*|end of compilation|compiling end*"),
    (&[Point(Point::End)], "结束|完成|跑完|失败|挂掉", "end|ends|ended|the end|finish*|complet*|fail*|died|done"),
    (&[Point(Point::Start)], "开始|启动", "start|starts|started|begin*|began"),
    (&[Record(Record::Columns)], "模式|格式", "schema|format|types"),
    (&[Record(Record::Layout)], "存储|布局|最热|热点值", "stored|layout|clustered|hot|hottest|frequent"),
    (&[Record(Record::Reads)], "几次|几遍|重复|多少次|多少遍", "how often|twice|three times|four times|times|again|repeatedly"),
    (&[Record(Record::Hints)], "提示|hint", "hint|hints"),
    (&[Record(Record::Strategy)], "连接方式|连接类型|连接算法|广播|归并|哈希|怎么分发", "kind of join|join type|join strategy|implemented|distributed|broadcast*|merge join|hash join"),
    (&[Record(Record::Attempts)], "失败|重试|报错|错误|消息|尝试", "fail*|attempt*|retr*|error*|message*"),
    (&[Record(Record::Arguments)], "条件|表达式|谓词|怎么算|公式", "condition*|expression*|predicate*|computed|formula|argument*"),
    (&[Record(Record::Flow)], "分发|分布|下一个阶段", "distributed|sent|next stage"),
    (&[Unrecorded(StaticText { zh: "磁盘和网络的速度", en: "the speed of disks and the network" })], "iops|磁盘吞吐|磁盘速度|网络带宽|带宽是|带宽有", "iops|disk throughput|disk speed|bandwidth|network speed|latency"),
    (&[Unrecorded(StaticText { zh: "机器的空闲内存和磁盘空间", en: "the free memory and disk space of the machines" })], "剩多少内存|剩余内存|空闲内存|可用内存|内存还剩|机器的内存|剩多少空间|磁盘空间|剩余空间|剩多少磁盘|磁盘还剩|机器内存", "free memory|memory left|memory was left|memory was free|free ram|ram left|free disk|disk space|available memory|space left|memory available|memory did the machine|memory did the host"),
    (&[Unrecorded(StaticText { zh: "集群上的其他作业：日志只有这一个作业自己的事件", en: "other jobs of the cluster, only this one's own events" })], "其他作业|别的作业|谁的作业|别人的作业|其他用户|别的用户|集群负载|邻居|谁占|谁在占|被谁占|谁抢|集群忙|集群满|集群为什么|集群当时", "other jobs|another job|whose job*|other users|other applications|cluster load|load of the cluster|cluster busy|cluster so busy|cluster full|\
        who took|who held|who was using the|who is using the|who occupied|who occupies|who was hogging|neighbor*|neighbour*"),
    (&[Unrecorded(StaticText { zh: "作业的排期和期限", en: "the schedule or the deadline of the job" })], "排期|调度计划|定时|几点触发|什么时候再跑|下一次调度|截止时间", "scheduled|schedule|cron|next due|deadline|trigger time"),
    (&[Unrecorded(StaticText { zh: "结果的数值，只有行数和字节数", en: "the values of the results, only their rows and bytes" })], "结果对不对|结果对吗|结果正确|结果准|数据对不对|数值一致|结果一致|结果一样|算得对|数字对", "same numbers|same figures|same result*|same revenue|revenue numbers|numbers right|numbers correct|results correct|result correct|results match|numbers match|correct result*|right result*"),
    (&[Unrecorded(StaticText { zh: "作业之外的服务和系统的状态，只有作业自己收到的错误", en: "the state of services outside of the job, only the errors that the job got from them" })], "自己的负载|服务的负载|网关的负载|负载有多高|负载多高|对方的负载|服务端负载|服务端的|对端", "load on the service|load of the service|load of the gateway|load on the gateway|server side|server-side|how busy was the service|how busy was the gateway"),
    (&[Unrecorded(StaticText { zh: "脚本的修改历史", en: "the history of changes to the script" })], "谁改了|谁改的|谁修改|谁动了|谁改过|修改记录|修改历史|改动记录", "who changed|who edited|who modified|who touched|who broke|commit history|change history|last edited"),
    (&[Unrecorded(StaticText { zh: "机器的型号", en: "the models of the machines" })], "机型|cpu 型号|什么型号|几代 cpu", "cpu model|machine type|instance type|vm size|hardware model"),
    (&[Unrecorded(StaticText { zh: "以后的运行和很久以前的运行", en: "later runs or runs long before" })], "下次|下一次|明天|下周|下个月|以后会|将来|上个月|上月|去年|历史上|往年|每天都|经常", "tomorrow|next run|next time|next week|next month|future|last month|last year|last quarter|every day|how often does this job"),
];

/// One phrase with the words that it stands for.
#[derive(Clone, Copy)]
pub(crate) struct Phrase {
    pub(crate) text: &'static str,
    pub(crate) words: &'static [Word],
    /// Whether the phrase matches inside others too.
    pub(crate) is_loose: bool,
}

/// Measures with the same words: as words of content, and as words that are found anywhere.
type OfBook = (StaticText, [Vec<Word>; 2]);

static OF_BOOK: LazyLock<Vec<OfBook>> = LazyLock::new(|| {
    let mut groups: Vec<OfBook> = Vec::new();
    let named = book::ALL.iter().filter(|m| !m.words.en.is_empty());
    for measure in named.copied() {
        let words = [Of(measure), Named(measure)];
        match groups.iter_mut().find(|(text, _)| *text == measure.words) {
            Some((_, known)) => known.iter_mut().zip(words).for_each(|(k, w)| k.push(w)),
            None => groups.push((measure.words, words.map(|word| vec![word]))),
        }
    }
    groups
});

/// Measures that the words of amounts and statistics choose among.
#[rustfmt::skip]
const GENERAL: [&Measure; 8] = [
    &book::ROWS_IN, &book::BYTES_READ, &book::ROWS_MAX, &book::MAX_RUN, &book::VERTICES, &book::PARTITIONS, &book::EXECUTORS, &book::EXECUTIONS,
];

/// Every phrase by its first character, the longest first.
static PHRASES: LazyLock<HashMap<char, Vec<Phrase>>> = LazyLock::new(|| {
    let own = WORDS.iter().map(|(words, zh, en)| (*words, *zh, *en));
    let is_general = |words: &StaticText| GENERAL.iter().any(|m| m.words == *words);
    let of_book = OF_BOOK.iter().filter(|(words, _)| !is_general(words));
    let of_book = of_book.map(|(text, [words, _])| (&words[..], text.zh, text.en));
    let named = OF_BOOK.iter();
    let named = named.map(|(text, [_, words])| (&words[..], text.zh, text.en));
    let mut phrases: HashMap<char, Vec<Phrase>> = HashMap::new();
    for (words, zh, en) in own.chain(of_book).chain(named) {
        for text in texts(zh, en) {
            let first = text.chars().next().unwrap_or(' ');
            let is_loose = words[0].is_loose();
            let phrase = Phrase {
                text,
                words,
                is_loose,
            };
            phrases.entry(first).or_default().push(phrase);
        }
    }
    let all = phrases.values_mut();
    all.for_each(|all| all.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.len())));
    phrases
});

/// The phrases of both languages.
pub(crate) fn texts(zh: Phrases, en: Phrases) -> impl Iterator<Item = &'static str> {
    let texts = zh.split('|').chain(en.split('|'));
    texts.filter(|text| !text.trim().is_empty())
}

/// The length of a phrase at the beginning of a text; English ones end with a word, or with a stem before `*`.
pub(crate) fn length(phrase: &str, rest: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    length_to(phrase, rest, is_part)
}

fn length_to(phrase: &str, rest: &str, is_part: impl Fn(char) -> bool) -> Option<usize> {
    let (stem, is_stem) = match phrase.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (phrase, false),
    };
    let after = rest.strip_prefix(stem)?;
    if !stem.ends_with(|c: char| c.is_ascii()) || stem.ends_with(' ') {
        return Some(stem.len());
    }
    let tail = after.len() - after.trim_start_matches(is_part).len();
    (is_stem || tail == 0).then_some(stem.len() + tail)
}

/// The first word of a text: letters and digits, or one Chinese character.
pub(crate) fn word(rest: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'' | '-');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    &rest[..end.max(first)]
}

/// Whether a phrase of kinds of questions may begin or end next to a character.
pub(crate) fn is_joined(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '#')
}

/// The phrases at a place of a text, with their lengths.
pub(crate) fn phrases_at(
    text: &str,
    at: usize,
) -> impl Iterator<Item = (&'static Phrase, usize)> + '_ {
    let rest = &text[at..];
    let first = rest.chars().next().and_then(|c| PHRASES.get(&c));
    let before = text[..at].chars().next_back().unwrap_or(' ');
    first.into_iter().flatten().filter_map(move |phrase| {
        let is_ascii = phrase.text.starts_with(|c: char| c.is_ascii());
        let is_chinese = phrase.text.contains(|c: char| !c.is_ascii());
        match phrase.is_loose {
            // in Chinese, no blank separates words
            true if is_chinese => rest
                .starts_with(phrase.text)
                .then_some((phrase, phrase.text.len())),
            true if is_ascii && is_joined(before) => None,
            true => Some((phrase, length_to(phrase.text, rest, is_joined)?)),
            false => Some((phrase, length(phrase.text, rest)?)),
        }
    })
}

/// A piece of a question: its longest phrase there, or a word without one.
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) words: Vec<Word>,
    pub(crate) is_known: bool,
}
