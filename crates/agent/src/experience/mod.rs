//! Experience for a step: its own searches, and a short list without repeats.
//!
//! Knows which facets suit which step; how the index ranks is the indexer's business.

mod dialect;
mod list;
mod plan;
mod sections;
mod wording;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use indexer::{Chunk, Engine, Filter, Hit, Kind, Query, Remote, Section};
use llm::Mask;
use tokio_util::sync::CancellationToken;

use crate::facts::{Facts, Passage};
use crate::step::StepId;
use report::{Experience, JobEngine};

pub(crate) use list::retrieve;

/// How strongly near-duplicates are thinned: the chunks of one playbook resemble each other, and a
/// step is better served by three different ones.
const THINNING: f32 = 0.3;

/// Chunks cited per suggestion; a reader follows one or two.
const SOURCES_PER_SUGGESTION: usize = 2;

/// Where experience comes from.
pub trait ExperienceSource: Send + Sync {
    /// The best chunks for a query, best first.
    ///
    /// # Errors
    /// A sentence for the report; the analysis goes on without experience.
    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String>;

    /// The chunk with this id; `None` for an unknown id.
    fn chunk(&self, id: &str) -> Option<Chunk>;
}

impl ExperienceSource for indexer::Index {
    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String> {
        indexer::Index::search(self, query).map_err(|error| error.to_string())
    }

    fn chunk(&self, id: &str) -> Option<Chunk> {
        indexer::Index::chunk(self, id)
    }
}

/// Feedback on a chunk for some causes, roughly -1 to 1.
pub type ChunkPrior<'a> = dyn Fn(&[String], &str) -> f32 + Sync + 'a;

/// A source with feedback on its chunks. Searches for the job's engine only: advice for another engine would mislead. Caches its
/// answers, because steps and report search for the same.
#[derive(Clone)]
pub(crate) struct Asker<'a> {
    pub(crate) source: &'a dyn ExperienceSource,
    pub(crate) facts: &'a Facts,
    pub(crate) prior: Option<&'a ChunkPrior<'a>>,
    pub(crate) answers: Answers,
    pub(crate) bounds: Bounds<'a>,
}

/// Bounds of a search that needs vectors from a server.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'a> {
    pub(crate) mask: Option<&'a Mask>,
    pub(crate) cancel: &'a CancellationToken,
}

impl Bounds<'_> {
    pub(crate) fn search(
        &self,
        source: &dyn ExperienceSource,
        query: &Query<'_>,
    ) -> Result<Vec<Hit>, String> {
        let mask = self.mask.map(|mask| |text: &str| mask.hide(text));
        let is_cancelled = || self.cancel.is_cancelled();
        source.search(&Query {
            remote: Remote {
                mask: mask.as_ref().map(|mask| mask as _),
                is_cancelled: Some(&is_cancelled),
            },
            ..query.clone()
        })
    }
}

pub(crate) type Answers = Arc<Mutex<HashMap<String, Vec<Hit>>>>;

impl Asker<'_> {
    fn engine(&self) -> Engine {
        self.dialect().into()
    }

    /// The dialect of the job.
    fn dialect(&self) -> Option<JobEngine> {
        self.facts.job.engine
    }

    fn search(&self, query: &Query<'_>, causes: &[String]) -> Result<Vec<Hit>, String> {
        let mut query = Query {
            text: wording::general(&query.text, &self.facts.outline),
            ..query.clone()
        };
        query.filter.engine = Some(self.engine());
        let key = format!(
            "{} {:?} {:?} {causes:?} {}",
            query.k, query.filter, query.prefer, query.text
        );
        let answers = || self.answers.lock().ok();
        if let Some(known) = answers().and_then(|answers| answers.get(&key).cloned()) {
            return Ok(known);
        }
        let mut hits = match self.prior {
            Some(prior) => {
                let of_chunk = |chunk: &str| prior(causes, chunk);
                let query = Query {
                    prior: Some(&of_chunk),
                    ..query
                };
                self.bounds.search(self.source, &query)
            }
            None => self.bounds.search(self.source, &query),
        }?;
        hits.retain_mut(|hit| keep(hit, |s| !sections::is_of_other_dialect(s, self.dialect())));
        answers().map(|mut answers| answers.insert(key, hits.clone()));
        Ok(hits)
    }
}

