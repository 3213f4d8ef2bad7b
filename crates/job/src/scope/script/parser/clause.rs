//! Clauses that several operators share: column definitions, orders, `USING`, `OPTION`, types.

use super::Parser;
use crate::script::lexer::TokenKind;
use crate::script::tree::NodeKind;
use crate::script::words::Words;

impl Parser<'_> {
    /// `name`, `name type`, `name : type`, `*`, separated by commas, for `EXTRACT` and `PRODUCE`.
    pub(super) fn column_definitions(&mut self) {
        let list = self.open(NodeKind::Columns);
        self.separated(|parser| {
            let column = parser.open(NodeKind::Column);
            parser.column_definition();
            parser.close(column);
        });
        self.close(list);
    }

    fn column_definition(&mut self) {
        if self.is("*") {
            return self.leaf(NodeKind::Word);
        }
        if !self.name_token(NodeKind::Word) {
            return;
        }
        while self.eat(".") {
            if self.is("*") || self.kind() == TokenKind::Word {
                self.bump();
            }
        }
        let typed = self.eat(":");
        if typed || self.kind() == TokenKind::Word && !self.at_clause() {
            self.type_name();
        }
        if self.eat("=") {
            self.expression();
        }
    }

    /// A word, `[quoted word]` or macro as its own node.
    pub(super) fn name_token(&mut self, kind: NodeKind) -> bool {
        match self.kind() {
            TokenKind::Word | TokenKind::Variable => self.leaf(kind),
            TokenKind::Parameter => {
                let mark = self.open(kind);
                self.bump();
                self.macro_rest();
                self.close(mark);
            }
            TokenKind::Punct if self.is("[") => {
                let mark = self.open(kind);
                self.balanced();
                self.close(mark);
            }
            _ => {
                self.error("expected a name");
                return false;
            }
        }
        true
    }

    /// The rest of a name that begins with a macro: `@@Prefix@@Name`.
    fn macro_rest(&mut self) {
        while !self.done()
            && self.seen[self.at - 1] + 1 == self.seen[self.at]
            && matches!(self.kind(), TokenKind::Word | TokenKind::Parameter)
        {
            self.bump();
        }
    }

    /// `int?`, `byte[]`, `SQL.MAP<string, int?>`, `SqlArray<string>`.
    pub(super) fn type_name(&mut self) {
        let mark = self.open(NodeKind::Type);
        let mut depth = 0usize;
        let mut wants_name = true;
        while !self.done() {
            match (self.kind(), self.text()) {
                (TokenKind::Word | TokenKind::Parameter, _) if wants_name => wants_name = false,
                (TokenKind::Punct, "<") if !wants_name => {
                    depth += 1;
                    wants_name = true;
                }
                (TokenKind::Punct, ">") if depth > 0 => depth -= 1,
                (TokenKind::Punct, ",") if depth > 0 => wants_name = true,
                (TokenKind::Punct, ".") if !wants_name => wants_name = true,
                (TokenKind::Punct, "?") if !wants_name => {}
                (TokenKind::Punct, "[") if !wants_name && self.is_ahead(1, "]") => self.bump(),
                _ => break,
            }
            self.bump();
        }
        if wants_name || depth > 0 {
            self.error("expected a type");
        }
        self.close(mark);
    }

    /// Whether the next word opens a clause.
    pub(super) fn at_clause(&self) -> bool {
        static CLAUSES: Words = Words::new(
            "AS CLUSTERED FROM GROUP HAVING ON OPTION ORDER PARTITIONED PRESORT PRODUCE \
             READONLY REQUIRED SORTED TO USING WHERE WITH",
        );
        self.kind() == TokenKind::Word && CLAUSES.contain_keyword(self.text())
    }

    /// `expr [ASC | DESC]`, separated by commas.
    pub(super) fn order_items(&mut self) {
        self.separated(|parser| {
            let item = parser.open(NodeKind::OrderItem);
            parser.expression();
            let _ = parser.eat("ASC") || parser.eat("DESC");
            parser.close(item);
        });
    }

    /// A clause of one keyword, or two, and a list of ordered keys.
    pub(super) fn key_clause(&mut self, kind: NodeKind, words: &[&str]) {
        let mark = self.open(kind);
        for word in words {
            self.expect(word);
        }
        self.order_items();
        self.close(mark);
    }

    /// A clause of some keywords and a list of expressions: `GROUP BY a, b`, `READONLY *`.
    pub(super) fn list_clause(&mut self, kind: NodeKind, words: &[&str]) {
        let mark = self.open(kind);
        self.bump();
        for word in words {
            self.expect(word);
        }
        self.separated(Self::expression);
        self.close(mark);
    }

    /// Parses a clause that may follow any operator; false without one.
    pub(super) fn clause(&mut self) -> bool {
        match self.text() {
            "USING" => self.expression_clause(NodeKind::Using),
            "HAVING" => self.expression_clause(NodeKind::Having),
            "WHERE" => self.expression_clause(NodeKind::Where),
            "ORDER" => self.order_by(),
            "OPTION" => self.option(),
            _ => return false,
        }
        true
    }

    /// A keyword and a condition or another single expression.
    pub(super) fn expression_clause(&mut self, kind: NodeKind) {
        let mark = self.open(kind);
        self.bump();
        self.expression();
        self.close(mark);
    }

    /// `OPTION (…)`: the hints inside are read by the hint grammar.
    pub(super) fn option(&mut self) {
        let mark = self.open(NodeKind::OptionClause);
        self.bump();
        match self.is("(") {
            true => self.balanced(),
            false => self.error("expected `(` behind `OPTION`"),
        }
        self.close(mark);
    }

    /// `PARAMS (k = v, …)`, with or without parentheses.
    pub(super) fn params(&mut self) {
        let mark = self.open(NodeKind::Params);
        self.bump();
        let closed = self.eat("(");
        if !(closed && self.is(")")) {
            self.separated(|parser| {
                let param = parser.open(NodeKind::Param);
                if parser.name_token(NodeKind::Word) {
                    parser.expect("=");
                    parser.expression();
                }
                parser.close(param);
            });
        }
        if closed {
            self.expect(")");
        }
        self.close(mark);
    }
}
