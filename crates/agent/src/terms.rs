//! Words for the parts of a job, by the engine that ran it: for the templates, the offline reasoner and the queries for experience.

use indexer::Engine;
use report::Language;
use serde::Serialize;

macro_rules! terms {
    ($($(#[$doc:meta])* $name:ident: $scope:expr, $spark:expr;)*) => {
        /// The terms of one engine in one language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct Terms { $($(#[$doc])* pub $name: &'static str),* }

        impl Terms {
            pub fn of(engine: Engine, language: Language) -> Terms {
                let pick = |(zh, en): (&'static str, &'static str)| language.select(zh, en);
                match engine {
                    Engine::Scope | Engine::Any => Terms { $($name: pick($scope)),* },
                    Engine::Spark => Terms { $($name: pick($spark)),* },
                }
            }
        }
    };
}

terms! {
    job: ("SCOPE 作业", "SCOPE job"), ("Spark 应用", "Spark application");
    /// One job, together with its platform.
    one_job:
        ("微软 Cosmos 平台上的一个 SCOPE / U-SQL 作业", "one SCOPE / U-SQL job on Microsoft's Cosmos platform"),
        ("一个 Apache Spark 应用", "one Apache Spark application");
    /// The language of allowed hints.
    dialect: ("SCOPE / U-SQL", "SCOPE / U-SQL"), ("Spark SQL", "Spark SQL");
    /// The parts of a job, as its owner calls them.
    parts_of_job:
        ("作业、阶段、顶点、通道、令牌", "job, stage, vertex, channel, token"),
        (
            "应用、作业、阶段、任务、Executor、Driver、数据交换（exchange）",
            "application, job, stage, task, executor, driver, exchange",
        );
    vertex: ("顶点", "vertex"), ("任务", "task");
    vertices: ("顶点", "vertices"), ("任务", "tasks");
    /// Elements of code.
    code:
        ("语句、算子或 C# 类", "statements, operators or C# classes"),
        ("SQL 执行、算子或用户函数", "SQL executions, operators or user functions");
    /// Sources for the distribution of rows.
    spread:
        ("各顶点的行数、表的热点值、分区", "rows per vertex, frequent values, partitions"),
        ("各任务的行数和字节数、热点值、分区", "rows and bytes per task, frequent values, partitions");
    /// Sources for the flow of data.
    flow:
        ("执行计划、通道、估计值", "plan, channels, estimates"),
        ("执行计划、数据交换、运行时统计", "plan, exchanges, runtime statistics");
}
