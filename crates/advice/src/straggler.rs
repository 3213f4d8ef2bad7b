//! Advice on a straggler without a known cause.

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};

pub(crate) fn investigate(case: &Case<'_>) -> Proposal {
    let spark = case.job.spark.is_some();
    advice! { Investigate, Gain::none_by_itself(), "straggler slow machine lock speculation";
        title("查明 {place} 中最慢的一个为什么慢", "find out why the slowest in {place} is slow", place = case.place());
        step("再运行一次：换了机器就不慢，是机器的问题；同一份数据仍然慢，是数据或代码的问题", "run it again: if another machine is fast, it was the machine; if the same data is slow again, it is the data or the code");
        [spark] step("任务运行时在 Spark UI 查看线程转储：是否在等待锁、外部服务，或停在一个正则表达式里", "look at its thread dump in the Spark UI while it runs: it may wait for a lock or a service, or be stuck in a regular expression");
        [spark] step("机器时快时慢时打开 spark.speculation，让另一个 Executor 同时尝试", "if machines are slow at times, turn on spark.speculation, so that another executor runs the task as well");
        [!spark] step("查看该顶点所在机器的日志和同一时间其他作业在它上面的速度", "read the logs of the vertex's machine, and how fast other jobs were on it at that time");
        pro("区分机器、数据和代码", "tells machine, data and code apart");
        con("推测执行占用更多资源，对有副作用的代码不安全", "speculation takes more resources and is unsafe for code with side effects");
    }
}
