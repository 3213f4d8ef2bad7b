//! The small files: job information, warnings, algebra, command line, error, operator mapping, stored partitions.

use super::xml::{Xml, a, escape, whole};
use crate::outcome::{Clock, Failure, Outcome};
use crate::physical::{Kind, Source};
use crate::plan::{Dialect, Op};
use serde_json::json;

/// `JobInfo.xml`.
pub(crate) fn job_info(o: &Outcome) -> String {
    let mut x = Xml::new(true);
    let at = |s: f64| Clock::at(o.ids.submitted, s).iso();
    let start = o.before_start();
    let run = if matches!(o.failure, Some(Failure::Compile { .. })) {
        0.0
    } else {
        o.run.elapsed
    };
    let compile_failed = run == 0.0;
    let (state, runtime) = match &o.failure {
        None => ("CompletedSuccess", "Completed"),
        Some(_) => ("CompletedFailure", "Failed"),
    };
    x.open("JobInfo", &Vec::new());
    x.value("Id", &o.ids.job.to_lowercase());
    x.value("Name", &o.spec.job_name);
    x.value("State", state);
    x.value("RuntimeState", runtime);
    x.value("SubmitTime", &at(0.0));
    if !compile_failed {
        x.value("StartTime", &at(start));
    }
    x.value(
        "EndTime",
        &at(if compile_failed {
            o.ids.compile_s
        } else {
            start + run
        }),
    );
    let millis = libm::round(run * 1e3) as u64;
    x.value(
        "RunTime",
        &format!(
            "{:02}:{:02}:{:02}.{:03}0000",
            millis / 3_600_000,
            millis / 60_000 % 60,
            millis / 1000 % 60,
            millis % 1000
        ),
    );
    x.value("UserName", &o.ids.user);
    x.value("Priority", &o.ids.priority.to_string());
    x.value("VirtualCluster", &o.spec.realm);
    x.value(
        "CompilationTimeTicks",
        &format!("{:.0}", o.ids.compile_s * 1e7),
    );
    x.value(
        "QueuedTimeTicks",
        &format!(
            "{:.0}",
            if compile_failed {
                0.0
            } else {
                o.spec.env.queue_s * 1e7
            }
        ),
    );
    x.value("RunTimeTicks", &format!("{:.0}", run * 1e7));
    x.value("DegreeOfParallelism", &o.spec.env.tokens.to_string());
    x.value("Cluster", &o.ids.cluster);
    x.open("StateAuditRecords", &Vec::new());
    let mut record = |state: &str, time: f64| {
        x.open("DisplayedStateAuditRecord", &Vec::new());
        x.value("NewState", state);
        x.value("TimeStamp", &at(time));
        x.value("RequestedByUser", "system");
        x.close("DisplayedStateAuditRecord");
    };
    record("New", 0.0);
    record("Compiling", 0.3);
    if compile_failed {
        record(state, o.ids.compile_s);
    } else {
        record("WaitingForCapacity", o.ids.compile_s);
        record("Running", start);
        for (from, tokens) in o.spec.env.grants.iter().filter(|g| g.0 < run) {
            let state = if *tokens == 0 {
                "WaitingForCapacity"
            } else {
                "Running"
            };
            if *from > 0.0 {
                record(state, start + from);
            }
        }
        record(state, start + run);
    }
    x.close("StateAuditRecords");
    x.close("JobInfo");
    x.text
}

/// `__ScopeDiagnosisInfo__.xml`.
pub(crate) fn diagnosis_info(o: &Outcome) -> String {
    let mut x = Xml::new(o.spec.seed.is_multiple_of(2));
    x.open("OperatorPhyMapping", &Vec::new());
    for (_, stage) in o.physical.live() {
        for op in &stage.ops {
            if matches!(
                op.kind,
                Kind::MergeJoin | Kind::HashJoin | Kind::PartialAggregate | Kind::Aggregate
            ) {
                let group = format!("{}.{}", op.group.0, op.group.1);
                x.leaf(
                    "Mapping",
                    &vec![a("OperatorId", &op.id), a("PhyPlanGroupNo", group)],
                );
            }
        }
    }
    x.close("OperatorPhyMapping");
    x.text
}

