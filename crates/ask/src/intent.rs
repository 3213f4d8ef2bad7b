//! The intent of a question: parts of the run, quantities, goal.

use job::model::SHUFFLE_PARTITIONS;
use report::measure::{Measure, Unit, book};
use report::{Cause, JobState, SegmentKind};

use crate::names::{Known, Named};
use crate::phrases::Quantity;
use crate::subject::{Subject, Unknown};
use crate::wording::Wording;
use crate::words::{self, Scan, Word};
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
    pub(crate) names_executors: bool,
    pub(crate) names_driver: bool,
    pub(crate) names_job: bool,
    /// Whether it asks for all things in their order.
    pub(crate) names_order: bool,
    /// Causes that are named.
    pub(crate) causes: Vec<Cause>,
    pub(crate) unknown: Vec<Unknown>,
    /// Names of the run in the question, as written.
    pub(crate) names: Vec<String>,
    /// Whether it asks for the trouble of the job or for changes, in general.
    pub(crate) is_open: bool,
    /// Causes that it excludes: "besides the wait".
    pub(crate) except: Vec<Cause>,
    /// Whether it names errors or failures.
    pub(crate) names_failure: bool,
    /// Whether the subjects are to be compared.
    pub(crate) compares: bool,
    /// Whether yes or no would answer it.
    pub(crate) is_polar: bool,
    pub(crate) asks_why: bool,
    /// The question without the names of the run.
    pub(crate) text: String,
    /// Numbers in the question that belong to no name.
    pub(crate) numbers: Vec<f64>,
    /// Times in it, in seconds.
    pub(crate) durations: Vec<f64>,
    /// Seconds that the user wants to reach.
    pub(crate) goal: Option<f64>,
}

