//! Compiles a plan into stages and runs the data through it: which exchange a statement needs, what each
//! vertex of each stage reads, holds and puts out.
//!
//! Decisions (broadcast or repartition, number of partitions) rest on the estimates, as an optimiser's do;
//! rows come from the distributions. Times are the business of `cost`.

use crate::cost;
use crate::data::{Column, KeySpace, TableKind, even_weights};
use crate::physical::{
    Channel, Exchange, Kind, PhysOp, Physical, Placement, Source, Stage, row_width,
};
use crate::plan::{Hint, JoinKind, NodeId, Op, Spec, item_column};
use crate::rng::{hash_text, wobble};
use std::collections::BTreeSet;

/// An operator as (stage, index).
type At = (usize, usize);

struct Compiler<'a> {
    spec: &'a Spec,
    needed: Vec<BTreeSet<String>>,
    stages: Vec<Stage>,
    channels: Vec<Channel>,
    /// Branches (more than one after a union) of each node.
    done: Vec<Vec<At>>,
}

/// Compiles and runs a plan.
pub(crate) fn compile(spec: &Spec) -> Physical {
    let mut c = Compiler {
        spec,
        needed: needed_columns(spec),
        stages: Vec::new(),
        channels: Vec::new(),
        done: vec![Vec::new(); spec.nodes.len()],
    };
    for node in 0..spec.nodes.len() {
        let built = c.node(node);
        c.done[node] = built;
        c.apply_row_hint(node);
    }
    let mut physical = Physical {
        stages: c.stages,
        channels: c.channels,
    };
    identify(&mut physical);
    cost::charge(spec, &mut physical);
    physical
}

/// Columns that somebody uses downstream, for every node.
fn needed_columns(spec: &Spec) -> Vec<BTreeSet<String>> {
    let mut needed = vec![BTreeSet::<String>::new(); spec.nodes.len()];
    for node in (0..spec.nodes.len()).rev() {
        let mine = needed[node].clone();
        match &spec.nodes[node].op {
            Op::Read { .. } => {}
            Op::Select {
                input,
                items,
                filters,
            } => {
                for item in items.iter().filter(|i| mine.contains(&i.name)) {
                    match &item.expr {
                        None => drop(needed[*input].insert(item.name.clone())),
                        Some(e) => needed[*input].extend(e.uses.iter().cloned()),
                    }
                }
                needed[*input].extend(filters.iter().flat_map(|f| f.uses.iter().cloned()));
            }
            Op::Join {
                left,
                right,
                keys,
                items,
                ..
            } => {
                for (of_right, name) in items.iter().filter(|i| mine.contains(&i.1)) {
                    needed[if *of_right { *right } else { *left }].insert(name.clone());
                }
                needed[*left].insert(keys.0.clone());
                needed[*right].insert(keys.1.clone());
            }
            Op::Group { input, keys, aggs } => {
                needed[*input].extend(keys.iter().cloned());
                needed[*input].extend(aggs.iter().filter(|a| !a.1.is_empty()).map(|a| a.1.clone()));
            }
            Op::Reduce { input, .. } | Op::Process { input, .. } => {
                let all = spec.columns(*input).into_iter().map(|c| c.name);
                needed[*input].extend(all);
            }
            Op::Union { inputs } => inputs
                .iter()
                .for_each(|&i| needed[i].extend(mine.iter().cloned())),
            Op::Output { input, order, .. } => {
                needed[*input].extend(spec.columns(*input).into_iter().map(|c| c.name));
                needed[*input].extend(order.iter().cloned());
            }
        }
    }
    needed
}

/// Partitions for so many estimated bytes: a round number, as users and optimisers like them.
fn partitions(spec: &Spec, bytes: f64) -> usize {
    let raw = (bytes / spec.env.partition_bytes).ceil().max(1.0) as usize;
    let nice = match raw {
        0..=8 => raw.max(2),
        9..=40 => raw.div_ceil(4) * 4,
        41..=200 => raw.div_ceil(10) * 10,
        _ => raw.div_ceil(50) * 50,
    };
    nice.min(spec.env.max_partitions as usize)
}

