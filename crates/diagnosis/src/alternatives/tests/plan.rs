//! Small plans as text: a stage per unindented line (`SV1 40` has 40 vertices), below it an operator
//! per line, `kind arguments inputs -> output(columns) rows`. Partitioners write the channels that
//! other stages read. Times follow from rows and bytes.

use std::collections::HashMap;

use job::model::{
    Channel, Clustering, Column, Edge, ExchangeKind, JobInfo, JobState, Operator, OperatorKind,
    Stage, Table,
};
use job::{Job, counters::CounterNode};

use testkit::run::{columns, node, operator, summary, tree};

struct Rows {
    schema: Vec<Column>,
    rows: f64,
}

#[derive(Default)]
struct Builder {
    job: Job,
    uid: u32,
    channels: HashMap<String, Rows>,
    /// Counters of the stage being built: milliseconds of its operators so far.
    ms: Vec<f64>,
}

/// Reads a plan; `tables` are `name keys partitions`, hash-partitioned.
pub(super) fn plan(text: &str, tables: &[(&str, &str, u32)]) -> Job {
    let mut builder = Builder::default();
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match line.starts_with(' ') {
            false => builder.stage(words[0], words[1].parse().expect("vertices")),
            true => builder.operator(&words),
        }
    }
    for (stage, ms) in builder.job.stages.iter_mut().zip(&builder.ms) {
        let counters = stage.counters.as_mut().expect("counters");
        let time = node("Time", None, None, &[("elapsedTime", *ms)]);
        counters.nodes.push(time);
    }
    builder.job.info = JobInfo {
        state: JobState::Succeeded,
        tokens: Some(50),
        ..JobInfo::default()
    };
    builder.job.tables = tables.iter().map(|t| table(t.0, t.1, t.2)).collect();
    builder.job
}

fn table(name: &str, keys: &str, parts: u32) -> Table {
    Table {
        name: name.to_owned(),
        stream_id: Some(name.to_owned()),
        rows: Some(1),
        clustering: Some(Clustering {
            kind: "hash".to_owned(),
            keys: keys.split(',').map(str::to_owned).collect(),
            sorted_by: Vec::new(),
            partitions: Some(parts),
        }),
        sources: [(
            "clustering",
            job::model::Source {
                file: "tables.json".to_owned(),
                locator: None,
            },
        )]
        .into(),
        ..Table::default()
    }
}

impl Builder {
    fn stage(&mut self, name: &str, vertices: f64) {
        self.ms.push(0.0);
        self.job.stages.push(Stage {
            name: name.to_owned(),
            native_only: Some(true),
            counters: Some(tree(name, Vec::new())),
            summary: Some(summary(name, vertices, 0.0, 0.0)),
            ..Stage::default()
        });
    }

    fn count(&mut self, name: &str, uid: u32, values: &[(&str, f64)]) {
        let stage = self.job.stages.last_mut().expect("a stage");
        let nodes: &mut Vec<CounterNode> = &mut stage.counters.as_mut().expect("counters").nodes;
        nodes.push(node(name, Some(uid), None, values));
        let own = values.iter().find(|(n, _)| *n == "exclusiveTime");
        *self.ms.last_mut().expect("a stage") += own.map_or(0.0, |(_, ms)| *ms);
    }

