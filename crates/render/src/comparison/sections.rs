//! Sections of a comparison; all formats render them.

use report::format::{CHANGE, INPUT, LINE, Noun, OPERATOR, STAGE};
use report::{Cause, text};
use runs::compare::{Comparison, FindingChange, FindingStatus, Pair, Reason, ScriptChange};

use super::{
    Row, SHOWN, SHOWN_NUMBERS, duration, estimates, finding_cost, grows, input_name, input_numbers,
    known, percent, rest, stage_marks, stage_numbers, time_of, totals, words_of,
};
use crate::layout::shorten;
use crate::table::Align;
use crate::words::Words;

/// Lines of the script's diff shown unless all are asked for.
const DIFF_LINES: usize = 40;
/// Columns of a name in a table before it is cut.
const NAME: usize = 30;

pub(super) struct Section {
    pub(super) heading: &'static str,
    pub(super) body: Body,
    /// Remark on omitted rows.
    pub(super) remark: String,
}

pub(super) enum Body {
    /// A lead and a text.
    Items(Vec<(Marked, String)>),
    Table {
        heads: Vec<(&'static str, Align)>,
        /// Cells, and further facts about the row.
        rows: Vec<(Vec<Marked>, Vec<String>)>,
    },
    Diff(String),
}

/// A text that may be for the worse or for the better.
pub(super) struct Marked {
    pub(super) text: String,
    pub(super) is_worse: Option<bool>,
}

impl From<String> for Marked {
    fn from(text: String) -> Marked {
        let is_worse = None;
        Marked { text, is_worse }
    }
}

/// The sections of a comparison; with `all`, small changes too.
pub(super) fn sections(c: &Comparison, all: bool) -> Vec<Section> {
    let writer = Writer {
        words: words_of(c),
        all,
    };
    let sections = [
        writer.reasons(c),
        writer.findings(c),
        writer.totals(c),
        writer.stages(c),
        writer.plan(c),
        writer.inputs(c),
        writer.estimates(c),
        writer.script(c),
        writer.gaps(c),
    ];
    sections.into_iter().filter(Section::has_content).collect()
}

impl Section {
    fn has_content(&self) -> bool {
        let empty = match &self.body {
            Body::Items(items) => items.is_empty(),
            Body::Table { rows, .. } => rows.is_empty(),
            Body::Diff(diff) => diff.is_empty(),
        };
        !empty || !self.remark.is_empty()
    }
}

struct Writer {
    words: Words,
    all: bool,
}

impl Writer {
    /// The number of rows shown: `most`, unless all are asked for.
    fn shown(&self, most: usize) -> usize {
        if self.all { usize::MAX } else { most }
    }

    fn reasons(&self, c: &Comparison) -> Section {
        let words = self.words;
        let item = |reason: &Reason| {
            let confidence = percent(reason.confidence, words);
            let text = format!("{} · {} {confidence}", reason.text, words.confidence());
            let lead = reason.share.map(|share| {
                let share = percent(share, words);
                words.say(text!("占差异的 {share}", "{share} of the difference"))
            });
            (lead.unwrap_or_default(), text)
        };
        items(words.why(), c.reasons.iter().map(item).collect())
    }

    fn findings(&self, c: &Comparison) -> Section {
        let words = self.words;
        let item = |finding: &FindingChange| {
            let status = Marked {
                text: words.finding_status(finding.status).to_owned(),
                is_worse: match finding.status {
                    FindingStatus::New | FindingStatus::Worse => Some(true),
                    FindingStatus::Gone | FindingStatus::Better => Some(false),
                    FindingStatus::Same => None,
                },
            };
            let place = finding.stage.as_deref().unwrap_or(words.whole_job());
            let severities = [finding.severity_a, finding.severity_b];
            let severity = match severities.map(|s| s.map(|s| words.severity(s))) {
                [Some(a), Some(b)] if a != b => format!("{a} → {b}"),
                [a, b] => b.or(a).unwrap_or_default().to_owned(),
            };
            let cost = finding_cost(finding, words);
            let title = Cause::from_code(&finding.cause).map(|cause| words.cause(cause));
            let cause = format!("`{}`", finding.cause);
            let parts = [
                title.unwrap_or_default(),
                cause,
                place.to_owned(),
                cost,
                severity,
            ];
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            let text = parts.collect::<Vec<_>>().join(" · ");
            (status, text)
        };
        items(words.findings(), c.findings.iter().map(item).collect())
    }

    fn totals(&self, c: &Comparison) -> Section {
        let row = |row: Row| {
            let change = marked(row.change, row.is_worse.filter(|_| row.notable));
            let [label, a, b] = [row.label, row.a, row.b].map(Marked::from);
            (vec![label, a, b, change], Vec::new())
        };
        let rows = totals(c, self.words).into_iter().map(row).collect();
        table(self.words.the_whole_job(), ["", "A", "B", ""], rows)
    }

