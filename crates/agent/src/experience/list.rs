//! The list of a step: a place for each of its sections, without repeats and translations.

use indexer::{Chunk, Filter, Hit, Kind, Query, Section};
use rayon::prelude::*;

use super::Asker;
use super::plan::{self, Topic};
use crate::facts::Facts;
use crate::step::StepId;
use report::{Match, RuleResult};

/// Candidate parts of playbooks and cases for a list. A cause has up to a dozen of a section; without a known cause, most may be about
/// causes that are ruled out.
const CHOICE: usize = 48;

/// The chunks for a step, best first, without chunks of other steps.
///
/// # Errors
/// Errors of the source.
pub(crate) fn retrieve(
    asker: &Asker<'_>,
    step: StepId,
    k: usize,
    others: &[&Hit],
) -> Result<Vec<Hit>, String> {
    let topics = plan::topics(step, asker.facts);
    if topics.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = List {
        others,
        chosen: Vec::new(),
    };
    for sections in plan::widths(step, asker.facts) {
        let shelves = topics
            .iter()
            .map(|topic| shelf(asker, step, topic, sections));
        let shelves: Result<Vec<Shelf>, String> = shelves.collect();
        list.fill(&shelves?, sections, k);
        if !list.chosen.is_empty() {
            break;
        }
    }
    Ok(list.chosen)
}

/// Runs the first searches of the steps, several at a time; the asker keeps the answers. A search that fails here fails again
/// in its step.
pub(super) fn look_ahead(asker: &Asker<'_>, steps: &[StepId]) {
    let mut asked: Vec<(Topic, Kind)> = Vec::new();
    for step in steps {
        let topics = plan::topics(*step, asker.facts).into_iter();
        for topic in topics.filter(|topic| !topic.causes.is_empty()) {
            let cases = plan::takes_cases(*step).then(|| (topic.clone(), Kind::Case));
            for question in std::iter::once((topic, Kind::Experience)).chain(cases) {
                if !asked.contains(&question) {
                    asked.push(question);
                }
            }
        }
    }
    asked.into_par_iter().for_each(|(topic, kind)| {
        drop(search(asker, &topic, kind, &[]));
    });
}

/// Hits on a topic, best first.
struct Shelf {
    playbooks: Vec<Hit>,
    cases: Vec<Hit>,
}

fn shelf(
    asker: &Asker<'_>,
    step: StepId,
    topic: &Topic,
    sections: &[Section],
) -> Result<Shelf, String> {
    let of = |kind, sections: &[Section]| search(asker, topic, kind, sections);
    if topic.causes.is_empty() {
        let mut playbooks = of(Kind::Experience, sections)?;
        // Next to findings, only an answer to the question is of use.
        let has_findings = !asker.facts.found.findings.is_empty();
        playbooks.retain(|hit| !has_findings || hit.fit == Match::Strong);
        return Ok(Shelf {
            playbooks,
            cases: Vec::new(),
        });
    }
    // One ranking per cause serves all steps; missing sections are searched for.
    let mut playbooks = of(Kind::Experience, &[])?;
    let serves = |hit: &Hit| hit.chunk.section.is_some_and(|s| sections.contains(&s));
    if !playbooks.iter().any(serves) {
        playbooks = of(Kind::Experience, sections)?;
    }
    if step == StepId::Advice {
        let fixes = super::fixes(asker, &topic.causes);
        let known = super::section_ids(&fixes);
        playbooks.retain_mut(|hit| super::keep(hit, |s| !known.contains(&s.id)));
        playbooks.splice(0..0, fixes);
    }
    let cases = match plan::takes_cases(step) {
        true => of(Kind::Case, &[])?,
        false => Vec::new(),
    };
    Ok(Shelf { playbooks, cases })
}

/// Hits in the language of the report; in another only if it has none.
fn search(
    asker: &Asker<'_>,
    topic: &Topic,
    kind: Kind,
    sections: &[Section],
) -> Result<Vec<Hit>, String> {
    let mut query = Query::new(&topic.text, CHOICE);
    query.prefer = topic.prefer.clone();
    for languages in [&[asker.facts.language][..], &[]] {
        query.filter = Filter {
            kinds: vec![kind],
            sections: sections.to_vec(),
            causes: topic.causes.clone(),
            languages: languages.to_vec(),
            ..Filter::default()
        };
        let mut hits = asker.search(&query, &topic.causes)?;
        hits.retain(|hit| !is_ruled_out(&hit.chunk, asker.facts));
        if !hits.is_empty() {
            return Ok(hits);
        }
    }
    Ok(Vec::new())
}

/// Whether a chunk is only about causes that the facts rule out.
fn is_ruled_out(chunk: &Chunk, facts: &Facts) -> bool {
    let is_cleared = |code: &String| facts.found.causes(RuleResult::Cleared).any(|c| c == code);
    !chunk.causes.is_empty() && chunk.causes.iter().all(is_cleared)
}

struct List<'a> {
    /// Hits of other steps.
    others: &'a [&'a Hit],
    chosen: Vec<Hit>,
}

impl List<'_> {
    /// Fills the places of the sections in turn, each from the next topic. Where every topic has given a section, a case
    /// takes the place.
    fn fill(&mut self, shelves: &[Shelf], sections: &[Section], k: usize) {
        let sections: Vec<Option<Section>> = match sections.is_empty() {
            true => vec![None],
            false => sections.iter().copied().map(Some).collect(),
        };
        for place in 0..k {
            let section = sections[place % sections.len()];
            let before = (0..place).filter(|p| sections[p % sections.len()] == section);
            let turn = before.count();
            let cases = shelves.iter().flat_map(|shelf| &shelf.cases);
            let in_turn = (0..shelves.len()).map(|at| &shelves[(turn + at) % shelves.len()]);
            let parts = in_turn.flat_map(|shelf| &shelf.playbooks);
            let parts = parts.filter(|hit| hit.chunk.section == section);
            let choice: Vec<&Hit> = match turn < shelves.len() {
                true => parts.chain(cases).collect(),
                false => cases.chain(parts).collect(),
            };
            let hit = choice.into_iter().find(|hit| self.admits(&hit.chunk));
            self.chosen.extend(hit.cloned());
        }
    }

    /// Whether a chunk says something new: it is not listed, nor is a translation of it, nor its case.
    fn admits(&self, chunk: &Chunk) -> bool {
        let listed = self.others.iter().copied().chain(&self.chosen);
        listed.map(|hit| &hit.chunk).all(|other| {
            let is_translation = other.language != chunk.language
                && other.section == chunk.section
                && other.subject() == chunk.subject();
            let is_same_case = chunk.kind == Kind::Case && other.document == chunk.document;
            other.id != chunk.id && !is_translation && !is_same_case
        })
    }
}
