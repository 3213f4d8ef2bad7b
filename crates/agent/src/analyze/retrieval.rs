//! Experience for the steps and for suggestions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::experience::{self, Answers, Asker, Bounds};
use crate::facts::{Facts, Passage};
use crate::request::{Depth, Request, Services};
use crate::step::StepId;
use indexer::Hit;
use report::{Experience, Suggestion};

/// Passages of a step; three fill a screen and a small model's attention.
const PASSAGES: usize = 3;

/// Passages of THINK 1 and THINK 2.
const FEW: usize = 2;

/// The searches of one analysis; equal ones are answered once.
pub(super) struct Retrieval<'a> {
    services: &'a Services<'a>,
    answers: Answers,
    k: usize,
    /// Passages of each step.
    by_step: BTreeMap<StepId, Vec<Hit>>,
}

impl<'a> Retrieval<'a> {
    pub(super) fn new(request: &Request, services: &'a Services<'a>) -> Retrieval<'a> {
        let deep = usize::from(request.depth == Depth::Deep) + 1;
        Retrieval {
            services,
            answers: Answers::default(),
            k: PASSAGES * deep,
            by_step: BTreeMap::new(),
        }
    }

    fn asker<'f>(&self, facts: &'f Facts) -> Option<Asker<'f>>
    where
        'a: 'f,
    {
        self.services.index.map(|source| Asker {
            source,
            facts,
            prior: self.services.prior,
            answers: Arc::clone(&self.answers),
            bounds: Bounds {
                mask: facts.mask.as_ref(),
                cancel: &self.services.cancel,
            },
        })
    }

    /// Runs the searches that the steps will need for these facts, several at a time.
    pub(super) fn look_ahead(&self, ids: &[StepId], facts: &Facts) {
        if let Some(asker) = self.asker(facts) {
            let supported: Vec<_> = topics(facts).collect();
            experience::look_ahead(&asker, ids, &supported);
        }
    }

    pub(super) fn passages(
        &mut self,
        ids: &[StepId],
        facts: &Facts,
    ) -> Result<Vec<Passage>, String> {
        let mut passages: Vec<Passage> = Vec::new();
        let Some(asker) = self.asker(facts) else {
            return Ok(passages);
        };
        for id in ids {
            let others = self.by_step.iter().filter(|(step, _)| *step != id);
            let others: Vec<&Hit> = others.flat_map(|(_, hits)| hits).collect();
            // Class and place follow from the facts; experience matters for causes and advice.
            let k = match id {
                StepId::Classify | StepId::KeyCode => self.k.min(FEW),
                _ => self.k,
            };
            let hits = experience::retrieve(&asker, *id, k, &others)?;
            passages.extend(experience::passages(&asker, &hits));
            self.by_step.insert(*id, hits);
        }
        Ok(passages)
    }

    pub(super) fn supported(&self, facts: &Facts) -> Vec<Suggestion> {
        let found = &facts.found;
        let mut suggestions = found.suggestions.clone();
        let Some(asker) = self.asker(facts) else {
            return suggestions;
        };
        for (suggestion, (topic, cause)) in suggestions.iter_mut().zip(topics(facts)) {
            if let Ok(hits) = experience::support(&asker, topic, cause) {
                suggestion.sources = hits.iter().map(|hit| hit.chunk.id.clone()).collect();
            }
        }
        suggestions
    }

    /// The passages of the steps, by step.
    pub(super) fn experiences(&self) -> Vec<Experience> {
        let steps = self.by_step.iter();
        let entries = steps.flat_map(|(id, hits)| experience::entries(*id, hits));
        entries.collect()
    }
}

/// What to ask about each suggestion: its topic, and the cause that it fixes.
fn topics(facts: &Facts) -> impl Iterator<Item = (&str, Option<&str>)> {
    let found = &facts.found;
    let suggestions = found.suggestions.iter().zip(&found.topics);
    suggestions.map(|(suggestion, topic)| {
        let finding = suggestion.finding.as_deref();
        let finding = finding.and_then(|id| found.finding(id));
        (topic.as_str(), finding.map(|f| f.cause.code()))
    })
}
