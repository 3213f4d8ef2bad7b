//! Joins: broadcast, in place, or over exchanges.

use super::*;

impl Compiler<'_> {
    pub(super) fn join(
        &mut self,
        node: NodeId,
        left: NodeId,
        right: NodeId,
        keys: &(String, String),
        kind: JoinKind,
        (fan_out, matched): (f64, f64),
    ) -> At {
        let (l, r) = (self.done[left].clone(), self.done[right].clone());
        let (lk, rk) = (vec![keys.0.clone()], vec![keys.1.clone()]);
        let est = |this: &Self, side: &[At]| {
            side.iter()
                .map(|&a| this.op(a).estimate * this.op(a).believed_width())
                .sum::<f64>()
        };
        let (lb, rb) = (est(self, &l), est(self, &r));
        let pair = self.has(node, |h| matches!(h, Hint::Pair));
        let shape = JoinShape {
            node,
            keys,
            kind,
            fan_out,
            matched,
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
        if !forced && r.len() == 1 && self.op(r[0]).placement == Placement::Hash(rk.clone()) {
            // Only the left side moves, to the partitions of the right one.
            let stage = r[0].0;
            let channels = self.exchange(node, &l, &lk, Exchange::Hash, stage, false);
            let arrived = self.arrive(node, stage, &channels, &l, &lk);
            let probe = self.sort_arrival(node, stage, &arrived, &lk);
            let stored = self.local(r[0], &rk);
            let build = if self.sorted_on(r[0], &keys.1) {
                stored
            } else {
                self.sort_arrival(node, stage, &stored, &rk)
            };
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

    /// Moves the operators of a leaf stage into another stage with the same partitions.
    pub(super) fn merge_stage(&mut self, at: At, into: usize) -> At {
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

    pub(super) fn finish_join(
        &mut self,
        shape: &JoinShape<'_>,
        stage: usize,
        kind: Kind,
        probe: &Arrival,
        build: &Arrival,
    ) -> At {
        let matched = match shape.kind {
            JoinKind::Inner => 0.985 * shape.matched,
            JoinKind::LeftOuter => 1.0,
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
            let column = side.iter().find(|c| c.name == *name).cloned();
            columns.extend(column.map(|c| match (of_right, shape.kind) {
                (true, JoinKind::LeftOuter) if shape.matched < 1.0 => {
                    c.with_nulls(1.0 - shape.matched)
                }
                _ => c,
            }));
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
}
