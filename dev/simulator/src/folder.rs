//! Assembles the files of a job, with the irregularities of real folders.

use crate::cause::Cause;
use crate::files::{codegen, optimizer, profile, runtime, small, statistics, tables, vertex_def};
use crate::outcome::{Failure, Outcome};
use crate::plan::Dialect;
use crate::request::{Kind, Request};
use crate::simulate::{self, Draft};
use crate::trial;
use crate::truth;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A simulated job: its files and the truth about it.
#[derive(Debug, Clone)]
pub struct SimulatedJob {
    /// Contents by file name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The truth, in the fields of the scoring script.
    pub truth: Value,
}

impl SimulatedJob {
    /// Writes the files into `dir`, which is created.
    ///
    /// # Errors
    ///
    /// Errors of the file system.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        for (name, bytes) in &self.files {
            std::fs::write(dir.join(name), bytes)?;
        }
        Ok(())
    }
}

/// Simulates a job; `None` if no job of that kind shows the causes asked for.
pub fn simulate(request: &Request) -> Option<SimulatedJob> {
    simulate_as(request, "job", "testkit")
}

/// Simulates a job; `job` and `split` are its folder and set in the truth.
pub fn simulate_as(request: &Request, job: &str, split: &str) -> Option<SimulatedJob> {
    let mut draft = simulate::draft(request)?;
    let question = question(request, &mut draft);
    let truth = truth::truth(request, &draft, job, split, &question);
    let files = files(request, &mut draft);
    Some(SimulatedJob { files, truth })
}

/// Simulates a job without its causes and with them, at the same seed: a good and a bad run of what
/// is otherwise the same job.
pub fn simulate_twins(request: &Request) -> Option<(SimulatedJob, SimulatedJob)> {
    let (good, bad) = simulate::twins(request)?;
    let sound = Request {
        kind: Kind::None,
        causes: Vec::new(),
        ..request.clone()
    };
    let [mut good, mut bad] = [good, bad];
    Some((written(&sound, &mut good), written(request, &mut bad)))
}

pub(crate) fn written(request: &Request, draft: &mut Draft) -> SimulatedJob {
    let question = question(request, draft);
    let truth = truth::truth(request, draft, "job", "testkit", &question);
    let files = files(request, draft);
    SimulatedJob { files, truth }
}

/// Simulates a job, and its run time in seconds with other numbers of tokens: the job's number times
/// each factor.
pub fn simulate_with_tokens(
    request: &Request,
    factors: &[f64],
) -> Option<(SimulatedJob, Vec<(u32, f64)>)> {
    let mut draft = simulate::draft(request)?;
    let spec = &draft.outcome.spec;
    let elapsed = |factor: &f64| {
        let mut other = spec.clone();
        other.env.tokens = ((f64::from(spec.env.tokens) * factor).round() as u32).max(1);
        (other.env.tokens, trial::elapsed(&other))
    };
    let others = factors.iter().map(elapsed).collect();
    let truth = truth::truth(request, &draft, "job", "testkit", "");
    let files = files(request, &mut draft);
    Some((SimulatedJob { files, truth }, others))
}

fn files(request: &Request, draft: &mut Draft) -> BTreeMap<String, Vec<u8>> {
    let o = &draft.outcome;
    let mut out: BTreeMap<&str, String> = BTreeMap::new();
    let ran = !matches!(o.failure, Some(Failure::Compile { .. }));
    let info = match o.spec.dialect {
        Dialect::Scope => "__ScopeInternalInfo__.xml",
        Dialect::Usql => "__SystemInternalInfo__.xml",
    };
    out.insert("JobInfo.xml", small::job_info(o));
    if ran {
        out.insert("ScopeVertexDef.xml", vertex_def::write(o));
        out.insert("__ScopeRuntimeStatistics__.xml", runtime::write(o));
        out.insert(info, optimizer::write(o));
        out.insert("__ScopeDiagnosisInfo__.xml", small::diagnosis_info(o));
        out.insert("__ScopeCodeGen__.dll.cs", codegen::write(o));
        out.insert("profile", profile::write(o));
        out.insert("JobStatistics.json", statistics::write(o));
        out.insert("Algebra.xml", small::algebra(o));
        if let Some(text) = small::sstream_info(o) {
            out.insert("__SStreamInfo__.xml", text);
        }
    }
    out.insert("tables.json", tables::write(o));
    out.insert(
        "__Warnings__.xml",
        small::warnings(o, draft.decoys.contains(&"warnings")),
    );
    out.insert("NebulaCommandLine.txt", small::command_line(o));
    if let Some(text) = small::error(o) {
        out.insert("Error", text);
    }
    if !request.tidy {
        untidy(o, &mut draft.rng, &mut out);
    }
    hide(request, &mut out);
    let mut bytes: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (name, text) in out {
        let plain = request.tidy || name == "profile" || name == "Error";
        let text = if plain {
            text
        } else {
            dress(&mut draft.rng, name, text)
        };
        bytes.insert(name.to_owned(), text.into_bytes());
    }
    bytes.insert(
        draft.outcome.script.file.clone(),
        draft.outcome.script.text.clone().into_bytes(),
    );
    bytes
}

