//! The truth about a simulated job, in the fields that scoring reads.

use crate::cause::Cause;
use crate::outcome::Failure;
use crate::request::{Kind, Request};
use crate::simulate::Draft;
use serde_json::{Value, json};

/// Files and contents removed from the folder of a withheld job.
pub(crate) struct Withheld {
    pub(crate) file: &'static str,
    pub(crate) files: Vec<&'static str>,
    pub(crate) info: &'static str,
    pub(crate) would_decide: Vec<&'static str>,
}

/// Files that are needed to see a cause; `None` if a folder always shows it.
pub(crate) fn withheld(cause: Cause) -> Option<Withheld> {
    let code = cause.code();
    let runtime = "__ScopeRuntimeStatistics__.xml";
    Some(match cause {
        Cause::QueueWait => Withheld {
            file: "JobInfo.xml",
            files: vec!["JobInfo.xml"],
            info: "queue_time",
            would_decide: vec![code],
        },
        Cause::JoinHotKey | Cause::GroupHotKey | Cause::NullOrDefaultKey => Withheld {
            file: runtime,
            files: vec![runtime, "profile", "JobStatistics.json", "tables.json"],
            info: "per_vertex_data",
            would_decide: vec![code],
        },
        Cause::HeapPressure | Cause::CpuBound => Withheld {
            file: runtime,
            files: vec![runtime],
            info: "gc_time",
            would_decide: vec!["gc.heap_pressure", "udo.cpu_bound"],
        },
        Cause::Spill => Withheld {
            file: runtime,
            files: vec![runtime],
            info: "spill_counters",
            would_decide: vec![code],
        },
        Cause::VertexRetries | Cause::SlowMachine => Withheld {
            file: "profile",
            files: vec!["profile", "JobStatistics.json"],
            info: "vertex_events",
            would_decide: vec![code],
        },
        Cause::Explosion => Withheld {
            file: runtime,
            files: vec![runtime],
            info: "row_counts",
            would_decide: vec![code],
        },
        Cause::Misestimate => Withheld {
            file: "__ScopeInternalInfo__.xml",
            files: vec![
                "__ScopeInternalInfo__.xml",
                "__SystemInternalInfo__.xml",
                "__ScopeDiagnosisInfo__.xml",
            ],
            info: "estimates",
            would_decide: vec![code],
        },
        // Only if no other file has the code.
        Cause::UnusedColumns => Withheld {
            file: "__ScopeCodeGen__.dll.cs",
            files: vec!["__ScopeCodeGen__.dll.cs"],
            info: "user_code",
            would_decide: vec![code],
        },
        Cause::UserCode => Withheld {
            file: "Error",
            files: vec!["Error", "profile"],
            info: "error_message",
            would_decide: vec!["failure.user_code", "failure.limit"],
        },
        _ => return None,
    })
}

/// Causes that can be withheld.
pub(crate) fn can_be_withheld() -> Vec<Cause> {
    crate::cause::CAUSES
        .iter()
        .map(|c| c.0)
        .filter(|c| withheld(*c).is_some())
        .collect()
}

