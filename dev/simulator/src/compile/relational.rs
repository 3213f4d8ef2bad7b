//! The other operators: reading, filtering, user code, groups, reducers, outputs.

use super::*;

impl Compiler<'_> {
    pub(super) fn read(&mut self, node: NodeId, table: usize) -> At {
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

    pub(super) fn select(
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
            // A pure projection costs nothing: unused columns are not read in the first place.
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
            if let Some(name) = &filter.passes_hot {
                for c in columns.iter_mut().filter(|c| c.name == *name) {
                    c.heavy.iter_mut().for_each(|h| h.1 /= filter.keeps);
                }
            }
            if let Some(name) = &filter.only_hot {
                for c in columns.iter_mut().filter(|c| c.name == *name) {
                    c.distinct = c.heavy.len() as f64;
                    c.heavy.iter_mut().for_each(|h| h.1 /= filter.keeps);
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
        let placement = renamed(&from.placement, items);
        self.push(
            at.0,
            Draft {
                kind,
                node,
                sources: vec![Source::Op(at.1)],
                columns,
                placement,
                rows_in: from.rows.clone(),
                estimate: from.estimate * believed,
                ..Draft::rows(rows)
            },
        )
    }

    pub(super) fn process(
        &mut self,
        node: NodeId,
        at: At,
        columns: &[Column],
        (ratio, believed): (f64, f64),
    ) -> At {
        let from = self.op(at).clone();
        let rows = from.rows.iter().map(|r| (r * ratio).round()).collect();
        self.push(
            at.0,
            Draft {
                kind: Kind::Process,
                node,
                sources: vec![Source::Op(at.1)],
                columns: columns.to_vec(),
                // The optimizer does not know the effect of user code on the columns.
                placement: Placement::Any,
                rows_in: from.rows.clone(),
                estimate: from.estimate * believed,
                ..Draft::rows(rows)
            },
        )
    }

    pub(super) fn group(
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
            .map(|&b| self.op(b).estimate * self.op(b).believed_width())
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

    pub(super) fn partial(&mut self, node: NodeId, at: At, keys: &[String], out: &[Column]) -> At {
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
        // The optimizer knows the distinct counts of single columns only, so it is off by some factor.
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

    pub(super) fn aggregate(
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

    pub(super) fn reduce(
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
                .map(|&b| self.op(b).estimate * self.op(b).believed_width())
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

    pub(super) fn output(&mut self, node: NodeId, input: NodeId, order: Option<&str>) -> At {
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

/// The placement under the new names of its keys.
fn renamed(placement: &Placement, items: &[crate::plan::Item]) -> Placement {
    let Placement::Hash(keys) = placement else {
        return placement.clone();
    };
    let name = |key: &String| {
        let renames = |i: &&crate::plan::Item| i.expr.as_ref().is_some_and(|e| e.text == *key);
        items
            .iter()
            .find(renames)
            .map_or_else(|| key.clone(), |i| i.name.clone())
    };
    Placement::Hash(keys.iter().map(name).collect())
}