/// Removes the deciding information from a withheld job.
fn hide(request: &Request, out: &mut BTreeMap<&str, String>) {
    if request.kind != Kind::Withheld {
        return;
    }
    let Some(w) = request.causes.first().and_then(|c| truth::withheld(*c)) else {
        return;
    };
    for file in w.files {
        out.remove(file);
    }
    if matches!(
        request.causes.first(),
        Some(Cause::JoinHotKey | Cause::GroupHotKey | Cause::NullOrDefaultKey)
    ) {
        out.remove("__SStreamInfo__.xml");
    }
}

/// Missing optional files, an unrelated file, a truncated profile.
fn untidy(o: &Outcome, rng: &mut crate::rng::Rng, out: &mut BTreeMap<&str, String>) {
    for (file, chance) in [
        ("Algebra.xml", 0.4),
        ("__Warnings__.xml", 0.3),
        ("NebulaCommandLine.txt", 0.6),
        ("__SStreamInfo__.xml", 0.2),
    ] {
        if rng.chance(chance) {
            out.remove(file);
        }
    }
    if o.classes.is_empty() && rng.chance(0.3) {
        out.remove("__ScopeCodeGen__.dll.cs");
    }
    if rng.chance(0.2) {
        out.insert("__CompilerTimers.xml", small::timers(o));
    }
    if rng.chance(0.12)
        && let Some(profile) = out.get_mut("profile")
    {
        // The copy ended in the middle of a line near the end of the file.
        let keep = profile.len() - profile.len() / 150 - 30.min(profile.len() / 2);
        let keep = (0..=keep)
            .rev()
            .find(|&i| profile.is_char_boundary(i))
            .unwrap_or(0);
        profile.truncate(keep);
    }
}

/// Byte order marks, line endings, unknown attributes.
fn dress(rng: &mut crate::rng::Rng, name: &str, mut text: String) -> String {
    if name.ends_with(".xml") && rng.chance(0.15) {
        text = text.replacen("<ScopeVertex ", "<ScopeVertex plannerTag=\"b7\" ", 2);
        text = text.replacen("<Output ", "<Output bufferPolicy=\"2\" ", 2);
    }
    if rng.chance(0.12) {
        text = text.replace('\n', "\r\n");
    }
    if rng.chance(0.25) {
        text.insert(0, '\u{feff}');
    }
    text
}

fn question(request: &Request, draft: &mut Draft) -> String {
    let o = &draft.outcome;
    let name = &o.spec.job_name;
    let minutes = ((o.run.elapsed / 60.0).round() as u64).max(1);
    let pick = draft.rng.index(4);
    let zh = o.style.chinese;
    match (request.fails(), request.causes.first(), zh) {
        (true, _, true) => format!("{name} 失败了,原因是什么?"),
        (true, _, false) => format!("{name} failed. Why, and what do I change?"),
        (_, Some(Cause::QueueWait), true) => format!("{name} 提交之后很久才出结果,时间花在哪里?"),
        (_, Some(Cause::QueueWait), false) => {
            format!("{name} came back much later than usual. Where did the time go?")
        }
        (_, _, true) => [
            format!("{name} 要跑 {minutes} 分钟,瓶颈在哪里?"),
            "这个作业还能优化吗?请给出修改建议。".to_owned(),
            format!("请分析 {name} 的性能。"),
            "例行检查:这个作业正常吗?".to_owned(),
        ][pick]
            .clone(),
        (_, _, false) => [
            format!("{name} takes {minutes} minutes. What is the bottleneck?"),
            "Can this job be made faster? What should we change first?".to_owned(),
            format!("Please look at the performance of {name}."),
            "Routine check: is this job all right?".to_owned(),
        ][pick]
            .clone(),
    }
}
