//! Clauses that several operators share: column definitions, orders, `USING`, `OPTION`, types.

use super::Parser;
use crate::script::lexer::TokenKind;
use crate::script::tree::NodeKind;
use crate::script::words::Words;

impl Parser<'_> {
    /// `name`, `name type`, `name : type`, `*`, separated by commas, for `EXTRACT` and `PRODUCE`.
    pub(super) fn column_definitions(&mut self) {
        let list = self.open(NodeKind::Columns);
        loop {
            let column = self.open(NodeKind::Column);
            self.column_definition();
            self.close(column);
            if !self.eat(",") {
                break;
            }
        }
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
        loop {
            let item = self.open(NodeKind::OrderItem);
            self.expression();
            if !self.eat("ASC") {
                self.eat("DESC");
            }
            self.close(item);
            if !self.eat(",") {
                break;
            }
        }
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

    /// `GROUP BY a, b`; also U-SQL's `GROUP BY ()`.
    pub(super) fn group_by(&mut self) {
        let mark = self.open(NodeKind::GroupBy);
        self.bump();
        self.expect("BY");
        self.expression_list();
        self.close(mark);
    }

    pub(super) fn expression_list(&mut self) {
        loop {
            self.expression();
            if !self.eat(",") {
                break;
            }
        }
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

    /// `PARAMS (k = v, …)`, or the same without parentheses.
    pub(super) fn params(&mut self) {
        let mark = self.open(NodeKind::Params);
        self.bump();
        let closed = self.eat("(");
        if !(closed && self.is(")")) {
            loop {
                let param = self.open(NodeKind::Param);
                if self.name_token(NodeKind::Word) {
                    self.expect("=");
                    self.expression();
                }
                self.close(param);
                if !self.eat(",") {
                    break;
                }
            }
        }
        if closed {
            self.expect(")");
        }
        self.close(mark);
    }
}
