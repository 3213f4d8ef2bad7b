//! The intent of a question: parts of the run, quantities, goal.

use job::model::SHUFFLE_PARTITIONS;
use report::measure::{Measure, Unit, book};
use report::{Cause, JobState, SegmentKind};

use crate::names::{Known, Named};
use crate::reading::Reading;
use crate::subject::{Subject, Unknown};
use crate::word::{Cue, Quantity, Word};
use crate::{Asked, amount, goal, rank};

/// Maximum subjects and quantities answered at once.
const MOST: usize = 4;

#[derive(Debug)]
pub(crate) struct Intent {
    /// At least one; defaults to the job.
    pub(crate) subjects: Vec<Subject>,
    pub(crate) asked: Vec<Quantity>,
    /// Measures that are asked for, in the order of the book.
    pub(crate) measures: Vec<&'static Measure>,
    /// Causes that are named.
    pub(crate) causes: Vec<Cause>,
    pub(crate) unknown: Vec<Unknown>,
    /// Names of the run in the question, as written.
    pub(crate) names: Vec<String>,
    /// Whether it asks for the trouble of the job or for changes, in general.
    pub(crate) is_open: bool,
    /// Causes that it excludes: "besides the wait".
    pub(crate) except: Vec<Cause>,
    /// Whether the subjects are to be compared.
    pub(crate) compares: bool,
    /// The question without the names of the run.
    pub(crate) text: String,
    pub(crate) reading: Reading,
    /// Seconds that the user wants to reach.
    pub(crate) goal: Option<f64>,
}

impl Intent {
    /// Reads a question. Missing parts are taken from the questions `before` it.
    pub(crate) fn of(question: &str, before: &[String], run: &Asked<'_>) -> Intent {
        let known = Known::of(run);
        let (question, except) = without_exception(question, &known, run);
        let named = continued(Named::of(&question, &known), before, &known);
        let reading = Reading::of(&named.rest);
        let names_failure = reading.shows(Cue::Failure);
        // attempts may fail in a job that doesn't
        let is_of_attempts = names_failure && run.report.job.state == JobState::Succeeded;
        let (mut asked, mut measures) = asked_and_measures(&reading);
        if is_of_attempts && !asked.contains(&Quantity::Place) {
            asked.retain(|q| !matches!(q, Quantity::Reason | Quantity::Verdict));
            let loss = LOSSES.iter().find(|m| !measures.contains(m));
            measures.extend(loss);
        }
        if !except.is_empty() && !asked.contains(&Quantity::Reason) {
            asked.push(Quantity::Remedy);
        }
        if measures.contains(&&book::CACHED) {
            asked.retain(|q| *q != Quantity::Which);
        }
        // "what would a cache save?" asks for no size
        if asked.contains(&Quantity::Gain) {
            measures.retain(|m| **m != book::CACHED);
        }
        if measures.contains(&&book::WAVES) {
            asked.retain(|q| *q != Quantity::Reason);
            measures.extend([&book::VERTICES, &book::TOKENS]);
        }
        let asks_why = reading.shows(Cue::Why);
        let names_setting = reading.settings().next().is_some() && !asks_why;
        if names_setting {
            asked.retain(|q| *q != Quantity::Reason);
        }
        let mut causes = causes(&reading, &asked);
        causes.extend(is_of_attempts.then_some(Cause::VertexRetries));
        let subjects = subjects(&named, &reading, (&asked, &measures), before, &known);
        let chooses = reading.has(Word::Which) && !asked.contains(&Quantity::Place);
        Intent {
            is_open: reading.shows_any(&[Cue::Open, Cue::Why])
                && (named.subjects.contains(&Subject::Job) || reading.shows(Cue::Job)),
            except,
            compares: (reading.shows(Cue::Compares) || chooses) && is_comparable(&subjects),
            goal: goal::of(&named.rest, &reading, &asked, run),
            text: named.rest,
            reading,
            causes,
            unknown: named.unknown,
            names: named.names,
            subjects,
            asked,
            measures,
        }
    }

    /// Whether it may ask for the effect of other resources: about the job, and not for a number of this run.
    pub(crate) fn may_change(&self) -> bool {
        let is_count = |m: &&Measure| **m == book::BUSY_SLOTS;
        let is_partitions =
            |s: &Subject| matches!(s, Subject::Setting(key) if key == SHUFFLE_PARTITIONS);
        let is_job = self
            .subjects
            .iter()
            .all(|s| matches!(s, Subject::Job | Subject::Input(_)) || is_partitions(s));
        is_job && !self.measures.iter().any(is_count)
    }

    pub(crate) fn asks_why(&self) -> bool {
        self.reading.shows(Cue::Why)
    }

