//! Logs and job folders of any size in each dimension: stages, edges, tasks, executions, statements.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Start of the applications, in milliseconds since 1970.
pub(crate) const START: i64 = 1_795_745_000_000;

const SQL: &str = "org.apache.spark.sql.execution.ui.SparkListener";

/// Writes the event log of an application of stages in one job; `parents` returns the input stages of a stage.
pub(crate) fn stages(
    to: &mut impl Write,
    stages: u32,
    tasks: u32,
    parents: impl Fn(u32) -> Vec<u32>,
) -> io::Result<()> {
    begin(to)?;
    let infos: Vec<String> = (0..stages)
        .map(|s| stage(s, tasks, &parents(s), None))
        .collect();
    writeln!(
        to,
        r#"{{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":{},"Stage Infos":[{}]}}"#,
        START + 1_900,
        infos.join(",")
    )?;
    for s in 0..stages {
        let from = START + 2_000 + i64::from(s) * 100;
        run(to, s, tasks, &parents(s), from)?;
    }
    let end = START + 2_000 + i64::from(stages) * 100;
    job_end(to, 0, end)?;
    finish(to, end)
}

/// Writes the event log of an application of SQL executions, each of two stages.
pub(crate) fn executions(to: &mut impl Write, executions: u32) -> io::Result<()> {
    begin(to)?;
    for e in 0..executions {
        let at = START + 2_000 + i64::from(e) * 500;
        let (first, second) = (2 * e, 2 * e + 1);
        writeln!(
            to,
            r#"{{"Event":"{SQL}SQLExecutionStart","executionId":{e},"description":"count at A.scala:{}","details":"a.A.run","sparkPlanInfo":{},"time":{at},"modifiedConfigs":{{}}}}"#,
            e % 50,
            plan(e)
        )?;
        writeln!(
            to,
            r#"{{"Event":"SparkListenerJobStart","Job ID":{e},"Submission Time":{},"Stage Infos":[{},{}],"Properties":{{"spark.sql.execution.id":"{e}"}}}}"#,
            at + 10,
            stage(first, 2, &[], None),
            stage(second, 2, &[first], None)
        )?;
        run(to, first, 2, &[], at + 20)?;
        run(to, second, 2, &[first], at + 150)?;
        job_end(to, e, at + 300)?;
        writeln!(
            to,
            r#"{{"Event":"{SQL}SQLExecutionEnd","executionId":{e},"time":{},"errorMessage":""}}"#,
            at + 310
        )?;
    }
    finish(to, START + 2_000 + i64::from(executions) * 500)
}

fn begin(to: &mut impl Write) -> io::Result<()> {
    writeln!(
        to,
        r#"{{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}}"#
    )?;
    writeln!(
        to,
        r#"{{"Event":"SparkListenerApplicationStart","App Name":"generated","App ID":"app-1","Timestamp":{START},"User":"u"}}"#
    )?;
    for e in 1..=4 {
        writeln!(
            to,
            r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{},"Executor ID":"{e}","Executor Info":{{"Host":"h{e}","Total Cores":4}}}}"#,
            START + 1_000
        )?;
    }
    Ok(())
}

fn finish(to: &mut impl Write, at: i64) -> io::Result<()> {
    writeln!(
        to,
        r#"{{"Event":"SparkListenerApplicationEnd","Timestamp":{at}}}"#
    )
}

fn job_end(to: &mut impl Write, job: u32, at: i64) -> io::Result<()> {
    writeln!(
        to,
        r#"{{"Event":"SparkListenerJobEnd","Job ID":{job},"Completion Time":{at},"Job Result":{{"Result":"JobSucceeded"}}}}"#
    )
}

