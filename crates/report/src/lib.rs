//! The report contract: the object that every front end prints, stores or renders.
//!
//! Field names and values are an interface with a version ([`SCHEMA_VERSION`]): adding a field is
//! free, renaming or removing one needs a new version. Next to the types live the two things that
//! all their producers share: a sentence in both languages ([`Text`], [`text!`]) and the one place
//! that formats numbers ([`format`](mod@format)). Knows no job, no rule and no model.

mod account;
mod cause;
mod diagnostic;
mod finding;
pub mod format;
mod interface;
mod job;
mod language;
pub mod markdown;
pub mod measure;
mod nearest;
mod outcome;
mod report;
mod step;
mod suggestion;
mod text;
mod visible;
mod vocabulary;

pub use account::{
    Cost, CurvePoint, CurveResource, Segment, SegmentDetail, SegmentGroup, SegmentKind,
    TimeAccount, TimeSum, TimeUse, hours_of,
};
pub use cause::{Cause, ProblemType, codes, title_of};
pub use diagnostic::{Diagnostic, DiagnosticSeverity};
pub use finding::{Evidence, EvidenceValue, Finding, Impact, Severity, Source};
pub use interface::{interface, set_interface, speaking, with_causes};
pub use job::{JobEngine, JobState, JobSummary};
pub use language::Language;
pub use nearest::nearest;
pub use outcome::{MissingInformation, RuleOutcome, RuleResult};
pub use report::{Answer, Report, SCHEMA_VERSION, Verdict, schema};
pub use step::{Checks, Engine, Experience, FileRead, Match, ReasonerKind, Step, Usage};
pub use suggestion::{Origin, SameResult, Setting, Suggestion, SuggestionKind, Verified};
pub use text::{Localize, Phrases, StaticText, Text};
#[doc(hidden)]
pub use text::{marked, unmarked};
pub use visible::{acts, visible, visible_line};
pub use vocabulary::{engine_words, spark_words};

/// Marks a place of a case for the curator to fill in; a case that still holds it is unfinished and not indexed.
pub const FILL_IN: &str = "FILL IN";
