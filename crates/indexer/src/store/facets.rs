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
    fn value(&self, facet: &str) -> Option<&'a str> {
        let mut names = self.0.iter();
        names.find_map(|name| name.strip_prefix(facet)?.strip_prefix(':'))
    }

    pub(crate) fn is_in(&self, language: Language) -> bool {
        self.value(LANGUAGE) == Some(language.code())
    }

    pub(crate) fn engine(&self) -> Engine {
        self.value(ENGINE)
            .and_then(Engine::parse)
            .unwrap_or_default()
    }

    pub(crate) fn section(&self) -> Option<Section> {
        self.value("section").and_then(Section::parse)
    }

    pub(crate) fn is_of_kind(&self, kind: Kind) -> bool {
        self.value("kind") == Some(kind.as_str())
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
    let engines = Engine::ALL.iter();
    let engines =
        engines.filter(|engine| filter.engine.is_some_and(|wanted| engine.serves(wanted)));
    let groups: [(&str, Vec<&str>); 7] = [
        ("kind", filter.kinds.iter().map(|k| k.as_str()).collect()),
        (
            "problem_type",
            filter.problem_types.iter().map(|p| &**p).collect(),
        ),
        ("cause", filter.causes.iter().map(|c| &**c).collect()),
        (
            "section",
            filter.sections.iter().map(|s| s.as_str()).collect(),
        ),
        (
            LANGUAGE,
            filter.languages.iter().map(|l| l.code()).collect(),
        ),
        ("step", filter.steps.iter().map(|s| &**s).collect()),
        (ENGINE, engines.map(|e| e.as_str()).collect()),
    ];
    let groups = groups.into_iter().filter(|(_, values)| !values.is_empty());
    let named =
        groups.map(|(name, values)| values.iter().map(|value| facet(name, value)).collect());
    named.collect()
}