impl Compiler<'_> {
    fn op(&self, at: At) -> &PhysOp {
        &self.stages[at.0].ops[at.1]
    }

    fn hint_count(&self, node: NodeId) -> Option<usize> {
        self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::PartitionCount(n) | Hint::Repartition(n) => Some(*n as usize),
            Hint::Serial => Some(1),
            _ => None,
        })
    }

    fn has(&self, node: NodeId, hint: fn(&Hint) -> bool) -> bool {
        self.spec.nodes[node].hints.iter().any(hint)
    }

    fn apply_row_hint(&mut self, node: NodeId) {
        let Some(rows) = self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::RowCount(n) => Some(*n),
            _ => None,
        }) else {
            return;
        };
        let branches = self.done[node].clone();
        for at in &branches {
            self.stages[at.0].ops[at.1].estimate = rows / branches.len() as f64;
        }
    }

    fn keep(&self, node: NodeId, columns: Vec<Column>) -> Vec<Column> {
        columns
            .into_iter()
            .filter(|c| self.needed[node].contains(&c.name))
            .collect()
    }

    fn new_stage(&mut self, vertices: usize) -> usize {
        self.stages.push(Stage {
            name: String::new(),
            vertices,
            ops: Vec::new(),
            dead: false,
            run_s: Vec::new(),
            read: Vec::new(),
            written: Vec::new(),
            gc: 0.0,
            heap: 0.0,
            managed: false,
        });
        self.stages.len() - 1
    }

    /// Adds an operator whose rows per vertex are given.
    fn push(&mut self, stage: usize, draft: Draft) -> At {
        let n = self.stages[stage].vertices;
        let zeros = vec![0.0; n];
        self.stages[stage].ops.push(PhysOp {
            kind: draft.kind,
            node: draft.node,
            sources: draft.sources,
            keys: draft.keys,
            columns: draft.columns,
            placement: draft.placement,
            rows: draft.rows,
            rows_in: draft.rows_in,
            distinct: draft.distinct,
            bytes: zeros.clone(),
            held: zeros.clone(),
            spilled: zeros.clone(),
            ms: zeros.clone(),
            cpu_ms: zeros,
            estimate: draft.estimate,
            id: String::new(),
            uid: 0,
            out_uid: 0,
            group: (0, 0),
            channel: None,
        });
        (stage, self.stages[stage].ops.len() - 1)
    }

    fn node(&mut self, node: NodeId) -> Vec<At> {
        match self.spec.nodes[node].op.clone() {
            Op::Read { table } => vec![self.read(node, table)],
            Op::Select {
                input,
                items,
                filters,
            } => {
                let branches = self.done[input].clone();
                branches
                    .into_iter()
                    .map(|at| self.select(node, at, &items, &filters))
                    .collect()
            }
            Op::Union { inputs } => inputs.iter().flat_map(|&i| self.done[i].clone()).collect(),
            Op::Process { input, produce, .. } => {
                let branches = self.done[input].clone();
                let columns = self.keep(node, produce);
                branches
                    .into_iter()
                    .map(|at| self.process(node, at, &columns))
                    .collect()
            }
            Op::Join {
                left,
                right,
                keys,
                kind,
                fan_out,
                ..
            } => {
                vec![self.join(node, left, right, &keys, kind, fan_out)]
            }
            Op::Group { input, keys, aggs } => vec![self.group(node, input, &keys, &aggs)],
            Op::Reduce {
                input,
                key,
                presort,
                produce,
                ratio,
                ..
            } => {
                vec![self.reduce(node, input, &key, &presort, &produce, ratio)]
            }
            Op::Output { input, order, .. } => vec![self.output(node, input, order.as_deref())],
        }
    }

    fn read(&mut self, node: NodeId, table: usize) -> At {
        let t = &self.spec.tables[table];
        let columns: Vec<Column> = self.keep(node, t.columns.clone());
        let seed = hash_text(self.spec.seed, &t.path);
        let (count, weights) = if t.clustering.partitions > 0 {
            let n = t.clustering.partitions as usize;
            let even = even_weights(n, seed);
            let given = &t.clustering.weights;
            (
                n,
                if given.is_empty() {
                    even
                } else {
                    given.clone()
                },
            )
        } else {
            let by_bytes = (t.bytes() / self.spec.env.split_bytes).ceil().max(1.0) as usize;
            // A compressed file is read by one vertex; every file needs at least one.
            let n = if t.gzip {
                t.files as usize
            } else {
                by_bytes.max(t.files as usize)
            };
            (
                n,
                (0..n as u64)
                    .map(|i| wobble(seed, "split", i, 0.03))
                    .collect(),
            )
        };
        let total: f64 = weights.iter().sum();
        let rows: Vec<f64> = weights
            .iter()
            .map(|w| (t.rows * w / total).round())
            .collect();
        let placement = match t.clustering.kind {
            "hash" => Placement::Hash(t.clustering.keys.clone()),
            _ => Placement::Any,
        };
        let kind = if t.kind == TableKind::Text {
            Kind::Extract
        } else {
            Kind::Get
        };
        let estimate = t.rows * t.believed;
        let stage = self.new_stage(count);
        self.push(
            stage,
            Draft {
                kind,
                node,
                sources: vec![Source::Table(table)],
                columns,
                placement,
                estimate,
                ..Draft::rows(rows)
            },
        )
    }

    fn select(
        &mut self,
        node: NodeId,
        at: At,
        items: &[crate::plan::Item],
        filters: &[crate::plan::Filter],
    ) -> At {
        let from = self.op(at).clone();
        let computes = items
            .iter()
            .filter(|i| self.needed[node].contains(&i.name))
            .any(|i| i.expr.is_some());
        let mut columns: Vec<Column> = items
            .iter()
            .filter_map(|i| item_column(i, &from.columns))
            .collect();
        columns = self.keep(node, columns);
        if filters.is_empty() && !computes {
            // A pure projection costs nothing: columns that nobody needs are not read in the first place.
            return at;
        }
        let mut keep = 1.0;
        let mut believed = 1.0;
        for filter in filters {
            keep *= filter.keeps;
            believed *= filter.believed;
            if let Some(name) = &filter.drops_hot {
                for c in columns.iter_mut().filter(|c| c.name == *name) {
                    *c = c.flattened();
                }
            }
        }
        let managed = filters.iter().any(|f| f.managed)
            || items.iter().any(|i| {
                i.expr.as_ref().is_some_and(|e| e.managed) && self.needed[node].contains(&i.name)
            });
        let kind = if managed {
            Kind::ManagedFilter
        } else {
            Kind::Filter
        };
        let rows = from.rows.iter().map(|r| (r * keep).round()).collect();
        self.push(
            at.0,
            Draft {
                kind,
                node,
                sources: vec![Source::Op(at.1)],
                columns,
                placement: from.placement.clone(),
                rows_in: from.rows.clone(),
                estimate: from.estimate * believed,
                ..Draft::rows(rows)
            },
        )
    }

    fn process(&mut self, node: NodeId, at: At, columns: &[Column]) -> At {
        let from = self.op(at).clone();
        self.push(
            at.0,
            Draft {
                kind: Kind::Process,
                node,
                sources: vec![Source::Op(at.1)],
                columns: columns.to_vec(),
                // The optimiser does not know what user code does to the columns.
                placement: Placement::Any,
                rows_in: from.rows.clone(),
                estimate: from.estimate,
                ..Draft::rows(from.rows.clone())
            },
        )
    }

    /// Sends branches over an exchange into `stage`; returns what arrives, as a source.
    fn exchange(
        &mut self,
        node: NodeId,
        branches: &[At],
        keys: &[String],
        kind: Exchange,
        stage: usize,
        split_hot: bool,
    ) -> Vec<usize> {
        let count = self.stages[stage].vertices;
        branches
            .iter()
            .map(|&at| {
                let from = self.op(at).clone();
                let total = from.total();
                let cols: Vec<&Column> = keys
                    .iter()
                    .filter_map(|k| from.columns.iter().find(|c| c.name == *k))
                    .collect();
                let flat: Vec<Column> = cols.iter().map(|c| c.flattened()).collect();
                // Partial aggregates leave one row a key and vertex: no key is frequent any more.
                let collapsed = from.kind == Kind::PartialAggregate || split_hot;
                let cols: Vec<&Column> = if collapsed {
                    flat.iter().collect()
                } else {
                    cols
                };
                let seed = hash_text(self.spec.seed, "hash");
                let space = KeySpace::of(&cols, total);
                let spread = match kind {
                    Exchange::Hash => space.spread(total, count, seed),
                    Exchange::Gather => vec![(total, space.distinct().min(total))],
                    Exchange::Broadcast => vec![(total, space.distinct().min(total)); count],
                };
                let channel = self.channels.len();
                let op = self.push(
                    at.0,
                    Draft {
                        kind: Kind::Partition(kind),
                        node,
                        sources: vec![Source::Op(at.1)],
                        keys: keys.to_vec(),
                        columns: from.columns.clone(),
                        placement: from.placement.clone(),
                        rows_in: from.rows.clone(),
                        estimate: from.estimate,
                        ..Draft::rows(from.rows.clone())
                    },
                );
                self.stages[op.0].ops[op.1].channel = Some(channel);
                self.channels.push(Channel {
                    from_stage: at.0,
                    from_op: op.1,
                    to_stage: stage,
                    kind,
                    count,
                    rows: spread.iter().map(|s| s.0.round()).collect(),
                    distinct: spread
                        .iter()
                        .map(|s| s.1.round().min(s.0.round()))
                        .collect(),
                    width: row_width(&from.columns),
                });
                channel
            })
            .collect()
    }

    /// Arriving rows, as an input of the next operator: a union if there are several channels.
    fn arrive(
        &mut self,
        node: NodeId,
        stage: usize,
        channels: &[usize],
        branches: &[At],
        keys: &[String],
    ) -> Arrival {
        let n = self.stages[stage].vertices;
        let add = |pick: fn(&Channel) -> &Vec<f64>, this: &Self| -> Vec<f64> {
            (0..n)
                .map(|v| channels.iter().map(|&c| pick(&this.channels[c])[v]).sum())
                .collect()
        };
        let rows = add(|c| &c.rows, self);
        let distinct = add(|c| &c.distinct, self);
        let columns = self.op(branches[0]).columns.clone();
        let estimate = branches.iter().map(|&b| self.op(b).estimate).sum();
        let source = if channels.len() == 1 {
            Source::Channel(channels[0])
        } else {
            let at = self.push(
                stage,
                Draft {
                    kind: Kind::Union,
                    node,
                    sources: channels.iter().map(|&c| Source::Channel(c)).collect(),
                    columns: columns.clone(),
                    placement: Placement::Hash(keys.to_vec()),
                    rows_in: rows.clone(),
                    estimate,
                    ..Draft::rows(rows.clone())
                },
            );
            Source::Op(at.1)
        };
        Arrival {
            source,
            rows,
            distinct,
            columns,
            estimate,
        }
    }

    fn sort(&mut self, node: NodeId, stage: usize, from: &Arrival, keys: &[String]) -> At {
        self.push(
            stage,
            Draft {
                kind: Kind::Sort,
                node,
                sources: vec![from.source],
                keys: keys.to_vec(),
                columns: from.columns.clone(),
                placement: Placement::Hash(keys[..keys.len().min(1)].to_vec()),
                rows_in: from.rows.clone(),
                distinct: from.distinct.clone(),
                estimate: from.estimate,
                ..Draft::rows(from.rows.clone())
            },
        )
    }

    /// The rows of a node as an arrival in its own stage.
    fn local(&self, at: At, keys: &[String]) -> Arrival {
        let op = self.op(at);
        let cols: Vec<&Column> = keys
            .iter()
            .filter_map(|k| op.columns.iter().find(|c| c.name == *k))
            .collect();
        let space = KeySpace::of(&cols, op.total());
        let n = op.rows.len() as f64;
        Arrival {
            source: Source::Op(at.1),
            distinct: op
                .rows
                .iter()
                .map(|r| (space.distinct() / n).min(*r).round())
                .collect(),
            rows: op.rows.clone(),
            columns: op.columns.clone(),
            estimate: op.estimate,
        }
    }

    fn join(
        &mut self,
        node: NodeId,
        left: NodeId,
        right: NodeId,
        keys: &(String, String),
        kind: JoinKind,
        fan_out: f64,
    ) -> At {
        let (l, r) = (self.done[left].clone(), self.done[right].clone());
        let (lk, rk) = (vec![keys.0.clone()], vec![keys.1.clone()]);
        let est = |this: &Self, side: &[At]| {
            side.iter()
                .map(|&a| this.op(a).estimate * this.op(a).width())
                .sum::<f64>()
        };
        let (lb, rb) = (est(self, &l), est(self, &r));
        let pair = self.has(node, |h| matches!(h, Hint::Pair));
        let shape = JoinShape {
            node,
            keys,
            kind,
            fan_out,
        };
        if rb <= self.spec.env.broadcast_bytes && !pair && l.len() == 1 {
            let channels = self.exchange(node, &r, &rk, Exchange::Broadcast, l[0].0, false);
            let build = self.arrive(node, l[0].0, &channels, &r, &rk);
            let probe = self.local(l[0], &lk);
            return self.finish_join(&shape, l[0].0, Kind::HashJoin, &probe, &build);
        }
        let forced = self.has(node, |h| matches!(h, Hint::Repartition(_)));
        if !forced && l.len() == 1 && self.op(l[0]).placement == Placement::Hash(lk.clone()) {
            let stage = l[0].0;
            let aligned = r.len() == 1
                && self.op(r[0]).placement == Placement::Hash(rk.clone())
                && self.stages[r[0].0].vertices == self.stages[stage].vertices
                && r[0].0 != stage;
            let probe = self.local(l[0], &lk);
            if aligned {
                let at = self.merge_stage(r[0], stage);
                let build = self.local(at, &rk);
                return self.finish_join(&shape, stage, Kind::MergeJoin, &probe, &build);
            }
            let channels = self.exchange(node, &r, &rk, Exchange::Hash, stage, false);
            let arrived = self.arrive(node, stage, &channels, &r, &rk);
            let sorted = self.sort(node, stage, &arrived, &rk);
            let probe = if self.sorted_on(l[0], &keys.0) {
                probe
            } else {
                self.sort_arrival(node, stage, &probe, &lk)
            };
            let build = self.after(sorted, &arrived);
            return self.finish_join(&shape, stage, Kind::MergeJoin, &probe, &build);
        }
        let count = self
            .hint_count(node)
            .unwrap_or_else(|| partitions(self.spec, lb + rb));
        let stage = self.new_stage(count);
        let split = self.has(node, |h| matches!(h, Hint::SkewJoin));
        let lc = self.exchange(node, &l, &lk, Exchange::Hash, stage, split);
        let la = self.arrive(node, stage, &lc, &l, &lk);
        let rc = self.exchange(node, &r, &rk, Exchange::Hash, stage, false);
        let ra = self.arrive(node, stage, &rc, &r, &rk);
        let probe = self.sort_arrival(node, stage, &la, &lk);
        let build = self.sort_arrival(node, stage, &ra, &rk);
        self.finish_join(&shape, stage, Kind::MergeJoin, &probe, &build)
    }

    fn sorted_on(&self, at: At, key: &str) -> bool {
        // Tables and merge joins put their rows out in the order of their key.
        matches!(
            self.op(at).kind,
            Kind::Get | Kind::Filter | Kind::ManagedFilter | Kind::MergeJoin
        ) && self.op(at).placement == Placement::Hash(vec![key.to_owned()])
    }

    fn after(&self, at: At, arrival: &Arrival) -> Arrival {
        Arrival {
            source: Source::Op(at.1),
            ..arrival.clone()
        }
    }

    fn sort_arrival(
        &mut self,
        node: NodeId,
        stage: usize,
        from: &Arrival,
        keys: &[String],
    ) -> Arrival {
        let at = self.sort(node, stage, from, keys);
        self.after(at, from)
    }

    /// Moves the operators of a leaf stage into another stage with the same partitions.
    fn merge_stage(&mut self, at: At, into: usize) -> At {
        let offset = self.stages[into].ops.len();
        let moved: Vec<PhysOp> = std::mem::take(&mut self.stages[at.0].ops);
        self.stages[at.0].dead = true;
        for mut op in moved {
            for source in &mut op.sources {
                if let Source::Op(i) = source {
                    *i += offset;
                }
            }
            self.stages[into].ops.push(op);
        }
        for c in self.channels.iter_mut().filter(|c| c.from_stage == at.0) {
            c.from_stage = into;
            c.from_op += offset;
        }
        for c in self.channels.iter_mut().filter(|c| c.to_stage == at.0) {
            c.to_stage = into;
        }
        for place in self.done.iter_mut().flatten().filter(|p| p.0 == at.0) {
            *place = (into, place.1 + offset);
        }
        (into, at.1 + offset)
    }

    fn finish_join(
        &mut self,
        shape: &JoinShape<'_>,
        stage: usize,
        kind: Kind,
        probe: &Arrival,
        build: &Arrival,
    ) -> At {
        let matched = if shape.kind == JoinKind::Inner {
            0.985
        } else {
            1.0
        };
        let rows: Vec<f64> = probe
            .rows
            .iter()
            .map(|r| (r * matched * shape.fan_out).round())
            .collect();
        let Op::Join { items, .. } = &self.spec.nodes[shape.node].op else {
            unreachable!("built from a join")
        };
        let mut columns = Vec::new();
        for (of_right, name) in items {
            let side = if *of_right {
                &build.columns
            } else {
                &probe.columns
            };
            columns.extend(side.iter().find(|c| c.name == *name).cloned());
        }
        let columns = self.keep(shape.node, columns);
        let placement = match kind {
            Kind::MergeJoin => Placement::Hash(vec![shape.keys.0.clone()]),
            _ => probe_placement(&self.stages[stage], probe.source),
        };
        let sum = probe
            .rows
            .iter()
            .zip(&build.rows)
            .map(|(a, b)| a + b)
            .collect();
        self.push(
            stage,
            Draft {
                kind,
                node: shape.node,
                sources: vec![probe.source, build.source],
                keys: vec![format!("{}|{}", shape.keys.0, shape.keys.1)],
                columns,
                placement,
                rows_in: sum,
                distinct: build.distinct.clone(),
                estimate: probe.estimate,
                ..Draft::rows(rows)
            },
        )
    }

    fn group(
        &mut self,
        node: NodeId,
        input: NodeId,
        keys: &[String],
        aggs: &[(&'static str, String, String)],
    ) -> At {
        let branches = self.done[input].clone();
        let forced = self.has(node, |h| matches!(h, Hint::Repartition(_) | Hint::Serial));
        let out: Vec<Column> = self.spec.columns(node);
        if branches.len() == 1 && self.op(branches[0]).placement.fits(keys) && !forced {
            let local = self.local(branches[0], keys);
            return self.aggregate(node, branches[0].0, &local, keys, out);
        }
        let partial = !aggs.iter().any(|a| a.0 == "COUNTD")
            && !self.has(node, |h| matches!(h, Hint::Serial | Hint::Repartition(_)));
        let sent: Vec<At> = if partial {
            branches
                .iter()
                .map(|&b| self.partial(node, b, keys, &out))
                .collect()
        } else {
            branches
        };
        let bytes: f64 = sent
            .iter()
            .map(|&b| self.op(b).estimate * self.op(b).width())
            .sum();
        let count = self.hint_count(node).unwrap_or_else(|| {
            if keys.is_empty() || bytes <= self.spec.env.gather_bytes && partial {
                1
            } else {
                partitions(self.spec, bytes)
            }
        });
        let stage = self.new_stage(count);
        let kind = if count == 1 {
            Exchange::Gather
        } else {
            Exchange::Hash
        };
        let channels = self.exchange(node, &sent, keys, kind, stage, false);
        let arrived = self.arrive(node, stage, &channels, &sent, keys);
        self.aggregate(node, stage, &arrived, keys, out)
    }

    fn partial(&mut self, node: NodeId, at: At, keys: &[String], out: &[Column]) -> At {
        let from = self.op(at).clone();
        let cols: Vec<&Column> = keys
            .iter()
            .filter_map(|k| from.columns.iter().find(|c| c.name == *k))
            .collect();
        let space = KeySpace::of(&cols, from.total());
        let n = from.rows.len() as f64;
        let rows: Vec<f64> = from
            .rows
            .iter()
            .map(|r| space.seen_in(*r).round().min(*r))
            .collect();
        // The optimiser knows the distinct counts of single columns only, so it is off by some factor.
        let estimate = space.seen_in(from.estimate / n) * n;
        self.push(
            at.0,
            Draft {
                kind: Kind::PartialAggregate,
                node,
                sources: vec![Source::Op(at.1)],
                keys: keys.to_vec(),
                columns: out.to_vec(),
                placement: from.placement.clone(),
                rows_in: from.rows.clone(),
                distinct: rows.clone(),
                estimate,
                ..Draft::rows(rows)
            },
        )
    }

    fn aggregate(
        &mut self,
        node: NodeId,
        stage: usize,
        arrived: &Arrival,
        keys: &[String],
        out: Vec<Column>,
    ) -> At {
        let sorted = if keys.is_empty() {
            arrived.clone()
        } else {
            self.sort_arrival(node, stage, arrived, keys)
        };
        let rows: Vec<f64> = if keys.is_empty() {
            vec![1.0; self.stages[stage].vertices]
        } else {
            arrived
                .distinct
                .iter()
                .zip(&arrived.rows)
                .map(|(d, r)| d.min(*r))
                .collect()
        };
        let distinct: f64 = rows.iter().sum();
        let truth: f64 = arrived.rows.iter().sum();
        let estimate = (arrived.estimate / truth.max(1.0) * distinct)
            .min(arrived.estimate)
            .max(1.0);
        let placement = if self.stages[stage].vertices == 1 {
            Placement::Single
        } else {
            Placement::Hash(keys.to_vec())
        };
        let columns = out.into_iter().map(|c| c.flattened()).collect();
        self.push(
            stage,
            Draft {
                kind: Kind::Aggregate,
                node,
                sources: vec![sorted.source],
                keys: keys.to_vec(),
                columns,
                placement,
                rows_in: arrived.rows.clone(),
                distinct: rows.clone(),
                estimate,
                ..Draft::rows(rows)
            },
        )
    }

    fn reduce(
        &mut self,
        node: NodeId,
        input: NodeId,
        key: &str,
        presort: &str,
        produce: &[Column],
        ratio: f64,
    ) -> At {
        let branches = self.done[input].clone();
        let keys = vec![key.to_owned()];
        let forced = self.has(node, |h| matches!(h, Hint::Repartition(_) | Hint::Serial));
        let local = branches.len() == 1 && self.op(branches[0]).placement.fits(&keys) && !forced;
        let (stage, arrived) = if local {
            (branches[0].0, self.local(branches[0], &keys))
        } else {
            let bytes: f64 = branches
                .iter()
                .map(|&b| self.op(b).estimate * self.op(b).width())
                .sum();
            let count = self
                .hint_count(node)
                .unwrap_or_else(|| partitions(self.spec, bytes));
            let stage = self.new_stage(count);
            let kind = if count == 1 {
                Exchange::Gather
            } else {
                Exchange::Hash
            };
            let channels = self.exchange(node, &branches, &keys, kind, stage, false);
            let arrived = self.arrive(node, stage, &channels, &branches, &keys);
            (stage, arrived)
        };
        let sorted =
            self.sort_arrival(node, stage, &arrived, &[key.to_owned(), presort.to_owned()]);
        let rows: Vec<f64> = arrived
            .rows
            .iter()
            .zip(&arrived.distinct)
            .map(|(r, d)| (r * ratio).max(*d).min(*r).round())
            .collect();
        let columns = self.keep(node, produce.to_vec());
        let columns = columns.into_iter().map(|c| c.flattened()).collect();
        let placement = if self.stages[stage].vertices == 1 {
            Placement::Single
        } else {
            Placement::Hash(keys.clone())
        };
        self.push(
            stage,
            Draft {
                kind: Kind::Reduce,
                node,
                sources: vec![sorted.source],
                keys,
                columns,
                placement,
                rows_in: arrived.rows.clone(),
                distinct: arrived.distinct.clone(),
                estimate: arrived.estimate * ratio.max(0.02),
                ..Draft::rows(rows)
            },
        )
    }

    fn output(&mut self, node: NodeId, input: NodeId, order: Option<&str>) -> At {
        let mut at = self.done[input][0];
        if let Some(key) = order
            && self.stages[at.0].vertices > 1
        {
            let stage = self.new_stage(1);
            let keys = vec![key.to_owned()];
            let channels = self.exchange(node, &[at], &keys, Exchange::Gather, stage, false);
            let arrived = self.arrive(node, stage, &channels, &[at], &keys);
            at = self.sort(node, stage, &arrived, &keys);
        }
        let from = self.op(at).clone();
        self.push(
            at.0,
            Draft {
                kind: Kind::Output,
                node,
                sources: vec![Source::Op(at.1)],
                columns: from.columns.clone(),
                placement: from.placement.clone(),
                rows_in: from.rows.clone(),
                estimate: from.estimate,
                ..Draft::rows(from.rows.clone())
            },
        )
    }
}

fn probe_placement(stage: &Stage, source: Source) -> Placement {
    match source {
        Source::Op(i) => stage.ops[i].placement.clone(),
        _ => Placement::Any,
    }
}

#[derive(Debug, Clone)]
struct Arrival {
    source: Source,
    rows: Vec<f64>,
    distinct: Vec<f64>,
    columns: Vec<Column>,
    estimate: f64,
}

struct JoinShape<'a> {
    node: NodeId,
    keys: &'a (String, String),
    kind: JoinKind,
    fan_out: f64,
}

