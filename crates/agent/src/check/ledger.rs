//! All values that a step may claim, with their unit, their topics, and the ids that cite them.

use std::collections::{BTreeSet, HashMap};

use job::Job;
use report::{Evidence, EvidenceValue, Finding, Suggestion};

use super::concepts::Concepts;
use super::mention::{Claim, Clause, Entities, clauses};
use super::quantity::{Quantity, Unit};
use super::saving::is_gain;
use crate::facts::StepInput;

/// Where a fact stems from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    #[default]
    Job,
    /// A playbook or a resolved case: what it says is about other jobs.
    Experience,
    /// A script, code or a file as text: numbers without a unit.
    Text,
}

/// The permitted use of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Measured,
    /// The saving of a change.
    Gain,
    /// A limit, or the usual value.
    Norm,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Fact {
    pub(crate) ids: Vec<String>,
    pub(crate) origin: Origin,
    pub(crate) stages: BTreeSet<String>,
    pub(crate) columns: BTreeSet<String>,
    pub(crate) tables: BTreeSet<String>,
    pub(crate) others: BTreeSet<String>,
    pub(crate) concepts: Concepts,
}

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) fact: usize,
    pub(crate) quantity: Quantity,
    pub(crate) concepts: Concepts,
    pub(crate) is_negated: bool,
    pub(crate) used_for: Use,
}

/// The facts that a text is checked against.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) entities: Entities,
    pub(crate) facts: Vec<Fact>,
    pub(crate) values: Vec<Value>,
    /// Stages that the summary of a finding names.
    pub(crate) stages_of: HashMap<String, BTreeSet<String>>,
    /// Columns that the facts about a finding name.
    pub(crate) columns_of: HashMap<String, BTreeSet<String>>,
}

/// Properties common to the sentences of a source.
#[derive(Default)]
struct Source<'a> {
    ids: Vec<String>,
    origin: Origin,
    /// Used where a sentence names no stage or table itself.
    stage: Option<&'a str>,
    table: Option<&'a str>,
    used_for: Option<Use>,
}

impl Ledger {
    pub(crate) fn of(input: &StepInput, job: &Job) -> Ledger {
        let mut ledger = Ledger {
            entities: Entities::of(input, job),
            ..Ledger::default()
        };
        let found = &input.facts.found;
        for finding in &found.findings {
            ledger.finding(finding, job.info.total_seconds());
        }
        for evidence in input.cited() {
            ledger.evidence(evidence, &found.findings);
        }
        for suggestion in &input.suggestions {
            ledger.suggestion(suggestion, &found.findings);
        }
        ledger.rules(input);
        ledger.rows(input);
        ledger.job(input);
        ledger.texts(input);
        ledger
    }

    fn say(&mut self, text: &str, source: &Source<'_>) {
        for clause in clauses(text, &self.entities) {
            self.clause(text, &clause, source);
        }
    }

    fn clause(&mut self, text: &str, clause: &Clause, source: &Source<'_>) {
        let mut stages = clause.stages.clone();
        if stages.is_empty() {
            stages.extend(source.stage.map(str::to_owned));
        }
        let mut tables = clause.tables.clone();
        if tables.is_empty() {
            tables.extend(source.table.map(str::to_lowercase));
        }
        let fact = self.facts.len();
        self.facts.push(Fact {
            ids: source.ids.clone(),
            origin: source.origin,
            stages,
            columns: clause.columns.clone(),
            tables,
            others: clause.others.clone(),
            concepts: clause.concepts,
        });
        for claim in clause.claims(text) {
            let Claim {
                phrase, quantity, ..
            } = claim;
            let said = match is_gain(claim) {
                true => Use::Gain,
                false => Use::Measured,
            };
            self.values.push(Value {
                fact,
                quantity: quantity.clone(),
                concepts: claim.concepts(),
                is_negated: phrase.mood.is_negated,
                used_for: source.used_for.unwrap_or(said),
            });
        }
    }

    /// A measured value that no sentence says.
    fn counted(&mut self, value: f64, unit: Unit, source: &Source<'_>, about: &str) {
        self.exact(value, unit, Use::Measured, source, about);
    }

    /// A value that no sentence says, with the fact that it belongs to.
    fn exact(&mut self, value: f64, unit: Unit, used_for: Use, source: &Source<'_>, about: &str) {
        let fact = self.facts.len();
        let concepts = Concepts::of(about);
        self.facts.push(Fact {
            ids: source.ids.clone(),
            origin: source.origin,
            stages: source.stage.into_iter().map(str::to_owned).collect(),
            tables: source.table.into_iter().map(str::to_lowercase).collect(),
            concepts,
            ..Fact::default()
        });
        self.values.push(Value {
            fact,
            quantity: exactly(value, unit),
            concepts,
            is_negated: false,
            used_for,
        });
    }

