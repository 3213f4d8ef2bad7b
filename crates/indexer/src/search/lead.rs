//! The section of a chunk that answers a query best. Short sections share a chunk; the best one leads it.

use std::collections::HashMap;

use crate::analyze;
use crate::model::Chunk;

/// A word in a heading counts like so many in the text.
const HEADING: usize = 2;

/// Advantage of the first section, relative to the best: pages begin with what helps most readers.
const FIRST: f32 = 0.2;

/// Parameters of BM25.
const K: f32 = 1.2;
const B: f32 = 0.5;

/// The chunk with the section first that has most of `weights`, by term.
pub(super) fn lead(chunk: Chunk, weights: &HashMap<String, f32>) -> Chunk {
    let sections = chunk.sections();
    if sections.len() < 2 {
        return chunk;
    }
    let counted: Vec<(HashMap<String, usize>, usize)> = sections.iter().map(count).collect();
    let all: usize = counted.iter().map(|(_, length)| length).sum();
    let average = all as f32 / sections.len() as f32;
    let worth = |(counts, length): &(HashMap<String, usize>, usize)| -> f32 {
        let size = K * (1.0 - B + B * *length as f32 / average.max(1.0));
        let found = counts.iter().filter_map(|(term, &count)| {
            let count = count as f32;
            Some(weights.get(term)? * count * (K + 1.0) / (count + size))
        });
        found.sum()
    };
    let mut worths: Vec<f32> = counted.iter().map(worth).collect();
    let most = worths.iter().copied().fold(0.0, f32::max);
    worths[0] += FIRST * most;
    let best = (0..worths.len()).reduce(|a, b| if worths[b] > worths[a] { b } else { a });
    let led = best.and_then(|best| chunk.led_by(&sections[best].id));
    led.unwrap_or(chunk)
}

/// How often a section has each term, and its number of terms.
fn count(section: &Chunk) -> (HashMap<String, usize>, usize) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut length = 0;
    analyze::for_each_term(&section.text, |term| {
        *counts.entry(term.to_owned()).or_default() += 1;
        length += 1;
    });
    for term in analyze::terms(section.heading_path.last().map_or("", String::as_str)) {
        *counts.entry(term).or_default() += HEADING;
    }
    (counts, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::chunks;
    use crate::document::Source;

    #[test]
    fn the_section_that_fits_leads_and_the_first_one_if_none_does() {
        let text = "# Files\n\n## Fix\n\n### Compact\n\nMerge the files once.\n\n### When reading\n\nLet a task read several.\n";
        let source = Source::new("experience/files.md", text.to_owned());
        let [chunk] = &chunks(&source)[..] else {
            panic!("one short chunk");
        };
        let id = |query: &str| {
            let terms = analyze::terms(query).into_iter();
            let weights = terms.map(|term| (term, 1.0)).collect();
            let led = lead(chunk.clone(), &weights);
            led.id.rsplit_once('/').map(|(_, id)| id.to_owned())
        };
        for (query, expected) in [
            ("read many", "when-reading"),
            ("merge", "compact"),
            ("", "compact"),
        ] {
            assert_eq!(id(query).as_deref(), Some(expected), "{query}");
        }
    }
}