    /// Times in it, in seconds.
    pub(crate) fn durations(&self) -> Vec<f64> {
        goal::durations(&self.text)
    }

    /// Whether yes or no would answer it.
    pub(crate) fn is_polar(&self) -> bool {
        self.reading.is_polar()
    }

    pub(crate) fn asks(&self, quantity: Quantity) -> bool {
        self.asked.contains(&quantity)
    }

    /// Whether it asks for one of some measures.
    pub(crate) fn asks_for(&self, measures: &[&Measure]) -> bool {
        self.measures.iter().any(|asked| measures.contains(asked))
    }

    /// The measures in groups that one question asks for.
    pub(crate) fn of_one_question(
        &self,
        is_told: impl Fn(&Measure) -> bool,
    ) -> Vec<Vec<&'static Measure>> {
        let told = self.measures.iter().copied().filter(|m| is_told(m));
        let told: Vec<&'static Measure> = told.collect();
        let is_same = |a: &&Measure, b: &&Measure| a.words == b.words && !a.words.en.is_empty();
        told.chunk_by(is_same).map(<[_]>::to_vec).collect()
    }

    /// Whether it names no quantity and no measure.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.asked.is_empty() && self.measures.is_empty()
    }

    /// Whether the question has no recognized content.
    pub(crate) fn is_empty(&self) -> bool {
        self.asks_nothing()
            && self.causes.is_empty()
            && self.unknown.is_empty()
            && self.goal.is_none()
            && self.subjects == [Subject::Job]
    }
}

/// The names and the text of a question that goes on from the one before it.
fn continued(mut named: Named, before: &[String], known: &Known<'_>) -> Named {
    let reading = Reading::of(&named.rest);
    let says_nothing = reading.says_nothing() || reading.is_elliptic();
    if !named.subjects.is_empty() && says_nothing {
        // "and SV3?" repeats the question before it
        let last = before.last().map(|last| Named::of(last, known).rest);
        named.rest = last.unwrap_or(named.rest);
    }
    // "why not 12?" asks the question before it for another number
    let is_alternative = named.subjects.is_empty() && reading.only_denies();
    match before.last().filter(|_| is_alternative) {
        Some(last) => Named::of(last, known),
        None => named,
    }
}

