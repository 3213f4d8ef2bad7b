//! Sentences of a model that tell the reader nothing: placeholders, and copies of the prompt or of an earlier sentence.

use std::collections::HashSet;

use super::verdict::pieces;
use crate::wording::is_id;

/// Words of a run, or characters of Chinese.
const RUN: usize = 4;

/// Words of the shortest sentence that can be a copy.
const SHORT: usize = 3;

/// Share of the runs of a sentence that a copy has in common with its sources.
const COPIED: f64 = 0.5;

/// Texts that stand for an empty one.
const PLACEHOLDERS: &str = "|n a|na|none|null|nil|no|yes|unknown|not applicable|not available|not specified|not provided|tbd|todo|nothing|\
     empty|string|text|无|暂无|没有|未知|不适用|未提供|空";

/// The runs of words that the reader has seen.
#[derive(Debug, Default, Clone)]
pub(super) struct Told(HashSet<String>);

impl Told {
    pub(super) fn add(&mut self, text: &str) {
        for piece in pieces(text) {
            let units = units(&text[piece]);
            let runs = (SHORT..=RUN).flat_map(|length| units.windows(length));
            self.0.extend(runs.map(|run| run.join(" ")));
        }
    }

    fn is_copy(&self, units: &[String]) -> bool {
        // "Saves 48 s." is a copy as a whole.
        let length = units.len().clamp(SHORT, RUN);
        let runs = units.windows(length).map(|run| run.join(" "));
        let (all, known) = runs.fold((0_u32, 0_u32), |(all, known), run| {
            (all + 1, known + u32::from(self.0.contains(&run)))
        });
        all > 0 && f64::from(known) >= COPIED * f64::from(all)
    }

    /// A text without the sentences that say nothing new; with `may_repeat`, only without placeholders.
    pub(super) fn news(&self, text: &str, may_repeat: bool) -> String {
        let mut kept = String::new();
        let mut said = Told::default();
        for piece in pieces(text).into_iter().map(|piece| &text[piece]) {
            let units = units(piece);
            let words: Vec<&str> = units
                .iter()
                .map(String::as_str)
                .filter(|w| !is_id(&w.to_uppercase()))
                .collect();
            // "Evidence: E1, E2" is no statement either.
            let is_list = words.len() < units.len() && words.len() < 2;
            let is_placeholder = is_list
                || PLACEHOLDERS
                    .split('|')
                    .any(|known| known == words.join(" "));
            let is_known = said.is_copy(&units) || !may_repeat && self.is_copy(&units);
            if !is_placeholder && !is_known {
                kept.push_str(piece);
                said.add(piece);
            }
        }
        kept.trim().to_owned()
    }
}

/// Whether a text is long enough to state something.
pub(super) fn is_sentence(text: &str) -> bool {
    units(text).len() >= RUN
}

/// Words in lower case and single Chinese characters, without ids in brackets.
pub(super) fn units(sentence: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let (mut depth, mut is_open) = (0_u32, false);
    for c in sentence.chars() {
        match c {
            '[' | '【' => depth += 1,
            ']' | '】' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 || !c.is_alphanumeric() {
            is_open &= depth > 0 || c == '_';
        } else if c.is_ascii() && is_open {
            units
                .last_mut()
                .into_iter()
                .for_each(|unit| unit.push(c.to_ascii_lowercase()));
        } else {
            units.push(c.to_ascii_lowercase().to_string());
            is_open = c.is_ascii();
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_copies_say_nothing() {
        let mut told = Told::default();
        told.add("The join on UserId sends 61 % of its rows to one vertex of SV3_Combine. It saves 48 s.");
        told.add("作业的大部分时间用于等待一个顶点读取数据。");
        for (text, kept) in [
            ("N/A", ""),
            ("Evidence: E1, E2, E3.", ""),
            ("...", ""),
            ("无。", ""),
            (
                "The join on UserId sends 61 % of its rows to one vertex [E1].",
                "",
            ),
            ("作业的大部分时间用于等待一个顶点。", ""),
            (
                "Salting spreads the hot key, so the others finish together. None. Saves 48 s.",
                "Salting spreads the hot key, so the others finish together.",
            ),
            (
                "Salting spreads the hot key over vertices. Salting spreads the hot key over vertices!",
                "Salting spreads the hot key over vertices.",
            ),
            (
                "加盐把热点键分散到多个顶点。",
                "加盐把热点键分散到多个顶点。",
            ),
        ] {
            assert_eq!(told.news(text, false), kept, "{text}");
        }
        let answer = "The join on UserId sends 61 % of its rows to one vertex.";
        assert_eq!(told.news(answer, true), answer);
    }
}
