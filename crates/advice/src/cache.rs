//! Suggestions for rows of a Spark application that are computed again, or cached in vain.

use diagnosis::{RECOMPUTED, SAMPLED};

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
