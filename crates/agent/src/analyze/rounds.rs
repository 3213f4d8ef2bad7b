//! THINK 4: which information is missing, which files would give it, read them, ask again.
//!
//! The rules name the facts they lack; afterwards the reasoner may ask for more files. At most
//! three files per round and a bounded number of rounds. It ends when the information suffices,
//! when no file is left to read, or at the bound, and the conclusion states which.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::completeness;
use crate::conclusion::{Conclusion, FileRequest, HypothesisResult, WantedFile};
use crate::facts::Facts;
use crate::merge::explained;
use crate::progress::Observer;
use crate::reasoner::{Answer, ReasonerError};
use crate::request::AnalyzeError;
use crate::step::StepId;
use crate::tools;
use llm::{ToolCalls, ToolRound};
use report::{Language, RuleResult, Step};

use super::run::Run;
use super::serve::{self, Chosen, LOOKUPS_PER_ROUND};

/// Allowed consecutive rounds of tool calls without news: one mistake may be corrected.
const FRUITLESS: u32 = 2;

#[derive(Default)]
pub(super) struct Rounds {
    log: Vec<Value>,
    step: Step,
    /// Whether a round was wanted beyond the bound.
    bounded: bool,
    /// The last request of the reasoner: its own judgment. `None` until it was asked.
    judged: Option<FileRequest>,
    elapsed: Duration,
}

impl Rounds {
    pub(super) fn new(language: Language) -> Rounds {
        let id = StepId::Completeness;
        Rounds {
            step: Step {
                id: id.id().to_owned(),
                title: id.title(language).to_owned(),
                ..Step::default()
            },
            ..Rounds::default()
        }
    }

    /// Reads files for the rules, until the folder has no more files that they need.
    pub(super) fn by_rules(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), AnalyzeError> {
        let started = Instant::now();
        loop {
            if run.services.cancel.is_cancelled() {
                return Err(AnalyzeError::of(
                    StepId::Completeness,
                    ReasonerError::Cancelled,
                ));
            }
            let input = run.input_without_experience();
            let asked = completeness::request(&input);
            let chosen = serve::choose(&input, &asked.files, "rules");
            self.step.text.clone_from(&asked.basis);
            if chosen.is_empty() || !self.begin(run) {
                break;
            }
            self.read(run, &chosen, &asked, observer);
        }
        self.elapsed += started.elapsed();
        Ok(())
    }

    /// Lets the reasoner ask for more, until it asks for no new file.
    pub(super) async fn by_reasoner(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), AnalyzeError> {
        if !is_open(&run.folder.facts()) {
            return Ok(());
        }
        let mut fruitless = 0;
        loop {
            let started = Instant::now();
            let (request, calls) = self.ask(run, observer).await?;
            let input = run.input_without_experience();
            let chosen = serve::choose(&input, &request.files, "reasoner");
            let lookups = serve::new_lookups(&input, &request.lookups);
            let own = completeness::request(&input).basis;
            self.step.text = explained(own, &request.basis, input.facts.language);
            self.judged = Some(request.clone());
            let is_new = !chosen.is_empty() || !lookups.is_empty();
            fruitless = if is_new { 0 } else { fruitless + 1 };
            // A tool call gets an answer even without news; an answer without a new request is the
            // last one.
            let goes_on = is_new || (calls.is_some() && fruitless < FRUITLESS);
            if !goes_on || !self.begin(run) {
                self.elapsed += started.elapsed();
                return Ok(());
            }
            serve::look_up(run, &lookups, &input);
            self.read(run, &chosen, &request, observer);
            serve::quote(run, &chosen);
            if let Some(ToolCalls { message, calls }) = calls {
                let results = serve::results(run, &calls, &input);
                run.panel.tool_rounds.push(ToolRound { message, results });
            }
            self.elapsed += started.elapsed();
            self.by_rules(run, observer)?;
        }
    }

    /// Whether the reasoner has been heard.
    pub(super) fn is_judged(&self) -> bool {
        self.judged.is_some()
    }

    /// Begins a round; whether the bound allows one more.
    fn begin(&mut self, run: &mut Run<'_>) -> bool {
        self.bounded = run.folder.round >= run.services.rounds;
        run.folder.round += u32::from(!self.bounded);
        !self.bounded
    }

    fn read(
        &mut self,
        run: &mut Run<'_>,
        chosen: &[Chosen],
        asked: &FileRequest,
        observer: &mut dyn Observer,
    ) {
        let before = run.folder.facts();
        let names: Vec<&str> = chosen.iter().map(|c| c.wanted.file.as_str()).collect();
        if !names.is_empty() {
            run.folder.read(&names, observer);
        }
        self.log.push(entry(run, &before, chosen, asked));
    }

