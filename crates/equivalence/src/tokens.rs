//! Tokens of a script that matter to its result, without blanks, comments and hints.

use job::script::{NodeKind, Query, RowsetSource, Script, Span, Statement, TokenKind, hints};

/// Whether a branch of `#IF` is inside a span.
pub(crate) fn has_directive(script: &Script, span: &Span) -> bool {
    script
        .tokens_in(span)
        .any(|(kind, _, _)| kind == TokenKind::Directive)
}

/// Spans that don't matter to the result: known hints, and words for the strategy of a join.
pub(crate) fn immaterial(script: &Script) -> Vec<Span> {
    let tree = script.tree();
    let nodes = tree.nodes().iter().enumerate();
    let hints =
        nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Hint | NodeKind::OptionClause));
    let spans = hints.map(|(at, _)| tree.node_span(at));
    let all: Vec<_> = script.statements.iter().flat_map(|s| &s.hints).collect();
    let known = |span: &Span| {
        let mut inside = all
            .iter()
            .filter(|h| span.start <= h.span.start && h.span.end <= span.end)
            .peekable();
        inside.peek().is_some() && inside.all(|hint| hints::find(&hint.name).is_some())
    };
    let mut found: Vec<Span> = spans.filter(known).collect();
    for statement in &script.statements {
        each_query(&statement.query, &mut |query| {
            for join in &query.joins {
                let words = script.tokens_in(&join.keyword_span);
                let strategies = words.filter(|(_, _, text)| {
                    hints::JOIN_STRATEGIES.contains(&text.to_ascii_uppercase().as_str())
                });
                found.extend(strategies.map(|(_, span, _)| span));
            }
        });
    }
    found.sort_by_key(|span| span.start);
    found
}

/// Tokens of a statement that matter to its result.
pub(crate) fn plain<'s>(
    script: &'s Script,
    statement: &Statement,
    immaterial: &[Span],
) -> Vec<(TokenKind, &'s str)> {
    let material = |at: usize| {
        let next = immaterial.partition_point(|span| span.start <= at);
        next.checked_sub(1)
            .is_none_or(|before| at >= immaterial[before].end)
    };
    let tokens = script
        .tokens_in(&statement.span)
        .filter(|(_, span, _)| material(span.start));
    let mut kept: Vec<(TokenKind, &str)> = tokens.map(|(kind, _, text)| (kind, text)).collect();
    // `INNER JOIN` means `JOIN`; `INNER` must be written only next to a strategy word
    let mut at = 0;
    while at + 1 < kept.len() {
        match (kept[at].1, kept[at + 1].1) {
            ("INNER", "JOIN") => drop(kept.remove(at)),
            _ => at += 1,
        }
    }
    kept
}

/// Calls `visit` with a query and every query inside it.
pub(crate) fn each_query<'q>(query: &'q Query, visit: &mut impl FnMut(&'q Query)) {
    visit(query);
    for inner in query.inner() {
        each_query(inner, visit);
    }
}

/// Grammar words without a meaning of their own; the model holds the meaning of their clauses.
const STRUCTURE: &str = "SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER ASC DESC AS ON AND && ( ) , = ; \
     UNION ALL EXCEPT INTERSECT OPTION [ ] SSTREAM";

/// The first token of a statement that neither the model nor the grammar accounts for. A statement with
/// such a token must not be executed.
pub(crate) fn unaccounted<'s>(script: &'s Script, statement: &Statement) -> Option<&'s str> {
    let mut spans: Vec<Span> = statement.hints.iter().map(|h| h.span.clone()).collect();
    let mut names: Vec<&str> = statement.target.as_deref().into_iter().collect();
    each_query(&statement.query, &mut |query| {
        accounted(script, query, &mut spans, &mut names);
    });
    let word = |text: &str| {
        let upper = text.to_ascii_uppercase();
        STRUCTURE.split_whitespace().any(|known| known == upper)
    };
    let mut tokens = script.tokens_in(&statement.span);
    let unknown = tokens.find(|(_, span, text)| {
        let is_in = spans.iter().any(|known| known.contains(&span.start));
        !is_in && !word(text) && !names.contains(text)
    });
    unknown.map(|(_, _, text)| text)
}

fn accounted<'q>(
    script: &Script,
    query: &'q Query,
    spans: &mut Vec<Span>,
    names: &mut Vec<&'q str>,
) {
    for input in &query.inputs {
        names.extend(input.alias.as_deref());
        match &input.source {
            RowsetSource::Name => {
                names.extend(input.name.split('.').chain([input.name.as_str(), "."]))
            }
            RowsetSource::Path(path) => spans.push(path.span.clone()),
            _ => {}
        }
    }
    for column in &query.columns {
        spans.push(column.expression.span.clone());
        names.extend(column.name.as_deref());
    }
    for join in &query.joins {
        spans.push(join.keyword_span.clone());
        spans.extend(
            join.condition
                .iter()
                .map(|part| part.expression.span.clone()),
        );
    }
    spans.extend(query.filter_span.clone());
    spans.extend(query.top.iter().map(|top| top.span.clone()));
    spans.extend(script.fetch(query).map(|(_, span)| span));
    let having = query.having.iter().map(|part| &part.expression);
    let order = query.order_by.iter().map(|item| &item.expression);
    let others = query
        .group_by
        .iter()
        .chain(having)
        .chain(order)
        .chain(&query.paths);
    spans.extend(others.map(|expression| expression.span.clone()));
    for (name, value) in &query.params {
        names.push(name);
        spans.push(value.span.clone());
    }
}