/// Runs the searches of steps and suggestions on all cores; with one core, early searches bring no gain.
pub(crate) fn look_ahead(asker: &Asker<'_>, steps: &[StepId], supported: &[(&str, Option<&str>)]) {
    if rayon::current_num_threads() == 1 {
        return;
    }
    rayon::join(
        || list::look_ahead(asker, steps),
        || {
            for (topic, cause) in supported {
                drop(support(asker, topic, *cause));
            }
        },
    );
}

/// Chunks that support a suggestion, by its topic and the cause that it fixes.
///
/// # Errors
/// Errors of the source.
pub(crate) fn support(
    asker: &Asker<'_>,
    topic: &str,
    cause: Option<&str>,
) -> Result<Vec<Hit>, String> {
    let fix = sections::named(asker, topic);
    let causes: Vec<String> = cause.map(str::to_owned).into_iter().collect();
    let advice = [Section::Fix, Section::Example, Section::TradeOffs];
    let mut query = Query::new(topic, SOURCES_PER_SUGGESTION);
    query.diversity = THINNING;
    // Passages in the reader's language first; a topic is worded in one language.
    for languages in [&[asker.facts.language][..], &[]] {
        for sections in [&advice[..], &[]] {
            query.filter = Filter {
                languages: languages.to_vec(),
                ..knowledge(&causes, sections)
            };
            let mut hits = asker.search(&query, &causes)?;
            if let Some(fix) = &fix {
                let known = section_ids(std::slice::from_ref(fix));
                hits.retain_mut(|hit| keep(hit, |s| !known.contains(&s.id)));
                hits.insert(0, fix.clone());
                hits.truncate(SOURCES_PER_SUGGESTION);
            }
            if !hits.is_empty() {
                return Ok(hits);
            }
        }
    }
    Ok(Vec::new())
}

/// The sections that the suggestions for some causes name, in the order of the suggestions.
fn fixes(asker: &Asker<'_>, causes: &[String]) -> Vec<Hit> {
    let found = &asker.facts.found;
    let mut fixes: Vec<Hit> = Vec::new();
    for (suggestion, topic) in found.suggestions.iter().zip(&found.topics) {
        let finding = suggestion.finding.as_deref();
        let cause = finding.and_then(|id| Some(found.finding(id)?.cause.code()));
        if cause.is_some_and(|cause| causes.iter().any(|known| known == cause)) {
            let mut fix = sections::named(asker, topic);
            let known = section_ids(&fixes);
            fixes.extend(fix.take_if(|fix| keep(fix, |s| !known.contains(&s.id))));
        }
    }
    fixes
}

fn section_ids(hits: &[Hit]) -> Vec<String> {
    let sections = hits.iter().flat_map(|hit| hit.chunk.sections());
    sections.map(|section| section.id).collect()
}

/// Leaves out the unwanted sections of a hit; returns false if no section is left.
fn keep(hit: &mut Hit, is_wanted: impl Fn(&Chunk) -> bool) -> bool {
    let kept = hit.chunk.with_sections(is_wanted);
    let is_kept = kept.is_some();
    hit.chunk = kept.map_or_else(|| Arc::clone(&hit.chunk), Arc::new);
    is_kept
}

/// The report's entries for the chunks of a step.
pub(crate) fn entries(step: StepId, hits: &[Hit]) -> Vec<Experience> {
    let entry = |(index, hit): (usize, &Hit)| Experience {
        step: step.id().to_owned(),
        chunk: hit.chunk.id.clone(),
        rank: as_rank(index + 1),
        score: Some(f64::from(hit.score)).filter(|s| s.is_finite()),
        bm25_rank: hit.bm25_rank.map(as_rank),
        vector_rank: hit.vector_rank.map(as_rank),
        title: title(hit),
        used: false,
        fit: Some(hit.fit),
    };
    hits.iter().enumerate().map(entry).collect()
}

