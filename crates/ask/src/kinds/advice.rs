//! Lines of the script: those of a finding or an error, and those to change, with their new text.

use report::{Finding, JobState, Suggestion, Text, text};

use super::is_whole;
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::{self, *};
use crate::word::{Cue, Quantity, Thing};
use crate::{Asked, found, job, thing, verdict};

/// Findings and edits named.
const SHOWN: usize = 2;
const EDITS: usize = 4;

/// Says which lines to change and how: "which line do I change?", "where should the filter go?".
pub(super) fn change(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_about = |s: &Subject| !matches!(s, Subject::Setting(_) | Subject::Evidence(_));
    let asks =
        reading.shows(Cue::Target) || intent.asks(Quantity::Remedy) && intent.asks(Quantity::Place);
    let chosen = verdict::chosen(run, intent);
    if !asks || intent.asks_why() || !intent.subjects.iter().all(is_about) || chosen.is_empty() {
        return false;
    }
    for (n, s) in chosen.iter().take(SHOWN).enumerate() {
        let mut findings = run.report.findings.iter();
        let own = findings.find(|f| Some(&f.id) == s.finding.as_ref());
        // "which filter comes too late, and where should it go?"
        let asks_which = ["which", "what", "哪个", "哪条", "什么"]
            .iter()
            .any(|w| reading.text().contains(w));
        if let Some(own) = own.filter(|_| asks_which && !intent.causes.is_empty()) {
            located(said, run, own);
        }
        let begun = said.len();
        edits(said, s);
        match own.filter(|_| said.len() == begun) {
            Some(own) => located(said, run, own),
            None if said.len() == begun => continue,
            None => {}
        }
        verdict::suggestion(said, run, s, n == 0);
    }
    said.len() > 0
}

/// Says the lines that a suggestion changes, with their old and new text.
pub(crate) fn edits(said: &mut Said<'_>, suggestion: &Suggestion) {
    let edits = thing::edits(suggestion.diff.as_deref().unwrap_or_default());
    for edit in edits.iter().take(EDITS) {
        let (from, to) = (edit.line, edit.line + edit.removed.len().max(1) as u32 - 1);
        let lines = thing::lines_of(from, to);
        let [old, new] = [&edit.removed, &edit.added].map(|lines| thing::quoted(&lines.join("\n")));
        said.say(match (old.is_empty(), new.is_empty()) {
            (false, false) => text!(
                "改脚本{lines}：`{old}` 改为 `{new}`",
                "Change script {lines}: `{old}` becomes `{new}`",
                lines = lines
            ),
            (false, true) => text!(
                "删去脚本{lines}：`{old}`",
                "Remove script {lines}: `{old}`",
                lines = lines
            ),
            _ => {
                let before = from - 1;
                text!(
                    "在脚本第 {before} 行之后加入：`{new}`",
                    "After script line {before}, add `{new}`"
                )
            }
        });
    }
}

/// Says a finding with its script lines and their text.
fn located(said: &mut Said<'_>, run: &Asked<'_>, finding: &Finding) {
    if let Some([first, last]) = finding.script_lines {
        let (id, lines) = (&finding.id, thing::lines_of(first, last));
        let title = finding.cause.title_in(run.report.job.engine);
        let stage = match &finding.stage {
            Some(stage) => text!("，由 {stage} 运行", ", run by {stage}"),
            None => Text::default(),
        };
        said.say(text!(
            "{id}（{title}）在脚本{lines}{stage}",
            "{id} ({title}) is in script {lines}{stage}",
            lines = lines,
            title = title,
            stage = stage
        ));
        thing::quote(said, run, first, last);
    }
    found::finding(said, finding, false);
}

/// Says the script lines of the findings or the error that a question is about.
pub(super) fn place(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_failure = reading.shows(Cue::Failure) || reading.shows(Cue::Error);
    let names_error = is_failure || intent.asks(Quantity::Reason);
    let is_kind = |w: &Word| matches!(w, Kind(_) | Noun(_) | In | Out | Key | Passed);
    let is_kind = reading.words.iter().any(is_kind);
    let others = [Number, Rows, Bytes, Time, Noun(Thing::Stage)];
    let is_other = is_kind && !names_error && intent.causes.is_empty()
        || reading.has_any(&others)
        || reading.shows(Cue::DataRow);
    if !intent.asks(Quantity::Place) || !is_whole(intent) || is_other || !intent.unknown.is_empty()
    {
        return false;
    }
    let all = run
        .report
        .findings
        .iter()
        .filter(|f| f.script_lines.is_some());
    let is_error = |f: &&Finding| f.cause.code().starts_with("failure.");
    let is_named = |f: &&Finding| intent.causes.contains(&f.cause);
    let mut meant: Vec<&Finding> = all.clone().filter(is_named).collect();
    if meant.is_empty() && is_failure {
        meant.extend(all.clone().filter(is_error));
    }
    let begun = said.len();
    // the line that threw says more than the statement that runs it
    if is_failure {
        raised(said, run);
    }
    if meant.is_empty() && said.len() == begun && intent.causes.is_empty() && !is_failure {
        meant.extend(all);
    }
    meant.iter().take(SHOWN).for_each(|f| located(said, run, f));
    let has_failed = run.summary.error.is_some() && is_failure && said.len() > begun;
    if has_failed {
        job::failure(said, run);
    }
    said.len() > begun
}

/// Says the script lines of the findings.
pub(crate) fn lines(said: &mut Said<'_>, run: &Asked<'_>) {
    let all = run.report.findings.iter();
    let mut all = all
        .filter(|f| f.script_lines.is_some())
        .take(SHOWN)
        .peekable();
    if all.peek().is_none() {
        said.say(text!(
            "没有哪一段代码被规则指出",
            "No rule points at a piece of code"
        ));
    }
    all.for_each(|f| located(said, run, f));
}

/// Says why the job failed and the line that threw, for a question why whose words name nothing in the run. Returns false for others.
pub(crate) fn failed(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let own = run.report.findings.first();
    let own = own.filter(|f| f.cause.code().starts_with("failure."));
    let is_asked =
        run.report.job.state == JobState::Failed && intent.asks_why() && is_whole(intent);
    if let Some(own) = own.filter(|_| is_asked) {
        found::finding(said, own, true);
        raised(said, run);
        if let Some([first, last]) = own.script_lines {
            thing::quote(said, run, first, last);
        }
    }
    own.is_some() && is_asked
}

/// Says the script lines that raised the errors of lost attempts.
fn raised(said: &mut Said<'_>, run: &Asked<'_>) {
    let file = run.summary.script.as_ref().map_or("", |s| s.file.as_str());
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
    for stage in &run.summary.stages {
        for (message, _) in &stage.messages {
            let after = message.split_once(file).filter(|_| !file.is_empty());
            let digits = after.and_then(|(_, after)| after.strip_prefix(':'));
            let digits = digits
                .map(|d| &d[..d.len() - d.trim_start_matches(|c: char| c.is_ascii_digit()).len()]);
            if let Some(line) = digits.and_then(|d| d.parse().ok()) {
                thing::quote(said, run, line, line);
                let (name, message) = (&stage.name, report::format::without_stop(message));
                said.say(text!(
                    "这一行在 {name} 中抛出 `{message}`",
                    "It raised `{message}` in {name}"
                ));
            }
        }
    }
}
