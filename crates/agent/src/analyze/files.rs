//! THINK 4: which information is missing, which files would give it, read them, ask again.
//!
//! The rules say which facts they lack; once they have them, the reasoner may ask for more. At most
//! three files a round and a bounded number of rounds; it ends when the information suffices, when
//! nothing is left to read, or at the bound, and the conclusion says which.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

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

/// A file chosen for a round.
struct Chosen {
    file: String,
    reason: String,
    by: &'static str,
}

/// The rounds of THINK 4 so far.
pub(super) struct Rounds {
    log: Vec<Value>,
    step: Step,
    /// Whether a round was wanted beyond the bound.
    bounded: bool,
    elapsed: Duration,
}

impl Rounds {
    pub(super) fn new(language: Language) -> Rounds {
        let id = StepId::Completeness;
        let step = Step {
            id: id.id().to_owned(),
            title: id.title(language).to_owned(),
            conclusion: Value::Null,
            text: String::new(),
            tokens_in: 0,
            tokens_out: 0,
            elapsed_ms: 0.0,
            repaired: false,
            remarks: Vec::new(),
        };
        Rounds {
            log: Vec::new(),
            step,
            bounded: false,
            elapsed: Duration::ZERO,
        }
    }

    /// Reads what the rules lack, until they lack nothing that the folder has.
    pub(super) fn by_rules(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Stop> {
        let started = Instant::now();
        loop {
            if run.services.cancel.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            let view = run.facts();
            let asked = from_rules(&view, run.language);
            let chosen = choose(&view, &asked, "rules", run.services.limits.files_per_round);
            self.step.text.clone_from(&asked.basis);
            if chosen.is_empty() || !self.begin(run) {
                break;
            }
            self.read(run, &chosen, &asked, observer);
        }
        self.elapsed += started.elapsed();
        Ok(())
    }

    /// Lets the reasoner ask for more, until it asks for nothing new.
    pub(super) async fn by_reasoner(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Stop> {
        loop {
            let started = Instant::now();
            let asked = self.ask(run, observer).await?;
            let view = run.facts();
            let chosen = choose(
                &view,
                &asked,
                "reasoner",
                run.services.limits.files_per_round,
            );
            let is_new = asked
                .lookups
                .iter()
                .take(LOOKUPS_PER_ROUND)
                .any(|l| !was_served(run, &tools::name(l)));
            self.step.text.clone_from(&asked.basis);
            if (chosen.is_empty() && !is_new) || !self.begin(run) {
                self.elapsed += started.elapsed();
                return Ok(());
            }
            look_up(run, &asked, &view);
            self.read(run, &chosen, &asked, observer);
            quote(run, &chosen);
            self.elapsed += started.elapsed();
            self.by_rules(run, observer)?;
        }
    }

    /// Begins a round; whether the bound allows one more.
    fn begin(&mut self, run: &mut Run<'_>) -> bool {
        self.bounded = run.round >= run.services.limits.rounds;
        run.round += u32::from(!self.bounded);
        !self.bounded
    }

    fn read(
        &mut self,
        run: &mut Run<'_>,
        chosen: &[Chosen],
        asked: &FileRequest,
        observer: &mut dyn Observer,
    ) {
        self.log.push(entry(run.round, chosen, asked));
        let names: Vec<&str> = chosen.iter().map(|c| c.file.as_str()).collect();
        if !names.is_empty() {
            run.read(&names, observer);
        }
    }

    /// Asks the reasoner what it needs.
    async fn ask(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<FileRequest, Stop> {
        let mut answer = run.conclude(&[StepId::Completeness], observer).await?;
        let Usage {
            tokens_in,
            tokens_out,
            ..
        } = answer.usage.take().unwrap_or_default();
        self.step.tokens_in += tokens_in;
        self.step.tokens_out += tokens_out;
        self.step.repaired |= answer.repaired;
        self.step.remarks.append(&mut answer.remarks);
        match answer.conclusions.pop() {
            Some(Conclusion::Completeness(request)) => Ok(request),
            _ => Ok(FileRequest::default()),
        }
    }

    /// Concludes the step.
    pub(super) fn finish(mut self, run: &mut Run<'_>, observer: &mut dyn Observer) {
        let started = Instant::now();
        // Experience on what is still missing is looked up even where no reasoner was asked.
        let view = run.view(&[StepId::Completeness]);
        let ended = if self.bounded {
            "round_limit"
        } else if view.completeness.sufficient {
            "sufficient"
        } else {
            "nothing_left"
        };
        let absent: BTreeSet<&str> = view
            .missing
            .iter()
            .filter(|m| !m.information.present)
            .map(|m| m.information.file.as_str())
            .collect();
        self.step.conclusion = json!({
            "sufficient": view.completeness.sufficient,
            "score": view.completeness.score,
            "minimum": view.completeness.minimum,
            "progress": view.completeness.progress,
            "ended": ended,
            "rounds": self.log,
            "absent": absent,
        });
        self.step.text =
            crate::offline::completeness_summary(&view, &self.step.text, &self.log, ended);
        self.step.elapsed_ms = (self.elapsed + started.elapsed()).as_secs_f64() * 1e3;
        run.store(StepId::Completeness, self.step, observer);
    }
}

fn was_served(run: &Run<'_>, name: &str) -> bool {
    run.excerpts.iter().any(|e| e.name == name)
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

/// Serves look-ups that were not served before.
fn look_up(run: &mut Run<'_>, asked: &FileRequest, view: &View) {
    for lookup in asked.lookups.iter().take(LOOKUPS_PER_ROUND) {
        if was_served(run, &tools::name(lookup)) {
            continue;
        }
        let limits = &run.services.limits;
        let excerpt = tools::look_up(lookup, run.reader.job(), run.services.index, view, limits);
        run.excerpts.push(excerpt);
    }
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