/// Causes that follow from a cause or describe it differently.
fn related(cause: Cause) -> &'static [Cause] {
    match cause {
        Cause::JoinHotKey => &[Cause::GroupHotKey, Cause::Spill],
        Cause::GroupHotKey => &[Cause::JoinHotKey, Cause::Spill],
        Cause::NullOrDefaultKey => &[Cause::JoinHotKey, Cause::GroupHotKey, Cause::Spill],
        Cause::LowCardinalityKey => &[Cause::GroupHotKey, Cause::TooLow, Cause::Spill],
        Cause::RedundantRepartition => &[Cause::UnalignedInput],
        Cause::LateFilter => &[Cause::UnusedColumns],
        Cause::MissedBroadcast | Cause::Explosion => &[Cause::Misestimate],
        Cause::SerialGather => &[Cause::TooLow, Cause::Spill, Cause::Misestimate],
        // The smaller stream has as many partitions as the larger one, tiny when read alone.
        Cause::UnalignedInput => &[Cause::RedundantRepartition, Cause::TinyVertices],
        Cause::HeapPressure => &[Cause::CpuBound],
        Cause::CpuBound => &[Cause::HeapPressure],
        Cause::Spill => &[Cause::Misestimate, Cause::TooLow],
        Cause::EstimateTooLow | Cause::UserCode => &[Cause::VertexRetries],
        Cause::VertexRetries => &[Cause::EstimateTooLow],
        Cause::Misestimate => &[Cause::TooLow, Cause::Spill],
        Cause::TooLow => &[Cause::Misestimate, Cause::Spill],
        Cause::TinyVertices => &[Cause::Misestimate],
        Cause::SmallFiles => &[Cause::TinyVertices],
        Cause::Limit => &[
            Cause::CpuBound,
            Cause::HeapPressure,
            Cause::Spill,
            Cause::JoinHotKey,
            Cause::VertexRetries,
        ],
        // Range partitions on a time serve no later key.
        Cause::PartitionLayout => &[Cause::UnalignedInput],
        Cause::UnusedColumns | Cause::SlowMachine | Cause::Compile | Cause::QueueWait => &[],
    }
}

/// Causes in the truth, with their sites: a job that hit a limit because of a hot key has both.
fn named(request: &Request, draft: &Draft) -> Vec<(Cause, usize)> {
    let mut out: Vec<(Cause, usize)> = Vec::new();
    for (i, &cause) in request.causes.iter().enumerate() {
        let root = draft.sites[i].root;
        out.extend(root.map(|root| (root, i)));
        out.push((cause, i));
    }
    out
}

/// Writes the truth. `job` and `split` name the folder.
pub(crate) fn truth(
    request: &Request,
    draft: &Draft,
    job: &str,
    split: &str,
    question: &str,
) -> Value {
    let o = &draft.outcome;
    let compile = matches!(o.failure, Some(Failure::Compile { .. }));
    let elapsed = if compile { 0.0 } else { o.run.elapsed };
    let total = if compile {
        o.ids.compile_s
    } else {
        elapsed + o.before_start()
    };
    let causes: Vec<Value> = named(request, draft)
        .iter()
        .map(|(c, i)| cause(request, draft, *c, *i, elapsed, total))
        .collect();
    let hidden = request.kind == Kind::Withheld;
    let of_causes = draft.sites.iter().map(|s| s.mechanism);
    let mechanisms: Vec<&str> = of_causes.chain(draft.near_miss).collect();
    let withheld = request
        .causes
        .first()
        .filter(|_| hidden)
        .and_then(|c| withheld(*c));
    let verdict = match request.kind {
        Kind::None => "healthy",
        Kind::Withheld => "insufficient_information",
        _ => "problem",
    };
    let (vertices, stages) = if compile {
        (0, 0)
    } else {
        (vertices(draft), o.physical.live().count())
    };
    json!({
        "job": job,
        "split": split,
        "kind": match request.kind {
            Kind::Single => "single",
            Kind::Two => "two",
            Kind::None => "none",
            Kind::Withheld => "withheld",
            Kind::Failed => "failed",
        },
        "causes": if hidden { Vec::new() } else { causes },
        "acceptable_extra": extra(request, draft),
        "withheld": withheld.map(|w| json!({"file": w.file, "files": w.files, "info": w.info, "would_decide": w.would_decide})),
        "verdict": verdict,
        "question": question,
        "problem_types": problem_types(request, draft),
        "template": o.spec.template,
        "dialect": if o.spec.dialect == crate::plan::Dialect::Scope { "scope" } else { "usql" },
        "language": if o.style.chinese { "zh" } else { "en" },
        "script_file": o.script.file,
        "elapsed_seconds": round(elapsed, 1),
        "avoidable_seconds": (!request.fails()).then(|| round(draft.saved_together, 1)),
        "total_seconds": round(total, 1),
        "vertices": vertices,
        "stages": stages,
        "state": if o.failure.is_some() { "failed" } else { "succeeded" },
        "misleading": if request.kind == Kind::None { draft.decoys.clone() } else { Vec::new() },
        "decoys": draft.decoys,
        "near_miss": request.near_miss.map(Cause::code),
        "mechanisms": mechanisms,
        "withheld_causes": if hidden { request.causes.iter().map(|c| c.code()).collect() } else { Vec::<&str>::new() },
    })
}

