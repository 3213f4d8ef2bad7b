//! Numbers of real local runs, as they are in their files.

use job::model::{ExchangeKind, FileKind, JobState};
use job::{Job, JobReader};

use testkit::shared;

fn load(name: &str) -> Option<Job> {
    let path = shared("real/jobs")?.join(name);
    Some(job::load(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// A folder that is only tested where someone has put it.
fn load_further(name: &str) -> Option<Job> {
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
    let estimate = job
        .estimate_of(stage, op)
        .unwrap_or_else(|| panic!("no estimate of {id}"));
    let facts = job.stage_facts(stage);
    let counted = facts
        .operator(op)
        .unwrap_or_else(|| panic!("no counters of {id}"));
    (
        estimate.value.card.expect("a plan node has rows"),
        job::facts::value(&counted.rows).expect("an operator has rows"),
    )
}

/// Estimated rows of a plan group.
fn card(job: &Job, group: &str) -> f64 {
    let plan = job.plan.as_ref().expect("a plan");
    plan.by_group(group)
        .and_then(|n| n.card)
        .unwrap_or_else(|| panic!("no group {group}"))
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
    let plan = job.plan.as_ref().expect("a plan");
    assert_eq!(plan.totals["ExtractCardinality"], 2_357_355.0);

    // the merge join stopped reading its right side early
    let counts: Vec<_> = job
        .edges
        .iter()
        .map(|e| (e.rows_written, e.rows_read))
        .collect();
    assert_eq!(
        counts,
        [
            (Some(1_048_575.0), Some(1_048_575.0)),
            (Some(1_308_780.0), Some(753_035.0))
        ]
    );
    assert!(
        job.edges
            .iter()
            .all(|e| e.exchange == ExchangeKind::OneToOne)
    );
    assert_eq!(job.stages[2].vertex_inputs[1].bytes, Some(11_779_020));
    assert_eq!(job.vertex_count(2).map(|n| n.value), Some(1));
}

#[test]
fn table_metadata_beats_the_last_rows_that_lie() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let table = |name: &str| {
        job.tables
            .iter()
            .find(|t| t.name == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let (postcodes, people) = (table("Postcodes"), table("PostcodeDemographics"));
    let partitions = |t: &job::model::Table| {
        t.partitions
            .iter()
            .map(|p| (p.bytes, p.rows))
            .collect::<Vec<_>>()
    };
    assert_eq!(postcodes.rows, Some(1_048_575));
    assert_eq!(people.rows, Some(1_308_780));
    assert_eq!(
        partitions(postcodes),
        [(13_620_858, Some(524_226)), (13_624_254, Some(524_349))]
    );
    assert_eq!(
        partitions(people),
        [(15_710_734, Some(654_601)), (15_700_606, Some(654_179))]
    );
    let layout = people.clustering.as_ref().expect("a layout");
    assert_eq!((layout.kind.as_str(), layout.partitions), ("hash", Some(2)));
    assert_eq!(layout.keys, ["Postcode"]);
    assert_eq!(layout.sorted_by, ["Postcode"]);
    assert_eq!(people.columns[1].type_name.as_deref(), Some("int"));
    assert_eq!(people.columns[0].nulls, Some(0));
    let lie = job
        .diagnostics
        .iter()
        .find(|d| d.file.as_deref() == Some("PartitionLastRows.xml"));
    assert!(
        lie.is_some_and(|d| d.message.en.contains("GetSStream_2")),
        "{:?}",
        job.diagnostics
    );
    assert_eq!(
        job.tables.len(),
        2,
        "{:?}",
        job.tables
            .iter()
            .map(|t| (&t.name, &t.path))
            .collect::<Vec<_>>()
    );
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
        let found = job
            .line_of(stage, op)
            .unwrap_or_else(|| panic!("no line of {id}"));
        assert!(found.confidence >= 0.6, "{id}: {}", found.confidence);
        let lines: Vec<&str> = script.text.lines().collect();
        lines[found.value.first as usize - 1..found.value.last as usize].join("\n")
    };
    assert!(text_at("Join_5").contains("LEFT ANTISEMIJOIN"));
    assert!(text_at("GetSStream_0").contains("FROM Postcodes"));
    assert!(text_at("GetSStream_2").contains("PostcodeDemographics"));
    // renames a column for the join: feeder and reader are of the same statement
    assert!(text_at("Process_3").contains("LEFT ANTISEMIJOIN"));
    let (_, output) = operator(&job, "Join_5");
    assert_eq!(
        output,
        job.stages[2]
            .operators
            .iter()
            .position(|o| o.id == "Join_5")
            .expect("there")
    );
    let join = job.statement_of(2, output).expect("tied").0;
    assert!(job.stages_of(join).contains(&2));
}

#[test]
fn two_phase_aggregation_of_2016() {
    let Some(job) = load("usql-2016-aggregate") else {
        return;
    };
    assert_eq!(card(&job, "0.3"), 5_201.83);
    assert_eq!(rows(&job, "Process_2"), (2_600.91, 43.0));
    assert_eq!(rows(&job, "Process_4"), (1_300.46, 43.0));
    let tree = job.stages[0].counters.as_ref().expect("counters");
    assert_eq!(
        tree.node("Extractor").and_then(|n| n.value("rowCount")),
        Some(10_000.0)
    );
    let table = tree.node("LocalHashAggregatorV2").expect("a hash table");
    assert_eq!(table.value("maxHtInsertCount"), Some(43.0));
    assert_eq!(table.value("maxHtUpdateCount"), Some(9_957.0));
    assert_eq!(job.tables[0].bytes, Some(358_926));
}

/// Folders that are not among those next to the project; the reference names their repositories
/// (kumarsendhi/datalakeUsql `Postcodeareatotals`, imcuteani/PacktAzureTraining `Script`).
#[test]
fn an_input_of_unknown_size_is_estimated_as_one_row() {
    let Some(job) = load_further("usql-unknown-size") else {
        return;
    };
    let plan = job.plan.as_ref().expect("a plan");
    let cards: Vec<f64> = plan.nodes.iter().filter_map(|n| n.card).collect();
    assert!(
        cards.len() > 5 && cards.iter().all(|card| *card == 1.0),
        "{cards:?}"
    );
    assert_eq!(rows(&job, "Process_4"), (1.0, 884.0));
    let tree = job.stages[0].counters.as_ref().expect("counters");
    assert_eq!(
        tree.node("Extractor").and_then(|n| n.value("rowCount")),
        Some(492_415.0)
    );
}

#[test]
fn two_phase_aggregation_of_2019() {
    let Some(job) = load_further("usql-two-phase") else {
        return;
    };
    assert_eq!(card(&job, "0.3"), 10_071.2);
    assert_eq!(rows(&job, "Process_2"), (5_035.59, 100.0));
    assert_eq!(rows(&job, "Process_4"), (2_517.8, 100.0));
    let tree = job.stages[0].counters.as_ref().expect("counters");
    assert_eq!(
        tree.node("Extractor").and_then(|n| n.value("rowCount")),
        Some(19_054.0)
    );
    let table = tree.node("LocalHashAggregatorV2").expect("a hash table");
    assert_eq!(table.value("maxHtInsertCount"), Some(100.0));
    assert_eq!(table.value("maxHtUpdateCount"), Some(18_954.0));
}

#[test]
fn statements_of_the_syntax_tree_are_read() {
    let Some(job) = load("usql-antisemijoin") else {
        return;
    };
    let syntax = job.compile.expect("compiled").syntax;
    let found: Vec<_> = syntax
        .iter()
        .map(|s| (s.kind.as_str(), s.line, s.rowset.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("UseDatabaseStatement", Some(7), None),
            ("UseSchemaStatement", Some(8), None),
            ("QueryStatement", Some(24), Some("@records")),
            ("OutputStatement", Some(30), None),
        ]
    );
    // our own parser finds the same statements there
    let script = job.script.expect("a script");
    for statement in &syntax {
        let line = statement.line.expect("the newer form has lines");
        let ours = script.statement_at_line(line).expect("a statement");
        assert_eq!(ours.target.as_deref(), statement.rowset.as_deref());
    }
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
    // the last partial buffer is counted twice in `bytes`; the command file is exact
    assert_eq!(
        tree.node("Extractor").and_then(|n| n.value("bytes")),
        Some(348_140.0)
    );
    assert_eq!(job.stages[0].vertex_inputs[0].bytes, Some(174_070));
}

#[test]
fn a_failure_in_user_code_is_located() {
    let Some(job) = load("usql-runtime-failure") else {
        return;
    };
    let error = job.errors.first().expect("an error");
    assert_eq!(
        error.id.as_deref(),
        Some("E_RUNTIME_USER_EXPRESSIONEVALUATION")
    );
    assert_eq!(error.class_name.as_deref(), Some("SqlFilterTransformer_3"));
    assert_eq!(error.codegen_line, Some(73));
    assert!(
        error
            .expression
            .as_deref()
            .is_some_and(|e| e.starts_with("SET_NUMBER.IndexOf"))
    );
    assert!(
        job.stages.iter().all(|s| s.counters.is_none()),
        "a failed vertex writes no counters"
    );
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
        let unknown: Vec<_> = reader
            .files()
            .iter()
            .filter(|f| f.kind == FileKind::Unknown)
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let faults = reader
            .job()
            .diagnostics
            .iter()
            .filter(|d| d.file.as_deref() != Some("PartitionLastRows.xml"));
        assert_eq!(
            faults.collect::<Vec<_>>(),
            Vec::<&job::model::Diagnostic>::new()
        );
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
    let stage = job
        .stages
        .iter()
        .find(|s| s.name == "SV4_Extract_Split")
        .expect("a stage");
    let runs = stage.runs.as_ref().expect("runs");
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
    assert_eq!(
        job.stages[0]
            .summary
            .as_ref()
            .map(|s| s.values["succeededCount"]),
        Some(1.0)
    );
    assert_eq!(job.errors[0].script_line, Some(1));
}
