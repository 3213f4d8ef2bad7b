//! The first rows in two levels: first within each part, then over all parts.
//!
//! The first rows of a whole are among the first rows of its parts, so that a filter on the rank,
//! or a `TOP`, can run twice. The choice among tied rows stays undetermined.

use job::script::expr::{Expr, Literal, Op};
use job::script::{Query, Script, Span, Statement, StatementKind};

use super::Rewrite;
use super::clauses::{Clauses, bind, replace};
use super::names::{aliased, fresh};
use super::split::replaced;

/// Ranks by keys and `salt` first. `None` unless the statement ranks with `ROW_NUMBER`, only
/// ranks up to a number are kept, and the columns are known.
pub fn two_level_rank(script: &Script, statement: &Statement, salt: &str) -> Option<Rewrite> {
    let query = &statement.query;
    let of = Clauses::of(script, statement)?;
    let (position, ranking) = ranking(script, query)?;
    let rank = query.columns[position].name.as_deref()?;
    let limit =
        limit_here(script, query, rank).or_else(|| limit_of_reader(script, statement, rank))?;
    let columns = ranked_columns(script, statement, position)?;
    let parts = Parts::new(&of, script, salt);
    let order = ranking.find("ORDER BY")?;
    let over = match ranking.find("PARTITION BY") {
        Some(keys) => format!("{}, {} ", ranking[keys..order].trim_end(), parts.salt_name),
        None => format!("PARTITION BY {} ", parts.salt_name),
    };
    let levels = parts.levels(
        &of,
        &format!("{over}{}", ranking[order..].strip_suffix(')')?),
        limit,
    );
    let rest = format!("{}{}", parts.local, of.having);
    Some(of.replaced_by(&levels, &bind(of.target, &columns, &rest)))
}

/// Takes the first rows of each part by `salt`, then the first rows of all. `None` unless the statement is
/// a `TOP n … ORDER BY` (U-SQL: `ORDER BY … FETCH n ROWS`) over plain columns.
pub fn two_level_top(script: &Script, statement: &Statement, salt: &str) -> Option<Rewrite> {
    let query = &statement.query;
    let of = Clauses::of(script, statement)?;
    let plain = query.kind == StatementKind::Select
        && query.group_by.is_empty()
        && query.aggregates.is_empty()
        && query.having.is_empty()
        && !query.distinct
        // a key that the list computes would have another meaning in the first level
        && query.columns.iter().all(|c| {
            let column = c.expression.as_column();
            c.is_star() || column.is_some_and(|column| c.name.as_ref() == Some(&column.name))
        });
    let limit = first_rows(script, query).filter(|_| plain)?;
    let first = query.order_by.first()?.expression.span.start;
    let last = query.order_by.last()?.expression.span.end;
    let order = script.text.get(first..last + direction(script, last))?;
    let input = query.inputs.first()?;
    let parts = Parts::new(&of, script, salt);
    let levels = parts.levels(
        &of,
        &format!("PARTITION BY {} ORDER BY {order}", parts.salt_name),
        limit,
    );
    let mut changes: Vec<(Span, String)> = Vec::new();
    for column in query.columns.iter().filter(|column| column.is_star()) {
        let [_] = query.columns.as_slice() else {
            return None;
        };
        let provided = script.flow().of_statement(statement.index)?;
        changes.push((column.span.clone(), provided.columns.clone()?.join(", ")));
    }
    changes.push((input.span.clone(), aliased(&parts.local, input)?));
    if let Some(filter) = &query.filter_span {
        let start = script.text[..filter.start].trim_end().len();
        changes.push((start..filter.end, String::new()));
    }
    let body = replaced(script, query, &changes)?;
    let last = format!("{} =\n    {body};", of.target);
    Some(replace(script, statement, &levels, &last))
}

/// Names of the levels.
struct Parts<'a> {
    salt: &'a str,
    salt_name: String,
    rank: String,
    salted: String,
    ranked: String,
    local: String,
}

