//! Statements: their kinds, the names they bind, their hints.

use super::Lowering;
use super::query::Labels;
use crate::script::hints;
use crate::script::model::{Hint, HintForm, Statement, StatementKind};
use crate::script::tree::NodeKind;

impl Lowering<'_> {
    pub(super) fn statement(&self, node: usize) -> Statement {
        let mut statement = Statement {
            span: self.tree.node_span(node),
            ..Statement::default()
        };
        if self.kind(node) == NodeKind::CsBlock {
            statement.kind = StatementKind::CsBlock;
            return statement;
        }
        statement.hints = self.hints(node);
        let word = self.first_word(node);
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Target => statement.target = Some(self.plain_name(child)),
                NodeKind::Query if word == "OUTPUT" => {
                    statement.kind = StatementKind::Output;
                    self.output(node, child, &mut statement);
                }
                NodeKind::Query => {
                    statement.query = self.query(child);
                    statement.kind = statement.query.kind;
                }
                NodeKind::Declaration => self.declaration(child, word, &mut statement),
                NodeKind::Ddl => self.ddl(child, word, &mut statement),
                NodeKind::Block => statement.kind = block_kind(word),
                _ => {}
            }
        }
        if statement.kind == StatementKind::Rowset && statement.target.is_none() {
            statement.kind = StatementKind::Call;
        }
        if word.is_empty() && self.node_text(node) == ";" {
            statement.kind = StatementKind::Empty;
        }
        statement
    }

    /// First token after the hints.
    fn first_word(&self, node: usize) -> &str {
        let children = self.tree.children(node);
        let hints = children
            .take_while(|&child| self.kind(child) == NodeKind::Hint)
            .last();
        let from = hints.map_or(0, |hint| self.tree.nodes()[hint].end as usize);
        let first = self.tree.seen_tokens(node).find(|&token| token >= from);
        first.map_or("", |token| self.token(token))
    }

    fn hints(&self, node: usize) -> Vec<Hint> {
        let mut found = Vec::new();
        for at in node..self.tree.nodes()[node].next as usize {
            let form = match self.kind(at) {
                NodeKind::Hint => HintForm::Attribute,
                NodeKind::OptionClause => HintForm::Option,
                _ => continue,
            };
            let span = self.tree.node_span(at);
            found.extend(hints::read(self.slice(&span), span.start, form));
        }
        found
    }

    fn declaration(&self, node: usize, word: &str, statement: &mut Statement) {
        statement.kind = declaration_kind(word);
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Target => statement.target = Some(self.plain_name(child)),
                NodeKind::Alias => statement.target = Some(self.plain_name(child)),
                NodeKind::Expression => {
                    statement.value = Some(self.expression(child, &Labels::default()))
                }
                NodeKind::Query => statement.query = self.query(child),
                NodeKind::Params => statement.query.params = self.params(child),
                _ => {}
            }
        }
    }

    fn ddl(&self, node: usize, word: &str, statement: &mut Statement) {
        statement.kind = match word {
            "CREATE" => StatementKind::Create,
            "INSERT" => StatementKind::Insert,
            _ => StatementKind::Ddl,
        };
        for child in self.tree.children(node) {
            match self.kind(child) {
                NodeKind::Query => statement.query = self.query(child),
                NodeKind::Target => statement.target = Some(self.plain_name(child)),
                _ => {}
            }
        }
    }
}

fn declaration_kind(word: &str) -> StatementKind {
    let word = word
        .trim_start_matches('#')
        .trim_start()
        .to_ascii_uppercase();
    match word.as_str() {
        "SET" => StatementKind::Set,
        "REFERENCE" => StatementKind::Reference,
        "RESOURCE" | "DEPLOY" => StatementKind::Resource,
        "USING" => StatementKind::Using,
        "MODULE" | "IMPORT" => StatementKind::Module,
        "USE" => StatementKind::Use,
        _ => StatementKind::Declare,
    }
}

fn block_kind(word: &str) -> StatementKind {
    match word {
        "LOOP" => StatementKind::Loop,
        "BEGIN" => StatementKind::Begin,
        "END" | "}" => StatementKind::End,
        _ => StatementKind::If,
    }
}