/// `__SStreamInfo__.xml`; `None` if the job reads no structured stream.
pub(crate) fn sstream_info(o: &Outcome) -> Option<String> {
    let mut x = Xml::new(true);
    let mut any = false;
    x.open("SStreams", &Vec::new());
    for (_, stage) in o.physical.live() {
        for op in stage.ops.iter().filter(|op| op.kind == Kind::Get) {
            let Some(Source::Table(t)) = op.sources.first() else {
                continue;
            };
            any = true;
            let mut at = 0_u64;
            let parts: Vec<String> = op
                .bytes
                .iter()
                .map(|b| {
                    let from = at;
                    at += *b as u64;
                    format!("{{{from}:{at}}}")
                })
                .collect();
            let info = format!("{{{}}}", parts.join(","));
            x.leaf(
                "SStream",
                &vec![
                    a("id", &op.id),
                    a("path", &o.spec.tables[*t].path),
                    a("processingGroupInfo", info),
                ],
            );
        }
    }
    x.close("SStreams");
    any.then_some(x.text)
}

/// `__Warnings__.xml`: compiler warnings that do not affect the run time.
pub(crate) fn warnings(o: &Outcome, many: bool) -> String {
    let all = [
        (
            "171",
            "The stream has no expiry date.",
            "Information",
            "Add WITH STREAMEXPIRY.",
        ),
        (
            "204",
            "Unused variable in the script.",
            "Information",
            "Remove it.",
        ),
        (
            "118",
            "The column is declared nullable but is used as a non-nullable type.",
            "Warning",
            "Check for null.",
        ),
        (
            "132",
            "The operation 'FIRST' is potentially non-deterministic.",
            "Warning",
            "Order the rows.",
        ),
    ];
    let mut x = Xml::new(true);
    x.open("Warnings", &Vec::new());
    let n = if many {
        4
    } else {
        1 + (o.spec.seed % 2) as usize
    };
    for (i, (id, message, severity, solution)) in all.iter().enumerate().take(n) {
        let count = 1 + (o.spec.seed >> i) % 6;
        x.open(
            "Warning",
            &vec![
                a("id", format!("{id}{message}")),
                a("severity", severity),
                a("occurrences", count),
            ],
        );
        x.value("location", &format!("{}:{}", o.script.file, 3 + 4 * i));
        x.value("message", message);
        x.value("solution", solution);
        x.close("Warning");
    }
    x.close("Warnings");
    x.text
}

/// `Algebra.xml`.
pub(crate) fn algebra(o: &Outcome) -> String {
    let mut x = Xml::new(true);
    x.open("CsJobAlgebra", &Vec::new());
    let kind = if o.spec.dialect == Dialect::Scope {
        "BatchScope"
    } else {
        "BatchSqlIp"
    };
    x.open(
        "graph",
        &vec![
            a("JsonErrors", "True"),
            a("JobType", kind),
            a("vertexExecutable", "scopehost.exe"),
        ],
    );
    for (_, stage) in o.physical.live() {
        let managed = if stage.managed { 1.25e9 } else { 0.0 };
        let mut attrs = vec![
            a("id", &stage.name),
            a(
                "command",
                format!("ScopeEngine.dll -scopeVertex {}", stage.name),
            ),
            whole("managedMemorySize", managed),
            whole("nativeExecutionMemorySize", o.spec.env.sort_memory),
        ];
        if !stage.managed {
            attrs.insert(2, a("nativeOnly", "true"));
        }
        x.open("process", &attrs);
        for op in &stage.ops {
            for source in &op.sources {
                match source {
                    Source::Table(t) => {
                        let table = &o.spec.tables[*t];
                        let size = format!("{:.0}", table.bytes());
                        x.leaf(
                            "input",
                            &vec![
                                a("id", format!("{}[ALL,ALL,ALL]", op.id)),
                                a("structuredStream", &table.path),
                                a("streamSize", size),
                            ],
                        );
                    }
                    Source::Channel(c) => x.leaf(
                        "input",
                        &vec![a("id", super::vertex_def::channel_name(o, *c))],
                    ),
                    Source::Op(_) => {}
                }
            }
        }
        for (place, w) in super::vertex_def::writers(stage).into_iter().enumerate() {
            let mut attrs = vec![a("id", format!("{}_out{place}", stage.name))];
            if let Op::Output { file, .. } = &o.spec.nodes[stage.ops[w].node].op {
                attrs.push(a("cosmosStream", file));
            }
            x.leaf("output", &attrs);
        }
        x.close("process");
    }
    x.open("inputStreamList", &vec![a("id", "inputs")]);
    for t in &o.spec.tables {
        x.leaf("stream", &vec![a("cosmosPath", &t.path)]);
    }
    x.close("inputStreamList");
    x.close("graph");
    x.close("CsJobAlgebra");
    x.text
}

