//! Inputs of a query: sources, joins, and the previous rowset if none is named.

use super::Lowering;
use super::query::{Labels, is_of, join_keys};
use crate::script::lexer::TokenKind;
use crate::script::model::{Join, JoinKind, Query, RowsetRef, RowsetSource, StatementKind};
use crate::script::tree::NodeKind;

impl Lowering<'_> {
    /// Fills `inputs` and, for `SELECT`, `joins`.
    pub(super) fn sources(&self, node: usize, query: &mut Query) {
        let mut joins = Vec::new();
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::From if query.kind == StatementKind::Extract => {}
                NodeKind::From => self.from(child, query, &mut joins),
                NodeKind::Source => query.inputs.push(self.source(child)),
                _ => {}
            }
        }
        if query.kind == StatementKind::Rowset {
            let expression = self.tree.child(node, NodeKind::Expression);
            let named = expression.map(|child| self.named_source(child));
            query.inputs.extend(named);
        }
        let needs_input = matches!(
            query.kind,
            StatementKind::Select | StatementKind::Process | StatementKind::Reduce
        ) || query.kind == StatementKind::Combine && query.inputs.len() < 2;
        if needs_input && query.inputs.is_empty() {
            query.inputs.push(self.previous_source(query.span.start));
        }
        let labels = Labels::of(&query.inputs);
        for (child, right) in joins {
            let join = self.join(child, right, &query.inputs, &labels);
            query.joins.push(join);
        }
    }

    fn from(&self, node: usize, query: &mut Query, joins: &mut Vec<(usize, usize)>) {
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Source => query.inputs.push(self.source(child)),
                NodeKind::Join => {
                    let source = self.tree.child(child, NodeKind::Source);
                    let Some(source) = source else { continue };
                    let applied = self.words(self.join_words(child)).ends_with("APPLY");
                    let mut rowset = self.source(source);
                    if applied && !matches!(rowset.source, RowsetSource::Query(_)) {
                        let known = Labels::of(&query.inputs);
                        let expression = self.tree.child(source, NodeKind::Expression);
                        let expression = expression.map(|node| self.expression(node, &known));
                        rowset.source = RowsetSource::Apply(expression.unwrap_or_default());
                        rowset.definition = None;
                    }
                    query.inputs.push(rowset);
                    if !applied {
                        joins.push((child, query.inputs.len() - 1));
                    }
                }
                _ => {}
            }
        }
    }

    fn join_words(&self, join: usize) -> usize {
        self.tree.child(join, NodeKind::JoinWords).unwrap_or(join)
    }

    /// The previous rowset, for a statement without a source.
    pub(super) fn previous_source(&self, at: usize) -> RowsetRef {
        let name = self.previous.as_ref().and_then(|(_, name)| name.clone());
        RowsetRef {
            name: name.unwrap_or_default(),
            definition: self.previous.as_ref().map(|(index, _)| *index),
            source: RowsetSource::Previous,
            span: at..at,
            ..RowsetRef::default()
        }
    }

    pub(super) fn source(&self, node: usize) -> RowsetRef {
        let mut rowset = RowsetRef::default();
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Query => {
                    let query = self.query(child);
                    rowset = match plain_reference(&query) {
                        Some(inner) => inner.clone(),
                        None => RowsetRef {
                            source: RowsetSource::Query(Box::new(query)),
                            ..RowsetRef::default()
                        },
                    };
                }
                NodeKind::Expression => rowset = self.named_source(child),
                NodeKind::Alias => rowset.alias = Some(self.plain_name(child)),
                _ => {}
            }
        }
        rowset.span = self.tree.node_span(node);
        rowset
    }

    /// A source written as an expression: a name, a call, a path.
    fn named_source(&self, node: usize) -> RowsetRef {
        let expression = self.expression(node, &Labels::default());
        let span = expression.span.clone();
        let first = self.tree.seen_tokens(node).next();
        let first = first.map_or(TokenKind::Unknown, |token| self.tree.token_kind(token));
        let name = self.slice(&span).to_owned();
        let plain = !name.contains(['(', '+', '"', '?']);
        let mut rowset = RowsetRef {
            span,
            ..RowsetRef::default()
        };
        if plain && first != TokenKind::Text {
            rowset.definition = self.names.get(&name).copied();
            rowset.name = name;
        } else if first == TokenKind::Word || !expression.calls.is_empty() {
            rowset.name = expression.calls.first().cloned().unwrap_or_default();
            rowset.source = RowsetSource::Call(expression);
        } else {
            rowset.source = RowsetSource::Path(expression);
        }
        rowset
    }

    fn join(&self, node: usize, right: usize, inputs: &[RowsetRef], labels: &Labels) -> Join {
        let words_node = self.join_words(node);
        let words = self.words(words_node);
        let words: Vec<&str> = words.split(' ').collect();
        let on = self.tree.child(node, NodeKind::On);
        let on = on.and_then(|on| self.tree.child(on, NodeKind::Expression));
        let condition = on.map(|on| self.conjuncts(on, labels)).unwrap_or_default();
        let label = inputs[right].label();
        let keys = join_keys(&condition, |a, b| is_of(a, label) && !is_of(b, label));
        let left = keys
            .first()
            .and_then(|(left, _)| labels.find(left.qualifier.as_deref()?))
            .filter(|&left| left < right);
        Join {
            kind: join_kind(&words),
            strategy: words
                .iter()
                .filter(|word| crate::script::hints::JOIN_STRATEGIES.contains(word))
                .map(|word| (*word).to_owned())
                .collect(),
            left: left.unwrap_or(0),
            right,
            keys,
            condition,
            keyword_span: self.tree.node_span(words_node),
            span: self.tree.node_span(node),
        }
    }
}

/// The rowset behind `(name)`.
fn plain_reference(query: &Query) -> Option<&RowsetRef> {
    match (query.kind, query.inputs.as_slice()) {
        (StatementKind::Rowset, [inner]) => Some(inner),
        _ => None,
    }
}

fn join_kind(words: &[&str]) -> JoinKind {
    let has = |word: &str| words.contains(&word);
    let anti = has("ANTISEMI") || has("ANTISEMIJOIN");
    let semi = has("SEMI") || has("SEMIJOIN");
    match (has("RIGHT"), anti, semi) {
        (false, true, _) => JoinKind::LeftAntiSemi,
        (true, true, _) => JoinKind::RightAntiSemi,
        (false, _, true) => JoinKind::LeftSemi,
        (true, _, true) => JoinKind::RightSemi,
        (true, false, false) => JoinKind::RightOuter,
        _ if has("LEFT") => JoinKind::LeftOuter,
        _ if has("FULL") || has("OUTER") => JoinKind::FullOuter,
        _ if has("CROSS") => JoinKind::Cross,
        _ => JoinKind::Inner,
    }
}