struct Draft {
    kind: Kind,
    node: NodeId,
    sources: Vec<Source>,
    keys: Vec<String>,
    columns: Vec<Column>,
    placement: Placement,
    rows: Vec<f64>,
    rows_in: Vec<f64>,
    distinct: Vec<f64>,
    estimate: f64,
}

impl Draft {
    fn rows(rows: Vec<f64>) -> Self {
        Self {
            kind: Kind::Get,
            node: 0,
            sources: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
            placement: Placement::Any,
            rows_in: rows.clone(),
            distinct: Vec::new(),
            rows,
            estimate: 0.0,
        }
    }
}

/// Names stages and numbers operators, channels and plan groups.
fn identify(physical: &mut Physical) {
    let order = topological(physical);
    let (mut number, mut uid, mut serial) = (0, 0, 0);
    for stage in order {
        serial += 1;
        let name = stage_name(&physical.stages[stage], serial);
        let s = &mut physical.stages[stage];
        s.name = name;
        for op in &mut s.ops {
            uid += 1;
            op.uid = uid;
            if op.kind != Kind::Output {
                uid += 1;
            }
            op.out_uid = uid;
            op.id = format!("{}_{number}", op_prefix(op));
            op.group = (number, 1 + number % 4);
            number += 1;
        }
    }
    // Stages stand in the files in the order of their numbers.
    let position = |s: &Stage| {
        s.name[2..]
            .split('_')
            .next()
            .and_then(|n| n.parse::<usize>().ok())
            .unwrap_or(usize::MAX)
    };
    let mut index: Vec<usize> = (0..physical.stages.len()).collect();
    index.sort_by_key(|&i| {
        if physical.stages[i].dead {
            usize::MAX
        } else {
            position(&physical.stages[i])
        }
    });
    let mut map = vec![0; index.len()];
    for (new, &old) in index.iter().enumerate() {
        map[old] = new;
    }
    physical.stages = index.iter().map(|&i| physical.stages[i].clone()).collect();
    for c in &mut physical.channels {
        c.from_stage = map[c.from_stage];
        c.to_stage = map[c.to_stage];
    }
    physical.stages.retain(|s| !s.dead);
}

