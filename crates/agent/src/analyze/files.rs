//! THINK 4: which information is missing, which files would give it, read them, ask again.
//!
//! The rules say which facts they lack; once they have them, the reasoner may ask for more. At most three files a round
//! and a bounded number of rounds; it ends when the information suffices, when nothing is left to
//! read, or at the bound, and the conclusion says which.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use crate::conclusion::{Conclusion, FileRequest, WantedFile};
use crate::progress::Observer;
use crate::report::{Language, Step, Usage};
use crate::step::StepId;
use crate::tools;
use crate::view::View;

use super::Stop;
use super::run::Run;

/// Look-ups served in one round; more would crowd out the files.
const LOOKUPS_PER_ROUND: usize = 4;

/// Why THINK 4 ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Sufficient,
    NothingLeft,
    Bound,
}

/// A file chosen for a round.
struct Chosen {
    file: String,
    reason: String,
    by: &'static str,
}

/// Runs the rounds of THINK 4. Without `ask`, the rules alone choose.
pub(super) async fn complete(
    run: &mut Run<'_>,
    observer: &mut dyn Observer,
    ask: bool,
) -> Result<(), Stop> {
    let started = Instant::now();
    let id = StepId::Completeness;
    run.announce(&[id], observer);
    let mut log: Vec<Value> = Vec::new();
    let mut step = Step {
        id: id.id().to_owned(),
        title: id.title(run.language).to_owned(),
        conclusion: Value::Null,
        text: String::new(),
        tokens_in: 0,
        tokens_out: 0,
        elapsed_ms: 0.0,
        repaired: false,
        remarks: Vec::new(),
    };
    let end = loop {
        if run.services.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        run.round += 1;
        let view = run.facts();
        // What the rules lack needs no question; the reasoner is asked once they have it.
        let mut asked = from_rules(&view, run.language);
        let mut by = "rules";
        if ask && asked.files.is_empty() {
            asked = request(run, &mut step, observer).await?;
            by = "reasoner";
        }
        let chosen = choose(&view, &asked, by, run.services.limits.files_per_round);
        let within = run.round <= run.services.limits.rounds;
        let answered = within && look_up(run, &asked, &view);
        step.text = asked.basis.clone();
        if !within && !(chosen.is_empty() && asked.lookups.is_empty()) {
            run.round -= 1;
            break End::Bound;
        }
        if chosen.is_empty() && !answered {
            run.round -= 1;
            break if view.completeness.sufficient {
                End::Sufficient
            } else {
                End::NothingLeft
            };
        }
        log.push(entry(run.round, &chosen, &asked));
        let names: Vec<&str> = chosen.iter().map(|c| c.file.as_str()).collect();
        run.read(&names, observer);
        quote(run, &chosen);
    };
    finish(run, step, log, end, started, observer);
    Ok(())
}

/// Asks the reasoner what it needs.
async fn request(
    run: &mut Run<'_>,
    step: &mut Step,
    observer: &mut dyn Observer,
) -> Result<FileRequest, Stop> {
    let mut answer = run.conclude(&[StepId::Completeness], observer).await?;
    let Usage {
        tokens_in,
        tokens_out,
        ..
    } = answer.usage.take().unwrap_or_default();
    step.tokens_in += tokens_in;
    step.tokens_out += tokens_out;
    step.repaired |= answer.repaired;
    step.remarks.append(&mut answer.remarks);
    match answer.conclusions.pop() {
        Some(Conclusion::Completeness(request)) => Ok(request),
        _ => Ok(FileRequest::default()),
    }
}

