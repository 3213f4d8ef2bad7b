//! Suggestions for functions of the user that take the time of a Spark stage.

use crate::case::Case;
use crate::computed;
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::measurements::managed::takes_batches;

pub(crate) fn advise(case: &Case<'_>) -> Proposal {
    if case.has_operator(takes_batches) {
        return pandas();
    }
    let is_rdd = |name: &str| name.starts_with("Python_");
    if case.has_operator(is_rdd) && !case.has_operator(|name| name.contains("EvalPython")) {
        return rdd_function(case);
    }
    advice! { Rewrite, Gain::Whole, "spark python udf builtin pandas arrow";
        title("用内置函数代替逐行的 Python 函数", "replace the row-wise Python function by built-in ones");
        step("先找 pyspark.sql.functions 中的等价函数；没有时改写为 pandas_udf（Arrow 批量）；查字典改为与小表广播连接", "look for equivalents in pyspark.sql.functions first; else write it as a pandas_udf (batches by Arrow); look-ups in a dictionary become a broadcast join with a small table");
        step("先过滤和聚合，再调用函数；同样的输入只算一次", "filter and aggregate before calling it; compute equal inputs once");
        pro("数据不再逐行送往 Python", "rows are no longer sent to Python one by one");
        con("要验证新旧结果一致，尤其是空值", "results must be compared, null values above all");
    }
}

advice! { fn rdd_function(case: &Case<'_>) = Rewrite, Gain::Whole, "spark rdd mapPartitions foreachPartition connection python function";
    title("让 RDD 的函数每行做得更少", "do less for each row in the function of the RDD");
    step("每个分区只做一次的工作（连接、模型、正则表达式）放进 mapPartitions 或 foreachPartition；对外部服务成批调用", "do work that a partition needs once (connections, models, regular expressions) in mapPartitions or foreachPartition; call services in batches");
    step("先 filter，再 map 或 flatMap；同样的输入只算一次", "filter before map or flatMap; compute equal inputs once");
    step("能用 DataFrame 的内置函数表达的部分移出 Python", "move parts that built-in functions of DataFrames can express out of Python");
    settings(computed::one_core(case));
    pro("每行的开销更小", "each row costs less");
    con("要验证新旧结果一致，尤其是空值", "results must be compared, null values above all");
}

advice! {
    /// A function that gets its rows as pandas or Arrow already.
    fn pandas() = Rewrite, Gain::Whole, "spark pandas udf vectorized python function";
    title("让 pandas 函数更快，或用内置函数代替", "make the pandas function faster, or replace it by built-in ones");
    step("函数内避免逐行的 apply、iterrows 和循环：改用 pandas、NumPy 的整列运算", "avoid row-wise apply, iterrows and loops inside the function: use operations on whole columns of pandas or NumPy");
    step("每个任务只加载一次模型或表：用迭代器形式的 pandas_udf 或 mapInPandas，在循环之前加载", "load models and tables once per task: use the iterator form of pandas_udf or mapInPandas, and load before the loop");
    step("能用 pyspark.sql.functions 或窗口函数表达的部分移出 Python；先过滤和聚合", "move parts that pyspark.sql.functions or windows can express out of Python; filter and aggregate first");
    pro("每行的开销更小", "each row costs less");
    con("要验证新旧结果一致，尤其是空值", "results must be compared, null values above all");
}

advice! { pub(crate) fn expression() = Rewrite, Gain::Whole, "spark costly expression filter first";
    title("换掉开销高的表达式，或对更少的行计算", "replace the costly expression, or compute it for fewer rows");
    step("正则表达式：去掉嵌套的量词（如 (a+)+），用 startswith、contains、split 代替", "regular expressions: remove nested quantifiers such as (a+)+, use startswith, contains or split instead");
    step("JSON、日期：解析一次并保存结果，不在每个表达式中重复解析", "JSON and dates: parse once and keep the result rather than in each expression");
    step("成百个 WHEN 或 OR 组成的映射：放进小表并广播连接", "a mapping of hundreds of WHEN or OR: put it into a small table and join it by broadcast");
    step("先用便宜的条件过滤，再计算昂贵的表达式", "filter by cheap conditions before computing expensive ones");
    pro("每行的开销回到通常水平", "the cost per row is back to normal");
    con("要验证新旧结果一致", "results must be compared");
}