/// Stages after those that they read from.
fn topological(physical: &Physical) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let live: Vec<usize> = physical.live().map(|(i, _)| i).collect();
    while out.len() < live.len() {
        let next = live
            .iter()
            .find(|&&s| !out.contains(&s) && physical.parents(s).iter().all(|p| out.contains(p)));
        match next {
            Some(&s) => out.push(s),
            None => break,
        }
    }
    out
}

fn op_prefix(op: &PhysOp) -> &'static str {
    match op.kind {
        Kind::Get => "GetSStream",
        Kind::Extract => "Extract",
        Kind::MergeJoin => "Join",
        Kind::HashJoin => "HashJoin",
        Kind::PartialAggregate => "PartialAggregate",
        Kind::Aggregate => "Aggregate",
        Kind::Reduce => "Reduce",
        Kind::Partition(Exchange::Hash) => "Partition",
        Kind::Partition(_) => "Split",
        Kind::Union => "Concatenate",
        Kind::Output => "SStreamOutput",
        Kind::Filter | Kind::ManagedFilter | Kind::Sort | Kind::Process => "Process",
    }
}

fn stage_name(stage: &Stage, serial: usize) -> String {
    let mut name = format!("SV{serial}");
    let has = |kinds: &[Kind]| stage.ops.iter().any(|o| kinds.contains(&o.kind));
    let parts: [(&[Kind], &str); 5] = [
        (&[Kind::Get, Kind::Extract], "Extract"),
        (&[Kind::Aggregate], "Aggregate"),
        (&[Kind::MergeJoin, Kind::HashJoin], "Combine"),
        (&[Kind::Reduce], "Reduce"),
        (&[Kind::Partition(Exchange::Hash)], "Split"),
    ];
    for (kinds, part) in parts {
        if has(kinds) {
            name.push('_');
            name.push_str(part);
        }
    }
    if !name.contains('_') {
        name.push_str("_Process");
    }
    name
}
