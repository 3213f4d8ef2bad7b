//! Statements: their first words, and statements other than rowset expressions.

use super::Parser;
use crate::script::extent::Stop;
use crate::script::lexer::TokenKind;
use crate::script::tree::NodeKind;
use crate::script::words::Words;

/// First words of definitions. Only the brackets and queries of a definition are parsed.
static DDL: Words = Words::new(
    "ADD ALTER CREATE DELETE DENY DROP GRANT RAISE REBUILD RENAME RETURN REVOKE TRUNCATE UPDATE",
);

impl Parser<'_> {
    /// One statement over the tokens in `seen`; everything left over is an error.
    pub(super) fn statement(&mut self, stop: Stop) {
        if self.is(";") {
            self.bump();
        }
        if self.done() {
            return;
        }
        if stop == Stop::BlockEnd {
            self.leaf(NodeKind::Block);
            self.at = self.seen.len();
            return;
        }
        let errors = self.errors.len();
        self.hints();
        if !self.done() {
            self.body();
        }
        let ended = self.eat(";") || stop != Stop::Missing;
        if !self.done() {
            self.leftover();
        } else if !ended && self.errors.len() == errors {
            self.error("expected `;`");
        }
    }

    /// Puts unparsable tokens into a node of their own.
    fn leftover(&mut self) {
        let before = self.errors.len();
        self.error("unexpected");
        if let Some(error) = self.errors.get_mut(before) {
            error.message = error.message.replace("unexpected, found", "unexpected");
        }
        let mark = self.open(NodeKind::Error);
        self.at = self.seen.len();
        self.close(mark);
    }

    /// `[HINT(…)=…]` lines; also attributes of declarations.
    pub(super) fn hints(&mut self) {
        while self.kind() == TokenKind::Punct && self.is("[") {
            let mark = self.open(NodeKind::Hint);
            self.balanced();
            self.close(mark);
        }
    }

    fn body(&mut self) {
        if self.kind() == TokenKind::HashWord {
            return self.declaration();
        }
        if self.binding() {
            self.hints();
            return self.query();
        }
        match (self.kind(), self.text()) {
            (TokenKind::Word, "DECLARE" | "SET" | "EXPORT") => self.declaration(),
            (TokenKind::Word, "OUTPUT") => self.output(),
            (TokenKind::Word, "IMPORT") => self.import(),
            (TokenKind::Word, "REFERENCE" | "RESOURCE" | "MODULE" | "USE" | "DEPLOY") => {
                self.words_and_expression();
            }
            (TokenKind::Word, "USING") if !self.is_ahead(1, "(") => self.words_and_expression(),
            (TokenKind::Word, "IF" | "ELSEIF" | "ELSE" | "LOOP" | "BEGIN") => self.block(),
            (TokenKind::Word, "INSERT") => self.insert(),
            (TokenKind::Word, word) if DDL.contain(word) => self.ddl(),
            _ => self.query(),
        }
    }

    /// `name =`, `@a, @b =`.
    fn binding(&mut self) -> bool {
        let mut ahead = 0;
        loop {
            let start = ahead;
            while self.is_name_part(ahead) && (ahead == start || self.touches(ahead)) {
                ahead += 1;
            }
            match self.text_ahead(ahead) {
                "=" if ahead > start => break,
                "," if ahead > 0 && self.kind_ahead(ahead - 1) == TokenKind::Variable => ahead += 1,
                _ => return false,
            }
        }
        let mark = self.open(NodeKind::Target);
        self.at += ahead;
        self.close(mark);
        self.bump();
        true
    }

    fn is_name_part(&self, ahead: usize) -> bool {
        let kind = self.kind_ahead(ahead);
        matches!(
            kind,
            TokenKind::Word | TokenKind::Variable | TokenKind::Parameter
        )
    }

    /// Whether there is no blank before a token: `Log@@Day@@` is one name.
    fn touches(&self, ahead: usize) -> bool {
        self.seen[self.at + ahead - 1] + 1 == self.seen[self.at + ahead]
    }

    /// `#DECLARE name type = expr`, `DECLARE [EXTERNAL | CONST] @name type = expr`, `SET @@x = e`.
    fn declaration(&mut self) {
        let mark = self.open(NodeKind::Declaration);
        self.bump();
        self.skip(&["EXTERNAL", "CONST", "DECLARE", "EXPORT"]);
        if matches!(
            self.text(),
            "FUNCTION" | "ASSEMBLY" | "RESOURCE" | "CREDENTIAL"
        ) {
            self.at = self.seen.len();
        } else if self.name_token(NodeKind::Target) {
            if self.kind() == TokenKind::Word {
                self.type_name();
            }
            if self.eat("=") {
                self.declared_value();
            }
        }
        self.close(mark);
    }

    /// A value is an expression; a rowset function can also be exported under a name.
    fn declared_value(&mut self) {
        match self.text() {
            "SELECT" | "EXTRACT" => self.query(),
            _ => self.expression(),
        }
    }

    fn output(&mut self) {
        self.bump();
        let mark = self.open(NodeKind::Query);
        self.optional_source();
        self.close(mark);
        loop {
            match self.text() {
                "TO" => self.output_to(),
                "WITH" => self.output_with(),
                "EXPIRATION" => self.expression_clause(NodeKind::With),
                "CLUSTERED" | "SORTED" | "PARTITIONED" | "HASH" | "RANGE" | "DIRECT" | "ROUND"
                | "DISTRIBUTED" => self.layout_clause(),
                _ if self.clause() => {}
                _ => return,
            }
        }
    }

    fn output_to(&mut self) {
        let mark = self.open(NodeKind::To);
        self.bump();
        self.skip(&["SSTREAM", "STREAM", "VOLATILE", "SPARSE", "TABLE"]);
        self.expression();
        self.close(mark);
    }

    /// `WITH STREAMEXPIRY "30"`, `WITH (…)`.
    fn output_with(&mut self) {
        let mark = self.open(NodeKind::With);
        self.bump();
        if self.is("(") {
            self.balanced();
        } else {
            while self.kind() == TokenKind::Word && self.kind_ahead(1) != TokenKind::Punct {
                self.bump();
            }
            self.eat("=");
            self.expression();
        }
        self.close(mark);
    }

    /// `[HASH | RANGE | …] CLUSTERED BY k [INTO n]`, `SORTED BY k`, `PARTITIONED BY k`.
    pub(super) fn layout_clause(&mut self) {
        if matches!(self.text(), "HASH" | "RANGE" | "DIRECT" | "ROUND") {
            let mark = self.open(NodeKind::Distribution);
            self.skip(&["HASH", "RANGE", "DIRECT", "ROUND", "ROBIN"]);
            self.close(mark);
        }
        let kind = match self.text() {
            "CLUSTERED" => NodeKind::Clustered,
            "SORTED" => NodeKind::Sorted,
            "PARTITIONED" | "DISTRIBUTED" => NodeKind::Partitioned,
            _ => return self.error("expected `CLUSTERED BY` or the like"),
        };
        let mark = self.open(kind);
        self.bump();
        self.skip(&["UNIQUE", "NOT"]);
        self.expect("BY");
        self.skip(&["HASH", "RANGE", "DIRECT", "ROUND", "ROBIN"]);
        self.order_items();
        if self.eat("INTO") {
            self.expression();
        }
        self.close(mark);
    }

    /// `IMPORT "x.script" AS name PARAMS …`, `IMPORT PACKAGE p() AS q`.
    fn import(&mut self) {
        let mark = self.open(NodeKind::Declaration);
        self.bump();
        self.eat("PACKAGE");
        self.named_expression();
        self.close(mark);
    }

    fn named_expression(&mut self) {
        self.expression();
        if self.eat("AS") {
            self.name_token(NodeKind::Alias);
        }
        if self.is("PARAMS") {
            self.params();
        }
    }

    /// `REFERENCE ASSEMBLY [x]`, `USING A = B.C`, `USE DATABASE d`, `MODULE "m" AS M`.
    fn words_and_expression(&mut self) {
        let mark = self.open(NodeKind::Declaration);
        self.bump();
        while matches!(
            self.text(),
            "SYSTEM" | "ASSEMBLY" | "DATABASE" | "SCHEMA" | "RESOURCE"
        ) && !matches!(self.text_ahead(1), "." | ";" | "")
        {
            self.bump();
        }
        if self.kind() == TokenKind::Word && self.is_ahead(1, "=") {
            self.bump();
            self.bump();
        }
        self.named_expression();
        self.close(mark);
    }

    /// The head of a block: `IF … THEN`, `ELSE`, `LOOP (i, 3) {`. The statements inside follow on their
    /// own.
    fn block(&mut self) {
        let mark = self.open(NodeKind::Block);
        self.at = self.seen.len();
        self.close(mark);
    }

    /// `INSERT [INTO] t [(columns)] SELECT … | VALUES …`.
    fn insert(&mut self) {
        let mark = self.open(NodeKind::Ddl);
        self.bump();
        self.eat("INTO");
        let target = self.open(NodeKind::Target);
        while matches!(self.kind(), TokenKind::Word | TokenKind::Variable)
            && !matches!(self.text(), "SELECT" | "VALUES" | "ON" | "PARTITION")
            || self.is(".")
        {
            self.bump();
        }
        self.close(target);
        while !self.done() && !matches!(self.text(), "SELECT" | "VALUES" | "EXTRACT" | ";") {
            match self.is("(") && self.is_ahead(1, "SELECT") {
                true => break,
                false if self.is("(") => self.balanced(),
                false => self.bump(),
            }
        }
        if !self.done() && !self.is(";") {
            self.query();
        }
        self.close(mark);
    }

    /// Definitions: only brackets are checked, and a query after `AS` is parsed.
    fn ddl(&mut self) {
        let mark = self.open(NodeKind::Ddl);
        self.bump();
        while !self.done() && !self.is(";") {
            match self.text() {
                "(" | "[" | "{" => self.balanced(),
                ")" | "]" | "}" => {
                    self.error("this bracket closes nothing");
                    self.bump();
                }
                "AS" if matches!(
                    self.text_ahead(1),
                    "SELECT" | "EXTRACT" | "SSTREAM" | "PROCESS" | "REDUCE" | "COMBINE"
                ) =>
                {
                    self.bump();
                    self.query();
                }
                _ => self.bump(),
            }
        }
        self.close(mark);
    }
}
