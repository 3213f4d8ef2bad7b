//! Queries: sources, joins, columns and the clauses on them.

use std::collections::{HashMap, HashSet};

use super::Lowering;
use crate::bounds::COLUMNS_PER_ROWSET;
use crate::script::model::{
    Aggregate, ColumnRef, Conjunct, Expression, Join, JoinKind, OrderItem, OutputColumn, Query,
    RowsetRef, RowsetSource, StatementKind,
};
use crate::script::tree::NodeKind;

impl Lowering<'_> {
    /// Query of a `Query` node; parentheses around the whole query are skipped.
    pub(super) fn query(&self, node: usize) -> Query {
        let mut branches = Vec::new();
        let mut operators = Vec::new();
        let mut order_by = Vec::new();
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Query => branches.push(self.query(child)),
                NodeKind::SetOperator => operators.push(self.words(child)),
                NodeKind::OrderBy => order_by.push(child),
                NodeKind::Hint | NodeKind::OptionClause => {}
                _ => branches.push(self.branch(child)),
            }
        }
        let mut query = match branches.len() {
            1 => branches.remove(0),
            0 => Query::default(),
            _ => Query {
                kind: StatementKind::Union,
                branches,
                ..Query::default()
            },
        };
        query.set_operators.extend(operators);
        for clause in order_by {
            let labels = Labels::of(&query.inputs);
            query.order_by = self.order_items(clause, &labels);
        }
        query.span = self.tree.node_span(node);
        query
    }

    /// Words of a node in upper case, a blank between them.
    pub(super) fn words(&self, node: usize) -> String {
        let words: Vec<_> = self
            .tree
            .seen_tokens(node)
            .map(|token| self.token(token))
            .collect();
        words.join(" ").to_ascii_uppercase()
    }

    fn branch(&self, node: usize) -> Query {
        let kind = match self.kind(node) {
            NodeKind::Select => StatementKind::Select,
            NodeKind::Extract => StatementKind::Extract,
            NodeKind::SStream => StatementKind::SStream,
            NodeKind::Process => StatementKind::Process,
            NodeKind::Reduce => StatementKind::Reduce,
            NodeKind::Combine => StatementKind::Combine,
            NodeKind::View => StatementKind::View,
            NodeKind::Values => StatementKind::Values,
            NodeKind::Reference => StatementKind::Rowset,
            _ => StatementKind::Unknown,
        };
        let mut query = Query {
            kind,
            span: self.tree.node_span(node),
            ..Query::default()
        };
        self.sources(node, &mut query);
        self.clauses(node, &mut query);
        query
    }

    /// Text of a name without the brackets of a quoted one.
    pub(super) fn plain_name(&self, node: usize) -> String {
        let text = self.node_text(node);
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        inner.unwrap_or(text).trim().to_owned()
    }

    fn clauses(&self, node: usize, query: &mut Query) {
        let (labels, none) = (Labels::of(&query.inputs), Labels::default());
        for child in self.tree.children(node) {
            let inner = || self.tree.child(child, NodeKind::Expression);
            match self.kind(child) {
                NodeKind::Distinct => query.distinct = true,
                NodeKind::All => query.all = true,
                NodeKind::Top => query.top = Some(self.expression(child, &labels)),
                NodeKind::Columns => self.columns(child, query, &labels),
                NodeKind::Produce => {
                    if let Some(list) = self.tree.child(child, NodeKind::Columns) {
                        self.columns(list, query, &labels);
                    }
                }
                NodeKind::From if query.kind == StatementKind::Extract => {
                    query.paths.extend(self.expressions(child, &none));
                }
                NodeKind::Expression => query.paths.push(self.expression(child, &none)),
                NodeKind::Where => {
                    query.filter_span = Some(self.tree.node_span(child));
                    query.filter.extend(self.conditions(inner(), &labels));
                }
                NodeKind::GroupBy => query.group_by = self.expressions(child, &labels),
                NodeKind::Having => query.having.extend(self.conditions(inner(), &labels)),
                NodeKind::OrderBy => query.order_by = self.order_items(child, &labels),
                NodeKind::Presort => self.presort(child, query, &labels),
                NodeKind::On => self.on(child, query, &labels),
                NodeKind::Using => self.using(child, query),
                NodeKind::Required => {
                    let columns = self.expressions(child, &labels).into_iter();
                    query.required.extend(columns.flat_map(|e| e.uses));
                }
                NodeKind::Params => query.params = self.params(child),
                _ => {}
            }
        }
        if query.kind == StatementKind::Rowset {
            query.paths.clear();
        }
        self.query_aggregates(node, query, &labels);
        self.inner_queries(node, query);
    }

    /// Queries inside conditions and columns are inputs too.
    fn inner_queries(&self, node: usize, query: &mut Query) {
        let end = self.tree.nodes()[node].next as usize;
        let mut at = node + 1;
        while at < end {
            match self.kind(at) {
                NodeKind::Source | NodeKind::Join => at = self.tree.nodes()[at].next as usize,
                NodeKind::Query => {
                    let span = self.tree.node_span(at);
                    let source = RowsetSource::Query(Box::new(self.query(at)));
                    query.inputs.push(RowsetRef {
                        source,
                        span,
                        ..RowsetRef::default()
                    });
                    at = self.tree.nodes()[at].next as usize;
                }
                _ => at += 1,
            }
        }
    }

    fn conditions(&self, node: Option<usize>, labels: &Labels) -> Vec<Conjunct> {
        node.map(|node| self.conjuncts(node, labels))
            .unwrap_or_default()
    }

    fn expressions(&self, node: usize, labels: &Labels) -> Vec<Expression> {
        let children = self.tree.children(node);
        let expressions = children.filter(|&child| self.kind(child) == NodeKind::Expression);
        expressions
            .map(|child| self.expression(child, labels))
            .collect()
    }

    pub(super) fn order_items(&self, node: usize, labels: &Labels) -> Vec<OrderItem> {
        let children = self.tree.children(node);
        let items = children.filter(|&child| self.kind(child) == NodeKind::OrderItem);
        items
            .filter_map(|item| {
                let expression = self.tree.child(item, NodeKind::Expression)?;
                let last = self.tree.seen_tokens(item).last()?;
                Some(OrderItem {
                    expression: self.expression(expression, labels),
                    descending: self.token(last) == "DESC",
                })
            })
            .collect()
    }

    fn columns(&self, node: usize, query: &mut Query, labels: &Labels) {
        let children = self.tree.children(node);
        let columns = children.filter(|&child| self.kind(child) == NodeKind::Column);
        let columns = columns.map(|child| self.column(child, labels));
        let room = COLUMNS_PER_ROWSET.saturating_sub(query.columns.len());
        query.columns.extend(columns.take(room));
    }

    fn column(&self, node: usize, labels: &Labels) -> OutputColumn {
        let mut column = OutputColumn {
            span: self.tree.node_span(node),
            ..OutputColumn::default()
        };
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Expression => {
                    column.expression = self.expression(child, labels);
                    let named = column.expression.as_column().map(|used| used.name.clone());
                    let star = self.slice(&column.expression.span) == "*";
                    column.name = if star { Some("*".to_owned()) } else { named };
                }
                NodeKind::Word => {
                    let name = self.plain_name(child);
                    let span = self.tree.node_span(child);
                    column.expression.uses = vec![ColumnRef {
                        qualifier: None,
                        name: name.clone(),
                        span: span.clone(),
                    }];
                    column.expression.span = span;
                    column.name = Some(name);
                }
                NodeKind::Alias => column.name = Some(self.plain_name(child)),
                NodeKind::Type => column.type_name = Some(self.node_text(child).to_owned()),
                _ => {}
            }
        }
        column
    }

    fn presort(&self, node: usize, query: &mut Query, labels: &Labels) {
        let items = self.order_items(node, labels);
        let start = self.tree.node_span(node).start;
        let is_combine = query.kind == StatementKind::Combine;
        let is_before = |input: &&mut RowsetRef| is_combine && input.span.end <= start;
        match query.inputs.iter_mut().rev().find(is_before) {
            Some(input) => input.presort = items,
            None => query.presort = items,
        }
    }

    /// `ON` of `REDUCE` lists keys; `ON` of `COMBINE` is a condition.
    fn on(&self, node: usize, query: &mut Query, labels: &Labels) {
        if query.kind != StatementKind::Combine {
            let keys = self.expressions(node, labels);
            query.on.extend(keys.into_iter().flat_map(|key| key.uses));
            return;
        }
        let inner = self.tree.child(node, NodeKind::Expression);
        let condition = self.conditions(inner, labels);
        let right = query.inputs.len().saturating_sub(1);
        let label = query.inputs.get(right).map_or("", |input| input.label());
        let keys = join_keys(&condition, |left, _| is_of(left, label));
        query.on = keys.iter().map(|(left, _)| left.clone()).collect();
        let span = self.tree.node_span(node);
        query.joins.push(Join {
            kind: JoinKind::Inner,
            left: 0,
            right,
            keys,
            condition,
            keyword_span: span.start..span.start,
            span,
            ..Join::default()
        });
    }

    fn using(&self, node: usize, query: &mut Query) {
        let Some(inner) = self.tree.child(node, NodeKind::Expression) else {
            return;
        };
        let text = self.slice(&self.span_of(&self.expression_tokens(inner)));
        let text = text
            .strip_prefix("new")
            .filter(|rest| rest.starts_with(' '))
            .unwrap_or(text);
        let end = text.find(['(', '{']).unwrap_or(text.len());
        query.using_class = Some(text[..end].trim().to_owned());
    }

    pub(super) fn params(&self, node: usize) -> Vec<(String, Expression)> {
        let children = self.tree.children(node);
        let params = children.filter(|&child| self.kind(child) == NodeKind::Param);
        params
            .filter_map(|param| {
                let name = self.tree.child(param, NodeKind::Word)?;
                let value = self.tree.child(param, NodeKind::Expression)?;
                let value = self.expression(value, &Labels::default());
                Some((self.plain_name(name), value))
            })
            .collect()
    }

    fn query_aggregates(&self, node: usize, query: &mut Query, labels: &Labels) {
        if query.kind != StatementKind::Select {
            return;
        }
        let grouped = !query.group_by.is_empty();
        let keys: HashSet<&str> = query
            .group_by
            .iter()
            .map(|key| self.slice(&key.span))
            .collect();
        let mut found = Vec::new();
        let mut number = 0;
        for clause in self.tree.children(node) {
            match self.kind(clause) {
                NodeKind::Columns => {
                    for column in self.tree.children(clause) {
                        if self.kind(column) == NodeKind::Column {
                            let place = (grouped, Some(number));
                            found.extend(self.aggregates_in(column, &keys, labels, place));
                            number += 1;
                        }
                    }
                }
                NodeKind::Having => {
                    found.extend(self.aggregates_in(clause, &keys, labels, (false, None)));
                }
                _ => {}
            }
        }
        drop(keys);
        query.aggregates.extend(found);
    }

    fn aggregates_in(
        &self,
        node: usize,
        keys: &HashSet<&str>,
        labels: &Labels,
        (grouped, column): (bool, Option<usize>),
    ) -> Vec<Aggregate> {
        let Some(inner) = self.tree.child(node, NodeKind::Expression) else {
            return Vec::new();
        };
        let is_key = keys.contains(self.node_text(inner));
        let tokens = self.expression_tokens(inner);
        let found = self.aggregates(&tokens, labels, grouped && !is_key);
        let found = found.into_iter();
        found
            .map(|aggregate| Aggregate {
                column,
                ..aggregate
            })
            .collect()
    }
}