/// The parts of the run that a question is about: the named parts, the parts of the questions before it, or the job.
fn subjects(
    named: &Named,
    reading: &Reading,
    (asked, measures): (&[Quantity], &[&'static Measure]),
    before: &[String],
    known: &Known<'_>,
) -> Vec<Subject> {
    let run = known.run;
    let mut subjects = named.subjects.clone();
    let has = |quantity| asked.contains(&quantity);
    if !reading.shows(Cue::Why) && !has(Quantity::Remedy) {
        let keys = reading.settings();
        let keys = keys.filter(|key| run.summary.settings.contains_key(*key));
        subjects.extend(keys.map(|key| Subject::Setting(key.to_owned())));
    }
    let of_job = |m: &&Measure| OF_JOB.contains(m);
    let is_open = subjects.is_empty()
    && named.unknown.is_empty()
    && !reading.shows(Cue::Job)
    && !measures.iter().any(of_job)
    && !reading.names_another()
    // "how many rows in all?" is about the job
    && !reading.has(Word::Sum);
    if is_open {
        subjects = before_it(reading, (asked, measures), before, known);
    }
    if subjects.is_empty() {
        subjects.push(Subject::Job);
    }
    // Every part belongs to the job, so the job is a subject only on its own.
    if subjects.len() > 1 {
        subjects.retain(|s| *s != Subject::Job);
    }
    subjects.truncate(MOST);
    subjects
}

/// The subjects that a question without any takes from the questions before it; "this stage" is the stage of the main finding.
fn before_it(
    reading: &Reading,
    (asked, measures): (&[Quantity], &[&'static Measure]),
    before: &[String],
    known: &Known<'_>,
) -> Vec<Subject> {
    let asks_any = !asked.is_empty() || !measures.is_empty();
    let only_measures = asks_any && asked.iter().all(|q| q.is_measure());
    let names_cause = !reading.causes().is_empty();
    let continues = only_measures && !names_cause && reading.continues();
    // "which line threw, and what was it?" explains its own pronoun
    let points_back = reading.points_back() && !asked.contains(&Quantity::Place);
    let of_job = [SegmentKind::Compile, SegmentKind::Queue].map(Quantity::Segment);
    let is_of_job = asked.iter().any(|q| of_job.contains(q));
    let mut subjects = Vec::new();
    if reading.compares_unnamed() {
        subjects.extend(last_two(before, known));
    }
    if subjects.is_empty() && !is_of_job && (points_back || continues) {
        subjects.extend(earlier(before, known, known.run));
    }
    // "what should I change?" after "what is F2?"
    let last = &before[before.len().saturating_sub(1)..];
    if subjects.is_empty() && !last.is_empty() && !names_cause {
        let of_finding = |s: &Subject| matches!(s, Subject::Finding(_) | Subject::Suggestion(_));
        subjects.extend(
            earlier(last, known, known.run)
                .into_iter()
                .filter(of_finding),
        );
    }
    if subjects.is_empty() && reading.shows(Cue::ThisStage) {
        subjects.extend(known.run.suspect().map(Subject::Stage));
    }
    subjects
}

/// The question without "besides …", and the causes that are named there.
fn without_exception(question: &str, known: &Known<'_>, run: &Asked<'_>) -> (String, Vec<Cause>) {
    const FROM: &str =
        "besides |apart from |aside from |other than |except for |except |除了|除去|除开";
    const TO: &str = ",|，|?|？| what| which| is | are | can | could | should |以外|之外|还|另";
    let lower = question.to_ascii_lowercase();
    let start = FROM
        .split('|')
        .find_map(|word| Some((lower.find(word)?, word.len())));
    let Some((from, word)) = start else {
        return (question.to_owned(), Vec::new());
    };
    let clause = &question[from + word..];
    let ends = TO
        .split('|')
        .filter_map(|end| lower[from + word..].find(end));
    let clause = &clause[..ends.min().unwrap_or(clause.len())];
    let named = Named::of(clause, known);
    let reading = Reading::of(clause);
    let mut causes = reading.causes();
    let is_wait =
        |kind: &SegmentKind| matches!(kind, SegmentKind::Queue | SegmentKind::CapacityWait);
    causes.extend(
        reading
            .segments()
            .iter()
            .any(is_wait)
            .then_some(Cause::QueueWait),
    );
    let findings = run.report.findings.iter();
    let findings = findings.filter(|f| named.subjects.contains(&Subject::Finding(f.id.clone())));
    causes.extend(findings.map(|f| f.cause));
    match causes.is_empty() {
        true => (question.to_owned(), causes),
        false => (
            question.replacen(&question[from..from + word + clause.len()], " ", 1),
            causes,
        ),
    }
}

/// Whether there are two different stages; attempts of one stage are not compared with each other.
fn is_comparable(subjects: &[Subject]) -> bool {
    let mut stages = subjects.iter().filter(|s| matches!(s, Subject::Stage(_)));
    stages.nth(1).is_some()
}

/// The subjects of the last question that named something.
fn earlier(before: &[String], known: &Known<'_>, run: &Asked<'_>) -> Vec<Subject> {
    let subjects = |question: &String| {
        let named = Named::of(question, known);
        let reading = Reading::of(&named.rest);
        let (asked, measures) = asked_and_measures(&reading);
        let is_which = asked.contains(&Quantity::Which) || reading.has(Word::Key);
        match named.subjects.is_empty() && is_which {
            // The question was which stage it is: that stage; or which key it is: the key of a finding.
            true if !reading.causes().is_empty() => found_key(run, &reading).into_iter().collect(),
            true => rank::ranked(run, &measures)
                .into_iter()
                .take(1)
                .map(|(_, at)| Subject::Stage(at))
                .collect(),
            false => named.subjects,
        }
    };
    for question in before.iter().rev() {
        let subjects = subjects(question);
        if !subjects.is_empty() {
            return subjects;
        }
        // the last thing was the job
        if Reading::of(question).shows(Cue::Job) {
            break;
        }
    }
    Vec::new()
}

/// The key column that the first finding of the named causes is about.
fn found_key(run: &Asked<'_>, reading: &Reading) -> Option<Subject> {
    let causes = reading.causes();
    let mut findings = run.report.findings.iter();
    let found = findings.find(|f| causes.contains(&f.cause))?;
    let columns = run.summary.inputs.iter().flat_map(|i| &i.columns);
    let mut columns = columns.filter(|c| found.summary.contains(c.name.as_str()));
    columns.next().map(|c| Subject::Column(c.name.clone()))
}

/// The inputs or stages of the last two questions, which "which one is bigger?" compares.
fn last_two(before: &[String], known: &Known<'_>) -> Vec<Subject> {
    let last = before.iter().rev().take(2);
    let named = last.flat_map(|question| Named::of(question, known).subjects);
    let subjects: Vec<Subject> = named.collect();
    match subjects[..] {
        [Subject::Input(a), Subject::Input(b)] if a != b => subjects,
        [Subject::Stage(a), Subject::Stage(b)] if a != b => subjects,
        _ => Vec::new(),
    }
}

/// The quantities and the measures that a question asks for.
pub(crate) fn asked_and_measures(reading: &Reading) -> (Vec<Quantity>, Vec<&'static Measure>) {
    let named = amount::measures(reading);
    (asked(reading, &named), measures(reading, named))
}

fn asked(reading: &Reading, measures: &[&'static Measure]) -> Vec<Quantity> {
    let mut asked = reading.quantities();
    let has = |asked: &[Quantity], quantity| asked.contains(&quantity);
    if reading.shows(Cue::DataRow) {
        asked.retain(|q| *q != Quantity::Place);
        if !has(&asked, Quantity::Reason) {
            asked.push(Quantity::Reason);
        }
    }
    // "Which input is the largest?" is about inputs, "which stages have one task?" is a condition.
    if has(&asked, Quantity::Inputs) || has(&asked, Quantity::Single) {
        asked.retain(|q| !matches!(q, Quantity::Which | Quantity::Stages));
    }
    if has(&asked, Quantity::Which) {
        asked.retain(|q| *q != Quantity::Stages);
        // "the biggest output" is no stage
        let is_of_stage = reading.shows(Cue::OfStage);
        asked.retain(|q| *q != Quantity::Which || is_of_stage || !measures.is_empty());
        let is_superlative = |q: &Quantity| *q == Quantity::Duration && !reading.shows(Cue::How);
        asked.retain(|q| !is_superlative(q));
    }
    if has(&asked, Quantity::Cost) {
        asked.retain(|q| *q != Quantity::Gain && *q != Quantity::Duration);
    }
    // "is spilling the bottleneck?" is about spilling
    let names_cause = reading.is_polar() && !reading.causes().is_empty();
    asked.retain(|q| !(names_cause && *q == Quantity::Account));
    // "is the cluster too small?" does not ask which one it is
    asked.retain(|q| !(reading.is_polar() && *q == Quantity::Identity));
    // a time, or a share of it, is the duration that is asked for
    let is_time = |m: &&Measure| matches!(m.unit, Unit::Ms | Unit::Seconds | Unit::Share);
    let names_error = reading.shows(Cue::Error);
    let counts_losses = measures.iter().any(|m| LOSSES.contains(m));
    let counts_losses = counts_losses && !reading.shows(Cue::Why) && !names_error;
    asked.retain(|q| match q {
        Quantity::Duration | Quantity::Share => !measures.iter().any(is_time),
        Quantity::Reason => !counts_losses,
        Quantity::Single => reading.shows(Cue::Stage) && !reading.has(Word::Mean),
        _ => true,
    });
    // "Why does it spill?" asks for the cause; "how long does it sort?" for a time.
    if !asked.contains(&Quantity::Reason) || reading.causes().is_empty() {
        asked.extend(reading.segments().into_iter().map(Quantity::Segment));
    }
    asked
}

/// Measures that only the whole job has.
#[rustfmt::skip]
const OF_JOB: [&Measure; 6] = [
    &book::TOKENS, &book::EXECUTORS, &book::BUSY_SLOTS, &book::FIRST_EXECUTOR, &book::SPARK_JOBS, &book::EXECUTIONS,
];

/// Measures of trouble, which "why" asks the cause of.
#[rustfmt::skip]
const TROUBLE: [&Measure; 10] = [
    &book::ABANDONED, &book::MEMORY_SPILLED, &book::FAILED, &book::FETCH_WAIT, &book::GC_SHARE, &book::GC_TIME, &book::LOST_WORK,
    &book::REVOKED, &book::SPILLED, &book::SPILLS,
];

/// Measures of lost attempts: "how many vertices failed" asks for their number, not for the reason.
pub(crate) const LOSSES: [&Measure; 3] = [&book::FAILED, &book::REVOKED, &book::LOST_WORK];

/// The causes that are named; a question about settings, the balance of the work or single tasks is not about a cause.
fn causes(reading: &Reading, asked: &[Quantity]) -> Vec<Cause> {
    let is_other =
        |q: &Quantity| matches!(q, Quantity::Bound | Quantity::Single | Quantity::Settings);
    match asked.iter().any(is_other) && !asked.contains(&Quantity::Reason) {
        true => Vec::new(),
        false => reading.causes(),
    }
}

/// The named measures that are asked for; the question why something is wrong asks for its cause.
fn measures(reading: &Reading, mut named: Vec<&'static Measure>) -> Vec<&'static Measure> {
    let asks_for_cause = reading.shows(Cue::Why) && !reading.causes().is_empty();
    named.retain(|m| !(asks_for_cause && TROUBLE.contains(m)));
    named
}

/// Kinds of time that a quantity stands for.
pub(crate) fn kind(quantity: Quantity) -> Option<SegmentKind> {
    match quantity {
        Quantity::Segment(kind) => Some(kind),
        _ => None,
    }
}