    fn operator(&mut self, words: &[&str]) {
        use OperatorKind as K;
        let arrow = words.iter().position(|w| *w == "->").expect("an arrow");
        let (kind, arguments, class, ms_per_row) = match words[0] {
            "extract" => (K::Extract, 1, "SStreamExtractor", 1e-3),
            "filter" => (K::Transform, 0, "SqlFilterTransformer_1", 0.2e-3),
            "sort" => (K::Sort, 1, "ScopeSorter_1", 1e-3),
            "join" => (K::Join, 1, "ScopeCombineWrapper_1", 0.5e-3),
            "agg" => (K::Aggregate, 1, "SqlGrouper_1", 0.3e-3),
            "partial" => (K::PartialAggregate, 1, "ScopeHashGrouper_1", 0.3e-3),
            "union" => (K::Union, 0, "ParallelUnion", 0.0),
            "reduce" => (K::Reduce, 1, "MyReducer", 2e-3),
            "hash" => (K::HashPartition, 2, "ScopePartitioner_1", 0.0),
            "broadcast" => (K::Broadcast, 0, "Splitter", 0.0),
            "gather" => (K::Gather, 0, "Splitter", 0.0),
            "output" => (K::Output, 0, "Outputter", 1e-3),
            other => panic!("no such operator: {other}"),
        };
        self.uid += 2;
        let uid = self.uid;
        let inputs: Vec<&str> = match kind {
            K::Extract => Vec::new(),
            _ => words[1 + arguments..arrow].to_vec(),
        };
        let (output, schema) = match words[arrow + 1].split_once('(') {
            Some((name, list)) => (name, columns(list.trim_end_matches(')'))),
            None => (words[arrow + 1], self.channels[inputs[0]].schema.clone()),
        };
        let given = words
            .get(arrow + 2)
            .map(|n| n.parse::<f64>().expect("rows"));
        let before: f64 = inputs.iter().map(|i| self.channels[*i].rows).sum();
        let rows = given.unwrap_or(before);
        let (left, right) = words[1].split_once('=').unwrap_or((words[1], ""));
        let list = |text: &str| match arguments {
            0 => Vec::new(),
            _ => text
                .split(',')
                .filter(|k| !k.is_empty())
                .map(str::to_owned)
                .collect(),
        };
        let channel = |id: &str, schema: &[Column]| Channel {
            id: id.to_owned(),
            uid: None,
            schema: schema.to_vec(),
            count: None,
            is_final: false,
        };
        let id = match kind {
            K::Extract => words[1].to_owned(),
            _ => format!("Op_{uid}"),
        };
        let read: Vec<Channel> = match kind {
            K::Extract => vec![channel(words[1], &schema)],
            _ => inputs
                .iter()
                .map(|i| channel(i, &self.channels[*i].schema))
                .collect(),
        };
        let mut written = channel(output, &schema);
        written.is_final = kind == K::Output;
        let built = Operator {
            keys: if kind == K::Extract {
                Vec::new()
            } else {
                list(left)
            },
            right_keys: list(right),
            inputs: read,
            outputs: vec![written],
            ..operator(&id, uid, kind, class, "", "")
        };
        self.arrive(&inputs);
        self.job
            .stages
            .last_mut()
            .expect("a stage")
            .operators
            .push(built);
        let exchange = match kind {
            K::HashPartition => Some(ExchangeKind::Hash),
            K::Broadcast => Some(ExchangeKind::Broadcast),
            K::Gather => Some(ExchangeKind::Gather),
            _ => None,
        };
        match exchange {
            Some(exchange) => {
                let keys = list(left);
                let parts = words[2]
                    .parse()
                    .ok()
                    .filter(|_| exchange == ExchangeKind::Hash);
                self.write(exchange, output, keys, parts, &schema, rows);
            }
            None => self.count(
                if kind == K::Sort { "Sort" } else { "Operator" },
                uid,
                &[
                    ("rowCount", rows),
                    ("exclusiveTime", before.max(rows) * ms_per_row),
                ],
            ),
        }
        self.channels
            .insert(output.to_owned(), Rows { schema, rows });
    }

    /// Adds an edge; its reader is set later.
    fn write(
        &mut self,
        exchange: ExchangeKind,
        channel: &str,
        keys: Vec<String>,
        partitions: Option<u32>,
        schema: &[Column],
        rows: f64,
    ) {
        let from = self.job.stages.len() - 1;
        let bytes = rows * 8.0 * schema.len() as f64;
        let uid = self.uid + 1;
        self.job.edges.push(Edge {
            channel: channel.to_owned(),
            uid: Some(uid),
            from,
            to: from,
            exchange,
            keys,
            partitions,
            schema: schema.to_vec(),
            partitioner: Some(format!("Op_{}", self.uid)),
            rows_written: Some(rows),
            bytes_written: Some(bytes),
            rows_read: Some(rows),
            bytes_read: Some(bytes),
        });
        let values = [
            ("rowCount", rows),
            ("bytes", bytes),
            ("exclusiveTime", bytes * 5e-5),
        ];
        self.count("Output", uid, &values);
    }

    /// Completes the edges that the inputs of an operator cross.
    fn arrive(&mut self, inputs: &[&str]) {
        let to = self.job.stages.len() - 1;
        let edges = self.job.edges.iter_mut();
        let crossed: Vec<(u32, f64, f64)> = edges
            .filter(|e| e.to == e.from && e.from != to && inputs.contains(&e.channel.as_str()))
            .map(|e| {
                e.to = to;
                let (rows, bytes) = (
                    e.rows_written.unwrap_or(0.0),
                    e.bytes_written.unwrap_or(0.0),
                );
                (e.uid.unwrap_or(0), rows, bytes)
            })
            .collect();
        let vertices = self.job.stages[to].summary.as_ref().expect("a summary");
        let vertices = vertices.values["totalCount"];
        for (uid, rows, bytes) in crossed {
            let values = [
                ("rowCount", rows),
                ("maxRowCount", rows / vertices),
                ("bytes", bytes),
                ("exclusiveTime", bytes * 5e-5),
            ];
            self.count("Extractor", uid, &values);
        }
    }
}
