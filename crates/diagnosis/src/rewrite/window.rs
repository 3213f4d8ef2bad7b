//! Two-level ranking: the best rows of each key and salt first, then the best of each key.
//!
//! The first rows of a key are among the first rows of its parts, so that a filter on the rank
//! can run twice; ranks with ties are as undetermined as they were.

use job::script::{Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::names::{comments, fresh, hint_lines};

/// Ranks by keys and `salt` first. `None` unless the statement ranks with `ROW_NUMBER`, only
/// ranks up to a number are kept, and the columns are known.
pub(crate) fn two_level_rank(
    script: &Script,
    statement: &Statement,
    salt: &str,
) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    let (position, ranking) = ranking(script, query)?;
    let rank = query.columns[position].name.as_deref()?;
    let limit =
        limit_here(script, query, rank).or_else(|| limit_of_reader(script, statement, rank))?;
    let source = script.slice(&query.inputs.first()?.span);
    let local_ranking = with_salt_key(ranking)?;
    let columns = columns(script, statement, position)?;
    let (salted, local) = (
        fresh(script, target, "Salted"),
        fresh(script, target, "Local"),
    );
    let ranked = fresh(script, target, "Ranked");
    let (salt_name, local_rank) = (fresh(script, "Salt", "Key"), fresh(script, "Local", "Rank"));
    let filter = query.filter_span.as_ref().map(|span| script.slice(span));
    let filter = filter
        .map(|text| format!("\n    {text}"))
        .unwrap_or_default();
    let local_ranking = local_ranking.replace("\u{0}", &salt_name);
    let having = having_text(script, query);
    let hints = hint_lines(script, statement);
    let comments = comments(script, statement);
    let text = format!(
        "{comments}{salted} =\n    SELECT *,\n           {salt} AS {salt_name}\n    FROM {source}{filter};\n\n\
         {ranked} =\n    SELECT *,\n           {local_ranking} AS {local_rank}\n    FROM {salted};\n\n\
         {local} =\n    SELECT *\n    FROM {ranked}\n    WHERE {local_rank} <= {limit};\n\n\
         {hints}{target} =\n    SELECT {}\n    FROM {local}{having};",
        columns.join(",\n           "),
    );
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    Some(rewrite)
}

/// The one ranking column and its expression.
fn ranking<'s>(script: &'s Script, query: &Query) -> Option<(usize, &'s str)> {
    let [aggregate] = query.aggregates.as_slice() else {
        return None;
    };
    let plain = query.kind == StatementKind::Select
        && query.inputs.len() == 1
        && query.joins.is_empty()
        && query.group_by.is_empty()
        && !query.distinct
        && query.top.is_none();
    let position = aggregate.column?;
    let text = script.slice(&query.columns[position].expression.span);
    (plain && aggregate.over && aggregate.function == "ROW_NUMBER").then_some((position, text))
}

/// `… PARTITION BY k, <salt> ORDER BY …`, with a mark where the salt stands.
fn with_salt_key(ranking: &str) -> Option<String> {
    let order = ranking.find("ORDER BY")?;
    let once =
        ranking.matches("PARTITION BY").count() == 1 && ranking.matches("ORDER BY").count() == 1;
    let keys = ranking[..order].trim_end();
    once.then(|| format!("{keys}, \u{0} {}", &ranking[order..]))
}

/// Columns of the statement, `*` spelled out, since the inner rowset has two more.
fn columns(script: &Script, statement: &Statement, rank: usize) -> Option<Vec<String>> {
    let query = &statement.query;
    let provided = script
        .flow()
        .of_statement(statement.index)?
        .columns
        .clone()?;
    let ranking = script.slice(&query.columns[rank].span);
    let star = query.columns.iter().any(|column| column.is_star());
    if !star {
        let items = query
            .columns
            .iter()
            .map(|column| script.slice(&column.span).to_owned());
        return Some(items.collect());
    }
    // Only `*, rank` has an order that is known here.
    let [first, second] = query.columns.as_slice() else {
        return None;
    };
    let expected = first.is_star() && second.span == query.columns[rank].span;
    let mut names = provided;
    names.pop();
    names.push(ranking.to_owned());
    expected.then_some(names)
}

fn having_text(script: &Script, query: &Query) -> String {
    let parts: Vec<_> = query
        .having
        .iter()
        .map(|part| script.slice(&part.expression.span))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("\n    HAVING {}", parts.join(" AND "))
    }
}

/// `n` of `HAVING rank <= n` in the statement itself.
fn limit_here(script: &Script, query: &Query, rank: &str) -> Option<u64> {
    query
        .having
        .iter()
        .find_map(|part| limit(script.slice(&part.expression.span), rank))
}

/// `n` of `WHERE rank <= n` in the only statement that reads the rows.
fn limit_of_reader(script: &Script, statement: &Statement, rank: &str) -> Option<u64> {
    let flow = script.flow();
    let rowset = flow.of_statement(statement.index)?;
    let [reader] = rowset.readers.as_slice() else {
        return None;
    };
    let reader = script.statements.get(flow.rowsets[*reader].statement)?;
    let alone = reader.kind == StatementKind::Select && reader.query.joins.is_empty();
    let mut filter = reader.query.filter.iter().filter(|_| alone);
    filter.find_map(|part| limit(script.slice(&part.expression.span), rank))
}

/// The number in `rank <= 3`, `rank == 1`, `rank < 4`.
fn limit(condition: &str, rank: &str) -> Option<u64> {
    let rest = condition.trim().strip_prefix(rank)?.trim_start();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    if let Some(rest) = rest.strip_prefix("<=").or_else(|| rest.strip_prefix("==")) {
        return number(rest);
    }
    number(rest.strip_prefix('<')?)?.checked_sub(1)
}
