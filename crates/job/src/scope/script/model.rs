//! The meaning of a script: statements, queries, columns, keys, hints. Plain data.
//!
//! Every part keeps the span of its text, so that a rewrite can replace it alone. Names keep
//! their spelling; SCOPE compares them case-sensitively, keywords not.

use std::ops::Range;

/// Byte range of [`Script::text`](super::Script::text).
pub type Span = Range<usize>;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// SCOPE of Cosmos.
    #[default]
    Scope,
    /// U-SQL of Azure Data Lake Analytics.
    USql,
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Text that could not be parsed.
    pub span: Span,
    /// 1-based line of its start.
    pub line: u32,
    /// Lower-case fragment that names the expected or the unexpected text.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StatementKind {
    /// `EXTRACT … FROM path USING extractor`.
    Extract,
    /// `SSTREAM path`, also streamsets.
    SStream,
    Select,
    Process,
    Reduce,
    Combine,
    /// `UNION`, `EXCEPT`, `INTERSECT` of several queries.
    Union,
    /// Rowset from `VALUES`.
    Values,
    /// `VIEW path PARAMS (…)`: the use of a stored view.
    View,
    /// `x = y;`, a table or a table-valued function.
    Rowset,
    Output,
    /// `#DECLARE`, `DECLARE`.
    Declare,
    /// `SET @@…`.
    Set,
    Reference,
    Resource,
    /// `USING namespace`.
    Using,
    /// `MODULE`, `IMPORT`.
    Module,
    Use,
    /// `CREATE VIEW/TABLE/FUNCTION/PROCEDURE/…`; with a body, its statements follow.
    Create,
    /// `DROP`, `ALTER`, `TRUNCATE`, `INSERT`, `DELETE`, `GRANT`, ….
    Ddl,
    /// `INSERT INTO table`.
    Insert,
    /// `IF … THEN`, `ELSE`.
    If,
    /// `LOOP (…) {`.
    Loop,
    /// `BEGIN` of a block without a statement.
    Begin,
    /// `END` or `}`.
    End,
    /// `#CS … #ENDCS`.
    CsBlock,
    /// Call of a procedure.
    Call,
    /// A lone `;`.
    Empty,
    #[default]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statement {
    /// Position in [`Script::statements`](super::Script::statements).
    pub index: usize,
    pub kind: StatementKind,
    /// From its first hint or word to its `;`, without the comments before.
    pub span: Span,
    /// First and last 1-based line of the span.
    pub lines: (u32, u32),
    /// The statement around the block that this statement is in.
    pub parent: Option<usize>,
    /// Bound name: `Clicks`, `@clicks`; for declarations, the declared name.
    pub target: Option<String>,
    /// The rowset expression; empty for statements without one. For `OUTPUT`, its only input.
    pub query: Query,
    /// Hints as attribute lines before the statement and as `OPTION(…)` after it.
    pub hints: Vec<Hint>,
    /// Path and layout of an `OUTPUT`.
    pub output: Option<OutputClause>,
    /// Value expression of a declaration or `SET`.
    pub value: Option<Expression>,
}

impl Statement {
    /// Whether the statement binds a rowset that later statements can read.
    pub fn makes_rowset(&self) -> bool {
        matches!(
            self.kind,
            StatementKind::Extract
                | StatementKind::SStream
                | StatementKind::Select
                | StatementKind::Process
                | StatementKind::Reduce
                | StatementKind::Combine
                | StatementKind::Union
                | StatementKind::Values
                | StatementKind::View
                | StatementKind::Rowset
        )
    }
}

/// A rowset expression: `SELECT`, `REDUCE`, …, or a set operation over branches.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    pub kind: StatementKind,
    pub span: Span,
    /// Branches of a `UNION`, `EXCEPT` or `INTERSECT`; the other fields are then empty.
    pub branches: Vec<Query>,
    /// The set operators between the branches as written, upper case: `UNION ALL`.
    pub set_operators: Vec<String>,
    pub inputs: Vec<RowsetRef>,
    /// Columns of `SELECT`, `EXTRACT` or `PRODUCE`, in script order.
    pub columns: Vec<OutputColumn>,
    pub distinct: bool,
    /// `TOP n` as written.
    pub top: Option<Expression>,
    pub joins: Vec<Join>,
    /// `WHERE`, split at its conjunctions.
    pub filter: Vec<Conjunct>,
    /// Span of the `WHERE` clause from its keyword.
    pub filter_span: Option<Span>,
    pub group_by: Vec<Expression>,
    pub having: Vec<Conjunct>,
    pub order_by: Vec<OrderItem>,
    /// `ON` keys of `REDUCE`, and of the first input of `COMBINE`.
    pub on: Vec<ColumnRef>,
    pub presort: Vec<OrderItem>,
    /// Whether `REDUCE … ALL`.
    pub all: bool,
    /// Class named in the `USING` clause: `MyReducer`, `Extractors.Csv`.
    pub using_class: Option<String>,
    /// `READONLY` / `REQUIRED` columns of U-SQL.
    pub required: Vec<ColumnRef>,
    /// Aggregates in columns and `HAVING`.
    pub aggregates: Vec<Aggregate>,
    /// Path or stream expression read by `EXTRACT` and `SSTREAM`.
    pub paths: Vec<Expression>,
    pub params: Vec<(String, Expression)>,
}

impl Query {
    /// Branches, and queries in parentheses among its inputs.
    pub fn inner(&self) -> impl Iterator<Item = &Query> {
        let nested = self.inputs.iter().filter_map(|i| match &i.source {
            RowsetSource::Query(query) => Some(&**query),
            _ => None,
        });
        self.branches.iter().chain(nested)
    }

    /// Whether the query has no input and no columns.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.branches.is_empty() && self.columns.is_empty()
    }
}

