//! The words of questions: the meanings of phrases.

use report::measure::Measure;
use report::{Cause, ProblemType, SegmentKind, StaticText};

/// A question about a job, a stage, an input, ….
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Whether it is a problem.
    Verdict,
    /// Why it is slow or failed.
    Reason,
    /// What to change.
    Remedy,
    /// The saving of the changes.
    Gain,
    /// Where the time goes.
    Account,
    /// How long it takes.
    Duration,
    /// Its share of the time.
    Share,
    /// How long it takes to do one thing.
    Segment(SegmentKind),
    /// Whether computing or data takes the time.
    Bound,
    /// Stages with one vertex.
    Single,
    /// Settings and their values.
    Settings,
    /// Which stage it is.
    Which,
    Stages,
    Cost,
    Inputs,
    /// Which code it is.
    Place,
    /// Its sources and its readers.
    Flow,
    /// Differences from the run before.
    Change,
    /// Undecided causes.
    Missing,
    /// Where numbers come from.
    Sources,
    /// Who ran it, when and where.
    Identity,
}

impl Quantity {
    /// Whether it is a number, which a question about a part of the run may leave the part out of: "and how many rows?".
    pub(crate) fn is_measure(self) -> bool {
        use Quantity::*;
        matches!(self, Duration | Share | Segment(_) | Place | Flow)
    }
}

/// The kind of thing that a question counts, ranks or describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    Stage,
    Vertex,
    Operator,
    Exchange,
    Input,
    Column,
    Partition,
    File,
    Executor,
    Execution,
    Machine,
    Cache,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Word {
    Noun(Thing),
    /// Operators of a kind, by the keyword of their statement.
    Kind(&'static str),
    Rows,
    Bytes,
    /// Rows and bytes.
    Data,
    Time,
    /// A verb that asks for a time only next to an amount: "how much does it run".
    Run,
    Number,
    In,
    Out,
    /// Rows that go on or that are left out.
    Passed,
    Most,
    Least,
    Sum,
    Mean,
    Median,
    Each,
    Spread,
    Share,
    /// A ratio.
    Times,
    /// A difference.
    Apart,
    Rate,
    Estimated,
    /// Of one measure.
    Of(&'static Measure),
    /// Lines of the script.
    Place,
    /// The name of the answer: "which", "called".
    Which,
    Key,
    /// Executors that went away.
    Lost,
    /// Executors that came.
    Arrived,
    /// The absence of something.
    Not,
    When,
    Who,
    /// A Spark job of an application; the run has no data about single jobs.
    SparkJob,
    /// A definition.
    Define,
    /// A word of questions that other modules answer.
    Other,
    /// A word without meaning for the answer.
    Filler,
    // Words below are found anywhere in a question, also within other phrases.
    Asks(Quantity),
    /// A kind of time.
    Takes(SegmentKind),
    Caused(Cause),
    OfType(ProblemType),
    /// A setting by the name that people give it.
    Setting(&'static str),
    /// A measure by its words in the book.
    Named(&'static Measure),
    Resource(Resource),
    Amount(Amount),
    /// A number in words, with the unit that it counts.
    Numeral(f64),
    /// An event of the run.
    Point(Point),
    /// A kind of record that is no number.
    Record(Record),
    /// An attribute that no run records.
    Unrecorded(StaticText),
    Cue(Cue),
}

/// A word that only shows the kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// Asks for a reason explicitly.
    Why,
    /// Yes or no would answer it.
    Polar,
    /// Asks for the trouble of a job, or for changes.
    Open,
    /// Slowness or failure.
    Slow,
    Failure,
    Error,
    /// The whole job.
    Job,
    It,
    ThisStage,
    Compares,
    /// Words between two compared things.
    Or,
    Differs,
    /// A row of the data, not of the script.
    DataRow,
    /// All is well.
    Healthy,
    /// Asks for the effect of a change, not for a record.
    Would,
    /// A gain by other resources.
    Faster,
    /// Present resources suffice.
    Enough,
    /// A time is one to reach.
    Goal,
    Half,
    WhatIf,
    /// A change that is only thought of.
    If,
    Without,
    /// The effect of other resources.
    Thought,
    /// Changes in the past.
    Past,
    /// The present count is too large.
    Surplus,
    Needs,
    Many,
    /// Between an amount and a resource: it belongs to the time.
    OtherAmount,
    /// Asks for a time.
    Span,
    Moment,
    StartOrEnd,
    What,
    Is,
    Purpose,
    Where,
    How,
    HowManyRows,
    HowBig,
    Explains,
    /// Asks about an event or a time, not for a definition.
    Happens,
    /// A superlative is one of stages.
    OfStage,
    Stage,
    Later,
    /// All things in their order.
    Order,
    Driver,
    Executor,
    Waits,
    WhichKey,
    /// The key of something.
    KeyOf,
    Values,
    Runs,
    /// How joins are run.
    Strategy,
    /// People and programs outside of the run.
    Outsider,
    /// Whether the job has ended, and how far it got.
    Finished,
    LastStep,
    /// Whether stages ran, and whether anything was written.
    Ran,
    Written,
    /// Whether something is used.
    Uses,
    /// Things besides the named one.
    Others,
    /// Time without a result.
    Wasted,
    /// Kinds of errors.
    Kinds,
    ExitCode,
    /// Which of several things is slow.
    Slower,
    /// One of several reasons.
    Choice,
    /// Who decides a number.
    Origin,
    /// The effect of a setting.
    Effect,
    /// Whether a size is below a limit.
    Fits,
    /// The place that something is moved to.
    Target,
    /// Whether trouble does any harm.
    Harm,
    /// How often something was tried.
    Attempted,
    /// Too late or in vain, as a filter after a join.
    Late,
    /// The hints of the script.
    Hint,
    /// In spite of trouble.
    Succeeded,
}

impl Word {
    /// Whether it shows the kind of a question, and is found anywhere in it.
    pub(crate) fn is_loose(&self) -> bool {
        let has_meaning = matches!(
            self,
            Word::Asks(_)
                | Word::Takes(_)
                | Word::Caused(_)
                | Word::OfType(_)
                | Word::Setting(_)
                | Word::Named(_)
        );
        has_meaning || !self.has_meaning()
    }

    /// Whether it means more than a form of question.
    pub(crate) fn has_meaning(&self) -> bool {
        !matches!(
            self,
            Word::Resource(_)
                | Word::Amount(_)
                | Word::Numeral(_)
                | Word::Point(_)
                | Word::Record(_)
                | Word::Unrecorded(_)
                | Word::Cue(_)
        )
    }

    /// Whether it names a kind of thing.
    pub(crate) fn is_thing(&self) -> bool {
        matches!(self, Word::Noun(_) | Word::Kind(_))
    }
}

/// A point of time of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Point {
    Submission,
    Measured(&'static Measure),
    FirstStage,
    Start,
    End,
}

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// Columns and format of inputs.
    Columns,
    /// How inputs are stored.
    Layout,
    /// Readers of inputs.
    Reads,
    Hints,
    /// How joins are run.
    Strategy,
    /// Attempts without a result.
    Attempts,
    /// Arguments of operators.
    Arguments,
    /// The stages before and after a stage.
    Flow,
}

/// The resource that a question would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    Tokens,
    Executors,
    Cores,
    Input,
    /// Memory and hardware: no record shows their effect.
    Memory,
    Hardware,
    Partitions,
}

/// The new amount of a resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Times(f64),
    Count(f64),
    /// "two more", “减少 3 个”
    Plus(f64),
    /// "more", "fewer"
    Open,
}
