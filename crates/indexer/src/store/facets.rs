//! Facets of chunks, for filters and preferences.

use report::Language;

use crate::model::{Chunk, Engine, Filter, Section};

/// `name:value` for every facet of a chunk. A cause is listed under its group as well; the default engine is not listed.
pub(crate) fn names(chunk: &Chunk) -> Vec<String> {
    let mut out = vec![
        facet("kind", chunk.kind.as_str()),
        facet(LANGUAGE, chunk.language.code()),
    ];
    let engine = Some(chunk.engine).filter(|&engine| engine != Engine::default());
    out.extend(engine.map(engine_facet));
    out.extend(chunk.problem_type.iter().map(|p| facet("problem_type", p)));
    out.extend(chunk.section.map(|s| facet("section", s.as_str())));
    out.extend(chunk.steps.iter().map(|s| facet("step", s)));
    for cause in &chunk.causes {
        out.push(facet("cause", cause));
        if let Some((group, _)) = cause.split_once('.') {
            out.push(facet("cause", &format!("{group}.")));
        }
    }
    out
}

/// The names of a chunk's facets, one per line: read without the chunk, for hundreds of candidates per query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facets<'a>(pub(crate) &'a str);

impl Facets<'_> {
    pub(crate) fn is_in(self, language: Language) -> bool {
        let values = self.0.lines().filter_map(|name| name.split_once(':'));
        let mut languages = values.filter(|(name, _)| *name == LANGUAGE);
        languages.any(|(_, value)| value == language.code())
    }

    pub(crate) fn engine(self) -> Engine {
        let is_of = |engine: &Engine| self.0.lines().any(|name| name == engine_facet(*engine));
        let named = Engine::ALL.into_iter().find(is_of);
        named.unwrap_or_default()
    }

    pub(crate) fn section(self) -> Option<Section> {
        let mut values = self
            .0
            .lines()
            .filter_map(|name| name.strip_prefix("section:"));
        values.find_map(Section::parse)
    }

    /// Share of `groups` that these facets match; 0 without groups.
    pub(crate) fn share(self, groups: &[Vec<String>]) -> f32 {
        if groups.is_empty() {
            return 0.0;
        }
        let has = |value: &String| self.0.lines().any(|name| name == value);
        let matching = groups.iter().filter(|group| group.iter().any(has));
        matching.count() as f32 / groups.len() as f32
    }
}

const LANGUAGE: &str = "language";

pub(crate) fn facet(name: &str, value: &str) -> String {
    format!("{name}:{value}")
}

fn engine_facet(engine: Engine) -> String {
    facet("engine", engine.as_str())
}

/// Facets that exclude a chunk: other engines.
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
        named(LANGUAGE, &mut filter.languages.iter().map(|l| l.code())),
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
