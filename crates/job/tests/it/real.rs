//! Numbers of real local runs, compared with their files.

use job::model::{ExchangeKind, FileKind, JobState};
use job::{Job, JobReader};

use testkit::shared;

fn load(name: &str) -> Option<Job> {
    let path = shared(&format!("real/jobs/{name}"))?;
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
    let estimate = job.estimate_of(stage, op).expect("an estimate");
    let facts = job.stage_facts(stage);
    let counted = facts.operator(op).expect("counters");
    (
        estimate.value.card.expect("a plan node has rows"),
        job::facts::value(&counted.rows).expect("an operator has rows"),
    )
}

/// Estimated rows of a plan group.
fn card(job: &Job, group: &str) -> f64 {
    let plan = job.plan.as_ref().expect("a plan");
    plan.by_group(group).and_then(|n| n.card).expect("a group")
}

#[test]
fn the_anti_semi_join_has_its_numbers() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let names: Vec<&str> = job.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["SV1_Extract", "SV2_Extract", "SV3_Combine"]);
    assert_eq!(rows(&job, "Join_5"), (1_047_020.0, 535_621.0));
    assert_eq!(card(&job, "0.3"), 1_048_580.0);
    assert_eq!(card(&job, "1.3"), 1_308_780.0);

    // the merge join stopped reading its right side early
    for (edge, written, read) in [(0, 1_048_575.0, 1_048_575.0), (1, 1_308_780.0, 753_035.0)] {
        let edge = &job.edges[edge];
        assert_eq!(
            (edge.rows_written, edge.rows_read),
            (Some(written), Some(read))
        );
        assert_eq!(edge.exchange, ExchangeKind::OneToOne);
    }
    assert_eq!(job.edges.len(), 2);
    assert_eq!(job.vertex_count(2).map(|n| n.value), Some(1));
}

#[test]
fn table_metadata_beats_the_last_rows_that_lie() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let table = |name: &str| job.tables.iter().find(|t| t.name == name);
    let people = table("PostcodeDemographics").expect("a table");
    for (table, rows, partitions) in [
        (
            table("Postcodes"),
            1_048_575,
            [(13_620_858, 524_226), (13_624_254, 524_349)],
        ),
        (
            Some(people),
            1_308_780,
            [(15_710_734, 654_601), (15_700_606, 654_179)],
        ),
    ] {
        let table = table.expect("a table");
        assert_eq!(table.rows, Some(rows));
        let found: Vec<_> = table.partitions.iter().map(|p| (p.bytes, p.rows)).collect();
        assert_eq!(found, partitions.map(|(bytes, rows)| (bytes, Some(rows))));
    }
    let layout = people.clustering.as_ref().expect("a layout");
    assert_eq!((layout.kind.as_str(), layout.partitions), ("hash", Some(2)));
    assert_eq!(layout.keys, ["Postcode"]);
    assert_eq!(layout.sorted_by, ["Postcode"]);
    assert_eq!(people.columns[1].type_name.as_deref(), Some("int"));
    assert_eq!(people.columns[0].nulls, Some(0));
    let mut diagnostics = job.diagnostics.iter();
    let lie = diagnostics.find(|d| d.file.as_deref() == Some("PartitionLastRows.xml"));
    assert!(
        lie.is_some_and(|d| d.message.en.contains("GetSStream_2")),
        "{lie:?}"
    );
    assert_eq!(job.tables.len(), 2, "{:?}", job.tables);
}

#[test]
fn the_script_of_a_local_run_stands_in_its_algebra_and_operators_are_tied_to_it() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let script = job.script.as_ref().expect("a script");
    assert_eq!(script.file, "__script__.abr");
    let text_at = |id: &str| {
        let (stage, op) = operator(&job, id);
        let found = job.line_of(stage, op).expect("a line");
        assert!(found.confidence >= 0.6, "{id}: {}", found.confidence);
        let lines: Vec<&str> = script.text.lines().collect();
        lines[found.value.first as usize - 1..found.value.last as usize].join("\n")
    };
    assert!(text_at("Join_5").contains("LEFT ANTISEMIJOIN"));
    assert!(text_at("GetSStream_0").contains("FROM Postcodes"));
    assert!(text_at("GetSStream_2").contains("PostcodeDemographics"));
    // renames a column for the join: feeder and reader are of the same statement
    assert!(text_at("Process_3").contains("LEFT ANTISEMIJOIN"));
    let (stage, join) = operator(&job, "Join_5");
    let join = job.statement_of(stage, join).expect("tied").0;
    assert!(job.stages_of(join).contains(&stage));
}

/// Rows read by the extractor, and the counts of a hash aggregation's table.
fn aggregation(job: &Job) -> [Option<f64>; 3] {
    let tree = job.stages[0].counters.as_ref().expect("counters");
    [
        ("Extractor", "rowCount"),
        ("LocalHashAggregatorV2", "maxHtInsertCount"),
        ("LocalHashAggregatorV2", "maxHtUpdateCount"),
    ]
    .map(|(node, counter)| tree.node(node)?.value(counter))
}

