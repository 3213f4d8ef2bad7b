//! Experience for a step: its own query with its own facets, few chunks, thinned.
//!
//! Knows which facets suit which step; how the index ranks is the indexer's business.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use indexer::{Engine, Filter, Hit, Kind, Query, Remote, Section};
use llm::Mask;
use tokio_util::sync::CancellationToken;

use crate::facts::{Facts, Passage};
use crate::step::StepId;
use report::{Experience, Finding, MissingInformation, Suggestion};

/// Findings whose causes each get a query; more would leave each a single chunk.
const FINDINGS_ASKED: usize = 3;

/// How strongly near-duplicates are thinned: the chunks of one playbook resemble each other, and a
/// step is better served by three different ones.
const THINNING: f32 = 0.3;

/// Where experience comes from.
pub trait ExperienceSource: Send + Sync {
    /// The best chunks for a query, best first.
    ///
    /// # Errors
    /// A sentence for the report; the analysis goes on without experience.
    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String>;
}

impl ExperienceSource for indexer::Index {
    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String> {
        indexer::Index::search(self, query).map_err(|error| error.to_string())
    }
}

/// What feedback says about a chunk for some causes, roughly -1 to 1.
pub type ChunkPrior<'a> = dyn Fn(&[String], &str) -> f32 + Sync + 'a;

/// A source together with what feedback says about its chunks. Asks for the job's engine only: advice for another engine would mislead.
/// Remembers its answers: several steps and the report ask the same.
#[derive(Clone)]
pub(crate) struct Asker<'a> {
    pub(crate) source: &'a dyn ExperienceSource,
    pub(crate) engine: Engine,
    pub(crate) prior: Option<&'a ChunkPrior<'a>>,
    pub(crate) answers: Answers,
    pub(crate) bounds: Bounds<'a>,
}

/// What a search has to respect if a server computes vectors.
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
    fn search(&self, query: &Query<'_>, causes: &[String]) -> Result<Vec<Hit>, String> {
        let mut query = query.clone();
        query.filter.engine = Some(self.engine);
        let key = format!(
            "{} {:?} {:?} {causes:?} {}",
            query.k, query.filter, query.prefer, query.text
        );
        let answers = || self.answers.lock().ok();
        if let Some(known) = answers().and_then(|answers| answers.get(&key).cloned()) {
            return Ok(known);
        }
        let hits = match self.prior {
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
        answers().map(|mut answers| answers.insert(key, hits.clone()));
        Ok(hits)
    }
}

/// A query of a step and the facets that it is narrowed to, strictest first: the first that gives
/// enough chunks is taken.
struct Question {
    text: String,
    narrowed: Vec<Filter>,
    prefer: Filter,
    causes: Vec<String>,
}

/// The chunks for a step, best first, each once.
///
/// # Errors
/// What the source says.
pub(crate) fn retrieve(
    asker: &Asker<'_>,
    step: StepId,
    facts: &Facts,
    k: usize,
) -> Result<Vec<Hit>, String> {
    let mut lists = Vec::new();
    for question in questions(step, facts) {
        lists.push(ask(asker, &question, k)?);
    }
    Ok(interleave(lists, k))
}

