//! An answer under way: sentences, each with the evidence that it rests on.

use agent::facts::MeasuredAnswer;
use report::format::{Noun, list, without_stop};
use report::measure::{Measure, Value};
use report::{Evidence, Language, Report, Text, engine_words, text};

use crate::Asked;

pub(crate) struct Said<'a> {
    report: &'a Report,
    sentences: Vec<String>,
    evidence: Vec<Evidence>,
    /// Number of the next evidence that this answer adds; `None` where it adds none.
    next: Option<usize>,
    /// Evidence that earlier answers of the conversation added.
    earlier: &'a [Evidence],
    /// Findings that the answer to the clause states.
    told: Vec<String>,
    /// Whether the answer to the clause is yes.
    affirmed: Option<bool>,
    /// Sentences before the answer to the clause.
    earlier_clauses: usize,
    /// Whether a sentence was left out, as an earlier clause has it.
    repeats: bool,
}

impl<'a> Said<'a> {
    pub(crate) fn new(run: &Asked<'a>) -> Said<'a> {
        Said::numbered(run, Some(next(run)))
    }

    /// Numbers the evidence that it adds from `next`; without a number it adds none.
    pub(crate) fn numbered(run: &Asked<'a>, next: Option<usize>) -> Said<'a> {
        Said {
            report: run.report,
            sentences: Vec::new(),
            evidence: Vec::new(),
            next,
            earlier: run.cited,
            told: Vec::new(),
            affirmed: None,
            earlier_clauses: 0,
            repeats: false,
        }
    }

    /// Begins the answer to the next clause of the question.
    pub(crate) fn next_clause(&mut self) {
        self.pin();
        self.affirmed = None;
        self.repeats = false;
    }

    /// Keeps the sentences so far, even if the rest of the answer is dropped.
    pub(crate) fn pin(&mut self) {
        self.earlier_clauses = self.sentences.len();
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Whether the answer to the clause is in that to an earlier one.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether a finding is mentioned for the first time.
    pub(crate) fn tells(&mut self, finding: &str) -> bool {
        let is_new = self.told.iter().all(|id| id != finding);
        self.repeats |= !is_new;
        self.told.push(finding.to_owned());
        is_new
    }

    pub(crate) fn language(&self) -> Language {
        self.report.language
    }

    /// Says a sentence that is in the report's language.
    pub(crate) fn say_line(&mut self, line: &str) {
        self.say(text!("{line}", "{line}"));
    }

    /// The answer to the clause so far.
    pub(crate) fn text(&self) -> String {
        self.sentences[self.earlier_clauses..].join(self.language().select("", " "))
    }

    /// Number of sentences of the answer to the clause.
    pub(crate) fn len(&self) -> usize {
        self.sentences.len() - self.earlier_clauses
    }

    /// Takes back sentences of the answer to the clause, except the first ones.
    pub(crate) fn truncate(&mut self, sentences: usize) {
        self.sentences.truncate(self.earlier_clauses + sentences);
        if sentences == 0 {
            self.told.clear();
            self.affirmed = None;
            self.repeats = false;
        }
        let cited = self.sentences.join(" ");
        let is_cited = |e: &Evidence| {
            [",", "]"]
                .iter()
                .any(|end| cited.contains(&format!("{}{end}", e.id)))
        };
        self.evidence.retain(is_cited);
    }

    /// Whether the sentences from one on, of the answer to the clause, were all said for an earlier clause.
    pub(crate) fn only_repeats(&self, from: usize) -> bool {
        let (earlier, own) = self.sentences.split_at(self.earlier_clauses);
        own[from..]
            .iter()
            .all(|sentence| earlier.contains(sentence))
    }

    /// Notes whether the answer to the clause is yes; the first note counts.
    pub(crate) fn affirm(&mut self, is_so: bool) {
        self.affirmed.get_or_insert(is_so);
    }

    pub(crate) fn affirmed(&self) -> Option<bool> {
        self.affirmed
    }

    /// Whether the answer is a refusal, or begins with yes or no in its own words.
    pub(crate) fn is_decided(&self) -> bool {
        const WORDS: &str = "Yes|No:|No.|Not so|Not known|Probably|Hardly|That can't|I did not|是。|否。|不会|几乎不会|不需要|可能|并非|无法|没有理解";
        let first = self.sentences[self.earlier_clauses..].first();
        first.is_none_or(|first| WORDS.split('|').any(|word| first.starts_with(word)))
    }

    /// Whether the answer begins with an admission that no record answers.
    pub(crate) fn is_unknown(&self) -> bool {
        const WORDS: &str = "No record|No file|Some words|The nearest records|Undecided|没有记录|没有文件|最接近的记录|问题中有的词|缺少文件";
        let first = self.sentences[self.earlier_clauses..].first();
        first.is_some_and(|first| WORDS.split('|').any(|word| first.starts_with(word)))
    }

    /// Says something before the answer to the clause.
    pub(crate) fn lead(&mut self, text: Text) {
        let from = self.earlier_clauses;
        let own = self.sentences.split_off(from);
        self.say(text);
        self.sentences.extend(own);
    }

    /// Puts the sentences of the clause from one on before those from an earlier one on.
    pub(crate) fn put_first(&mut self, before: usize, from: usize) {
        let own = &mut self.sentences[self.earlier_clauses..];
        own[before..].rotate_left(from - before);
    }

    /// Says something that rests on no evidence.
    pub(crate) fn say(&mut self, text: Text) {
        self.cite(text, &[]);
    }

    /// Says the value of a thing, with its evidence.
    pub(crate) fn say_value(&mut self, measure: &Measure, value: &Value, name: &str, vertex: Noun) {
        let ids = self.evidence_of(measure, value, name, vertex);
        self.cite(measure.sentence(name, value.number(), vertex), &ids);
    }

    /// Says a sentence with the ids of its evidence, unless it has been said before.
    pub(crate) fn cite(&mut self, text: Text, ids: &[String]) {
        let language = self.language();
        let text = engine_words(text.into(language), self.report.job.engine, language);
        let bare = without_stop(text.trim());
        let mut of_clause = self.sentences[self.earlier_clauses..].iter();
        if bare.is_empty() || of_clause.any(|s| s.starts_with(bare)) {
            return;
        }
        let mut shown: Vec<&str> = Vec::new();
        for id in ids {
            if !shown.contains(&id.as_str()) && !bare.contains(&format!("[{id}")) {
                shown.push(id);
            }
        }
        let known = ids
            .iter()
            .filter_map(|id| self.report.evidence.iter().find(|e| e.id == *id));
        for e in known.cloned().collect::<Vec<_>>() {
            self.keep(e);
        }
        let cited = match shown.is_empty() {
            true => String::new(),
            false => format!(" [{}]", shown.join(", ")),
        };
        let end = self.language().select("。", ".");
        let first = match is_ordinary(bare) {
            true => report::format::with_capital(bare),
            false => bare.to_owned(),
        };
        self.sentences.push(format!("{first}{cited}{end}"));
    }

    /// Ids of the evidence of a value: of the report, else a new one. None if its places weren't saved.
    pub(crate) fn evidence_of(
        &mut self,
        measure: &Measure,
        value: &Value,
        name: &str,
        vertex: Noun,
    ) -> Vec<String> {
        let Some(source) = value.source() else {
            return Vec::new();
        };
        let number = report::EvidenceValue::from(value.number());
        let text = measure.sentence(name, value.number(), vertex);
        let text = text.into(self.language());
        let known = self
            .report
            .evidence
            .iter()
            .chain(self.earlier)
            .chain(&self.evidence);
        let is_same = |e: &&Evidence| {
            e.metric == measure.id && e.source == source && e.value == number && e.text == text
        };
        if let Some(known) = known.into_iter().find(is_same).cloned() {
            let id = known.id.clone();
            self.keep(known);
            return vec![id];
        }
        let Some(next) = self.next else {
            return Vec::new();
        };
        let id = format!("E{next}");
        self.next = Some(next + 1);
        self.evidence.push(Evidence {
            id: id.clone(),
            metric: measure.id.to_owned(),
            value: number,
            unit: Some(measure.unit.code().to_owned()),
            expected: None,
            source,
            text,
        });
        vec![id]
    }

    /// The ids of the evidence of several values of one thing.
    pub(crate) fn evidence_of_all(
        &mut self,
        values: &[(&Measure, &Value)],
        name: &str,
        vertex: Noun,
    ) -> Vec<String> {
        let of_value =
            |(measure, value): &(&Measure, &Value)| self.evidence_of(measure, value, name, vertex);
        values.iter().flat_map(of_value).collect()
    }

    fn keep(&mut self, evidence: Evidence) {
        if self.evidence.iter().all(|e| e.id != evidence.id) {
            self.evidence.push(evidence);
        }
    }

    /// The sentences, and the evidence they cite.
    pub(crate) fn into_lines(self) -> (Vec<String>, Vec<Evidence>) {
        (self.sentences, self.evidence)
    }

    /// Number of the next evidence that it would add.
    pub(crate) fn next(&self) -> Option<usize> {
        self.next
    }

    pub(crate) fn finish(mut self) -> MeasuredAnswer {
        let mut unique: Vec<String> = Vec::new();
        for sentence in std::mem::take(&mut self.sentences) {
            if !unique.contains(&sentence) {
                unique.push(sentence);
            }
        }
        MeasuredAnswer {
            text: unique.join(self.language().select("", " ")),
            evidence: self.evidence,
        }
    }
}

/// The first number that no evidence of the report or the conversation has.
pub(crate) fn next(run: &Asked<'_>) -> usize {
    let known = run.report.evidence.iter().chain(run.cited);
    let numbers = known.filter_map(|e| e.id.strip_prefix('E'));
    let last = numbers.filter_map(|n| n.parse::<usize>().ok()).max();
    last.unwrap_or(0) + 1
}

/// Items in a row; Chinese ones may be names, which “和” would stick to.
pub(crate) fn names(items: &[String], language: Language) -> String {
    match language {
        Language::Zh => items.join("、"),
        Language::En => list(items, language),
    }
}

/// Whether a sentence begins with a word that is no name, so that it may be capitalized.
fn is_ordinary(text: &str) -> bool {
    const WORDS: &str = "the|this|no|every|most|it|its|nothing|little|each|one|costs|operators|failed|revoked|cancelled|cores|executors|spills|tasks|times|attempts|only|a|an|there|all|not";
    text.split(' ')
        .next()
        .is_some_and(|word| WORDS.split('|').any(|ordinary| ordinary == word))
}