/// The second folder and the folder of the next test are not next to the project; the reference names their repositories
/// (kumarsendhi/datalakeUsql `Postcodeareatotals`, imcuteani/PacktAzureTraining `Script`).
#[test]
fn two_phase_aggregations_of_2016_and_2019() {
    if let Some(job) = load("usql-2016-aggregate") {
        assert_eq!(card(&job, "0.3"), 5_201.83);
        assert_eq!(rows(&job, "Process_2"), (2_600.91, 43.0));
        assert_eq!(rows(&job, "Process_4"), (1_300.46, 43.0));
        assert_eq!(aggregation(&job), [10_000.0, 43.0, 9_957.0].map(Some));
        assert_eq!(job.tables[0].bytes, Some(358_926));
    }
    if let Some(job) = load("usql-two-phase") {
        assert_eq!(card(&job, "0.3"), 10_071.2);
        assert_eq!(rows(&job, "Process_2"), (5_035.59, 100.0));
        assert_eq!(rows(&job, "Process_4"), (2_517.8, 100.0));
        assert_eq!(aggregation(&job), [19_054.0, 100.0, 18_954.0].map(Some));
    }
}

#[test]
fn an_input_of_unknown_size_is_estimated_as_one_row() {
    let Some(job) = load("usql-unknown-size") else {
        return;
    };
    let plan = job.plan.as_ref().expect("a plan");
    let cards: Vec<f64> = plan.nodes.iter().filter_map(|n| n.card).collect();
    assert!(
        cards.len() > 5 && cards.iter().all(|card| *card == 1.0),
        "{cards:?}"
    );
    assert_eq!(rows(&job, "Process_4"), (1.0, 884.0));
    assert_eq!(aggregation(&job)[0], Some(492_415.0));
}

#[test]
fn managed_code_has_its_garbage_collection() {
    let Some(job) = load("usql-csharp-projection") else {
        return;
    };
    let tree = job.stages[0].counters.as_ref().expect("counters");
    let managed = tree.node("ManagedMemory").expect("managed code");
    let value = |name: &str| managed.value(name);
    assert_eq!(value("maxGen0CollectionsCount"), Some(3.0));
    assert_eq!(value("maxGen1CollectionsCount"), Some(1.0));
    assert_eq!(value("maxGen2CollectionsCount"), Some(0.0));
    assert_eq!(value("maxManagedMemoryPeakSize"), Some(354_528.0));
    assert_eq!(job.stage_facts(0).gc.max_share(), Some(0.0));
    assert_eq!(
        tree.node("VertexHost")
            .and_then(|n| n.value("clrMemoryLimit")),
        Some(322_961_408.0)
    );
    assert_eq!(
        tree.node("Extractor").and_then(|n| n.value("bytes")),
        Some(348_140.0)
    );
}

#[test]
fn a_failure_in_user_code_is_located() {
    let Some(job) = load("usql-runtime-failure") else {
        return;
    };
    let error = job.errors.first().expect("an error");
    let id = "E_RUNTIME_USER_EXPRESSIONEVALUATION";
    assert_eq!(error.id.as_deref(), Some(id));
    assert_eq!(error.class_name.as_deref(), Some("SqlFilterTransformer_3"));
    assert_eq!(error.codegen_line, Some(73));
    let expression = error.expression.as_deref().expect("an expression");
    assert!(expression.starts_with("SET_NUMBER.IndexOf"));
    // a failed vertex writes no counters
    assert!(job.stages.iter().all(|s| s.counters.is_none()));
    assert_eq!(job.info.state, JobState::Failed);
}

#[test]
fn every_file_of_the_real_folders_is_known_and_read_without_a_fault() {
    let Some(root) = shared("real/jobs") else {
        return;
    };
    for entry in std::fs::read_dir(root).expect("listed").flatten() {
        let mut reader: JobReader =
            job::open(&entry.path(), &job::Options::default()).expect("a job");
        let read = reader.read_all();
        assert!(read.iter().all(|r| r.parser.is_some()), "{read:?}");
        let mut files = reader.files().iter();
        assert_eq!(files.find(|f| f.kind == FileKind::Unknown), None);
        let mut faults = reader.job().diagnostics.iter();
        let fault = faults.find(|d| d.file.as_deref() != Some("PartitionLastRows.xml"));
        assert_eq!(fault, None);
    }
}

#[test]
fn sample_lines_of_a_job_manager_are_read() {
    let Some(notes) = shared("real/notes") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    // the file is not copied into the project
    let text = std::fs::read(notes.join("jm_stdout_samples.txt")).expect("readable");
    std::fs::write(folder.path().join("profile"), text).expect("written");
    let job = job::load(folder.path()).expect("a job");
    let stage = job.stage_index("SV4_Extract_Split").expect("a stage");
    let runs = job.stages[stage].runs.as_ref().expect("runs");
    assert_eq!(runs.completed, 1);
    assert_eq!(runs.runs[0].bytes_read, 97_390_825);
    assert_eq!(runs.runs[0].bytes_written, 1_498_630);
    assert_eq!(runs.run_ms.max, 3_370.0);
    assert_eq!(job.info.ended_ms, Some(1_269_555_949_943));
}

#[test]
fn rest_answers_are_read() {
    let Some(path) = shared("real/rest") else {
        return;
    };
    let job = job::load(&path).expect("a job");
    assert_eq!(job.info.name.as_deref(), Some("test_name"));
    assert_eq!(job.info.tokens, Some(1));
    assert_eq!(job.info.state, JobState::Succeeded);
    let summary = job.stages[0].summary.as_ref().expect("statistics");
    assert_eq!(summary.values["succeededCount"], 1.0);
    assert_eq!(job.errors[0].script_line, Some(1));
}
