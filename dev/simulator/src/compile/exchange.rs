//! Exchanges: the rows that leave a stage, the rows that arrive in the next one, and sorting.

use super::*;

impl Compiler<'_> {
    /// Sends branches over an exchange into `stage`; returns the arriving rows as a source.
    pub(super) fn exchange(
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
    pub(super) fn arrive(
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

    pub(super) fn sort(
        &mut self,
        node: NodeId,
        stage: usize,
        from: &Arrival,
        keys: &[String],
    ) -> At {
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
    pub(super) fn local(&self, at: At, keys: &[String]) -> Arrival {
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

    pub(super) fn after(&self, at: At, arrival: &Arrival) -> Arrival {
        Arrival {
            source: Source::Op(at.1),
            ..arrival.clone()
        }
    }

    pub(super) fn sort_arrival(
        &mut self,
        node: NodeId,
        stage: usize,
        from: &Arrival,
        keys: &[String],
    ) -> Arrival {
        let at = self.sort(node, stage, from, keys);
        self.after(at, from)
    }

    pub(super) fn sorted_on(&self, at: At, key: &str) -> bool {
        // Tables and merge joins put their rows out in the order of their key.
        matches!(
            self.op(at).kind,
            Kind::Get | Kind::Filter | Kind::ManagedFilter | Kind::MergeJoin
        ) && self.op(at).placement == Placement::Hash(vec![key.to_owned()])
    }
}
