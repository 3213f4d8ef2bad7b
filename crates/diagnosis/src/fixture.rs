//! Diagnoses of small jobs, for tests of single rules.

use job::{Catalogue, Job};
use report::{Cause, Language, RuleResult};

use crate::{Candidate, Diagnosis, Settings, View, diagnose};

/// Diagnoses with the defaults, in English.
pub(crate) fn diagnosed(job: &Job) -> Diagnosis {
    let settings = Settings::default();
    let advise = |_: &View<'_>, _: &[Candidate]| Vec::new();
    diagnose(job, &Catalogue::builtin(), &settings, Language::En, advise)
}

/// How the rule for a cause ended.
pub(crate) fn outcome(job: &Job, cause: Cause) -> RuleResult {
    let diagnosis = diagnosed(job);
    let mut rules = diagnosis.rules.iter();
    let rule = rules.find(|r| r.cause == cause);
    rule.expect("every cause has a rule").outcome
}