/// The passages that a step reads; a part of a case comes with how the case was resolved.
pub(crate) fn passages(asker: &Asker<'_>, hits: &[Hit]) -> Vec<Passage> {
    let text = |chunk: &Chunk| {
        let parts = chunk.resolution().into_iter().filter(|id| *id != chunk.id);
        let parts = parts
            .filter_map(|id| asker.source.chunk(&id))
            .map(|part| part.text);
        let texts: Vec<String> = std::iter::once(chunk.text.clone()).chain(parts).collect();
        let text = texts.join("\n\n");
        match asker.dialect() {
            Some(dialect) => dialect::own_text(&text, dialect),
            None => text,
        }
    };
    let passage = |hit: &Hit| Passage {
        chunk: hit.chunk.id.clone(),
        title: title(hit),
        causes: hit.chunk.causes.clone(),
        section: hit.chunk.section.map(|s| s.as_str().to_owned()),
        fit: hit.fit,
        text: text(&hit.chunk),
    };
    hits.iter().map(passage).collect()
}

fn as_rank(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}

fn title(hit: &Hit) -> String {
    let mut parts = vec![hit.chunk.title.as_str()];
    parts.extend(hit.chunk.heading_path.iter().map(String::as_str));
    parts.join(" › ")
}

/// Playbooks and cases; the catalogue and the glossary answer other questions.
fn knowledge(causes: &[String], sections: &[Section]) -> Filter {
    Filter {
        kinds: vec![Kind::Experience, Kind::Case],
        causes: causes.to_vec(),
        sections: sections.to_vec(),
        ..Filter::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use job::{Catalogue, Job};
    use report::{Cause, Finding, JobSummary, Language, Severity};

    use super::*;
    use crate::found::Found;
    use crate::outline::Outline;
    use crate::terms::Terms;

    /// Facts of a job with one finding.
    fn facts(cause: Cause, engine: JobEngine, language: Language) -> Facts {
        let (job, catalogue) = (Job::default(), Catalogue::builtin());
        let settings = diagnosis::Settings::default();
        let diagnosis = advice::diagnose(&job, &catalogue, &settings, language);
        let title = cause.title();
        let terms = Terms::of(Some(engine).into(), language);
        Facts {
            language,
            question: None,
            terms,
            job: JobSummary {
                engine: Some(engine),
                ..JobSummary::default()
            },
            outline: Outline::of(&job, &diagnosis, &catalogue, None, &|_| None, language),
            found: Found {
                findings: vec![Finding {
                    id: "F1".to_owned(),
                    cause,
                    problem_type: cause.problem_type(),
                    severity: Severity::High,
                    confidence: 0.9,
                    stage: None,
                    script_lines: None,
                    summary: title.pick(language).to_owned(),
                    evidence: Vec::new(),
                    impact: None,
                }],
                ..Found::of(&job, &diagnosis, (&catalogue, &settings), &[], None)
            },
            mask: None,
        }
    }

    /// Documents about a cause that a report of a job of an engine may list.
    fn listed(cause: Cause, engine: JobEngine, language: Language) -> Vec<Hit> {
        let facts = facts(cause, engine, language);
        let asker = Asker {
            source: testkit::knowledge::index(),
            facts: &facts,
            prior: None,
            answers: Answers::default(),
            bounds: Bounds {
                mask: None,
                cancel: &CancellationToken::new(),
            },
        };
        let mut hits = retrieve(&asker, StepId::Advice, 5, &[]).expect("searched");
        let supporting = support(&asker, cause.title().en, Some(cause.code()));
        hits.extend(supporting.expect("searched"));
        hits
    }

    #[test]
    fn a_report_lists_only_what_is_about_its_engine() {
        for (job, engine) in [
            (JobEngine::Usql, Engine::Scope),
            (JobEngine::Spark, Engine::Spark),
        ] {
            for &cause in Cause::ALL {
                for language in [Language::Zh, Language::En] {
                    let hits = listed(cause, job, language);
                    let strangers = hits.iter().filter(|h| !h.chunk.engine.serves(engine));
                    let strangers: BTreeSet<&str> =
                        strangers.map(|h| h.chunk.document.as_str()).collect();
                    assert!(strangers.is_empty(), "{cause} {job:?}: {strangers:?}");
                    let mut about = hits.iter().map(|h| &h.chunk);
                    let fits = about.any(|c| {
                        c.language == language && c.causes.iter().any(|known| known == cause.code())
                    });
                    assert_eq!(fits, cause.occurs_in(job), "{cause} {job:?} {language:?}");
                }
            }
        }
    }
}
