//! Suggestions for functions of the user that take the time of a Spark stage.

use job::code::{Call, Part, Program};
use report::text;
use rewrite::Rewrite;
use rewrite::spark::{captured, evaluated};

use crate::case::Case;
use crate::computed;
use crate::program;
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::impact::scale_run;
use diagnosis::measurements::managed::takes_batches;

/// A change that needs less from the function than another way to write it comes with its own suggestion.
pub(crate) fn proposals(case: &Case<'_>) -> Vec<Proposal> {
    let once = once_per_row(case);
    let is_changed = once.is_some() || case.program_change().is_some();
    let further = || broadcast(case).or_else(|| once_per_value(case));
    let further = (!is_changed).then(further).flatten();
    once.into_iter()
        .chain([advise(case)])
        .chain(further)
        .collect()
}

impl<'a> Case<'a> {
    /// A change of the first of the finding's calls of a Python function that has one.
    fn change_of_call(
        &self,
        change: impl Fn(&'a Program, &'a Call) -> Option<Rewrite>,
    ) -> Option<Rewrite> {
        let (program, place) = self.piece(&[Part::UserCode])?;
        let mut calls = program.calls.iter();
        let within = |call: &Call| match place.call.and_then(|at| program.calls.get(at)) {
            Some(own) => own.node == call.node,
            None => place.span.contains(&call.span.start),
        };
        let found = calls.find_map(|call| within(call).then(|| change(program, call)).flatten());
        self.in_scope(found)
    }

    /// Share of the stage's time in operators that evaluate a function again which another one evaluates for the same rows.
    fn evaluated_again(&self) -> Option<f64> {
        let stage = self.stage?;
        let operators = self.job.stages.get(stage)?.operators.iter();
        let of_python = operators.filter(|o| o.class_name.contains("EvalPython"));
        let (mut seen, mut repeated_ms) = (Vec::new(), 0.0);
        for operator in of_python {
            let function = operator.args.split("], [").next().unwrap_or_default();
            match seen.contains(&function) {
                true => repeated_ms += self.view.node_ms(stage, operator.uid)?,
                false => seen.push(function),
            }
        }
        Some(self.view.fraction(stage, repeated_ms)).filter(|share| *share > 0.0)
    }
}

fn once_per_row(case: &Case<'_>) -> Option<Proposal> {
    let again = case.evaluated_again()?;
    let change = case.change_of_call(evaluated::once_per_row)?;
    let saved = case.saved_by(move |stage| scale_run(stage, 1.0 - again));
    Some(
        advice! { Rewrite, Gain::Own(saved), "spark python udf evaluated twice asNondeterministic filter pushdown";
            title("每行只调用一次 Python 函数", "call the Python function once per row");
            step("对函数用 asNondeterministic()：Spark 不再为了过滤它的结果而另外计算一遍", "use asNondeterministic() on the function: Spark then no longer evaluates it a second time to filter by its result");
            rewrite(Some(change));
            pro("函数和它的结果不变", "the function and its results stay the same");
            con("Spark 不再把后面的过滤移到函数之前，函数可能遇到以前已滤掉的值（如空值）", "Spark no longer moves later filters before the function, which may then meet values that they removed, such as null");
            con(program::unproven());
        },
    )
}

fn broadcast(case: &Case<'_>) -> Option<Proposal> {
    let change = case.change_of_call(captured::broadcast)?;
    let gain = text!(
        "日志没有记录该集合的大小",
        "the log does not show the size of the collection"
    );
    Some(
        advice! { Rewrite, Gain::Unknown(gain), "spark broadcast variable closure dictionary lookup python";
            title("广播函数要查的字典或列表", "broadcast the dictionary or list that the function looks values up in");
            step("用 sparkContext.broadcast(…) 包装它，函数中读取 .value：每个 Python 进程只加载一次", "wrap it with sparkContext.broadcast(…) and read .value in the function: each Python process then loads it once");
            rewrite(Some(change));
            pro("不再随每个任务发送和反序列化", "it is no longer sent and deserialized with each task");
            con("集合很小时没有收益；其中的值须能用 pickle 序列化", "no gain if the collection is small; its values must be picklable");
            con(program::unproven());
        },
    )
}

fn once_per_value(case: &Case<'_>) -> Option<Proposal> {
    if case.is_streaming() {
        return None;
    }
    let change = case.change_of_call(evaluated::once_per_value)?;
    let gain = text!(
        "日志没有记录有多少行的参数相同",
        "the log does not show how many rows have the same argument"
    );
    Some(
        advice! { Rewrite, Gain::Unknown(gain), "spark python udf distinct values join lookup service";
            title("每个不同的参数只调用一次函数", "call the function once per distinct argument");
            step("先用 select(列).distinct().count() 确认不同的值远少于行数", "first make sure with select(column).distinct().count() that there are far fewer distinct values than rows");
            rewrite(Some(change));
            pro("慢的函数（如查询服务）运行得少得多", "a slow function, such as a call of a service, runs far less often");
            con("多一次去重和 Join；参数为空的行得到空值", "one distinct and one join more; rows with a null argument get null");
            con(program::unproven());
        },
    )
}

fn advise(case: &Case<'_>) -> Proposal {
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
