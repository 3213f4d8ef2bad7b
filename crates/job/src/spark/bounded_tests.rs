//! What is kept of a log that has far more of everything than is kept.

use super::collect::Collector;
use super::limits::Limits;
use crate::Job;

const LIMITS: Limits = Limits {
    things: 200,
    bytes: 200_000,
};
const N: u32 = 3_000;
/// The stage that takes longest.
const COSTLIEST: u32 = 1_234;

/// Reads jobs of one stage and one task each, every second of an execution with a plan; texts are long.
fn read() -> Collector {
    let mut log = Collector::new(1_000);
    log.limits = LIMITS;
    log.part("log");
    let text = "x ".repeat(700);
    for n in 0..N {
        let at = 1_000_000 + i64::from(n) * 1_000;
        let took = if n == COSTLIEST {
            900
        } else {
            100 + i64::from(n % 7)
        };
        let end = at + took;
        let stage = format!(
            r#""Stage ID":{n},"Stage Attempt ID":0,"Stage Name":"{text}","Number of Tasks":1,"Parent IDs":[],"RDD Info":[{{"RDD ID":{n}}}]"#
        );
        let sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution";
        for line in [
            format!(
                r#"{{"Event":"{sql}Start","executionId":{n},"description":"{text}","details":"{text}","time":{at},"sparkPlanInfo":{{"nodeName":"Scan","simpleString":"{text}","children":[],"metadata":{{}},"metrics":[]}},"modifiedConfigs":{{"k":"{text}"}}}}"#
            ),
            format!(
                r#"{{"Event":"SparkListenerJobStart","Job ID":{n},"Submission Time":{at},"Stage Infos":[{{{stage}}}],"Properties":{{"spark.sql.execution.id":"{n}","spark.job.description":"{text}"}}}}"#
            ),
            format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{n},"Stage Attempt ID":0,"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Task ID":{n},"Index":0,"Launch Time":{at},"Executor ID":"{n}","Host":"h","Finish Time":{end}}},"Task Metrics":{{"Executor Run Time":{took}}}}}"#
            ),
            format!(
                r#"{{"Event":"SparkListenerStageCompleted","Stage Info":{{{stage},"Submission Time":{at},"Completion Time":{end}}}}}"#
            ),
            format!(
                r#"{{"Event":"SparkListenerJobEnd","Job ID":{n},"Completion Time":{end},"Job Result":{{"Result":"JobSucceeded"}}}}"#
            ),
            format!(r#"{{"Event":"{sql}End","executionId":{n},"time":{end},"errorMessage":""}}"#),
        ] {
            log.line(line.as_bytes(), false);
        }
    }
    assert_eq!(log.unreadable, 0);
    log
}

#[test]
fn the_costliest_are_kept_and_the_time_of_all_others() {
    let mut log = read();
    let most = LIMITS.things + LIMITS.things / 4;
    for kept in [log.stages.len(), log.jobs.len(), log.executions.len()] {
        assert!((LIMITS.things..=most).contains(&kept), "{kept}");
    }
    let held = log.stages.values().map(|s| s.detail_bytes());
    let held = held.chain(log.jobs.values().map(|j| j.detail_bytes()));
    let held = held.chain(log.executions.values().map(|e| e.detail_bytes()));
    assert!(held.sum::<usize>() <= LIMITS.bytes);
    let texts = log.stages.values().map(|s| s.name.len());
    assert!(texts.max() <= Some(2_000));
    assert!(log.stages[&(COSTLIEST, 0)].tasks.kept.len() == 1);
    assert!(!log.stages[&(COSTLIEST, 0)].tasks.is_shed());

    log.trim();
    let kept = [log.stages.len(), log.jobs.len(), log.executions.len()];
    assert_eq!(kept, [LIMITS.things; 3]);
    let mut job = Job::default();
    super::finish(log, false, &mut job);
    let app = job.spark.as_deref().expect("an application");
    assert!(job.stages.len() <= most && app.jobs.len() <= most);
    let ran = |from: i64, to: i64| to - from;
    let forgotten: i64 = app.untold.iter().map(|(from, to)| ran(*from, *to)).sum();
    let stages = app.stages.iter();
    let kept: i64 = stages
        .filter_map(|s| Some(ran(s.submitted_ms?, s.completed_ms?)))
        .sum();
    let all: i64 = (0..N)
        .map(|n| {
            if n == COSTLIEST {
                900
            } else {
                100 + i64::from(n % 7)
            }
        })
        .sum();
    assert_eq!(forgotten + kept, all);
    // the driver had the rest of each second
    assert_eq!(app.told(1_000_000, 1_001_000), [(1_000_100, 1_001_000)]);
    let noted = |words: &str| {
        let mut all = job.diagnostics.iter();
        all.any(|d| d.message.en.contains(words))
    };
    assert!(noted("more than 200 stage attempts") && noted("details were kept of the costliest"));
}

#[test]
fn of_too_many_edges_the_latest_inputs_of_each_stage_are_kept() {
    let mut log = Collector::new(1_000);
    log.part("log");
    let stages = 700;
    for n in 0..stages {
        let parents: Vec<u32> = (0..n).collect();
        let (from, to) = (1_000_000 + n * 1_000, 1_000_900 + n * 1_000);
        let line = format!(
            r#"{{"Event":"SparkListenerStageCompleted","Stage Info":{{"Stage ID":{n},"Stage Attempt ID":0,"Stage Name":"s","Number of Tasks":0,"Parent IDs":{parents:?},"RDD Info":[],"Submission Time":{from},"Completion Time":{to}}}}}"#
        );
        log.line(line.as_bytes(), false);
    }
    let mut job = Job::default();
    super::finish(log, false, &mut job);
    assert!(job.edges.len() <= 200_000, "{}", job.edges.len());
    let last = stages as usize - 1;
    assert!(job.edges_into(last).any(|e| e.from == last - 1));
    let mut all = job.diagnostics.iter();
    assert!(all.any(|d| d.message.en.contains("too many dependencies")));
}
