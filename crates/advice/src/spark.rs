//! Suggestions in the words of Spark: settings with their value, hints, steps in SQL and DataFrame form.

use job::model::Application;
use report::{Cause, SuggestionKind, text};

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use crate::{cache, computed, ended_spark, mechanism, program, uneven, user_code};
use diagnosis::measurements::sizing::merged_vertices;
use diagnosis::measurements::tasks::{By, origin};
use diagnosis::{EXPANDED, Suggested};

/// Suggestions for a finding of a Spark application.
pub(crate) fn suggest(case: &Case<'_>) -> Vec<Suggested> {
    let proposals = match case.finding.cause {
        Cause::JoinHotKey | Cause::NullOrDefaultKey => uneven::join_skew(case),
        Cause::GroupHotKey | Cause::LowCardinalityKey => uneven::group_skew(case),
        Cause::PartitionLayout => vec![uneven::layout()],
        Cause::MissedBroadcast => vec![broadcast(case)],
        Cause::RedundantRepartition
            if case.evidence_number("rows that distinct kept").is_some() =>
        {
            vec![no_distinct()]
        }
        Cause::RedundantRepartition => vec![repartition()],
        Cause::SerialGather => vec![gather().about(mechanism::of_gather(case))],
        Cause::Spill | Cause::HeapPressure | Cause::MemoryEstimateTooLow => vec![memory(case)],
        Cause::JoinExplosion if case.evidence_number("compared pairs of rows").is_some() => {
            vec![nested_loop(case)]
        }
        Cause::JoinExplosion => vec![explosion()],
        Cause::CpuBoundUdo => user_code::proposals(case),
        Cause::ParallelismTooLow => match case.lists_files() {
            true => vec![program::schema(Gain::Whole, case.schema_of_json())],
            false => vec![more_tasks(case)],
        },
        Cause::IdleSlots => vec![locality(case)],
        Cause::FetchWait => vec![fetch_wait(case)],
        Cause::ScanWithoutFilter => vec![partition_filter()],
        Cause::UnexplainedOverhead => vec![growth()],
        Cause::CommitOnDriver => vec![commit()],
        Cause::CostlyExpression if case.evidence_number(EXPANDED).is_some() => vec![fewer_copies()],
        Cause::CostlyExpression => {
            vec![user_code::expression().about(mechanism::of_expression(case))]
        }
        Cause::UnexplainedStraggler => {
            let slices = case.reads_no_files().then(uneven::even_slices);
            let investigate = crate::straggler::investigate(case);
            [investigate].into_iter().chain(slices).collect()
        }
        Cause::TinyVertices => vec![fewer_tasks(case)],
        Cause::SmallFiles => {
            let stated = case.schema_of_json();
            let schema = stated.map(|s| program::schema(program::without_inference(), Some(s)));
            [compact()].into_iter().chain(schema).collect()
        }
        Cause::DriverBottleneck if case.has_short_batches() => vec![larger_batches(case)],
        Cause::DriverBottleneck => [driver().about(mechanism::of_driver(case))]
            .into_iter()
            .chain(case.any_row().map(program::any_row))
            .chain(arrow(case))
            .collect(),
        Cause::BroadcastTooLarge if !case.view.failed() => vec![no_broadcast(case)],
        Cause::IneffectiveCache => vec![cache::advise(case)],
        Cause::OverAllocation => vec![fewer_executors(case)],
        Cause::OverProvisionedMemory => vec![less_memory(case)],
        Cause::UnderAllocation => vec![more_executors(case)],
        Cause::ExecutorLost => lost(case),
        Cause::VertexRetries => vec![retries()],
        Cause::SlowMachine => vec![slow_executor(case)],
        Cause::QueueWait => vec![wait(case)],
        Cause::UserCodeFailure
        | Cause::LimitFailure
        | Cause::CompileFailure
        | Cause::InputFailure
        | Cause::ExternalFailure
        | Cause::BroadcastTooLarge => ended(case),
        Cause::LateFilter => vec![earlier_filter()],
        Cause::UnusedColumns | Cause::UnalignedInput | Cause::Misestimate => Vec::new(),
    };
    // the change is the one of the cause's first suggestion that is not only about settings
    let mut change = case.program_change();
    let with_change = |mut proposal: Proposal| {
        let fits = proposal.kind != SuggestionKind::Parameter && proposal.rewrite.is_none();
        if let Some(rewrite) = change.take_if(|_| fits) {
            if rewrite.reorders {
                proposal = proposal.con(program::unproven());
            }
            proposal.rewrite = Some(rewrite);
        }
        case.finish(proposal)
    };
    proposals.into_iter().map(with_change).collect()
}