fn stage(id: u32, tasks: u32, parents: &[u32], times: Option<(i64, i64)>) -> String {
    let mut text = format!(
        r#"{{"Stage ID":{id},"Stage Attempt ID":0,"Stage Name":"count at A.scala:{}","Number of Tasks":{tasks},"Parent IDs":{parents:?},"#,
        id % 50
    );
    if let Some((from, to)) = times {
        let _ = write!(text, r#""Submission Time":{from},"Completion Time":{to},"#);
    }
    let _ = write!(
        text,
        r#""RDD Info":[{{"RDD ID":{id},"Name":"MapPartitionsRDD","Parent IDs":[],"Number of Partitions":{tasks}}}]}}"#
    );
    text
}

/// The events of a stage that takes 90 ms.
fn run(to: &mut impl Write, id: u32, tasks: u32, parents: &[u32], from: i64) -> io::Result<()> {
    for task in 0..tasks {
        writeln!(
            to,
            r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{id},"Stage Attempt ID":0,"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Task ID":{task},"Index":{task},"Attempt":0,"Launch Time":{},"Executor ID":"{}","Host":"h","Locality":"ANY","Finish Time":{},"Accumulables":[{{"ID":{},"Name":"number of output rows","Update":"100","Value":"100"}}]}},"Task Metrics":{{"Executor Deserialize Time":1,"Executor Run Time":70,"Executor CPU Time":60000000,"Result Size":1000,"Input Metrics":{{"Bytes Read":1000,"Records Read":10}},"Shuffle Write Metrics":{{"Shuffle Bytes Written":1000,"Shuffle Records Written":10}}}}}}"#,
            from + 5,
            1 + task % 4,
            from + 80,
            u64::from(id) * 10
        )?;
    }
    let info = stage(id, tasks, parents, Some((from, from + 90)));
    writeln!(
        to,
        r#"{{"Event":"SparkListenerStageCompleted","Stage Info":{info}}}"#
    )
}

fn plan(execution: u32) -> String {
    let metric = |stage: u32, nth: u32, name: &str| {
        let id = (2 * u64::from(execution) + u64::from(stage)) * 10 + u64::from(nth);
        format!(r#"{{"name":"{name}","accumulatorId":{id},"metricType":"sum"}}"#)
    };
    let node = |name: &str, text: &str, metrics: &[String], children: &str| {
        format!(
            r#"{{"nodeName":"{name}","simpleString":"{text}","children":[{children}],"metadata":{{}},"metrics":[{}]}}"#,
            metrics.join(",")
        )
    };
    let files = [
        metric(0, 0, "number of output rows"),
        metric(0, 1, "number of files read"),
        metric(0, 2, "size of files read"),
    ];
    let scan = node("Scan parquet ", "FileScan parquet [a#1,b#2]", &files, "");
    let written = [
        metric(0, 3, "shuffle records written"),
        metric(1, 4, "records read"),
    ];
    let text = "Exchange hashpartitioning(a#1, 200), ENSURE_REQUIREMENTS";
    let exchange = node("Exchange", text, &written, &scan);
    let rows = [metric(1, 0, "number of output rows")];
    let text = "HashAggregate(keys=[a#1], functions=[count(1)])";
    node("HashAggregate", text, &rows, &exchange)
}

/// `ScopeVertexDef.xml` of stages; `parents` returns the input stages of a stage.
pub(crate) fn definition(stages: u32, parents: impl Fn(u32) -> Vec<u32>) -> String {
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); stages as usize];
    for stage in 0..stages {
        for parent in parents(stage) {
            readers[parent as usize].push(stage);
        }
    }
    let schema = "TripId:long?,Region:string";
    let uid = |from: u32, to: u32| 1 + from * stages + to;
    let mut text = "<ScopeVertices>\n".to_owned();
    for stage in 0..stages {
        let _ = write!(
            text,
            r#"<ScopeVertex id="SV{stage}_Aggregate"><operator id="Aggregate_{stage}" uid="{stage}" className="SqlGrouper_{stage}" args="TripId" file="scope.script" line="{}">"#,
            1 + stage * 2
        );
        for parent in parents(stage) {
            let uid = uid(parent, stage);
            let _ = write!(
                text,
                r#"<input id="SV{parent}_out{stage}" uid="{uid}" schema="{schema}"/>"#
            );
        }
        for reader in &readers[stage as usize] {
            let uid = uid(stage, *reader);
            let _ = write!(
                text,
                r#"<output id="SV{stage}_out{reader}" uid="{uid}" schema="{schema}"/>"#
            );
        }
        text += "</operator></ScopeVertex>\n";
    }
    text + "</ScopeVertices>\n"
}

/// A chain of statements; each one reads the statement before it.
pub(crate) fn script(statements: u32) -> String {
    let mut text = "A0 = EXTRACT TripId:long, Region:string FROM @\"/in.tsv\" USING DefaultTextExtractor();\n\n".to_owned();
    for s in 1..statements {
        let _ = writeln!(
            text,
            "A{s} = SELECT TripId, Region, COUNT() AS C{s} FROM A{} GROUP BY TripId, Region;\n",
            s - 1
        );
    }
    let _ = writeln!(
        text,
        "OUTPUT A{} TO @\"/out.tsv\" USING DefaultTextOutputter();",
        statements - 1
    );
    text
}
