//! Numbers of real local runs, as they stand in their files.

use job::Job;

use super::shared;

fn load(name: &str) -> Option<Job> {
    let path = shared("real/jobs")?.join(name);
    Some(job::load(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// Stage and operator of an id.
fn operator(job: &Job, id: &str) -> (usize, usize) {
    job.stages
        .iter()
        .enumerate()
        .find_map(|(s, stage)| Some((s, stage.operators.iter().position(|o| o.id == id)?)))
        .unwrap_or_else(|| panic!("no operator {id}"))
}

/// Estimated and actual rows of an operator.
fn rows(job: &Job, id: &str) -> (f64, f64) {
    let (stage, op) = operator(job, id);
    let estimate = job
        .estimate_of(stage, op)
        .unwrap_or_else(|| panic!("no estimate of {id}"));
    let counters = job
        .counters_of(stage, op)
        .unwrap_or_else(|| panic!("no counters of {id}"));
    (
        estimate.value.card.expect("a plan node has rows"),
        counters
            .value
            .value("rowCount")
            .expect("an operator has rows"),
    )
}

#[test]
fn the_anti_semi_join_has_three_stages_and_its_numbers() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let names: Vec<&str> = job.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(rows(&job, "Join_5"), (1_047_020.0, 535_621.0));
    for stage in &job.stages {
        eprintln!(
            "{} {:?}",
            stage.name,
            stage
                .operators
                .iter()
                .map(|o| (&o.id, o.kind))
                .collect::<Vec<_>>()
        );
    }
    eprintln!(
        "{:#?}",
        job.edges
            .iter()
            .map(|e| (&e.channel, e.exchange, e.rows_written, e.rows_read))
            .collect::<Vec<_>>()
    );
    eprintln!("{:#?}", job.diagnostics);
    eprintln!(
        "{:#?}",
        job.files
            .iter()
            .map(|f| (&f.name, f.kind))
            .collect::<Vec<_>>()
    );
}
