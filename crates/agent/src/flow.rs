//! How rows get from the sources of a job to the stage of a finding, and where they go from there.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use diagnosis::{InputReader, input_readers};
use job::Job;
use job::model::{Edge, Table};
use report::format::{ROW, list};
use report::{Finding, Language, Localize, Text, text};

use crate::wording::{self, named};

/// Branches described of a stage: a join has two.
const BRANCHES: usize = 2;

/// Stages followed back to a source.
const LENGTH: usize = 8;

/// Operators named of a stage.
const OPERATORS: usize = 3;

/// The flow to the stage of each finding, by the finding's id.
pub(crate) fn of(job: &Job, findings: &[Finding], language: Language) -> BTreeMap<String, String> {
    let readers = input_readers(job);
    let flow = |finding: &Finding| {
        let stage = finding.stage.as_ref()?;
        let at = job.stages.iter().position(|s| s.name == *stage)?;
        let text = Flow {
            job,
            readers: &readers,
            language,
        }
        .to(at);
        (!text.is_empty()).then(|| (finding.id.clone(), text))
    };
    findings.iter().filter_map(flow).collect()
}

struct Flow<'a> {
    job: &'a Job,
    readers: &'a [InputReader<'a>],
    language: Language,
}

/// The cost of an exchange: the bytes that cross it, otherwise its rows.
fn weight(edge: &Edge) -> u64 {
    let amounts = [
        edge.bytes_read,
        edge.bytes_written,
        edge.rows_read,
        edge.rows_written,
    ];
    let first = amounts.into_iter().flatten().next();
    first.map_or(0, |n| n as u64)
}

impl<'a> Flow<'a> {
    fn to(&self, at: usize) -> String {
        let mut edges: Vec<&Edge> = self.job.edges_into(at).collect();
        edges.sort_by_key(|edge| Reverse(weight(edge)));
        let mut sentences: Vec<Text> = self.read_by(at).into_iter().collect();
        sentences.extend(
            edges
                .into_iter()
                .take(BRANCHES)
                .map(|edge| self.branch(edge)),
        );
        sentences.extend(self.operators(at));
        let out = self.job.edges_out_of(at).max_by_key(|edge| weight(edge));
        sentences.extend(out.and_then(|edge| self.onward(edge)));
        let sentences = sentences.into_iter().map(|text| text.into(self.language));
        let sentences: Vec<String> = sentences.collect();
        wording::joined(&sentences, self.language)
    }

    fn name(&self, at: usize) -> &'a str {
        self.job.stages.get(at).map_or("?", |stage| &stage.name)
    }

    /// Inputs that a stage reads, with their sizes.
    fn sources(&self, at: usize) -> Vec<String> {
        let name = self.name(at);
        let mut tables: Vec<&Table> = Vec::new();
        for reader in self.readers.iter().filter(|r| r.stage == name) {
            if tables.iter().all(|t| !std::ptr::eq(*t, reader.table)) {
                tables.push(reader.table);
            }
        }
        let sized = |table: &&Table| {
            let [rows, bytes] = [table.rows, table.bytes].map(|n| n.map(|n| n as f64));
            let sizes = wording::amounts(&[(rows, "rows"), (bytes, "bytes")], self.language);
            let sizes = sizes.map(|sizes| text!("（{sizes}）", " ({sizes})"));
            table.name.clone() + &sizes.localize(self.language)
        };
        tables.iter().take(BRANCHES).map(sized).collect()
    }

    fn read_by(&self, at: usize) -> Option<Text> {
        let sources = self.sources(at);
        let (sources, stage) = (list(&sources, self.language), self.name(at));
        (!sources.is_empty()).then(|| {
            text!(
                "{stage} 直接读取 {sources}。",
                "{stage} itself reads {sources}."
            )
        })
    }

    /// A branch from its source to an exchange, along the exchanges that carry most.
    fn branch(&self, edge: &Edge) -> Text {
        let mut path = vec![edge.from];
        while let Some(before) = self
            .job
            .edges_into(path[path.len() - 1])
            .max_by_key(|e| weight(e))
            && path.len() < LENGTH
            && !path.contains(&before.from)
        {
            path.push(before.from);
        }
        path.reverse();
        let sources = self.sources(path[0]);
        let stages: Vec<&str> = path.iter().map(|at| self.name(*at)).collect();
        let stages = stages.join(" → ");
        let sources = Some(list(&sources, self.language)).filter(|s| !s.is_empty());
        let sources = sources.map(|sources| format!("{sources} → "));
        let (exchange, to) = (self.exchange(edge), self.name(edge.to));
        text!(
            "{sources}{stages}：{exchange}进入 {to}。",
            "{sources}{stages}: {exchange} enter {to}.",
            sources = sources,
            exchange = exchange
        )
    }

    fn onward(&self, edge: &Edge) -> Option<Text> {
        (weight(edge) > 0).then(|| {
            let (exchange, to) = (self.exchange(edge), self.name(edge.to));
            text!(
                "其输出 {exchange}送往 {to}。",
                "Of its output, {exchange} go on to {to}.",
                exchange = exchange
            )
        })
    }

    /// The rows that cross an exchange, with its kind and keys.
    fn exchange(&self, edge: &Edge) -> Text {
        let rows = edge.rows_read.or(edge.rows_written);
        let rows = match rows {
            Some(n) => text!("{n}", "{n}", n = ROW.count(n)),
            None => text!("数据", "rows"),
        };
        let kind = edge.exchange.code();
        let keys = named(&edge.keys, self.language).map(|keys| text!("按 {keys} ", " on {keys}"));
        text!(
            "{rows}{keys}经 {kind} 交换",
            "{rows} ({kind}{keys})",
            rows = rows,
            keys = keys
        )
    }

    /// The operators of a stage that work by a key.
    fn operators(&self, at: usize) -> Option<Text> {
        let operators = self.job.stages[at].operators.iter();
        let keyed = operators.filter(|o| !o.keys.is_empty()).take(OPERATORS);
        let keyed = keyed.map(|o| wording::operator(&o.id, &o.keys, self.language));
        let keyed: Vec<String> = keyed.collect();
        let keyed = list(&keyed, self.language);
        (!keyed.is_empty()).then(|| text!("在那里运行 {keyed}。", "There it meets {keyed}."))
    }
}
