//! `FROM`, the sources in it and their joins.

use super::Parser;
use crate::script::lexer::TokenKind;
use crate::script::tree::NodeKind;
use crate::script::words::Words;

/// Words of joins; each join ends with `JOIN` or a similar word.
static JOIN_WORDS: Words = Words::new(
    "ANTISEMI ANTISEMIJOIN APPLY BROADCASTLEFT BROADCASTRIGHT CROSS FULL FULLCROSS HASH \
     INDEXLOOKUP INNER JOIN LEFT LOOP MERGE OUTER PAIR RIGHT SEMI SEMIJOIN SERIAL",
);

/// Words after a source that are not an alias, besides the words of joins and clauses.
static ENDS: Words = Words::new(
    "ALL BEGIN DIRECT EXCEPT FETCH HASH INTERSECT INTO OFFSET PARAMS PIVOT RANGE THEN UNION UNPIVOT",
);

impl Parser<'_> {
    pub(super) fn from(&mut self) {
        let mark = self.open(NodeKind::From);
        self.bump();
        self.source();
        loop {
            if self.eat(",") {
                self.source();
            } else if self.at_join() {
                self.join();
            } else if matches!(self.text(), "PIVOT" | "UNPIVOT") {
                self.pivot();
            } else {
                break;
            }
        }
        self.close(mark);
    }

    fn at_join(&self) -> bool {
        let is_word = self.kind() == TokenKind::Word;
        is_word && JOIN_WORDS.contain_keyword(self.text()) && !self.is_ahead(1, "UNION")
    }

    fn join(&mut self) {
        let mark = self.open(NodeKind::Join);
        let words = self.open(NodeKind::JoinWords);
        let mut last = "";
        while self.at_join() && !matches!(last, "JOIN" | "SEMIJOIN" | "ANTISEMIJOIN" | "APPLY") {
            last = self.text();
            self.bump();
        }
        self.close(words);
        match last {
            "APPLY" => self.applied(),
            "JOIN" | "SEMIJOIN" | "ANTISEMIJOIN" => self.source(),
            _ => self.error("expected `JOIN`"),
        }
        if self.is("ON") {
            self.expression_clause(NodeKind::On);
        }
        self.close(mark);
    }

    /// `CROSS APPLY expr AS alias (columns)`.
    fn applied(&mut self) {
        let mark = self.open(NodeKind::Source);
        self.eat("USING");
        match self.is("(") && matches!(self.text_ahead(1), "SELECT" | "VALUES") {
            true => self.parenthesised_query(),
            false => self.expression(),
        }
        self.alias();
        self.close(mark);
    }

    fn pivot(&mut self) {
        self.bump();
        if self.is("(") {
            self.balanced();
        }
        self.alias();
    }

    /// The source of `PROCESS`, `REDUCE`, `COMBINE` and `OUTPUT`: without one, the previous rowset.
    pub(super) fn optional_source(&mut self) {
        let words = ["ALL", "DIRECT", "HASH", "RANGE"];
        let none = self.done() || self.at_clause() || words.contains(&self.text());
        if !none {
            self.source();
        }
    }

    /// One rowset with its alias.
    pub(super) fn source(&mut self) {
        let mark = self.open(NodeKind::Source);
        match (self.kind(), self.text()) {
            (TokenKind::Punct, "(") => self.parenthesised_query(),
            (TokenKind::Word, "SSTREAM" | "EXTRACT" | "VIEW" | "SELECT" | "PROCESS" | "REDUCE") => {
                self.query();
            }
            (TokenKind::Word, "EXTERNAL") => self.external(),
            (TokenKind::Word, _) if self.is_ahead(1, "EXECUTE") => self.remote_query(),
            _ => self.expression(),
        }
        self.alias();
        self.close(mark);
    }

    fn parenthesised_query(&mut self) {
        self.bump();
        self.query();
        self.expect(")");
    }

    /// `EXTERNAL source LOCATION "table"`, or a table of a data source.
    fn external(&mut self) {
        self.bump();
        if self.is_ahead(1, "EXECUTE") {
            return self.remote_query();
        }
        self.expression();
        if self.eat("LOCATION") {
            self.expression();
        }
    }

    /// `source EXECUTE @"query"`.
    fn remote_query(&mut self) {
        self.bump();
        self.bump();
        self.expression();
    }

    /// `AS a`, `AS t(x, y int)`, or a bare word.
    fn alias(&mut self) {
        let bare = self.kind() == TokenKind::Word
            && !self.at_clause()
            && !self.at_join()
            && !ENDS.contain(self.text());
        if !self.eat("AS") && !bare {
            return;
        }
        if self.name_token(NodeKind::Alias) && self.is("(") {
            let mark = self.open(NodeKind::ColumnAliases);
            self.balanced();
            self.close(mark);
        }
    }
}