    fn finding(&mut self, finding: &Finding, total_s: Option<f64>) {
        let source = Source {
            ids: vec![finding.id.clone()],
            stage: finding.stage.as_deref(),
            ..Source::default()
        };
        let first = self.facts.len();
        self.say(&finding.summary, &source);
        self.belongs(&finding.id, first);
        let stages = self.stages_of.entry(finding.id.clone()).or_default();
        let said = self.facts[first..].iter().flat_map(|f| &f.stages);
        stages.extend(said.chain(&finding.stage).cloned());
        if let Some(impact) = &finding.impact {
            self.exact(impact.seconds_saved, Unit::Seconds, Use::Gain, &source, "");
            let of_total = total_s.map(|total| impact.seconds_saved / total);
            let of_total = of_total.filter(|share| share.is_finite());
            for share in impact.share_of_elapsed.into_iter().chain(of_total) {
                self.exact(share, Unit::Ratio, Use::Gain, &source, "");
            }
            if let Some(hours) = impact.vertex_hours_saved {
                self.exact(hours * 3600.0, Unit::Seconds, Use::Gain, &source, "");
            }
        }
        self.counted(finding.confidence, Unit::Ratio, &source, "confidence");
        for line in finding.script_lines.into_iter().flatten() {
            self.counted(f64::from(line), Unit::Line, &source, "");
        }
    }

    /// Notes that the columns of the facts from `first` on belong to a finding.
    fn belongs(&mut self, finding: &str, first: usize) {
        let facts = &self.facts[first..];
        let columns = self.columns_of.entry(finding.to_owned()).or_default();
        columns.extend(facts.iter().flat_map(|f| f.columns.iter().cloned()));
    }

    fn evidence(&mut self, evidence: &Evidence, findings: &[Finding]) {
        let owner = findings.iter().find(|f| f.evidence.contains(&evidence.id));
        let source = Source {
            ids: vec![evidence.id.clone()],
            stage: owner.and_then(|f| f.stage.as_deref()),
            ..Source::default()
        };
        let first = self.facts.len();
        self.say(&evidence.text, &source);
        if let EvidenceValue::Text(text) = &evidence.value {
            self.say(text, &source);
        }
        if let EvidenceValue::Number(value) = evidence.value {
            self.measured(first, value, evidence.unit.as_deref());
        }
        if let Some(expected) = &evidence.expected {
            let used_for = Some(Use::Norm);
            let count = self.values.len();
            self.say(expected, &Source { used_for, ..source });
            let unit = evidence.unit.as_deref().map(unit_of);
            for value in &mut self.values[count..] {
                if let (Unit::Plain, Some((unit, factor))) = (value.quantity.unit, unit) {
                    value.quantity.unit = unit;
                    value.quantity.value *= factor;
                    value.quantity.half *= factor;
                }
            }
        }
        for finding in findings
            .iter()
            .filter(|f| f.evidence.contains(&evidence.id))
        {
            self.belongs(&finding.id, first);
        }
    }

    /// The exact value of evidence, with the topics of its sentence.
    fn measured(&mut self, first: usize, value: f64, unit: Option<&str>) {
        let (unit, factor) = unit_of(unit.unwrap_or_default());
        let said = self.values.iter().rfind(|v| v.fact >= first);
        let concepts = said.map(|v| v.concepts);
        let Some(fact) = self.facts.get(first) else {
            return;
        };
        self.values.push(Value {
            fact: first,
            concepts: concepts.unwrap_or(fact.concepts),
            is_negated: said.is_some_and(|v| v.is_negated),
            quantity: exactly(value * factor, unit),
            used_for: Use::Measured,
        });
    }

    fn suggestion(&mut self, suggestion: &Suggestion, findings: &[Finding]) {
        let owner = findings
            .iter()
            .find(|f| Some(&f.id) == suggestion.finding.as_ref());
        let source = Source {
            ids: vec![suggestion.id.clone()],
            stage: owner.and_then(|f| f.stage.as_deref()),
            ..Source::default()
        };
        let first = self.facts.len();
        let texts = suggestion.texts().filter(|text| **text != suggestion.gain);
        texts.for_each(|text| self.say(text, &source));
        for setting in &suggestion.settings {
            let values = setting.current.iter().chain([&setting.suggested]);
            values.for_each(|value| self.say(value, &source));
        }
        if let Some(owner) = owner {
            self.belongs(&owner.id, first);
        }
        if let Some(seconds) = suggestion.seconds_saved {
            self.exact(seconds, Unit::Seconds, Use::Gain, &source, "");
        }
        let used_for = Some(Use::Gain);
        self.say(&suggestion.gain, &Source { used_for, ..source });
    }