/// Chunks that support a suggestion, at most `k`, by its topic and the cause that it fixes.
///
/// # Errors
/// What the source says.
pub(crate) fn support(
    asker: &Asker<'_>,
    topic: &str,
    cause: Option<&str>,
    facts: &Facts,
    k: usize,
) -> Result<Vec<Hit>, String> {
    let causes: Vec<String> = cause.map(str::to_owned).into_iter().collect();
    let advice = [Section::Fix, Section::Example, Section::TradeOffs];
    let mut query = Query::new(topic, k);
    query.diversity = THINNING;
    // What the reader can read first; a topic is worded in one language.
    for languages in [&[facts.language][..], &[]] {
        for sections in [&advice[..], &[]] {
            query.filter = Filter {
                languages: languages.to_vec(),
                ..knowledge(&causes, sections)
            };
            let hits = asker.search(&query, &causes)?;
            if !hits.is_empty() {
                return Ok(hits);
            }
        }
    }
    Ok(Vec::new())
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

/// The passages that a step reads.
pub(crate) fn passages(hits: &[Hit]) -> Vec<Passage> {
    let passage = |hit: &Hit| Passage {
        chunk: hit.chunk.id.clone(),
        title: title(hit),
        causes: hit.chunk.causes.clone(),
        section: hit.chunk.section.map(|s| s.as_str().to_owned()),
        fit: hit.fit,
        text: hit.chunk.text.clone(),
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

/// What a step asks, one question per finding that matters to it.
fn questions(step: StepId, facts: &Facts) -> Vec<Question> {
    let findings = &facts.found.findings;
    if findings.is_empty() {
        return vec![without_finding(step, facts)];
    }
    let mut seen = BTreeSet::new();
    let distinct = findings.iter().filter(|f| seen.insert(f.cause));
    let asked = distinct.take(FINDINGS_ASKED);
    asked.map(|finding| about(step, finding, facts)).collect()
}

/// Parts of a playbook that serve a step.
fn sections(step: StepId) -> &'static [Section] {
    match step {
        StepId::Classify => &[Section::Symptom, Section::NotWhen],
        StepId::KeyCode => &[Section::Example, Section::Cause],
        StepId::Experience => &[Section::Cause, Section::Check, Section::Symptom],
        StepId::Completeness | StepId::Hypotheses => &[Section::Check, Section::NotWhen],
        StepId::Advice | StepId::Answer => &[Section::Fix, Section::TradeOffs, Section::Example],
    }
}

fn preferred(step: StepId, facts: &Facts) -> Filter {
    Filter {
        sections: sections(step).to_vec(),
        languages: vec![facts.language],
        steps: vec![step.id().to_owned()],
        ..Filter::default()
    }
}

fn about(step: StepId, finding: &Finding, facts: &Facts) -> Question {
    let code = finding.cause.code();
    let causes = vec![code.to_owned()];
    let family = code.split('.').next().map(|family| format!("{family}."));
    let family: Vec<String> = family.into_iter().collect();
    Question {
        text: wording(step, finding, facts),
        narrowed: vec![
            knowledge(&causes, sections(step)),
            knowledge(&causes, &[]),
            knowledge(&family, &[]),
            knowledge(&[], &[]),
        ],
        prefer: Filter {
            causes: causes.clone(),
            problem_types: vec![finding.problem_type.code().to_owned()],
            ..preferred(step, facts)
        },
        causes,
    }
}

/// The words of a step's query: the question, what was found, what earlier steps concluded.
fn wording(step: StepId, finding: &Finding, facts: &Facts) -> String {
    let found = &facts.found;
    let cause_words = finding.cause.code().replace(['.', '_'], " ");
    let mut parts = vec![cause_words.as_str(), &finding.summary];
    match step {
        StepId::Classify => parts.extend(facts.question.as_deref()),
        StepId::KeyCode => {
            let mut stages = facts.outline.stages.iter();
            let stage = stages.find(|s| Some(&s.name) == finding.stage.as_ref());
            let operators = stage.into_iter().flat_map(|s| &s.operators);
            parts.extend(operators.map(String::as_str));
        }
        StepId::Experience | StepId::Hypotheses => {
            let evidence = finding.evidence.iter().filter_map(|id| found.evidence(id));
            parts.extend(evidence.map(|e| e.metric.as_str()));
        }
        StepId::Completeness => parts.extend(gaps(facts).map(|m| m.reason.as_str())),
        StepId::Advice | StepId::Answer => {
            let mine = |s: &&Suggestion| s.finding.as_deref() == Some(&finding.id);
            let suggestions = found.suggestions.iter().filter(mine);
            parts.extend(suggestions.map(|s| s.title.as_str()));
        }
    }
    parts.join(" ")
}

/// The most relevant gaps; with all of them a query would be about everything.
fn gaps(facts: &Facts) -> impl Iterator<Item = &MissingInformation> {
    let missing = facts.found.missing.iter().take(3);
    missing.map(|m| &m.information)
}

/// The question of a step when no rule has found anything: by what could be decided, else by the
/// user's question alone.
fn without_finding(step: StepId, facts: &Facts) -> Question {
    let open = gaps(facts).flat_map(|m| &m.would_decide);
    let open: BTreeSet<String> = open.map(|c| c.code().to_owned()).collect();
    let mut parts: Vec<String> = facts.question.clone().into_iter().collect();
    parts.extend(gaps(facts).map(|m| format!("{} {}", m.info, m.reason)));
    parts.extend(open.iter().map(|cause| cause.replace(['.', '_'], " ")));
    let job = facts.terms.job;
    parts.push(format!("{job} {}", step.title(facts.language)));
    let causes: Vec<String> = open.into_iter().collect();
    let mut narrowed = vec![knowledge(&[], sections(step)), knowledge(&[], &[])];
    if !causes.is_empty() {
        let own = [sections(step), &[]].map(|sections| knowledge(&causes, sections));
        narrowed.splice(0..0, own);
    }
    Question {
        text: parts.join(" "),
        narrowed,
        causes,
        prefer: preferred(step, facts),
    }
}

/// Asks with ever wider facets until `k` chunks are there or the cause's own are: a chunk on
/// another cause is worse than none unless there is none at all.
fn ask(asker: &Asker<'_>, question: &Question, k: usize) -> Result<Vec<Hit>, String> {
    let mut query = Query::new(&question.text, k);
    query.diversity = THINNING;
    query.prefer = question.prefer.clone();
    let mut found: Vec<Hit> = Vec::new();
    for (width, filter) in question.narrowed.iter().enumerate() {
        // The first two widths are about the cause itself and may complete each other.
        if found.len() >= k || (width >= 2 && !found.is_empty()) {
            break;
        }
        query.filter = filter.clone();
        let hits = asker.search(&query, &question.causes)?;
        for hit in hits {
            if found.iter().all(|f| f.chunk.id != hit.chunk.id) {
                found.push(hit);
            }
        }
    }
    found.truncate(k);
    Ok(found)
}

/// Takes the best of each list in turn, each chunk once.
fn interleave(lists: Vec<Vec<Hit>>, k: usize) -> Vec<Hit> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut taken: Vec<Hit> = Vec::new();
    for _ in 0..longest {
        for hit in lists.iter_mut().filter_map(Iterator::next) {
            if taken.len() < k && taken.iter().all(|t| t.chunk.id != hit.chunk.id) {
                taken.push(hit);
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use job::{Catalogue, Job};
    use report::{Cause, JobEngine, JobSummary, Language, Severity};

    use super::*;
    use crate::found::Found;
    use crate::outline::Outline;
    use crate::terms::Terms;

    /// What a job with one finding would be asked about.
    fn facts(cause: Cause, engine: JobEngine, language: Language) -> Facts {
        let (job, catalogue) = (Job::default(), Catalogue::builtin());
        let settings = diagnosis::Settings::default();
        let diagnosis = diagnosis::diagnose(&job, &catalogue, &settings, language);
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
            outline: Outline::of(&job, &diagnosis, &catalogue, &terms, language),
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
                ..Found::of(&job, &diagnosis, &catalogue, None, language)
            },
            mask: None,
        }
    }

    /// Documents about a cause that a report of a job of an engine may list.
    fn listed(cause: Cause, engine: JobEngine, language: Language) -> Vec<Hit> {
        let facts = facts(cause, engine, language);
        let asker = Asker {
            source: testkit::knowledge::index(),
            engine: facts.job.engine.into(),
            prior: None,
            answers: Answers::default(),
            bounds: Bounds {
                mask: None,
                cancel: &CancellationToken::new(),
            },
        };
        let mut hits = retrieve(&asker, StepId::Advice, &facts, 5).expect("searched");
        let supporting = support(&asker, cause.title().en, Some(cause.code()), &facts, 2);
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