/// What the rules would have read, in the form of a request: first what they cannot decide
/// without, then what could still change a judgement.
pub(crate) fn from_rules(view: &View, language: Language) -> FileRequest {
    let mut files: Vec<WantedFile> = Vec::new();
    let lacking = view
        .missing
        .iter()
        .filter(|m| m.information.present)
        .map(|m| WantedFile {
            file: m.information.file.clone(),
            reason: m.information.reason.clone(),
        });
    for wanted in lacking.chain(view.helpful.iter().cloned()) {
        let unread = view.unread.iter().any(|u| u.file == wanted.file);
        if unread && files.iter().all(|f| f.file != wanted.file) {
            files.push(wanted);
        }
    }
    let basis = crate::offline::completeness_text(view, &files, language);
    FileRequest {
        needs_files: !files.is_empty(),
        files,
        lookups: Vec::new(),
        basis,
    }
}

/// Files for this round: those asked for that are in the folder and were not shown before. The
/// rules only ask for unread ones; a reasoner may also want the text of one that was parsed.
fn choose(view: &View, asked: &FileRequest, by: &'static str, most: usize) -> Vec<Chosen> {
    let is_known =
        |name: &String| view.read.contains(name) || view.unread.iter().any(|u| u.file == *name);
    let is_new =
        |w: &&WantedFile| is_known(&w.file) && view.excerpts.iter().all(|e| e.name != w.file);
    let chosen = |w: &WantedFile| Chosen {
        file: w.file.clone(),
        reason: w.reason.clone(),
        by,
    };
    asked
        .files
        .iter()
        .filter(is_new)
        .take(most)
        .map(chosen)
        .collect()
}

/// Serves look-ups that were not served before; whether there was one.
fn look_up(run: &mut Run<'_>, asked: &FileRequest, view: &View) -> bool {
    let mut answered = false;
    for lookup in asked.lookups.iter().take(LOOKUPS_PER_ROUND) {
        let name = tools::name(lookup);
        if run.excerpts.iter().any(|e| e.name == name) {
            continue;
        }
        let limits = &run.services.limits;
        let excerpt = tools::look_up(lookup, run.reader.job(), run.services.index, view, limits);
        run.excerpts.push(excerpt);
        answered = true;
    }
    answered
}

/// Quotes the files that the reasoner asked for; what the rules asked for speaks through facts.
fn quote(run: &mut Run<'_>, chosen: &[Chosen]) {
    for file in chosen.iter().filter(|c| c.by == "reasoner") {
        let bytes = run
            .reader
            .files()
            .iter()
            .find(|f| f.name == file.file)
            .map_or(0, |f| f.bytes);
        let limits = &run.services.limits;
        match run.reader.text(&file.file, limits.excerpt_bytes) {
            Ok(text) => run.excerpts.push(tools::excerpt(&file.file, text, bytes)),
            Err(error) => run.warn(format!("{error}"), None),
        }
    }
}

fn entry(round: u32, chosen: &[Chosen], asked: &FileRequest) -> Value {
    let files: Vec<Value> = chosen
        .iter()
        .map(|c| json!({ "file": c.file, "reason": c.reason, "asked_by": c.by }))
        .collect();
    let lookups: Vec<String> = asked
        .lookups
        .iter()
        .take(LOOKUPS_PER_ROUND)
        .map(tools::name)
        .collect();
    json!({ "round": round, "files": files, "lookups": lookups })
}

fn finish(
    run: &mut Run<'_>,
    mut step: Step,
    log: Vec<Value>,
    end: End,
    started: Instant,
    observer: &mut dyn Observer,
) {
    // Experience on what is still missing is looked up even where no reasoner was asked.
    let view = run.view(&[StepId::Completeness]);
    let ended = match end {
        End::Sufficient => "sufficient",
        End::NothingLeft => "nothing_left",
        End::Bound => "round_limit",
    };
    let absent: Vec<&str> = view
        .missing
        .iter()
        .filter(|m| !m.information.present)
        .map(|m| m.information.file.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    step.conclusion = json!({
        "sufficient": view.completeness.sufficient,
        "score": view.completeness.score,
        "minimum": view.completeness.minimum,
        "progress": view.completeness.progress,
        "ended": ended,
        "rounds": log,
        "absent": absent,
    });
    step.elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    step.text = crate::offline::completeness_summary(&view, &step.text, &log, ended);
    run.store(StepId::Completeness, step, observer);
}