impl<'a> Parts<'a> {
    fn new(of: &Clauses<'_>, script: &Script, salt: &'a str) -> Parts<'a> {
        Parts {
            salt,
            salt_name: fresh(script, "Salt", "Key"),
            rank: fresh(script, "Local", "Rank"),
            salted: of.fresh("Salted"),
            ranked: of.fresh("Ranked"),
            local: of.fresh("Local"),
        }
    }

    /// Statements that keep the first `limit` rows of each part, sorted like the window.
    fn levels(&self, of: &Clauses<'_>, window: &str, limit: u64) -> String {
        let Parts {
            salt,
            salt_name,
            rank,
            salted,
            ranked,
            local,
        } = self;
        let spread = ["*", &format!("{salt} AS {salt_name}")];
        let ranking = ["*", &format!("ROW_NUMBER() OVER ({window}) AS {rank}")];
        bind(salted, &spread, &format!("{}{}", of.source, of.filter))
            + &bind(ranked, &ranking, salted)
            + &bind(
                local,
                &["*"],
                &format!("{ranked}\n    WHERE {rank} <= {limit}"),
            )
    }
}

/// The one ranking column and its expression.
fn ranking<'s>(script: &'s Script, query: &Query) -> Option<(usize, &'s str)> {
    let [aggregate] = query.aggregates.as_slice() else {
        return None;
    };
    let plain = query.kind == StatementKind::Select
        && query.group_by.is_empty()
        && !query.distinct
        && query.top.is_none();
    let position = aggregate.column?;
    let text = script.slice(&query.columns[position].expression.span);
    let once = |word: &str| text.matches(word).count() <= 1;
    let ranks = aggregate.over && aggregate.function == "ROW_NUMBER";
    (plain && ranks && once("PARTITION BY") && once("ORDER BY")).then_some((position, text))
}

/// Columns of the statement, with `*` spelled out, because the inner rowset has two more columns.
fn ranked_columns(script: &Script, statement: &Statement, rank: usize) -> Option<Vec<String>> {
    let query = &statement.query;
    let text = |span: &Span| script.slice(span).to_owned();
    if !query.columns.iter().any(|column| column.is_star()) {
        return Some(query.columns.iter().map(|c| text(&c.span)).collect());
    }
    // the sequence of columns is only known for `*, rank`
    let [first, second] = query.columns.as_slice() else {
        return None;
    };
    let expected = first.is_star() && second.span == query.columns[rank].span;
    let mut names = script
        .flow()
        .of_statement(statement.index)?
        .columns
        .clone()?;
    names.pop();
    names.push(text(&second.span));
    expected.then_some(names)
}

/// `n` of `TOP n`, or of `FETCH n ROWS` behind the order.
fn first_rows(script: &Script, query: &Query) -> Option<u64> {
    match &query.top {
        Some(_) => script.top(query),
        None => script.fetch(query).map(|(number, _)| number),
    }
}

/// Bytes of ` ASC` or ` DESC` behind a key.
fn direction(script: &Script, end: usize) -> usize {
    let rest = script.text.get(end..).unwrap_or_default();
    let word = rest.trim_start();
    let blanks = rest.len() - word.len();
    let found = ["ASC", "DESC"].into_iter().find(|d| word.starts_with(d));
    found.map_or(0, |found| blanks + found.len())
}

/// `n` of `HAVING rank <= n` in the statement itself.
fn limit_here(script: &Script, query: &Query, rank: &str) -> Option<u64> {
    let mut having = query.having.iter();
    having.find_map(|part| limit(script, &part.expression.span, rank))
}

/// `n` of `WHERE rank <= n` in the only statement that reads the rows.
fn limit_of_reader(script: &Script, statement: &Statement, rank: &str) -> Option<u64> {
    let flow = script.flow();
    let [reader] = flow.of_statement(statement.index)?.readers.as_slice() else {
        return None;
    };
    let reader = script.statements.get(flow.rowsets[*reader].statement)?;
    let alone = reader.kind == StatementKind::Select && reader.query.joins.is_empty();
    let mut filter = reader.query.filter.iter().filter(|_| alone);
    filter.find_map(|part| limit(script, &part.expression.span, rank))
}

/// The number in `rank <= 3`, `rank == 1`, `rank < 4`.
fn limit(script: &Script, condition: &Span, rank: &str) -> Option<u64> {
    let Expr::Binary(op, left, right) = script.expression(condition)? else {
        return None;
    };
    let (Expr::Path(path), Expr::Literal(Literal::Int(number))) = (*left, *right) else {
        return None;
    };
    let number = u64::try_from(number).ok().filter(|_| path == [rank])?;
    match op {
        Op::LessOrEqual | Op::Equal => Some(number),
        Op::Less => number.checked_sub(1),
        _ => None,
    }
}