/// `NebulaCommandLine.txt`.
pub(crate) fn command_line(o: &Outcome) -> String {
    format!(
        "scope.exe submit -i {} -vc {} -p {} -tokens {}\n",
        o.script.file, o.spec.realm, o.ids.priority, o.spec.env.tokens
    )
}

/// `Error` of a failed job.
pub(crate) fn error(o: &Outcome) -> Option<String> {
    let failure = o.failure.as_ref()?;
    let value = match failure {
        Failure::UserCode {
            stage,
            line,
            mechanism,
        } => user_error(o, *stage, *line, mechanism),
        Failure::Timeout { stage, vertex } => {
            let name = format!("{}[{vertex}]", o.physical.stages[*stage].name);
            json!({
                "diagnosticCode": 195_887_115, "severity": "Error", "component": "RUNTIME", "source": "System",
                "errorId": "E_RUNTIME_SYSTEM_VERTEX_TIMEOUT", "message": "A vertex exceeded the time limit.",
                "description": format!("{name} was stopped: no vertex may run longer than 05:00:00."),
                "resolution": "", "helpLink": "", "details": "Vertex execution time limit of 5 hours exceeded.",
                "internalDiagnostics": format!("Failed vertex: {name} v0"),
            })
        }
        Failure::TempData { stage } => {
            let name = &o.physical.stages[*stage].name;
            json!({
                "diagnosticCode": 195_887_141, "severity": "Error", "component": "JM", "source": "User",
                "errorId": "E_USER_JM_AM_TempDataHeldBytesPerTokenLimitExceeded",
                "message": "The temporary data held by the job exceeds the limit per token.",
                "description": format!("Stage {name} wrote more temporary data than {} tokens may hold.", o.spec.env.tokens),
                "resolution": "Reduce the intermediate data of the job.", "helpLink": "", "details": "",
                "internalDiagnostics": format!("Failed vertex: {name}"),
            })
        }
        Failure::Compile { line, mechanism } => {
            let text = o
                .script
                .text
                .lines()
                .nth(line.saturating_sub(1))
                .unwrap_or("")
                .trim();
            let (id, message, description, token) = match *mechanism {
                "unknown_name" => (
                    "E_CSC_USER_ROWSETVARIABLENOTFOUND",
                    format!("rowset variable was not found near '{text}'"),
                    format!("The script reads a rowset at line {line} that no statement assigns."),
                    "All",
                ),
                "invalid_csharp" => (
                    "E_CSC_USER_INVALIDCSHARP",
                    "C# error CS0103: The name 'RowRule' does not exist in the current context"
                        .to_owned(),
                    format!("Invalid C# expression in the script at line {line}."),
                    "RowRule",
                ),
                _ => (
                    "E_CSC_USER_SYNTAXERROR",
                    format!("syntax error. Expected FROM near '{text}'"),
                    format!("Invalid syntax found in the script at line {line}."),
                    "FORM",
                ),
            };
            json!({
                "diagnosticCode": 3_238_002_695_u32, "severity": "Error", "component": "CSC", "source": "User",
                "errorId": id, "message": message, "description": description,
                "resolution": "Correct the script syntax.", "helpLink": "", "details": format!("at token '{token}', line {line}\n{text}\n###"),
                "internalDiagnostics": "", "filePath": o.script.file, "lineNumber": line,
            })
        }
    };
    Some(super::json::sorted(value).to_string())
}

