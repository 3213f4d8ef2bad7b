//! Rowset expressions: `SELECT`, `EXTRACT`, `SSTREAM`, `PROCESS`, `REDUCE`, `COMBINE`, `VIEW`,
//! `VALUES`, references, and set operations over them.
//!
//! Clauses are accepted in any sequence, because real scripts vary it.

use super::{MAX_DEPTH, Parser};
use crate::script::lexer::TokenKind;
use crate::script::tree::NodeKind;

impl Parser<'_> {
    /// Branches and the set operators between them.
    pub(super) fn query(&mut self) {
        let mark = self.open(NodeKind::Query);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.error("queries are nested too deeply");
            self.skip_to(&[")"]);
        } else {
            self.query_branches();
        }
        self.depth -= 1;
        self.close(mark);
    }

    fn query_branches(&mut self) {
        loop {
            self.hints();
            self.branch();
            if !self.set_operator() {
                break;
            }
        }
        // clauses of the query as a whole
        while matches!(self.text(), "ORDER" | "OPTION") {
            self.clause();
        }
    }

    /// `UNION [ALL | DISTINCT] [ON (…)]`, `OUTER UNION … BY NAME`, `EXCEPT`, `INTERSECT`.
    fn set_operator(&mut self) -> bool {
        let outer = self.is("OUTER") && self.is_ahead(1, "UNION");
        if !outer && !matches!(self.text(), "UNION" | "EXCEPT" | "INTERSECT") {
            return false;
        }
        let mark = self.open(NodeKind::SetOperator);
        if outer {
            self.bump();
        }
        self.bump();
        self.skip(&["ALL", "DISTINCT", "BY", "NAME"]);
        if self.eat("ON") && self.is("(") {
            self.balanced();
        }
        self.close(mark);
        true
    }

    fn branch(&mut self) {
        match (self.kind(), self.text()) {
            (TokenKind::Word, "SELECT") => self.select(),
            (TokenKind::Word, "EXTRACT") => self.extract(),
            (TokenKind::Word, "SSTREAM") => self.sstream(),
            (TokenKind::Word, "PROCESS") => self.operator_statement(NodeKind::Process),
            (TokenKind::Word, "REDUCE") => self.operator_statement(NodeKind::Reduce),
            (TokenKind::Word, "COMBINE") => self.combine(),
            (TokenKind::Word, "VIEW") => self.view(),
            (TokenKind::Word, "VALUES") => self.values(),
            (TokenKind::Punct, "(") => {
                self.bump();
                self.query();
                self.expect(")");
            }
            _ => self.reference(),
        }
    }

    /// A name, table, function call or streamset without a keyword.
    fn reference(&mut self) {
        let mark = self.open(NodeKind::Reference);
        self.eat("TABLE");
        self.expression();
        self.close(mark);
    }

    fn select(&mut self) {
        let mark = self.open(NodeKind::Select);
        self.bump();
        if self.is("DISTINCT") {
            self.leaf(NodeKind::Distinct);
        } else if self.is("ALL") && !self.is_ahead(1, ",") {
            self.bump();
        }
        if self.is("TOP") && !matches!(self.text_ahead(1), "," | "." | "AS" | "FROM") {
            self.top();
        }
        self.select_list();
        self.select_clauses();
        self.close(mark);
    }

    /// `TOP 10`, `TOP @n`, `TOP (10)`.
    fn top(&mut self) {
        let mark = self.open(NodeKind::Top);
        self.bump();
        match self.is("(") {
            true => self.balanced(),
            false => self.bump(),
        }
        self.close(mark);
    }

    fn select_list(&mut self) {
        let list = self.open(NodeKind::Columns);
        self.separated(|parser| {
            let column = parser.open(NodeKind::Column);
            parser.expression();
            if parser.eat("AS") && parser.name_token(NodeKind::Alias) && parser.eat(":") {
                parser.type_name();
            }
            parser.close(column);
        });
        self.close(list);
    }

    fn select_clauses(&mut self) {
        loop {
            match self.text() {
                "FROM" => self.from(),
                "GROUP" => self.list_clause(NodeKind::GroupBy, &["BY"]),
                "WITH" if self.is_ahead(1, "ONFAIL") => self.bump_two(),
                _ if self.clause() => {}
                _ => return,
            }
        }
    }

    fn bump_two(&mut self) {
        self.bump();
        self.bump();
    }

    /// `ORDER BY k DESC [OFFSET n ROWS] [FETCH [FIRST | NEXT] n ROWS [ONLY]]`.
    pub(super) fn order_by(&mut self) {
        self.key_clause(NodeKind::OrderBy, &["ORDER", "BY"]);
        while matches!(self.text(), "OFFSET" | "FETCH") {
            self.bump();
            self.skip(&["FIRST", "NEXT"]);
            if !matches!(self.text(), "ROWS" | "ROW") {
                self.expression();
            }
            self.skip(&["ROWS", "ROW", "ONLY"]);
        }
    }

    fn extract(&mut self) {
        let mark = self.open(NodeKind::Extract);
        self.bump();
        self.column_definitions();
        loop {
            match self.text() {
                "FROM" => self.extract_from(),
                "SORTED" | "PARTITIONED" => self.layout_clause(),
                "PARAMS" => self.params(),
                "READONLY" | "REQUIRED" => self.list_clause(NodeKind::Required, &[]),
                _ if self.clause() => {}
                _ => break,
            }
        }
        self.close(mark);
    }

    fn extract_from(&mut self) {
        let mark = self.open(NodeKind::From);
        self.bump();
        self.separated(Self::stream);
        self.close(mark);
    }

    /// A path, or a streamset described by its pattern.
    pub(super) fn stream(&mut self) {
        self.skip(&["SPARSE", "STREAMSET", "STREAM", "VOLATILE"]);
        self.expression();
        loop {
            match self.text() {
                "PATTERN" => self.expression_clause(NodeKind::Param),
                "RANGE" => self.streamset_range(),
                _ => return,
            }
        }
    }

    /// `RANGE __date = [@from, @to], __hour = ["0", "23"](step)`.
    fn streamset_range(&mut self) {
        let mark = self.open(NodeKind::Param);
        self.bump();
        while self.kind() == TokenKind::Word && self.is_ahead(1, "=") {
            self.bump_two();
            self.expression();
            if !(self.is(",") && self.is_ahead(2, "=")) {
                break;
            }
            self.bump();
        }
        self.close(mark);
    }

    fn sstream(&mut self) {
        let mark = self.open(NodeKind::SStream);
        self.bump();
        if self.is("<") {
            while !self.done() && !self.eat(">") {
                self.bump();
            }
        }
        self.separated(Self::stream);
        self.select_clauses();
        self.close(mark);
    }

    /// `PROCESS` and `REDUCE`.
    fn operator_statement(&mut self, kind: NodeKind) {
        let mark = self.open(kind);
        self.bump();
        self.optional_source();
        if self.is("ALL") {
            self.leaf(NodeKind::All);
        }
        self.operator_clauses();
        self.close(mark);
    }

    fn combine(&mut self) {
        let mark = self.open(NodeKind::Combine);
        self.bump();
        self.optional_source();
        while self.is("PRESORT") {
            self.key_clause(NodeKind::Presort, &["PRESORT"]);
        }
        if self.eat("WITH") {
            self.source();
        } else {
            self.error("expected `WITH` and the other rowset");
        }
        self.operator_clauses();
        self.close(mark);
    }

    fn operator_clauses(&mut self) {
        loop {
            match self.text() {
                "PRODUCE" => {
                    let mark = self.open(NodeKind::Produce);
                    self.bump();
                    self.column_definitions();
                    self.close(mark);
                }
                "ON" => self.list_clause(NodeKind::On, &[]),
                "PRESORT" => self.key_clause(NodeKind::Presort, &["PRESORT"]),
                "READONLY" | "REQUIRED" => self.list_clause(NodeKind::Required, &[]),
                _ if self.clause() => {}
                _ => return,
            }
        }
    }

    fn view(&mut self) {
        let mark = self.open(NodeKind::View);
        self.bump();
        self.expression();
        if self.is("PARAMS") {
            self.params();
        }
        self.select_clauses();
        self.close(mark);
    }

    /// `VALUES (a, b), (c, d)`.
    pub(super) fn values(&mut self) {
        let mark = self.open(NodeKind::Values);
        self.bump();
        self.separated(|parser| match parser.is("(") {
            true => parser.balanced(),
            false => parser.error("expected `(` and the values of a row"),
        });
        self.close(mark);
    }
}