fn vertices(draft: &Draft) -> usize {
    draft.outcome.physical.live().map(|(_, s)| s.vertices).sum()
}

/// Rounds to some decimals.
fn round(value: f64, decimals: i32) -> f64 {
    let scale = libm::pow(10.0, f64::from(decimals));
    libm::round(value * scale) / scale
}

fn problem_types(request: &Request, draft: &Draft) -> Vec<&'static str> {
    if matches!(request.kind, Kind::None | Kind::Withheld) {
        return vec!["none"];
    }
    let mut out: Vec<&str> = named(request, draft)
        .iter()
        .map(|(c, _)| c.problem_type())
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn extra(request: &Request, draft: &Draft) -> Vec<&'static str> {
    let mut out: Vec<&str> = draft.symptoms.iter().map(|c| c.code()).collect();
    for (cause, _) in named(request, draft) {
        out.extend(related(cause).iter().map(|c| c.code()));
        if draft.symptoms.contains(&Cause::JoinHotKey) {
            out.push(Cause::GroupHotKey.code());
        }
    }
    if request.kind != Kind::Withheld {
        let causes: Vec<&str> = named(request, draft)
            .iter()
            .map(|(c, _)| c.code())
            .collect();
        out.retain(|c| !causes.contains(c));
    } else {
        out.extend(request.causes.iter().map(|c| c.code()));
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn cause(
    request: &Request,
    draft: &Draft,
    cause: Cause,
    index: usize,
    elapsed: f64,
    total: f64,
) -> Value {
    let o = &draft.outcome;
    let site = &draft.sites[index];
    let compile = matches!(o.failure, Some(Failure::Compile { .. }));
    let stage = site
        .node
        .filter(|_| !compile)
        .and_then(|n| o.physical.stage_of(n));
    let mut stages_ok = Vec::new();
    let mut add = |s: Option<usize>| {
        if let Some(name) = s.map(|s| o.physical.stages[s].name.clone())
            && !stages_ok.contains(&name)
        {
            stages_ok.push(name);
        }
    };
    add(stage);
    if !compile {
        site.also.iter().for_each(|&n| add(o.physical.stage_of(n)));
        if site.writers
            && let Some(s) = stage
        {
            o.physical
                .writers_to(s)
                .into_iter()
                .for_each(|w| add(Some(w)));
        }
    }
    let lines = |n: usize| json!([o.script.lines[n].0, o.script.lines[n].1]);
    let mut lines_ok: Vec<Value> = Vec::new();
    if let Some(n) = site.node {
        lines_ok.push(lines(n));
        lines_ok.extend(site.also.iter().map(|&n| lines(n)));
        lines_ok.extend(class_lines(draft, n));
    }
    let saved = draft.saved.get(index).filter(|_| !request.fails());
    let whole = if cause == Cause::QueueWait {
        total
    } else {
        elapsed
    };
    json!({
        "cause": cause.code(),
        "mechanism": site.mechanism,
        "problem_type": cause.problem_type(),
        "stage": stage.map(|s| o.physical.stages[s].name.clone()),
        "stages_ok": stages_ok,
        "script_lines": site.node.map(lines),
        "lines_ok": lines_ok,
        "seconds_saved": saved.map(|s| round(*s, 1)),
        "share_of_elapsed": saved.map(|s| round(s / whole, 4)),
    })
}

fn class_lines(draft: &Draft, node: usize) -> Vec<Value> {
    let o = &draft.outcome;
    let (crate::plan::Op::Reduce { udo, .. } | crate::plan::Op::Process { udo, .. }) =
        &o.spec.nodes[node].op
    else {
        return Vec::new();
    };
    o.script
        .class_lines
        .iter()
        .filter(|c| c.0 == udo.class)
        .map(|c| json!([c.1.0, c.1.1]))
        .collect()
}