/// Equalities of a condition as (left column, right column); `swapped` marks conditions written the other way round.
pub(super) fn join_keys(
    condition: &[Conjunct],
    swapped: impl Fn(&ColumnRef, &ColumnRef) -> bool,
) -> Vec<(ColumnRef, ColumnRef)> {
    let equalities = condition.iter().filter_map(|c| c.equality.clone());
    equalities
        .map(|(left, right)| match swapped(&left, &right) {
            true => (right, left),
            false => (left, right),
        })
        .collect()
}

/// Whether a column is qualified by a label.
pub(super) fn is_of(column: &ColumnRef, label: &str) -> bool {
    column.qualifier.as_deref() == Some(label)
}

/// Qualifiers for the columns of a query's inputs.
#[derive(Debug, Default)]
pub(super) struct Labels(HashMap<String, usize>);

impl Labels {
    /// Labels of some inputs; the first of equal ones counts.
    pub(super) fn of(inputs: &[RowsetRef]) -> Labels {
        let mut found = HashMap::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            let label = input.label();
            let last = label.rsplit('.').next().unwrap_or(label);
            for name in [label, last] {
                if !name.is_empty() {
                    found.entry(name.to_owned()).or_insert(index);
                }
            }
        }
        Labels(found)
    }

    /// Index of the input that has the label.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }
}
