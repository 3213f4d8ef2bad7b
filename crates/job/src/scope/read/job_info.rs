//! `JobInfo.xml`, `NebulaCommandLine.txt`, and the choice between several sources of one field.

use super::Input;
use crate::bounds::{self, Quota};
use crate::model::{Job, JobInfo, JobState, Source};
use crate::time::{iso_ms, span_seconds, ticks_seconds};
use crate::xml::{Node, tree};

/// Ranks the sources of job information: the job's own record beats the answer of a service, which
/// beats the job manager's log, which beats the submission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    Submission,
    Events,
    Service,
    Record,
}

impl Job {
    /// Leaves out states and further fields beyond the limit.
    pub(super) fn bound_fields(&mut self, file: &str) {
        self.empties(Quota::Fields);
        let mut states = std::mem::take(&mut self.info.states);
        self.shorten(Quota::Fields, &mut states, file);
        self.info.states = states;
        let fields = self.info.other.len();
        if !self.keeps(Quota::Fields, fields, file) {
            self.info.other.clear();
        }
    }
}

impl JobInfo {
    /// Whether a value of that rank for a field is an improvement; if so, records the source.
    fn takes(&mut self, field: &'static str, rank: Rank, source: Source) -> bool {
        let better = self.ranks.get(field).is_none_or(|old| *old < rank as u8);
        if better {
            self.ranks.insert(field, rank as u8);
            self.sources.insert(field, source);
        }
        better
    }

    /// Sets a field if there is a value and no better source has set it.
    pub(crate) fn offer<T>(
        &mut self,
        place: impl FnOnce(&mut JobInfo) -> &mut Option<T>,
        field: &'static str,
        rank: Rank,
        value: Option<T>,
        source: Source,
    ) {
        if let Some(value) = value
            && self.takes(field, rank, source)
        {
            *place(self) = Some(value);
        }
    }

    pub(crate) fn offer_state(&mut self, rank: Rank, state: JobState, source: Source) {
        if state != JobState::Unknown && self.takes("state", rank, source) {
            self.state = state;
        }
    }
}

/// Sets a field of the job information under its own name; see [`JobInfo::offer`].
macro_rules! offer {
    ($info:ident.$field:ident, $rank:expr, $value:expr, $source:expr) => {
        $info.offer(
            |i| &mut i.$field,
            stringify!($field),
            $rank,
            $value,
            $source,
        )
    };
}

pub(super) use offer;

/// State by the words of Cosmos (`CompletedFailure`) and of ADLA (`Ended` with a result).
pub(crate) fn state(word: &str) -> JobState {
    let word = word.to_ascii_lowercase();
    match () {
        () if word.contains("fail") => JobState::Failed,
        () if word.contains("cancel") => JobState::Cancelled,
        () if word.contains("succe") || word == "completed" => JobState::Succeeded,
        () => JobState::Unknown,
    }
}

/// Reads `JobInfo.xml`; fields may be elements or attributes.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    if let Some(root) = document.child("JobInfo") {
        fields(input, root, &mut job.info);
        job.bound_fields(input.name);
    }
    job.fault(input.name, fault);
}