    fn stages(&self, c: &Comparison) -> Section {
        let words = self.words;
        let notable = c.stages.iter().filter(|s| self.all || s.notable);
        let rows = notable.take(self.shown(SHOWN)).map(|stage| {
            let time = time_of(stage);
            let name = stage.b.as_deref().or(stage.a.as_deref());
            let cells = vec![
                shorten(name.unwrap_or_default(), NAME).into(),
                known(time.a.map(|s| duration(s, words))).into(),
                known(time.b.map(|s| duration(s, words))).into(),
                marked(
                    signed(time, words),
                    grows(time).filter(|_| time.is_notable()),
                ),
                stage_marks(stage, words).join(words.comma()).into(),
            ];
            (
                cells,
                stage_numbers(stage, self.shown(SHOWN_NUMBERS), words),
            )
        });
        let rows: Vec<_> = rows.collect();
        let more = c.stages.len() - rows.len();
        Section {
            remark: rest(more, STAGE, words.stages_alike(), words),
            ..table(
                words.stages_heading(),
                [words.stage(), "A", "B", "", ""],
                rows,
            )
        }
    }

    fn plan(&self, c: &Comparison) -> Section {
        let words = self.words;
        let changes = c.plan.iter().take(self.shown(SHOWN)).map(|change| {
            let values = [change.a.as_deref(), change.b.as_deref()];
            let values: Vec<&str> = values.into_iter().flatten().collect();
            let place = change.place.clone();
            let text = match values.is_empty() {
                true => place,
                false => format!("{place}{}{}", words.colon(), values.join(" → ")),
            };
            (words.plan_change(change.kind).to_owned(), text)
        });
        Section {
            remark: self.unshown(c.plan.len(), CHANGE),
            ..items(words.plan(), changes.collect())
        }
    }

    fn inputs(&self, c: &Comparison) -> Section {
        let words = self.words;
        let all = c.inputs.iter().map(|input| {
            let numbers = input_numbers(input, words).join(" · ");
            (input_name(input, words), numbers)
        });
        let changed = all.filter(|(_, numbers)| self.all || !numbers.is_empty());
        let changed: Vec<_> = changed.collect();
        let alike = c.inputs.len() - changed.len();
        Section {
            remark: rest(alike, INPUT, words.inputs_alike(), words),
            ..items(words.inputs(), changed)
        }
    }

    fn estimates(&self, c: &Comparison) -> Section {
        let words = self.words;
        let rows = c.estimates.iter().take(self.shown(SHOWN)).map(|change| {
            let [a, b] = estimates(change);
            let place = format!("{}/{}", change.stage, change.operator);
            ([place, a, b].map(Marked::from).into(), Vec::new())
        });
        Section {
            remark: self.unshown(c.estimates.len(), OPERATOR),
            ..table(
                words.estimates(),
                [words.operator(), "A", "B"],
                rows.collect(),
            )
        }
    }

    fn script(&self, c: &Comparison) -> Section {
        let words = self.words;
        let (diff, remark) = match &c.script {
            ScriptChange::Same => (String::new(), words.script_same().to_owned()),
            ScriptChange::Unknown => (String::new(), words.script_unknown().to_owned()),
            ScriptChange::Changed { diff, .. } => {
                let lines: Vec<&str> = diff.lines().take(self.shown(DIFF_LINES)).collect();
                let more = diff.lines().count() - lines.len();
                (lines.join("\n"), rest(more, LINE, words.not_shown(), words))
            }
        };
        Section {
            heading: words.script(),
            body: Body::Diff(diff),
            remark,
        }
    }

    fn gaps(&self, c: &Comparison) -> Section {
        let gaps = c.not_compared.iter();
        let gaps = gaps.map(|gap| (String::new(), gap.reason.clone()));
        items(self.words.not_compared(), gaps.collect())
    }

    fn unshown(&self, all: usize, noun: Noun) -> String {
        let more = all.saturating_sub(self.shown(SHOWN));
        rest(more, noun, self.words.not_shown(), self.words)
    }
}

fn items<T: Into<Marked>>(heading: &'static str, items: Vec<(T, String)>) -> Section {
    let marked = items.into_iter().map(|(lead, text)| (lead.into(), text));
    Section {
        heading,
        body: Body::Items(marked.collect()),
        remark: String::new(),
    }
}

/// Names are to the left, numbers to the right.
fn table<const N: usize>(
    heading: &'static str,
    heads: [&'static str; N],
    rows: Vec<(Vec<Marked>, Vec<String>)>,
) -> Section {
    let align = |(column, head)| {
        let number = (1..4).contains(&column);
        (head, if number { Align::Right } else { Align::Left })
    };
    Section {
        heading,
        body: Body::Table {
            heads: heads.into_iter().enumerate().map(align).collect(),
            rows,
        },
        remark: String::new(),
    }
}

/// `+12.3 s`.
fn signed(pair: Pair, words: Words) -> String {
    match pair.difference() {
        Some(d) if d.abs() < 0.05 => "=".to_owned(),
        Some(d) if d < 0.0 => format!("−{}", duration(-d, words)),
        Some(d) => format!("+{}", duration(d, words)),
        None => String::new(),
    }
}

/// A change that is for the worse if it grows; noise is neither.
fn marked(text: String, is_worse: Option<bool>) -> Marked {
    Marked { text, is_worse }
}