/// Source of a [`RowsetRef`].
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RowsetSource {
    /// A name bound by a statement, or a table.
    #[default]
    Name,
    /// No name: the rowset of the statement before.
    Previous,
    /// A query in parentheses, or a source such as `(SSTREAM @p)`.
    Query(Box<Query>),
    /// `CROSS APPLY` / `OUTER APPLY` of an expression.
    Apply(Expression),
    /// A function call: table-valued function or module view.
    Call(Expression),
    /// A stream path in place of a name.
    Path(Expression),
}

/// A rowset read by a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowsetRef {
    /// Name as written (`Clicks`, `@clicks`, `db.dbo.T`); empty for sub-queries.
    pub name: String,
    pub alias: Option<String>,
    /// Index of the last statement before this one that bound the name; `None` for tables.
    pub definition: Option<usize>,
    pub source: RowsetSource,
    pub span: Span,
    /// `PRESORT` keys of this input of a `COMBINE`.
    pub presort: Vec<OrderItem>,
}

impl RowsetRef {
    /// Qualifier of the rowset's columns: the alias, else the name without `@`.
    pub fn label(&self) -> &str {
        self.alias
            .as_deref()
            .unwrap_or(self.name.trim_start_matches('@'))
    }
}

/// A column named in an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ColumnRef {
    /// Alias or rowset before the dot.
    pub qualifier: Option<String>,
    /// Column; `*` for all of them.
    pub name: String,
    pub span: Span,
}

/// An expression, analyzed without C# semantics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expression {
    pub span: Span,
    /// Possible columns in it: names that are not called, not after a dot, not parameters. A member
    /// access on a column (`Url.Length`) yields the column.
    pub uses: Vec<ColumnRef>,
    /// `@name` and `@@name@@` in it.
    pub parameters: Vec<String>,
    /// Functions called, as written: `UrlHelper.GetDomain`.
    pub calls: Vec<String>,
}

impl Expression {
    /// The column, if the expression is a bare column.
    pub fn as_column(&self) -> Option<&ColumnRef> {
        match self.uses.as_slice() {
            [column] if column.span == self.span => Some(column),
            _ => None,
        }
    }
}

/// One column that a query provides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutputColumn {
    /// Name; `*` or `alias.*` columns have the name `*`. `None` if the language invents one.
    pub name: Option<String>,
    pub span: Span,
    /// Its expression; for `EXTRACT` and `PRODUCE`, the bare column.
    pub expression: Expression,
    /// Declared type, where there is one.
    pub type_name: Option<String>,
}

impl OutputColumn {
    /// Whether it is `*` for all columns of its inputs (or of one of them).
    pub fn is_star(&self) -> bool {
        self.name.as_deref() == Some("*")
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aggregate {
    /// Function in upper case: `COUNT`, `SUM`, `ARGMAX`.
    pub function: String,
    pub distinct: bool,
    /// Arguments; none for `COUNT()` and `COUNT(*)`.
    pub arguments: Vec<Expression>,
    /// Whether it is windowed by `OVER (…)`.
    pub over: bool,
    /// `PARTITION BY` keys of the window.
    pub partition_by: Vec<Expression>,
    /// Text from the function name to the closing parenthesis.
    pub span: Span,
    /// Index into [`Query::columns`] of the column it is in; `None` in `HAVING`, `ORDER BY`.
    pub column: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conjunct {
    /// Its text and columns.
    pub expression: Expression,
    /// Both sides, if it is `column == column`.
    pub equality: Option<(ColumnRef, ColumnRef)>,
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrderItem {
    pub expression: Expression,
    pub descending: bool,
}

/// Rows that a join keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JoinKind {
    #[default]
    Inner,
    LeftOuter,
    RightOuter,
    FullOuter,
    Cross,
    LeftSemi,
    RightSemi,
    LeftAntiSemi,
    RightAntiSemi,
}

/// A join of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Join {
    pub kind: JoinKind,
    /// Strategy words as written, upper case: `BROADCASTRIGHT`, `PAIR HASH`.
    pub strategy: Vec<String>,
    /// Index into [`Query::inputs`] of its left side (the first of them, if several were joined).
    pub left: usize,
    /// Index into [`Query::inputs`] of its right side.
    pub right: usize,
    /// Equalities of the `ON` condition as (left column, right column).
    pub keys: Vec<(ColumnRef, ColumnRef)>,
    pub condition: Vec<Conjunct>,
    /// Span of the words that make the join: `LEFT OUTER JOIN`.
    pub keyword_span: Span,
    /// Span from the keywords to the end of the condition.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HintForm {
    /// `[NAME(…)=…]` before a statement.
    #[default]
    Attribute,
    /// `OPTION(NAME…)` after a query.
    Option,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hint {
    /// Name in upper case: `SKEWJOIN`, `ROWCOUNT`, `PRIVACY.ASSET.NONPERSONAL`.
    pub name: String,
    /// Columns in the parentheses after the name.
    pub columns: Vec<String>,
    /// Value after `=` as written, outer parentheses included.
    pub value: Option<String>,
    pub form: HintForm,
    pub span: Span,
}

/// Path and layout of an `OUTPUT` (or of a `CREATE TABLE`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutputClause {
    /// Path expression behind `TO`.
    pub path: Option<Expression>,
    /// `TO SSTREAM`.
    pub sstream: bool,
    pub clustered_by: Vec<OrderItem>,
    /// `SORTED BY` / `ORDER BY` keys.
    pub sorted_by: Vec<OrderItem>,
    pub partitioned_by: Vec<OrderItem>,
    pub partitions: Option<u32>,
    /// Span from the first of the layout clauses to the last.
    pub layout_span: Option<Span>,
}