advice! { fn broadcast(case: &Case<'_>) = Hint, Gain::Whole, "spark broadcast join hint threshold";
    title("广播小的一侧", "broadcast the small side");
    step("SQL：SELECT /*+ BROADCAST(small) */ …；DataFrame：big.join(broadcast(small), keys)", "SQL: SELECT /*+ BROADCAST(small) */ …; DataFrame: big.join(broadcast(small), keys)");
    settings(computed::broadcast_limit(case));
    pro("大的一侧不再 Shuffle 和排序", "the big side is neither shuffled nor sorted");
    con("小的一侧要装进 Driver 和每个 Executor 的内存；以后变大时应去掉提示", "the small side must fit into the memory of the driver and of every executor; drop the hint if it grows");
}

advice! { fn repartition() = Rewrite, Gain::Whole, "spark repartition coalesce redundant";
    title("去掉没有用处的 repartition", "remove the useless repartition");
    step("删去聚合或连接之前的 repartition：Spark 会按需要的键自己 Shuffle", "delete repartition before an aggregation or a join: Spark shuffles on the keys that it needs");
    step("若只为减少输出文件，用 coalesce(n) 或 COALESCE 提示", "if it is for fewer output files, use coalesce(n) or the hint COALESCE");
    pro("少一次写入和读取 Shuffle 数据", "one shuffle less to write and read");
    con("如果它是为了打散倾斜或提高并行度，先确认不再需要", "make sure that it does not spread a skew or raise the parallelism");
}

advice! { fn no_distinct() = Rewrite, Gain::Whole, "spark distinct dropDuplicates unique rows needless shuffle";
    title("去掉没有作用的 distinct", "remove the distinct that finds nothing");
    step("先确认行的唯一性有保证（例如有主键，或写入方已去重），再删去 distinct", "make sure that the rows are unique, by a key or because their writer removed duplicates, and remove distinct");
    step("若偶尔有重复，用 dropDuplicates([键]) 只按键比较", "if duplicates come now and then, compare only the key with dropDuplicates([key])");
    pro("少一次所有列的 Shuffle", "one shuffle of all columns less");
    con("以后若出现重复的行，结果会改变", "the result changes if rows ever repeat");
}

advice! { fn gather() = Rewrite, Gain::Whole, "spark window without partition by single partition";
    title("不要把所有数据放进一个分区", "don't bring all rows into one partition");
    step("给窗口加上 PARTITION BY；只要全局分位或排名时用 approx_percentile，或先按范围分区再在各分区内编号；编号只要唯一时用 monotonically_increasing_id()", "give the window a PARTITION BY; for global quantiles or ranks use approx_percentile, or range-partition and number within each partition; for ids that only have to be unique, monotonically_increasing_id()");
    step("把 Python 函数移到汇集之前，让所有任务分担", "move Python functions before the gather, where all tasks share them");
    pro("所有核都参与", "all cores take part");
    con("近似函数有误差；分区内编号要再加上前面各分区的行数", "approximations have an error; numbers within partitions need the counts of those before added");
}

fn memory(case: &Case<'_>) -> Proposal {
    let spilling = computed::spilling(case);
    let settings = match spilling.is_empty() {
        true => computed::heap(case).into_iter().collect(),
        false => spilling,
    };
    advice! { Parameter, Gain::Whole, "spark executor memory fraction overhead shuffle partitions";
        title("让每个任务有足够的内存", "give each task enough memory");
        step("或减少 spark.executor.cores，使同时运行的任务更少", "or lower spark.executor.cores, so that fewer tasks run at once");
        settings(settings);
        pro("不再落盘，也不再因内存不足失败", "no more spilling, and no failures because of too little memory");
        con("更小的分区更多，更大的 Executor 更贵", "smaller partitions are more of them, and larger executors cost more");
    }
}

advice! { fn earlier_filter() = Rewrite, Gain::Whole, "spark late filter pushdown join";
    title("更早过滤", "filter earlier");
    step("把条件写到连接的输入上：a.where(…).join(b.where(…), …)；Spark 不会把它推过全外连接的 coalesce 或不确定的函数", "put the condition on the inputs of the join: a.where(…).join(b.where(…), …); Spark pushes it neither past the coalesce of a full outer join nor past nondeterministic functions");
    step("去重或 Python 函数（applyInPandas、mapInPandas）之后的条件：写到它们的输入上，Spark 不会推过去", "a condition after a deduplication or a Python function (applyInPandas, mapInPandas): put it on their input, since Spark does not push it past them");
    pro("Shuffle、排序、连接和 Python 处理的行更少", "fewer rows are shuffled, sorted, joined and given to Python");
    con("外连接时确认条件只涉及连接键或保留的一侧", "with an outer join, make sure that the condition is on its keys or on the side that it keeps");
}

advice! { fn explosion() = Rewrite, Gain::Whole, "spark join explosion many to many";
    title("让连接键在一侧唯一", "make the key unique on one side");
    step("连接之前在一侧去重或聚合：SELECT key, max_by(…) … GROUP BY key，或 dropDuplicates", "make one side distinct or aggregate it before the join: SELECT key, max_by(…) … GROUP BY key, or dropDuplicates");
    step("检查是否漏了连接条件（例如日期或文档号）", "look for a condition that is missing from the join, such as a date or a document");
    pro("输出行数回到输入的规模", "the output is about as large as the input");
    con("结果会改变：先确认多对多不是本意", "the result changes: make sure that many-to-many is not meant");
}

fn nested_loop(case: &Case<'_>) -> Proposal {
    let is_split = case.program_change().is_some();
    advice! { Rewrite, Gain::Whole, "spark nested loop join condition without equality range or";
        title("给连接一个相等条件", "give the join a condition with an equality");
        [!is_split] step("OR 连起来的相等条件：每个条件一个连接，用 union 合并后去重", "equalities joined by OR: one join for each, then union and distinct");
        [is_split] step("OR 连起来的相等条件：每个条件一个连接，各自排除之前的连接已有的行", "equalities joined by OR: one join per equality, each without the rows of those before it");
        step("范围条件（BETWEEN、<、>）：两侧都算出区间的编号（如日期、floor(x / 宽度)），加上编号相等的条件", "ranges (BETWEEN, <, >): compute the number of an interval on both sides, such as the date or floor(x / width), and add its equality");
        step("NOT IN（子查询）而列可能为空：改用带相等条件的 NOT EXISTS，或先在两侧排除空值", "NOT IN (subquery) on columns that may be null: use NOT EXISTS with equalities, or exclude the nulls of both sides first");
        step("条件中的函数（lower、trim、cast）：先在各侧算成列，再按列相等连接", "functions in the condition (lower, trim, cast): compute them as columns of each side first, and join on their equality");
        pro("只比较键相同的行", "only rows with the same key are compared");
        [!is_split] con("符合多个条件的行会出现多次：合并后要去重", "rows that meet several conditions come several times: remove duplicates after the union");
        [is_split] con("每个连接都要计算一遍两侧", "both sides are computed once per join");
    }
}

fn more_tasks(case: &Case<'_>) -> Proposal {
    let stage = case.stage.zip(case.job.spark.as_deref());
    let by = stage.and_then(|(stage, app)| Some(origin(case.view, app, stage)?.by));
    let settings = computed::more_partitions(case, by);
    let by_code = settings.is_empty();
    let is = |wanted: &[By]| by.is_none_or(|by| wanted.contains(&by));
    let mut proposal = advice! { Rewrite, Gain::Whole, "spark parallelism gzip repartition shuffle partitions";
        title("让所有核都有任务", "give every core a task");
        [by == Some(By::Coalesce)] step("去掉 coalesce：它之前的工作也只由这么少的任务完成；确实需要少数文件时改用 repartition，之前的工作就仍然并行", "remove coalesce: the work before it also runs in so few tasks; if few files are really needed, use repartition, which leaves the work before it parallel");
        [by == Some(By::Repartition)] step("去掉这个 repartition，或取 {slots}：一个文件的写出和之后的工作只由一个任务完成；读取者几乎总能读多个文件", "remove this repartition, or use {slots}: its few tasks do all the writing and the work after it, and readers can nearly always read several files", slots = slots(case));
        [is(&[By::Files]) && by_code] step("gzip 文件不能切分：改存为多个文件，或用 Parquet、zstd、bzip2", "gzip files cannot be split: store several of them, or use Parquet, zstd or bzip2");
        [is(&[By::Files, By::Rdd]) && by_code] step("读取后用 df.repartition({slots})，再做昂贵的运算；RDD：numSlices 或 minPartitions 取 {slots}", "after reading, use df.repartition({slots}) before expensive work; RDDs: numSlices or minPartitions of {slots}", slots = slots(case));
        settings(settings);
        pro("空闲的核参与工作", "idle cores take part");
        [is(&[By::Files, By::Rdd]) && by_code] con("repartition 多一次 Shuffle", "repartition is one more shuffle");
        [matches!(by, Some(By::Coalesce | By::Repartition))] con("输出多个文件", "the output has several files");
        [!by_code] con("数据变小时分区会偏多", "too many partitions once the data shrinks");
    };
    proposal.topic = match by {
        Some(By::Coalesce | By::Repartition) => "spark parallelism coalesce repartition",
        _ if !by_code => "spark parallelism shuffle partitions AQE",
        _ => proposal.topic,
    };
    if !by_code {
        proposal.kind = SuggestionKind::Parameter;
    }
    proposal
}

/// Task slots of the application, for code.
fn slots(case: &Case<'_>) -> String {
    let run = case.view.run.as_ref();
    run.map_or_else(|| "n".to_owned(), |run| run.tokens.to_string())
}

advice! { fn fewer_copies() = Rewrite, Gain::Whole, "spark count distinct expand approx_count_distinct several";
    title("不为去重计数复制每一行", "count distinct values without copying each row");
    step("可以近似时用 approx_count_distinct（误差约 5 %，可调）", "where an approximate count will do, use approx_count_distinct (error about 5 %, adjustable)");
    step("需要精确时：先按分组键和所有被计数的列去重，或每个计数单独聚合后按键连接", "for exact counts: first reduce the rows to their distinct combinations, or aggregate each count on its own and join the results by key");
    pro("不再为每个计数复制并 Shuffle 一遍所有行", "no copy of all rows is shuffled for every count");
    con("近似计数的结果略有不同", "approximate counts differ a little");
}

fn locality(case: &Case<'_>) -> Proposal {
    let faster = text!(
        "网络快或数据在对象存储时，本地读取并不更快",
        "with a fast network, or data in an object store, local reads are no faster",
    );
    advice! { Parameter, Gain::Whole, "spark locality wait idle slots scheduling";
        title("不要让任务等待数据所在的 Executor", "don't let tasks wait for the executors that have their data");
        step("数据只在少数 Executor 上时（缓存、少量 HDFS 块），先 repartition 再反复使用", "if few executors have the data (a cache, few HDFS blocks), repartition it before it is used again and again");
        settings(case.set("spark.locality.wait", "0s", faster));
        pro("空闲的槽位立即开始工作", "idle slots start to work at once");
        con("更多数据经过网络", "more data goes over the network");
    }
}

advice! { fn fetch_wait(case: &Case<'_>) = Rewrite, Gain::Whole, "spark shuffle fetch wait remote reads";
    title("减少 Shuffle 的数据量和取数请求", "shuffle less data in fewer requests");
    step("Shuffle 之前先过滤、聚合，只保留需要的列", "filter, aggregate and drop unused columns before the shuffle");
    step("减少分区数，让每个数据块更大；或提高 spark.reducer.maxSizeInFlight", "use fewer partitions, so that blocks are larger, or raise spark.reducer.maxSizeInFlight");
    [case.release().is_none_or(|version| version >= 302)] step("在 YARN 上打开推送式 Shuffle（spark.shuffle.push.enabled）", "turn on push-based shuffle on YARN (spark.shuffle.push.enabled)");
    step("检查外部 Shuffle 服务所在机器的磁盘和网络是否饱和", "check whether disks and network of the machines that serve the shuffle are saturated");
    pro("任务把时间用于计算，而不是等待数据", "tasks compute instead of waiting for data");
    con("maxSizeInFlight 越大，每个任务占用的内存越多", "a larger maxSizeInFlight takes more memory per task");
}

advice! { fn partition_filter() = Rewrite, Gain::Whole, "spark partition pruning filter pushdown scan";
    title("按分区列过滤", "filter on the partition column");
    step("在查询中加上分区列的条件（例如除时间戳外再限定 year 或 date），或改为按常用的过滤列分区", "add a condition on the partition column (year or date next to the timestamp, say), or partition the table by the column that queries filter on");
    step("条件要能下推：不在分区列上调用函数或转换类型", "keep the condition free of functions and casts on the partition column, so that it is pushed down");
    pro("只读取需要的文件", "only the files that are needed are read");
    con("分区列与原条件必须一致，否则会漏行", "the two conditions must agree, or rows are lost");
}

advice! { fn growth() = Investigate, Gain::none_by_itself(), "spark structured streaming state growth watermark output mode";
    title("查明微批次为什么越来越慢", "find out why micro-batches get slower");
    step("状态：设置 withWatermark，让旧的键过期；查看 stateOperators 的行数", "state: set withWatermark, so that old keys expire; look at the rows of stateOperators");
    step("结果：输出模式 complete 每次写出全部结果，改用 update 或 append", "result: output mode complete writes everything each time; use update or append");
    step("文件：来源目录和检查点中的文件越来越多时，定期归档和压缩", "files: archive and compact if the source folder or the checkpoint keeps growing");
    pro("每个批次的时间保持稳定", "batches stay as fast as the first ones");
    con("水位线会丢弃迟到的数据", "a watermark drops data that comes too late");
}

advice! { fn commit() = Rewrite, Gain::Whole, "spark commit output committer rename driver insert";
    title("让输出的提交更快", "commit the output faster");
    step("写出更少、更大的文件：写之前按分区列 repartition", "write fewer and larger files: repartition by the partition columns before the write");
    step("写对象存储时使用 S3A、ABFS 的提交器或 Delta、Iceberg 等表格式，不在 Driver 上逐个重命名文件", "on object stores use the S3A or ABFS committer, or a table format such as Delta or Iceberg, so that the driver renames no files one by one");
    step("HDFS：mapreduce.fileoutputcommitter.algorithm.version=2 由任务重命名文件（任务中途失败时可能留下部分输出）", "HDFS: with mapreduce.fileoutputcommitter.algorithm.version=2 tasks rename their files (a failed run may leave partial output)");
    pro("Executor 不再空等 Driver", "the executors no longer wait for the driver");
    con("需要改变写入方式或提交器", "the way of writing or the committer changes");
}

fn fewer_tasks(case: &Case<'_>) -> Proposal {
    let slots = case.view.run.as_ref().map_or(1, |run| run.tokens);
    let count = case
        .stage
        .and_then(|stage| merged_vertices(case.view, stage));
    let count = count.unwrap_or(slots).max(slots);
    let settings = computed::fewer_partitions(case, count);
    let (by_code, streaming) = (settings.is_empty(), case.is_streaming());
    let of_sql = case.is_of_sql();
    let mut proposal = advice! { Rewrite, Gain::Whole, "spark shuffle partitions coalesce AQE small tasks";
        title("减少任务数", "have fewer tasks");
        [by_code && of_sql] step("代码规定了分区数：改用 repartition({count}) 或 coalesce({count})，SQL 用 COALESCE({count}) 提示", "the code sets the partitions: use repartition({count}) or coalesce({count}), in SQL the hint COALESCE({count})", count = count.to_string());
        [by_code && !of_sql] step("代码或库规定了分区数（partitionBy(n)、numUserBlocks 等参数）：改为 {count}", "the code or a library sets the partitions (partitionBy(n), or a parameter such as numUserBlocks): use {count}", count = count.to_string());
        [of_sql && !by_code && !streaming] step("只影响一个查询时用 COALESCE({count}) 提示", "for one query only, use the hint COALESCE({count})", count = count.to_string());
        rewrite(case.fewer_in_program(count));
        settings(settings);
        pro("调度和启动的开销大幅减少", "much less time goes to scheduling and starting");
        con("数据变大时要再调高", "raise it again if the data grows");
        [streaming] con("有状态的查询保留首次启动时的分区数：要用新的检查点", "a query with state keeps the partitions of its first start: it needs a new checkpoint");
    };
    proposal.topic = match (streaming, by_code, of_sql) {
        (true, ..) => "spark fewer partitions of state streaming checkpoint",
        (_, true, true) => "spark fewer partitions in code repartition coalesce",
        (_, true, false) => "spark fewer partitions of RDDs partitionBy numUserBlocks",
        _ => proposal.topic,
    };
    if !by_code {
        proposal.kind = SuggestionKind::Parameter;
    }
    proposal
}

advice! { fn compact() = Rewrite, Gain::Whole, "spark small files compact";
    title("把小文件合并成 128 MB 左右的文件", "merge the small files into ones of about 128 MB");
    step("写入方用 REBALANCE 提示或 repartition 控制文件数；已有的文件重写一次（Delta、Iceberg 用 OPTIMIZE 或 rewrite_data_files）", "in the writer, set the number of files with the hint REBALANCE or repartition; rewrite existing ones once (OPTIMIZE in Delta, rewrite_data_files in Iceberg)");
    step("用 partitionBy 写出时，先按同样的列 repartition：每个目录就只由一个任务写", "before a write with partitionBy, repartition by the same columns: one task then writes each folder");
    pro("所有读取者都受益，列目录也更快", "every reader gains, and listing gets faster");
    con("需要改写入方并重写历史数据", "the writer changes, and history has to be rewritten");
}

advice! { fn driver() = Rewrite, Gain::Whole, "spark driver collect toPandas loop";
    title("把 Driver 里的工作交给 Executor", "let the executors do the driver's work");
    step("用 groupBy、agg 代替 collect() 或 toPandas() 之后的循环；只看几行时用 limit；文件由 Executor 写（df.write）", "replace loops after collect() or toPandas() by groupBy and agg; use limit to look at a few rows; let the executors write files (df.write)");
    step("循环中每个值一个 Job：改为一个查询处理所有值（groupBy，或与值的列表 Join）；相互独立的动作可由多个线程同时提交", "a loop with a job for each value: make it one query over all values (groupBy, or a join with their list); actions that don't depend on each other can be submitted from several threads");
    step("在循环之外读取一次，并用 schema(…) 给出模式：每次 read 都要列目录和推断模式", "read once, outside of loops, with a stated schema(…): each read lists files and infers the schema again");
    pro("Executor 不再空等", "the executors no longer wait");
    con("需要改写代码", "the code has to be rewritten");
}

/// Arrow for the rows that the program passes between pandas and Spark; `None` if it passes none, or Arrow is on.
fn arrow(case: &Case<'_>) -> Option<Proposal> {
    let program = case.job.program()?;
    program.calls.iter().find(|call| match call.name.as_str() {
        "toPandas" => true,
        "createDataFrame" => program.text.contains("import pandas"),
        _ => false,
    })?;
    let columns = text!(
        "整列传递，不再逐行转换为 Python 对象",
        "whole columns are passed, and no row becomes Python objects",
    );
    let on = case.set("spark.sql.execution.arrow.pyspark.enabled", "true", columns)?;
    Some(
        advice! { Parameter, Gain::Unknown(text!("日志没有记录转换所用的时间", "the log has no time of the conversion")), "spark arrow pandas createDataFrame toPandas";
            title("用 Arrow 在 pandas 与 Spark 之间传递数据", "pass data between pandas and Spark by Arrow");
            settings([on]);
            pro("createDataFrame(pandas) 和 toPandas() 快得多", "createDataFrame(pandas) and toPandas() are far faster");
            con("需要 pyarrow；个别类型不支持时会退回逐行转换", "needs pyarrow; a few types are not supported and are converted row by row as before");
        },
    )
}

advice! { fn larger_batches(case: &Case<'_>) = Rewrite, Gain::Whole, "spark structured streaming maxFilesPerTrigger trigger interval micro-batch overhead";
    title("让每个微批次读取更多数据", "let each micro-batch read more");
    step("提高 maxFilesPerTrigger（Kafka：maxOffsetsPerTrigger），约为现在的 {times} 倍；没有积压时用更长的 trigger(processingTime=…)", "raise maxFilesPerTrigger (Kafka: maxOffsetsPerTrigger) to about {times} times its value; without a backlog, use a longer trigger(processingTime=…)", times = case.times_larger().to_string());
    pro("规划、写日志和提交的次数少得多", "planning, logging and committing happen far less often");
    con("每个批次占用更多内存，结果晚一些到达", "a batch takes more memory, and results arrive later");
}

advice! { fn no_broadcast(case: &Case<'_>) = Hint, Gain::Whole, "spark broadcast too large shuffle hash merge hint";
    title("不要广播这么大的一侧", "don't broadcast a side as large as this");
    step("去掉 BROADCAST 提示，或改为 SHUFFLE_HASH、MERGE；也可先过滤、聚合这一侧", "remove the hint BROADCAST, or use SHUFFLE_HASH or MERGE; or filter and aggregate that side first");
    settings(computed::no_broadcast(case));
    pro("Driver 不再收集全部数据，也不会因此内存不足", "the driver no longer collects all of it, nor runs out of memory");
    con("两侧都要 Shuffle", "both sides are shuffled");
}

/// Gain of a change that makes a run cheaper, not faster.
fn resources_only() -> Gain {
    Gain::Unknown(text!(
        "省的是资源，不是运行时间",
        "it saves resources, not run time"
    ))
}

fn fewer_executors(case: &Case<'_>) -> Proposal {
    let app = case.job.spark.as_deref();
    let dynamic = app.is_some_and(|app| app.idle_timeout_ms().is_some());
    let (databricks, enough) = (
        is_databricks(case),
        case.view.curve().map_or(1, |c| c.would_do),
    );
    advice! { Parameter, resources_only(), "spark dynamic allocation executors idle";
        title("少占用 Executor", "hold fewer executors");
        [dynamic] step("Executor 因缓存或 Shuffle 数据而留着时，缩短 cachedExecutorIdleTimeout 与 shuffleTracking.timeout", "if cached or shuffle data keeps idle executors, shorten cachedExecutorIdleTimeout and shuffleTracking.timeout");
        [databricks] step("把计算的工作节点数减到 {enough}，或降低自动伸缩的上限", "lower the number of workers of the compute to {enough}, or the upper limit of its autoscaling", enough = enough.to_string());
        [!dynamic && !databricks] step("工作量变化大时改用 spark.dynamicAllocation.enabled 与 shuffleTracking.enabled", "if the work varies, use spark.dynamicAllocation.enabled with shuffleTracking.enabled instead");
        settings(computed::enough_executors(case));
        pro("核时减少，运行时间不变", "less core time in the same run time");
        [dynamic] con("缓存的数据随 Executor 丢失，再用时要重算", "cached data is lost with its executor and computed again");
        [!dynamic] con("数据变大时余量更小", "less room when the data grows");
    }
}

advice! { fn less_memory(case: &Case<'_>) = Parameter, resources_only(), "spark executor size memory cores";
    title("给 Executor 更少的内存", "give the executors less memory");
    step("或用同样的内存运行更多核（spark.executor.cores）", "or run more cores in the same memory (spark.executor.cores)");
    settings(computed::less_memory(case));
    pro("同样的机器放得下更多 Executor，运行时间不变", "more executors fit on the same machines, in the same run time");
    con("数据增长时余量更小", "less room when the data grows");
}

fn is_databricks(case: &Case<'_>) -> bool {
    let app = case.job.spark.as_deref();
    app.is_some_and(Application::is_databricks)
}

advice! { fn more_executors(case: &Case<'_>) = Parameter, Gain::Whole, "spark executors maxExecutors instances";
    title("使用更多 Executor", "use more executors");
    step("先消除多余的工作；集群要有空闲的资源", "remove needless work first; the cluster needs free capacity");
    [is_databricks(case)] step("在计算的设置中增加工作节点，或提高自动伸缩的上限", "add workers to the compute, or raise the upper limit of its autoscaling");
    settings(computed::more_executors(case));
    pro("排队的任务可以同时运行", "tasks that queue run at once");
    con("占用更多资源", "takes more resources");
}

/// Advice on the failure of an application.
fn ended(case: &Case<'_>) -> Vec<Proposal> {
    ended_spark::proposals(case, crate::failure::class(case))
}

/// Advice on lost executors, by the reason of the first loss.
fn lost(case: &Case<'_>) -> Vec<Proposal> {
    let failure = case.view.failure();
    if failure.is_some_and(|f| f.class.cause() == Cause::ExecutorLost) {
        return ended(case);
    }
    let app = case.job.spark.as_deref();
    let mut executors = app.into_iter().flat_map(|app| &app.executors);
    let reasons = executors
        .by_ref()
        .filter(|e| e.lost)
        .filter_map(|e| e.reason.as_deref());
    let classes = reasons.filter_map(::failure::class_of);
    let mut of_memory = classes.filter(|c| c.cause() == Cause::LimitFailure);
    // the advice on a failure already covers its memory
    let memory = of_memory.next().filter(|_| !case.view.failed());
    let memory = memory.map(|class| ended_spark::proposals(case, class));
    let mut found = memory.unwrap_or_default();
    let general = ended_spark::lost(case);
    if found.iter().all(|p| p.title != general.title) {
        found.push(general);
    }
    found
}

advice! { fn retries() = Investigate, Gain::Whole, "spark task failures retries cause";
    title("消除任务失败的原因", "remove the cause of the failing tasks");
    step("看失败任务的异常：外部服务的错误在函数里重试，而不是让整个任务重做", "read the exceptions of the failed tasks: retry errors of a service within the function, not by repeating the task");
    step("不要只提高 spark.task.maxFailures：那样只会重复得更多", "don't just raise spark.task.maxFailures: that repeats more");
    pro("任务不再做两次", "no task runs twice");
    con("需要查清异常", "the exception has to be understood");
}

fn slow_executor(case: &Case<'_>) -> Proposal {
    let copies = text!(
        "慢任务会在另一个 Executor 上再运行一份",
        "another executor then runs a copy of a slow task",
    );
    advice! { Parameter, Gain::Whole, "spark slow executor speculation exclude";
        title("避开慢的 Executor", "avoid the slow executor");
        step("总是同一台主机时，报告运维或用 spark.excludeOnFailure.enabled", "if it is always the same host, report it, or use spark.excludeOnFailure.enabled");
        settings(case.set("spark.speculation", "true", copies));
        pro("不改代码", "no change to the code");
        con("推测执行多占资源；写外部系统的任务可能写两次", "speculation takes more resources; tasks that write to other systems may write twice");
    }
}

advice! { fn wait(case: &Case<'_>) = Parameter, Gain::Whole, "spark wait for executors queue minExecutors";
    title("缩短等待 Executor 的时间", "wait less for executors");
    step("换用空闲的队列；常跑的作业可用长驻的应用", "use a queue with free capacity; for a job that runs often, keep an application running");
    settings(computed::kept_executors(case));
    pro("不改代码", "no change to the code");
    con("保留的资源在空闲时也要付费", "kept resources are paid for while idle");
}
