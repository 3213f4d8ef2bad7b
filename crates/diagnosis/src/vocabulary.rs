//! Spark's words. Sentences that hold for both engines are written once, in SCOPE's words; in a diagnosis of a Spark
//! application, Spark's words replace them at the end.
//!
//! Quotes from the job keep their words: text in backticks, and the messages of failures.

use report::{Cause, Language};

use crate::diagnosis::Diagnosis;
use crate::weigh::is_failure;

/// Replaces SCOPE's words by Spark's in all sentences of a diagnosis.
pub(crate) fn use_spark_words(diagnosis: &mut Diagnosis, language: Language) {
    let say = |text: &mut String| *text = report::spark_words(text, language);
    let findings = diagnosis.findings.iter_mut().chain(&mut diagnosis.notes);
    findings
        .filter(|f| !quotes(f.cause))
        .for_each(|f| say(&mut f.summary));
    let failed = diagnosis.findings.iter().filter(|f| quotes(f.cause));
    let said: Vec<String> = failed.flat_map(|f| f.evidence.iter().cloned()).collect();
    for evidence in diagnosis
        .evidence
        .iter_mut()
        .filter(|e| !said.contains(&e.id))
    {
        say(&mut evidence.text);
        say(&mut evidence.metric);
    }
    let rules = diagnosis.rules.iter_mut().filter(|r| !quotes(r.cause));
    rules.for_each(|r| say(&mut r.text));
    let time = diagnosis.time.iter_mut();
    time.flat_map(|t| &mut t.remarks).for_each(say);
    for missing in &mut diagnosis.missing {
        say(&mut missing.information.reason);
    }
    for suggested in &mut diagnosis.suggestions {
        suggested.suggestion.texts_mut().for_each(say);
    }
}

/// Whether a cause quotes the message of a failure.
fn quotes(cause: Cause) -> bool {
    is_failure(cause) || cause == Cause::ExecutorLost
}