impl Intent {
    /// Reads a question. Missing parts are taken from the questions `before` it.
    pub(crate) fn of(question: &str, before: &[String], run: &Asked<'_>) -> Intent {
        let known = Known::of(run);
        let (question, except) = without_exception(question, &known, run);
        let named = continued(Named::of(&question, &known), before, &known);
        let wording = Wording::of(&named.rest);
        let names_failure = wording.names_failure();
        // attempts may fail in a job that doesn't
        let is_of_attempts = names_failure && run.report.job.state == JobState::Succeeded;
        let (mut asked, mut measures) = asked_and_measures(&wording);
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
        if measures.contains(&&book::WAVES) {
            asked.retain(|q| *q != Quantity::Reason);
            measures.extend([&book::VERTICES, &book::TOKENS]);
        }
        let names_setting = wording.settings().next().is_some() && !wording.asks_why();
        if names_setting {
            asked.retain(|q| *q != Quantity::Reason);
        }
        let mut causes = causes(&wording, &asked);
        causes.extend(is_of_attempts.then_some(Cause::VertexRetries));
        let subjects = Reading {
            named: &named,
            wording: &wording,
            asked: &asked,
            measures: &measures,
            before,
            known: &known,
        }
        .subjects();
        let scan = Scan::of(&named.rest);
        let chooses = scan.has(Word::Which) && !asked.contains(&Quantity::Place);
        Intent {
            is_open: (wording.is_open() || wording.asks_why())
                && (named.subjects.contains(&Subject::Job) || wording.is_about_job()),
            except,
            names_failure,
            compares: (wording.compares() || chooses) && is_comparable(&subjects),
            is_polar: wording.is_polar(),
            asks_why: wording.asks_why(),
            numbers: wording.numbers().collect(),
            durations: goal::durations(&named.rest),
            names_executors: wording.has("executor|执行器", "executor*"),
            names_driver: wording.has("driver", "driver"),
            names_job: wording.is_about_job(),
            names_order: wording.has("排名|排行|排个序", "rank*|order the"),
            goal: goal::of(&named.rest, &wording, &asked, run),
            text: named.rest,
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

    /// Whether it names a setting by the words of users.
    pub(crate) fn names_setting(&self, key: &str) -> bool {
        Wording::of(&self.text).settings().any(|named| named == key)
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
    let says_nothing =
        Wording::of(&named.rest).says_nothing() || Scan::of(&named.rest).is_elliptic();
    if !named.subjects.is_empty() && says_nothing {
        // "and SV3?" repeats the question before it
        let last = before.last().map(|last| Named::of(last, known).rest);
        named.rest = last.unwrap_or(named.rest);
    }
    // "why not 12?" asks the question before it for another number
    let is_alternative = named.subjects.is_empty() && words::only_denies(&named.rest);
    match before.last().filter(|_| is_alternative) {
        Some(last) => Named::of(last, known),
        None => named,
    }
}

/// A question whose names and quantities are known.
#[derive(Clone, Copy)]
struct Reading<'r> {
    named: &'r Named,
    wording: &'r Wording,
    asked: &'r [Quantity],
    measures: &'r [&'static Measure],
    before: &'r [String],
    known: &'r Known<'r>,
}

impl Reading<'_> {
    /// The parts of the run that a question is about: the named ones, those of the questions before it, or the job.
    fn subjects(self) -> Vec<Subject> {
        let Reading {
            named,
            wording,
            asked,
            measures,
            ..
        } = self;
        let run = self.known.run;
        let mut subjects = named.subjects.clone();
        let has = |quantity| asked.contains(&quantity);
        if !wording.asks_why() && !has(Quantity::Remedy) {
            let keys = wording.settings();
            let keys = keys.filter(|key| run.summary.settings.contains_key(*key));
            subjects.extend(keys.map(|key| Subject::Setting(key.to_owned())));
        }
        let of_job = |m: &&Measure| OF_JOB.contains(m);
        let is_open = subjects.is_empty()
        && named.unknown.is_empty()
        && !wording.is_about_job()
        && !measures.iter().any(of_job)
        && !words::names_another(&named.rest)
        // "how many rows in all?" is about the job
        && !Scan::of(&named.rest).has(Word::Sum);
        if is_open {
            subjects = self.before_it();
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
    fn before_it(self) -> Vec<Subject> {
        let Reading {
            named,
            wording,
            asked,
            measures,
            before,
            known,
        } = self;
        let asks_any = !asked.is_empty() || !measures.is_empty();
        let only_measures = asks_any && asked.iter().all(|q| q.is_measure());
        let names_cause = !wording.causes().is_empty();
        let continues = only_measures && !names_cause && wording.continues();
        // "which line threw, and what was it?" explains its own pronoun
        let points_back = wording.points_back() && !asked.contains(&Quantity::Place);
        let of_job = [SegmentKind::Compile, SegmentKind::Queue].map(Quantity::Segment);
        let is_of_job = asked.iter().any(|q| of_job.contains(q));
        let mut subjects = Vec::new();
        if words::compares_unnamed(&named.rest) {
            subjects.extend(last_two(before, known));
        }
        if subjects.is_empty() && !is_of_job && (points_back || continues) {
            subjects.extend(earlier(before, known, known.run));
        }
        // "what should I change?" after "what is F2?"
        let last = &before[before.len().saturating_sub(1)..];
        if subjects.is_empty() && !last.is_empty() && !names_cause {
            let of_finding =
                |s: &Subject| matches!(s, Subject::Finding(_) | Subject::Suggestion(_));
            subjects.extend(
                earlier(last, known, known.run)
                    .into_iter()
                    .filter(of_finding),
            );
        }
        if subjects.is_empty() && wording.points_at_stage() {
            subjects.extend(known.run.suspect().map(Subject::Stage));
        }
        subjects
    }
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
    let wording = Wording::of(clause);
    let mut causes = wording.causes();
    let is_wait =
        |kind: &SegmentKind| matches!(kind, SegmentKind::Queue | SegmentKind::CapacityWait);
    causes.extend(
        wording
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
        let wording = Wording::of(&named.rest);
        let (asked, measures) = asked_and_measures(&wording);
        let is_which = asked.contains(&Quantity::Which) || Scan::of(&named.rest).has(Word::Key);
        match named.subjects.is_empty() && is_which {
            // The question was which stage it is: that stage; or which key it is: the key of a finding.
            true if !wording.causes().is_empty() => found_key(run, &wording).into_iter().collect(),
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
        if Wording::of(question).is_about_job() {
            break;
        }
    }
    Vec::new()
}

/// The key column that the first finding of the named causes is about.
fn found_key(run: &Asked<'_>, wording: &Wording) -> Option<Subject> {
    let causes = wording.causes();
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
pub(crate) fn asked_and_measures(wording: &Wording) -> (Vec<Quantity>, Vec<&'static Measure>) {
    let named = amount::measures(wording);
    (asked(wording, &named), measures(wording, named))
}

fn asked(wording: &Wording, measures: &[&'static Measure]) -> Vec<Quantity> {
    let mut asked = wording.quantities();
    let has = |asked: &[Quantity], quantity| asked.contains(&quantity);
    // "Which input is the largest?" is about inputs, "which stages have one task?" is a condition.
    if has(&asked, Quantity::Inputs) || has(&asked, Quantity::Single) {
        asked.retain(|q| !matches!(q, Quantity::Which | Quantity::Stages));
    }
    if has(&asked, Quantity::Which) {
        asked.retain(|q| *q != Quantity::Stages);
        // "the biggest output" is no stage
        let is_of_stage = wording.has(
            "阶段|stage|步|慢|久|长|耗时|费时",
            "stage*|step*|slow*|long*|time|expensive|one|heaviest",
        );
        asked.retain(|q| *q != Quantity::Which || is_of_stage || !measures.is_empty());
        let is_superlative =
            |q: &Quantity| *q == Quantity::Duration && !wording.has("多久|多长|多少", "how");
        asked.retain(|q| !is_superlative(q));
    }
    if has(&asked, Quantity::Cost) {
        asked.retain(|q| *q != Quantity::Gain && *q != Quantity::Duration);
    }
    // "is spilling the bottleneck?" is about spilling
    let names_cause = wording.is_polar() && !wording.causes().is_empty();
    asked.retain(|q| !(names_cause && *q == Quantity::Account));
    // "is the cluster too small?" does not ask which one it is
    asked.retain(|q| !(wording.is_polar() && *q == Quantity::Identity));
    // a time, or a share of it, is the duration that is asked for
    let is_time = |m: &&Measure| matches!(m.unit, Unit::Ms | Unit::Seconds | Unit::Share);
    let names_error = wording.has("错误|异常|报错", "error*|exception*|message");
    let counts_losses = measures.iter().any(|m| LOSSES.contains(m));
    let counts_losses = counts_losses && !wording.asks_why() && !names_error;
    asked.retain(|q| match q {
        Quantity::Duration | Quantity::Share => !measures.iter().any(is_time),
        Quantity::Reason => !counts_losses,
        Quantity::Single => {
            wording.has("阶段|stage", "stage*") && !wording.has("平均|大概", "average|avg|mean")
        }
        _ => true,
    });
    // "Why does it spill?" asks for the cause; "how long does it sort?" for a time.
    if !asked.contains(&Quantity::Reason) || wording.causes().is_empty() {
        asked.extend(wording.segments().into_iter().map(Quantity::Segment));
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
fn causes(wording: &Wording, asked: &[Quantity]) -> Vec<Cause> {
    let is_other =
        |q: &Quantity| matches!(q, Quantity::Bound | Quantity::Single | Quantity::Settings);
    match asked.iter().any(is_other) && !asked.contains(&Quantity::Reason) {
        true => Vec::new(),
        false => wording.causes(),
    }
}

/// The named measures that are asked for; the question why something is wrong asks for its cause.
fn measures(wording: &Wording, mut named: Vec<&'static Measure>) -> Vec<&'static Measure> {
    let asks_for_cause = wording.asks_why() && !wording.causes().is_empty();
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
