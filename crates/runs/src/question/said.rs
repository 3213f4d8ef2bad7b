//! An answer under way: sentences, each with the evidence that it rests on.

use agent::facts::MeasuredAnswer;
use report::{Evidence, Language, Report, Source, Text};

pub(super) struct Said<'a> {
    report: &'a Report,
    sentences: Vec<String>,
    evidence: Vec<Evidence>,
    /// Numbers of the evidence that this answer adds.
    next: usize,
}

impl<'a> Said<'a> {
    pub(super) fn new(report: &'a Report) -> Said<'a> {
        let numbers = report.evidence.iter().filter_map(|e| e.id.strip_prefix('E'));
        let last = numbers.filter_map(|n| n.parse::<usize>().ok()).max();
        Said {
            report,
            sentences: Vec::new(),
            evidence: Vec::new(),
            next: last.unwrap_or(0) + 1,
        }
    }

    pub(super) fn language(&self) -> Language {
        self.report.language
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Says something that rests on evidence with these ids; what was said before is not repeated.
    pub(super) fn say(&mut self, text: Text, ids: &[String]) {
        let text = text.into(self.language());
        let bare = text.trim().trim_end_matches(['.', '。']);
        if bare.is_empty() || self.sentences.iter().any(|s| s.starts_with(bare)) {
            return;
        }
        let mut shown: Vec<&str> = Vec::new();
        for id in ids {
            if !shown.contains(&id.as_str()) && !bare.contains(&format!("[{id}")) {
                shown.push(id);
            }
        }
        let known = ids.iter().filter_map(|id| self.report.evidence.iter().find(|e| e.id == *id));
        for e in known.cloned().collect::<Vec<_>>() {
            self.keep(e);
        }
        let (open, close) = (" [", "]");
        let cited = match shown.is_empty() {
            true => String::new(),
            false => format!("{open}{}{close}", shown.join(", ")),
        };
        let ends = bare.ends_with(['?', '？', '!', '！', ':', '：', ')', '）']) && cited.is_empty() && bare.ends_with(['?', '？', ':', '：']);
        let end = if ends { "" } else { self.language().select("。", ".") };
        let first = report::format::with_capital(bare);
        self.sentences.push(format!("{first}{cited}{end}"));
    }

    /// Evidence of a number that the report does not have yet; its id.
    pub(super) fn measured(
        &mut self,
        (metric, value, unit): (&str, f64, &str),
        source: Option<&Source>,
        text: Text,
    ) -> Vec<String> {
        let Some(source) = source else {
            return Vec::new();
        };
        let language = self.language();
        let known = self.report.evidence.iter().chain(&self.evidence);
        let is_same = |e: &&Evidence| {
            e.metric == metric && e.source == *source && e.value == report::EvidenceValue::from(value)
        };
        if let Some(known) = known.into_iter().find(is_same) {
            return vec![known.id.clone()];
        }
        let id = format!("E{}", self.next);
        self.next += 1;
        self.evidence.push(Evidence {
            id: id.clone(),
            metric: metric.to_owned(),
            value: value.into(),
            unit: Some(unit.to_owned()),
            expected: None,
            source: source.clone(),
            text: text.into(language),
        });
        vec![id]
    }

    fn keep(&mut self, evidence: Evidence) {
        if self.evidence.iter().all(|e| e.id != evidence.id) {
            self.evidence.push(evidence);
        }
    }

    pub(super) fn finish(self) -> MeasuredAnswer {
        MeasuredAnswer {
            text: self.sentences.join(self.report.language.select("", " ")),
            evidence: self.evidence,
        }
    }
}