    fn rules(&mut self, input: &StepInput) {
        let found = &input.facts.found;
        let none = Source::default();
        for cleared in &found.cleared {
            self.say(&cleared.by, &none);
        }
        for missing in found.missing.iter().map(|m| &m.information) {
            self.say(&missing.reason, &none);
        }
        let norm = Source {
            used_for: Some(Use::Norm),
            ..Source::default()
        };
        for threshold in diagnosis::thresholds() {
            let (unit, factor) = unit_of(threshold.unit);
            let value = found.settings.get(threshold) * factor;
            self.exact(value, unit, Use::Norm, &norm, "");
        }
        let completeness = &found.completeness;
        let relevances = found.missing.iter().map(|m| m.relevance);
        let relevances = relevances.chain(input.facts.outline.unread.iter().map(|u| u.relevance));
        let scores = [
            completeness.score,
            completeness.minimum,
            completeness.progress,
        ];
        for score in relevances.chain(scores) {
            self.counted(score, Unit::Ratio, &none, "score");
        }
    }

    /// Stages, inputs and the account of the time.
    fn rows(&mut self, input: &StepInput) {
        let outline = &input.facts.outline;
        for row in &outline.stages {
            let source = Source {
                stage: Some(&row.name),
                ..Source::default()
            };
            for line in row.operators.iter().chain(&row.measures.lines) {
                self.say(line, &source);
            }
            if let Some(vertices) = row.vertices {
                self.counted(vertices as f64, Unit::Vertices, &source, "vertices");
            }
            for line in &row.lines {
                self.counted(f64::from(*line), Unit::Line, &source, "");
            }
        }
        for row in &outline.tables {
            let source = Source {
                table: Some(&row.name),
                ..Source::default()
            };
            for line in &row.measures.lines {
                self.say(line, &source);
            }
        }
        for line in &input.facts.found.time.lines {
            self.say(line, &Source::default());
        }
        let statements = outline.statements.iter().flat_map(|s| s.lines);
        let code = outline.code.iter();
        let code = code.flat_map(|e| e.first_line..e.first_line + e.lines.len() as u32);
        for line in statements.chain(code) {
            self.counted(f64::from(line), Unit::Line, &Source::default(), "");
        }
    }

    fn job(&mut self, input: &StepInput) {
        let (job, none) = (&input.facts.job, Source::default());
        for seconds in job.elapsed_seconds.into_iter().chain(job.total_seconds) {
            self.counted(seconds, Unit::Seconds, &none, "run");
        }
        let count = |n: Option<u64>| n.map(|n| n as f64);
        if let Some(stages) = count(job.stages) {
            self.counted(stages, Unit::Count("stages"), &none, "");
        }
        if let Some(vertices) = count(job.vertices) {
            self.counted(vertices, Unit::Vertices, &none, "vertices");
        }
        let outline = &input.facts.outline;
        for unread in &outline.unread {
            self.counted(unread.bytes as f64, Unit::Bytes, &none, "file");
        }
        let statements = outline.statements.len() as f64;
        self.counted(statements, Unit::Count("statements"), &none, "");
        for error in outline.errors.iter().chain(&outline.settings) {
            self.say(error, &none);
        }
        if let Some(answer) = &input.answer {
            let ids = answer.evidence.iter().map(|e| e.id.clone()).collect();
            self.say(&answer.text, &Source { ids, ..none });
        }
    }

    /// Texts that the job's owner or other jobs' owners wrote.
    fn texts(&mut self, input: &StepInput) {
        let outline = &input.facts.outline;
        let text = Source {
            origin: Origin::Text,
            ..Source::default()
        };
        let code = outline.code.iter().flat_map(|e| &e.lines);
        let script = outline.script.iter().map(|s| &s.text);
        let name = input.facts.job.name.iter();
        for line in code.chain(script).chain(&input.facts.question).chain(name) {
            self.say(line, &text);
        }
        for excerpt in &input.reading.excerpts {
            self.say(&excerpt.text, &Source::default());
        }
        for passage in &input.experiences {
            let source = Source {
                ids: vec![passage.chunk.clone()],
                origin: Origin::Experience,
                ..Source::default()
            };
            self.say(&passage.text, &source);
        }
    }
}

/// A number that no text writes.
fn exactly(value: f64, unit: Unit) -> Quantity {
    Quantity {
        value,
        raw: value,
        unit,
        is_negative: value < 0.0,
        ..Quantity::default()
    }
}

/// A unit of the report contract, and its factor.
fn unit_of(unit: &str) -> (Unit, f64) {
    match unit {
        "rows" => (Unit::Rows, 1.0),
        "bytes" => (Unit::Bytes, 1.0),
        "ms" => (Unit::Seconds, 1e-3),
        "s" | "seconds" => (Unit::Seconds, 1.0),
        "%" => (Unit::Ratio, 0.01),
        "ratio" | "share" => (Unit::Ratio, 1.0),
        "vertices" => (Unit::Vertices, 1.0),
        "files" => (Unit::Count("files"), 1.0),
        _ => (Unit::Plain, 1.0),
    }
}