fn fields(input: &Input<'_>, root: &Node, info: &mut JobInfo) {
    let rank = Rank::Record;
    let text = |name: &str| root.field(name).map(str::to_owned);
    let number = |name: &str| root.field(name).and_then(super::number);
    let time = |name: &str| root.field(name).and_then(iso_ms);
    let at = |name: &str| input.at(format!("JobInfo/{name}"));
    offer!(info.id, rank, text("Id"), at("Id"));
    offer!(info.name, rank, text("Name"), at("Name"));
    offer!(
        info.submitted_ms,
        rank,
        time("SubmitTime"),
        at("SubmitTime")
    );
    offer!(info.started_ms, rank, time("StartTime"), at("StartTime"));
    offer!(info.ended_ms, rank, time("EndTime"), at("EndTime"));
    offer!(
        info.priority,
        rank,
        number("Priority").map(|n| n as i64),
        at("Priority")
    );
    let tokens = number("DegreeOfParallelism")
        .filter(|n| *n >= 1.0)
        .and_then(bounds::parts_of);
    offer!(info.tokens, rank, tokens, at("DegreeOfParallelism"));
    // the time span is exact, ticks come next
    let spans = [
        ("RunTime", root.field("RunTime").and_then(span_seconds)),
        ("RunTimeTicks", number("RunTimeTicks").map(ticks_seconds)),
    ];
    for (name, seconds) in spans {
        let seconds = seconds.and_then(bounds::seconds).filter(|s| *s > 0.0);
        offer!(info.elapsed_seconds, rank, seconds, at(name));
    }
    let ticks = |name: &str| number(name).map(ticks_seconds).and_then(bounds::seconds);
    let queued = ticks("QueuedTimeTicks");
    offer!(info.queued_seconds, rank, queued, at("QueuedTimeTicks"));
    let compile = ticks("CompilationTimeTicks");
    offer!(
        info.compile_seconds,
        rank,
        compile,
        at("CompilationTimeTicks")
    );
    for name in ["State", "RuntimeState"] {
        info.offer_state(
            rank,
            root.field(name).map(state).unwrap_or_default(),
            at(name),
        );
    }
    for record in root
        .child("StateAuditRecords")
        .map_or(&[][..], |r| &r.children)
    {
        let entered = record.field("TimeStamp").and_then(iso_ms);
        info.states
            .extend(record.field("NewState").map(str::to_owned).zip(entered));
    }
    let leaves = root
        .children
        .iter()
        .filter(|c| c.children.is_empty() && !c.text.is_empty());
    info.other
        .extend(leaves.map(|c| (c.name.clone(), c.text.clone())));
    info.other.extend(root.attributes.iter().cloned());
}

/// Reads the command that submitted the job: `-vc X -p 800 -tokens 60 -n Name`.
pub(crate) fn command_line(input: &Input<'_>, job: &mut Job) {
    let words: Vec<&str> = input.text.split_whitespace().collect();
    let after = |flags: &[&str]| {
        let at = words
            .iter()
            .position(|w| flags.iter().any(|f| w.eq_ignore_ascii_case(f)))?;
        words
            .get(at + 1)
            .copied()
            .filter(|value| !value.starts_with('-'))
    };
    let (rank, info) = (Rank::Submission, &mut job.info);
    let at = || input.at("line 1");
    let tokens = after(&["-tokens"])
        .and_then(super::parts)
        .filter(|n| *n > 0);
    offer!(info.tokens, rank, tokens, at());
    let priority = after(&["-p", "-priority"]).and_then(|v| v.parse().ok());
    offer!(info.priority, rank, priority, at());
    let name = after(&["-f", "-n", "-name"]).map(str::to_owned);
    offer!(info.name, rank, name, at());
    if let Some(vc) = after(&["-vc"]) {
        info.other
            .entry("VirtualCluster".to_owned())
            .or_insert_with(|| vc.to_owned());
    }
    if let Some(script) = after(&["-i"]) {
        info.other
            .entry("SubmittedScript".to_owned())
            .or_insert_with(|| script.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_beats_the_command_line() {
        let mut job = Job::default();
        command_line(
            &Input::new("cmd", "scope submit -vc a.b -p 7 -tokens 60"),
            &mut job,
        );
        assert_eq!((job.info.tokens, job.info.priority), (Some(60), Some(7)));
        let text = "<JobInfo><State>CompletedFailure</State><RunTime>00:03:32.5</RunTime>\
            <DegreeOfParallelism>50</DegreeOfParallelism><QueuedTimeTicks>20000000</QueuedTimeTicks>\
            <StateAuditRecords><R><NewState>New</NewState><TimeStamp>1970-01-01T00:00:01Z</TimeStamp></R></StateAuditRecords>\
            <Cluster>c8</Cluster></JobInfo>";
        read(&Input::new("JobInfo.xml", text), &mut job);
        let info = &job.info;
        assert_eq!((info.tokens, info.elapsed_seconds), (Some(50), Some(212.5)));
        assert_eq!(info.queued_seconds, Some(2.0));
        assert_eq!(info.state, JobState::Failed);
        assert_eq!(info.states, [("New".to_owned(), 1_000)]);
        assert_eq!(info.other["Cluster"], "c8");
        assert_eq!(info.sources["tokens"].file, "JobInfo.xml");
        command_line(&Input::new("cmd", "scope submit -tokens 60"), &mut job);
        assert_eq!(job.info.tokens, Some(50));
    }

    #[test]
    fn words_for_states() {
        assert_eq!(state("CompletedSuccess"), JobState::Succeeded);
        assert_eq!(state("CompletedFailure"), JobState::Failed);
        assert_eq!(state("Cancelled"), JobState::Cancelled);
        assert_eq!(state("Running"), JobState::Unknown);
    }
}
