//! Parts of a run that a question names by a number or a position: attempts, the last stage, script lines.

use report::measure::book;

use crate::Asked;
use crate::names::Named;
use crate::subject::Subject;

impl Named {
    /// Keeps the attempt of a stage that a question names: "in its first attempt".
    pub(crate) fn attempt(&mut self, run: &Asked<'_>) {
        const ORDINALS: [&[&str]; 2] = [
            &["first attempt", "第一次尝试", "首次尝试", "attempt 0"],
            &["second attempt", "第二次尝试", "重试那次", "attempt 1"],
        ];
        let is_of = |at: usize, number: usize| match number {
            0 => !run.summary.stages[at].name.contains(" (attempt "),
            n => run.summary.stages[at]
                .name
                .ends_with(&format!(" (attempt {n})")),
        };
        for (number, words) in ORDINALS.iter().enumerate() {
            let lower = self.rest.to_lowercase();
            let Some((at, word)) = words.iter().find_map(|w| Some((lower.find(w)?, w))) else {
                continue;
            };
            let is_it = |s: &Subject| matches!(s, Subject::Stage(at) if is_of(*at, number));
            if self.subjects.iter().any(is_it) {
                self.subjects.retain(is_it);
                self.rest.replace_range(at..at + word.len(), " ");
            }
        }
    }

    /// Finds the last stage that ran, if a question names it: "the final stage".
    pub(crate) fn last(&mut self, run: &Asked<'_>) {
        const LAST: [&str; 8] = [
            "last stage",
            "final stage",
            "最后一个阶段",
            "最后一个 stage",
            "最后一个stage",
            "最后的阶段",
            "最后的 stage",
            "最后阶段",
        ];
        let lower = self.rest.to_lowercase();
        let found = LAST.iter().find_map(|w| Some((lower.find(w)?, w)));
        let mut stages = run.summary.stages.iter();
        let last = stages.rposition(|s| !s.never_ran && s.get(&book::VERTICES) != Some(0.0));
        if let (Some((at, word)), Some(last), true) = (found, last, self.subjects.is_empty()) {
            self.rest.replace_range(at..at + word.len(), " ");
            self.names.push(run.summary.stages[last].name.clone());
            self.subjects.push(Subject::Stage(last));
        }
    }

    /// Finds script lines: `line 35`, `lines 35-40`, `第 35 行`, `第 35–40 行`, but not counts of rows.
    pub(crate) fn lines(&mut self, run: &Asked<'_>) {
        let last = run
            .summary
            .script
            .as_ref()
            .map_or(0, |s| s.text.lines().count());
        let lower = self.rest.to_lowercase();
        let is_line = |word: &str, after: &str| {
            let digits = |c: char| !c.is_ascii_digit() && !c.is_whitespace();
            // "第 1 阶段" is a stage
            word != "第" || after.contains('行') && !after.starts_with(digits)
        };
        let after = ["lines ", "line ", "第"].iter().find_map(|word| {
            let (_, after) = lower.split_once(word)?;
            is_line(word, after).then_some(after)
        });
        let Some(after) = after else { return };
        let mut numbers = after
            .trim_start()
            .split(|c: char| !c.is_ascii_digit())
            .map(str::parse::<u32>);
        let Some(Ok(first)) = numbers.next() else {
            return;
        };
        let is_range = after
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let is_range = is_range
            .trim_start()
            .starts_with(['-', '–', '—', '到', '~', '至']);
        let to = match numbers.find_map(Result::ok) {
            Some(to) if is_range && to >= first => to,
            _ => first,
        };
        if first > 0 && last > 0 {
            self.subjects.push(Subject::Lines(first, to));
        }
    }
}