    async fn ask(
        &mut self,
        run: &mut Run<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(FileRequest, Option<ToolCalls>), AnalyzeError> {
        let (mut answer, _) = run.conclude(&[StepId::Completeness], observer).await?;
        let usage = answer.usage.take().unwrap_or_default();
        self.step.tokens_in += usage.tokens_in;
        self.step.tokens_out += usage.tokens_out;
        self.step.repaired |= answer.repaired;
        self.step.remarks.append(&mut answer.remarks);
        let request = match answer.conclusions.pop() {
            Some(Conclusion::Completeness(request)) => request,
            _ => FileRequest::default(),
        };
        Ok((request, answer.calls))
    }

    pub(super) fn finish(mut self, run: &mut Run<'_>, observer: &mut dyn Observer) {
        let started = Instant::now();
        // Experience on missing information is looked up even without a reasoner.
        let input = match self.judged {
            Some(_) => run.input_without_experience(),
            None => run.input(&[StepId::Completeness]),
        };
        let found = &input.facts.found;
        let information = &found.completeness;
        let ended = if self.bounded {
            "round_limit"
        } else if information.sufficient {
            "sufficient"
        } else {
            "nothing_left"
        };
        let missing = found.missing.iter().map(|m| &m.information);
        let absent = missing.filter(|m| !m.present && !m.without_it);
        let absent: BTreeSet<&String> = absent.map(|m| &m.file).collect();
        let judged = self.judged.as_ref();
        let cited = judged.map(|request| request.experiences.clone());
        let cited = cited.unwrap_or_else(|| completeness::experience(&input));
        self.step.conclusion = json!({
            "sufficient": information.sufficient,
            "score": information.score,
            "minimum": information.minimum,
            "progress": information.progress,
            "threshold": found.threshold,
            "recommended": completeness::recommended(&input.facts),
            "ended": ended,
            "rounds": self.log,
            "absent": absent,
            "experiences": cited,
        });
        if let Some(request) = judged.filter(|_| run.panel.asks_model()) {
            self.step.conclusion["model"] = json!({
                "sufficient": !request.needs_files,
                "missing": request.missing,
                "basis": request.basis,
            });
        }
        self.step.text = completeness::summary(&input, &self.step.text, &self.log, ended, &cited);
        self.step.elapsed_ms = (self.elapsed + started.elapsed()).as_secs_f64() * 1e3;
        run.notebook
            .record(StepId::Completeness, self.step, observer);
    }
}

/// Whether a file could still change a conclusion: one is unread, or a rule lacks information.
fn is_open(facts: &Facts) -> bool {
    let found = &facts.found;
    let mut undecided = found.causes(RuleResult::Abstained);
    !facts.outline.unread.is_empty() || !found.missing.is_empty() || undecided.next().is_some()
}

/// Files that would decide the open hypotheses of an answer.
pub(super) fn open_files(answer: &Answer) -> Vec<WantedFile> {
    let hypotheses = answer.conclusions.iter().flat_map(|c| match c {
        Conclusion::Hypotheses(h) => h.hypotheses.as_slice(),
        _ => &[],
    });
    let open = hypotheses.filter(|h| h.result == HypothesisResult::Open);
    let wanted = open.filter_map(|h| {
        Some(WantedFile {
            file: h.file.clone()?,
            reason: h.check.clone(),
            part: None,
        })
    });
    wanted.collect()
}

/// Reads one round of files for the hypotheses; whether there was one to read.
pub(super) fn check_files(
    run: &mut Run<'_>,
    wanted: &[WantedFile],
    observer: &mut dyn Observer,
) -> bool {
    let chosen = serve::choose(&run.input_without_experience(), wanted, "reasoner");
    if chosen.is_empty() {
        return false;
    }
    run.folder.round += 1;
    let names: Vec<&str> = chosen.iter().map(|c| c.wanted.file.as_str()).collect();
    run.folder.read(&names, observer);
    serve::quote(run, &chosen);
    true
}

/// A round: its files with reasons, their content, and the facts known since.
fn entry(run: &Run<'_>, before: &Facts, chosen: &[Chosen], asked: &FileRequest) -> Value {
    let now = run.folder.facts();
    let file = |c: &Chosen| {
        let wanted = &c.wanted;
        let unread = before.outline.unread.iter().find(|u| u.file == wanted.file);
        json!({
            "file": wanted.file,
            "part": wanted.part,
            "reason": wanted.reason,
            "asked_by": c.by,
            "relevance": unread.map(|u| u.relevance),
            "parser": unread.and_then(|u| u.parser.as_deref()),
            "content": run.folder.content(&wanted.file),
        })
    };
    let files: Vec<Value> = chosen.iter().map(file).collect();
    let lookups = asked.lookups.iter().take(LOOKUPS_PER_ROUND);
    let lookups: Vec<String> = lookups.map(tools::name).collect();
    let completeness = &now.found.completeness;
    let names: Vec<&str> = chosen.iter().map(|c| c.wanted.file.as_str()).collect();
    json!({
        "round": run.folder.round,
        "files": files,
        "lookups": lookups,
        "key_findings": completeness::key_findings(before, &now, &names),
        "score": completeness.score,
        "progress": completeness.progress,
    })
}
