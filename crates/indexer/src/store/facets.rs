//! Facets of chunks, for filters and preferences.

use report::Language;

use crate::model::{Chunk, Engine, Filter, Kind, Section};

/// `name:value` for every facet of a chunk. A cause is listed under its group as well.
pub(crate) fn names(chunk: &Chunk) -> Vec<String> {
    let mut out = vec![
        CHUNK.to_owned(),
        facet("kind", chunk.kind.as_str()),
        facet(LANGUAGE, chunk.language.code()),
        facet(ENGINE, chunk.engine.as_str()),
    ];
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

/// The names of a chunk's facets: read without the chunk, for hundreds of candidates per query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facets<'a>(pub(crate) Vec<&'a str>);

impl<'a> Facets<'a> {
    fn values(&self, facet: &str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter_map(|name| name.split_once(':'));
        named.filter_map(move |(name, value)| (name == facet).then_some(value))
    }

    pub(crate) fn is_in(&self, language: Language) -> bool {
        self.values(LANGUAGE).any(|value| value == language.code())
    }

    pub(crate) fn engine(&self) -> Engine {
        let named = self.values(ENGINE).find_map(Engine::parse);
        named.unwrap_or_default()
    }

    pub(crate) fn section(&self) -> Option<Section> {
        self.values("section").find_map(Section::parse)
    }

    pub(crate) fn is_of_kind(&self, kind: Kind) -> bool {
        self.values("kind").any(|value| value == kind.as_str())
    }

    /// Share of `groups` that these facets match; 0 without groups.
    pub(crate) fn share(&self, groups: &[Vec<String>]) -> f32 {
        if groups.is_empty() {
            return 0.0;
        }
        let has = |value: &String| self.0.iter().any(|name| name == value);
        let matching = groups.iter().filter(|group| group.iter().any(has));
        matching.count() as f32 / groups.len() as f32
    }
}

const LANGUAGE: &str = "language";
const ENGINE: &str = "engine";

/// A facet of every chunk, which questions don't have.
pub(crate) const CHUNK: &str = "is:chunk";

pub(crate) fn facet(name: &str, value: &str) -> String {
    format!("{name}:{value}")
}

/// One list of facet values per facet in the filter.
pub(crate) fn filter_groups(filter: &Filter) -> Vec<Vec<String>> {
    let named = |name: &str, values: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        values.map(|value| facet(name, value)).collect()
    };
    let serves = |engine: &Engine| filter.engine.is_some_and(|wanted| engine.serves(wanted));
    let engines = Engine::ALL.iter().filter(|engine| serves(engine));
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
        named(ENGINE, &mut engines.map(|e| e.as_str())),
    ];
    groups.into_iter().filter(|g| !g.is_empty()).collect()
}
