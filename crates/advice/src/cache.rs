//! Suggestions for rows of a Spark application that are computed again, or cached in vain.

use diagnosis::{RECOMPUTED, SAMPLED, STEPS};

use crate::case::Case;
use crate::program;
use crate::proposal::{Gain, Proposal, advice};

pub(crate) fn advise(case: &Case<'_>) -> Proposal {
    let shows = |metric| case.evidence_number(metric).is_some();
    match () {
        () if case.lists_files() => program::schema(Gain::Whole, case.schema_of_json()),
        () if shows("cached columns") => narrow_cache(),
        () if shows(RECOMPUTED) => lasting_cache(),
        () if shows(SAMPLED) => unsampled_sort(),
        () if shows(STEPS) => checkpoint(),
        () => cache(),
    }
}

advice! { fn cache() = Rewrite, Gain::Whole, "spark cache persist reuse checkpoint";
    title("缓存多次使用的 DataFrame", "cache the DataFrame that is used several times");
    step("DataFrame：df.cache() 或 df.persist(StorageLevel.MEMORY_AND_DISK)，用完后 unpersist()；SQL：CACHE TABLE name AS SELECT …", "DataFrame: df.cache() or df.persist(StorageLevel.MEMORY_AND_DISK), and unpersist() afterwards; SQL: CACHE TABLE name AS SELECT …");
    step("同样的行的多个计数或汇总可以一次算完：agg(count(when(条件, 1)), …)", "several counts or sums of the same rows fit into one pass: agg(count(when(condition, 1)), …)");
    step("装不进内存时先写成 Parquet 再读", "if it does not fit into memory, write it as Parquet and read that");
    pro("昂贵的部分只算一次", "the expensive part is computed once");
    con("占用 Executor 内存；装不下的分区会重算", "takes memory of the executors; partitions that don't fit are computed again");
}

advice! { fn checkpoint() = Rewrite, Gain::Whole, "spark cache persist reuse checkpoint";
    title("每一轮保存结果，不再重算之前的轮次", "store the rows of each round instead of computing all rounds before it again");
    step("对下一轮要用的 DataFrame 调用 localCheckpoint()：行保存在 Executor 上，计划从它们重新开始", "call localCheckpoint() on the DataFrame that the next round uses: its rows stay on the executors, and the plan starts from them");
    step("Executor 可能丢失时用 checkpoint()，它写到可靠的存储", "where executors may be lost, use checkpoint(), which writes to reliable storage");
    pro("每一轮只做自己的工作，计划不再增长", "each round does only its own work, and the plan no longer grows");
    con("Executor 丢失时，它的行无法重算，作业会失败", "the rows of a lost executor cannot be computed again, and the job fails");
}

advice! { fn lasting_cache() = Rewrite, Gain::Whole, "spark cache does not fit storage memory MEMORY_AND_DISK persist";
    title("让缓存放得下", "make the cache keep its data");
    step("df.persist(StorageLevel.MEMORY_AND_DISK)：装不下的分区写到磁盘，而不是丢掉", "df.persist(StorageLevel.MEMORY_AND_DISK): partitions that don't fit go to disk instead of being dropped");
    step("缓存前用 select(…) 去掉查询不读的列；或提高 spark.executor.memory、增加 Executor", "select(…) only the columns that the queries read before caching; or raise spark.executor.memory, or use more executors");
    pro("昂贵的部分只算一次", "the expensive part is computed once");
    con("占用 Executor 的磁盘", "takes disk space of the executors");
}

advice! { fn narrow_cache() = Rewrite, Gain::Whole, "spark columns of a cache select parquet";
    title("只缓存要读的列，或不缓存", "cache only the columns that are read, or drop the cache");
    step("在 cache() 之前用 select(…) 选出查询要读的列", "select(…) the columns that the queries read before cache()");
    step("查询只读几列时不要缓存：Parquet 和 ORC 可以单独读取这几列", "don't cache for queries of few columns: Parquet and ORC can read these columns alone");
    pro("读取和保存的数据少得多", "much less is read and kept");
    con("以后查询用到其他列时要补上", "further columns must be added when a query needs them");
}

advice! { fn unsampled_sort() = Rewrite, Gain::Whole, "spark orderBy global sort range partitioning sample persist";
    title("不做全局排序", "don't sort all rows");
    step("读取者不需要全局顺序时去掉 orderBy；文件内的顺序用 sortWithinPartitions", "remove orderBy if no reader needs the order; sortWithinPartitions keeps an order within each file");
    step("需要全局顺序时先写出计算好的行，再读回排序；在 orderBy 之前 cache() 很少更快，因为写入缓存也费时", "if the order is needed, write the computed rows and sort what is read back; a cache() before the orderBy is rarely faster, because filling it takes time too");
    pro("昂贵的列只算一次，也没有 Shuffle", "expensive columns are computed once, and nothing is shuffled");
    con("文件之间没有顺序", "the files are in no order");
}