/// Exception of a mechanism: class, message, and the row that it could not take.
fn exception(mechanism: &str) -> (&'static str, &'static str, &'static str) {
    match mechanism {
        "null_reference" => (
            "System.NullReferenceException",
            "Object reference not set to an instance of an object.",
            "EventTime:\t2024-03-01T00:00:00",
        ),
        "bad_row_in_condition" => (
            "System.FormatException",
            "Input string was not in a correct format.",
            "RecordId:\t\"12-x\"",
        ),
        _ => (
            "System.OverflowException",
            "Value was either too large or too small for an Int32.",
            "Steps:\t4294967311",
        ),
    }
}

fn user_error(o: &Outcome, stage: usize, line: usize, mechanism: &str) -> serde_json::Value {
    let (exception, message, row) = exception(mechanism);
    let s = &o.physical.stages[stage];
    let vertex = format!("Failed vertex: {}[{}] v3", s.name, s.vertices / 3);
    let condition = s.ops.iter().find_map(|op| match &o.spec.nodes[op.node].op {
        Op::Select { filters, .. } => filters.iter().find(|f| f.managed),
        _ => None,
    });
    if let (Some(filter), "bad_row_in_condition") = (condition, mechanism) {
        return json!({
            "diagnosticCode": 195_887_114, "severity": "Error", "component": "RUNTIME", "source": "User",
            "errorId": "E_RUNTIME_USER_EXPRESSIONEVALUATION",
            "message": format!("Error while evaluating expression {}", filter.text),
            "description": format!("Inner exception from user expression: {message}\nCurrent row dump: \t{row}\n"),
            "resolution": "", "helpLink": "",
            "details": format!("==== Caught exception {exception}\n\n   at System.Number.StringToNumber(String str, NumberStyles options)\n   at {}\n", filter.text),
            "internalDiagnostics": vertex,
            "filePath": o.script.file, "lineNumber": line,
        });
    }
    let class = s
        .ops
        .iter()
        .find_map(|op| match &o.spec.nodes[op.node].op {
            Op::Reduce { udo, .. } if op.kind == Kind::Reduce => Some((
                udo.class.clone(),
                "Reduce(RowSet input, Row outputRow, String[] args)",
            )),
            Op::Process { udo, .. } if op.kind == Kind::Process => Some((
                udo.class.clone(),
                "Process(RowSet input, Row outputRow, String[] args)",
            )),
            _ => None,
        })
        .unwrap_or_default();
    let at = super::codegen::line_in(o, &class.0);
    json!({
        "diagnosticCode": 195_887_114, "severity": "Error", "component": "RUNTIME", "source": "User",
        "errorId": "E_RUNTIME_USER_UNHANDLED_EXCEPTION",
        "message": format!("Unhandled exception from user code: \"{message}\""),
        "description": format!("Inner exception from user expression: {message}\nCurrent row dump: \t{row}\n"),
        "resolution": "", "helpLink": "",
        "details": format!("==== Caught exception {exception}: {message}\n\n   at {}.{} in d:\\data\\job\\__ScopeCodeGen__.dll.cs:line {at}\n", class.0, class.1),
        "internalDiagnostics": vertex,
        "filePath": o.script.file, "lineNumber": line,
    })
}

/// `__CompilerTimers.xml`, without information about the run.
pub(crate) fn timers(o: &Outcome) -> String {
    format!(
        "<Timers><Timer name=\"{}\" seconds=\"{:.3}\" /></Timers>\n",
        escape("Front end"),
        o.ids.compile_s * 0.2
    )
}
