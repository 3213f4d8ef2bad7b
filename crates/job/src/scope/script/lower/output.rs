//! Output paths and layouts.

use super::Lowering;
use super::query::Labels;
use crate::script::model::{OutputClause, Statement};
use crate::script::tree::NodeKind;

impl Lowering<'_> {
    /// Layout clauses among the children of an `OUTPUT`.
    pub(super) fn output_clause(&self, node: usize) -> OutputClause {
        let (mut output, none) = (OutputClause::default(), Labels::default());
        for child in self.tree.children(node) {
            let span = self.tree.node_span(child);
            let is_layout = match self.kind(child) {
                NodeKind::To => {
                    let path = self.tree.child(child, NodeKind::Expression);
                    output.path = path.map(|path| self.expression(path, &none));
                    let words = self.tree.seen_tokens(child).take(2);
                    output.sstream = words.map(|token| self.token(token)).any(|w| w == "SSTREAM");
                    false
                }
                NodeKind::Distribution => true,
                NodeKind::Clustered => {
                    output.clustered_by = self.order_items(child, &none);
                    output.partitions = self.count_of(child);
                    true
                }
                NodeKind::Sorted => {
                    output.sorted_by = self.order_items(child, &none);
                    true
                }
                NodeKind::OrderBy => {
                    output.sorted_by = self.order_items(child, &none);
                    false
                }
                NodeKind::Partitioned => {
                    output.partitioned_by = self.order_items(child, &none);
                    true
                }
                _ => false,
            };
            if is_layout {
                let before = output.layout_span.take();
                output.layout_span = Some(before.map_or(span.start, |b| b.start)..span.end);
            }
        }
        output
    }

    /// `INTO n`.
    fn count_of(&self, node: usize) -> Option<u32> {
        let count = self.tree.child(node, NodeKind::Expression)?;
        self.node_text(count).parse().ok()
    }

    /// Fills in the `OUTPUT` of a statement.
    pub(super) fn output(&self, node: usize, query_node: usize, statement: &mut Statement) {
        let source = self.tree.child(query_node, NodeKind::Source);
        let input = match source {
            Some(source) => self.source(source),
            None => self.previous_source(statement.span.start),
        };
        statement.query.kind = super::StatementKind::Output;
        statement.query.span = statement.span.clone();
        statement.query.inputs.push(input);
        let using = self.tree.child(node, NodeKind::Using);
        let using = using.and_then(|using| self.tree.child(using, NodeKind::Expression));
        if let Some(using) = using {
            let text = self.node_text(using);
            let end = text.find('(').unwrap_or(text.len());
            let class = text[..end].trim_start_matches("new ").trim();
            statement.query.using_class = Some(class.to_owned());
        }
        statement.output = Some(self.output_clause(node));
    }
}
