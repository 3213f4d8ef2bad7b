//! What chunks can be filtered and preferred by.

use std::collections::HashSet;

use report::Language;
use serde::Deserialize;

use crate::model::{Chunk, Engine, Filter, Kind, Section};

/// Read from a chunk's record without the rest of it, for hundreds of candidates per query.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Facets {
    pub(crate) language: Language,
    kind: Kind,
    #[serde(default)]
    engine: Engine,
    problem_type: Option<String>,
    causes: Vec<String>,
    section: Option<Section>,
    steps: Vec<String>,
}

impl From<&Chunk> for Facets {
    fn from(chunk: &Chunk) -> Facets {
        Facets {
            language: chunk.language,
            kind: chunk.kind,
            engine: chunk.engine,
            problem_type: chunk.problem_type.clone(),
            causes: chunk.causes.clone(),
            section: chunk.section,
            steps: chunk.steps.clone(),
        }
    }
}

impl Facets {
    /// `name:value` for every facet; a cause is listed under its group as well, and the default engine, which old indexes do not have, is not
    /// listed.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut out = vec![
            facet("kind", self.kind.as_str()),
            facet("language", self.language.code()),
        ];
        let engine = Some(self.engine).filter(|&engine| engine != Engine::default());
        out.extend(engine.map(engine_facet));
        out.extend(self.problem_type.iter().map(|p| facet("problem_type", p)));
        out.extend(self.section.map(|s| facet("section", s.as_str())));
        out.extend(self.steps.iter().map(|s| facet("step", s)));
        for cause in &self.causes {
            out.push(facet("cause", cause));
            if let Some((group, _)) = cause.split_once('.') {
                out.push(facet("cause", &format!("{group}.")));
            }
        }
        out
    }

    /// Share of `groups` that these facets match; 0 without groups.
    pub(crate) fn share(&self, groups: &[Vec<String>]) -> f32 {
        if groups.is_empty() {
            return 0.0;
        }
        let has: HashSet<String> = self.names().into_iter().collect();
        let matches = |group: &&Vec<String>| group.iter().any(|value| has.contains(value));
        groups.iter().filter(matches).count() as f32 / groups.len() as f32
    }
}

pub(crate) fn facet(name: &str, value: &str) -> String {
    format!("{name}:{value}")
}

fn engine_facet(engine: Engine) -> String {
    facet("engine", engine.as_str())
}

/// Facets that a chunk must not have: those of other engines.
pub(crate) fn excluded(filter: &Filter) -> Vec<String> {
    let other = |engine: &Engine| filter.engine.is_some_and(|wanted| !engine.serves(wanted));
    Engine::ALL
        .into_iter()
        .filter(other)
        .map(engine_facet)
        .collect()
}

/// One list of facet values per facet in the filter.
pub(crate) fn filter_groups(filter: &Filter) -> Vec<Vec<String>> {
    let named = |name: &str, values: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        values.map(|value| facet(name, value)).collect()
    };
    let groups = [
        named("kind", &mut filter.kinds.iter().map(|k| k.as_str())),
        named(
            "problem_type",
            &mut filter.problem_types.iter().map(|p| &**p),
        ),
        named("cause", &mut filter.causes.iter().map(|c| &**c)),
        named("section", &mut filter.sections.iter().map(|s| s.as_str())),
        named("language", &mut filter.languages.iter().map(|l| l.code())),
        named("step", &mut filter.steps.iter().map(|s| &**s)),
    ];
    let mut groups: Vec<Vec<String>> = groups.into_iter().filter(|g| !g.is_empty()).collect();
    // Without a facet, a chunk is about the default engine.
    if let Some(wanted) = filter
        .engine
        .filter(|wanted| !Engine::default().serves(*wanted))
    {
        let serving = Engine::ALL
            .into_iter()
            .filter(|engine| engine.serves(wanted));
        groups.push(serving.map(engine_facet).collect());
    }
    groups
}
