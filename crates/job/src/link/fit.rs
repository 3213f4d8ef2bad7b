//! Candidate statements of the script for an operator: by class, keys, paths and columns.

use super::edges::bare;
use crate::model::{Job, Operator, OperatorKind};
use crate::script::{
    JoinKind, OutputColumn, Query, RowsetSource, Script, Statement, StatementKind,
};

/// Statements visited between two others.
const MAX_STATEMENTS: usize = 1_000;

/// The only statement with a `USING` clause for the operator's class.
pub(super) fn by_class(script: &Script, op: &Operator) -> Option<usize> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let class = last(&op.class_name);
    let uses = |q: &Query| q.using_class.as_deref().is_some_and(|c| last(c) == class);
    match having(script, &uses).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Statements that match an operator's kind and keys.
pub(super) fn statements(job: &Job, script: &Script, op: &Operator) -> Vec<usize> {
    use OperatorKind as K;
    let of_kind = |kind: StatementKind| {
        let all = script.statements.iter().filter(|s| s.kind == kind);
        all.map(|s| s.index).collect()
    };
    match op.kind {
        K::Join => having(script, &|q| joins_on(q, op)),
        K::Aggregate | K::PartialAggregate => having(script, &|q| groups_by(q, op)),
        K::Window => having(script, &|q| q.aggregates.iter().any(|a| a.over)),
        K::Sort => having(script, &|q| orders_by(q, op)),
        K::Output => of_kind(StatementKind::Output),
        K::Extract => {
            let all = script.statements.iter();
            let fits = all.filter(|s| reads(script, s, op, job));
            fits.map(|s| s.index).collect()
        }
        _ => Vec::new(),
    }
}

/// The candidate statements that fit the operator's columns best; all of them, if columns don't decide.
pub(super) fn narrowed(script: &Script, op: &Operator, all: &[usize]) -> Vec<usize> {
    let mut fits = all.to_vec();
    let mut narrow = |keep: &dyn Fn(&Statement) -> bool| {
        let keep = |at: &usize| script.statements.get(*at).is_some_and(keep);
        let kept: Vec<usize> = fits.iter().copied().filter(keep).collect();
        if !kept.is_empty() {
            fits = kept;
        }
    };
    if op.kind == OperatorKind::Output {
        let written: Vec<&str> = names(op.inputs.first().map_or(&[][..], |i| &i.schema));
        let flow = script.flow();
        narrow(&|s| {
            let input = s.query.inputs.first().and_then(|i| i.definition);
            let columns = input.and_then(|i| flow.of_statement(i)?.columns.as_ref());
            columns.is_some_and(|columns| {
                columns.len() == written.len() && columns.iter().all(|c| any_is(&written, c))
            })
        });
        // a path that ends in `.ss` does not prove a structured stream
        let structured = op.class_name.contains("SStream");
        narrow(&|s| s.output.as_ref().is_some_and(|o| o.sstream == structured));
    } else {
        let new = new_columns(op);
        narrow(&|s| !new.is_empty() && new.iter().all(|name| provides(&s.query, name)));
    }
    fits
}

/// The only statement between the feeder's statement and the reader's statement that filters or
/// computes like the operator. `None` if several could.
pub(super) fn on_the_way(
    script: &Script,
    (from, to): (Option<usize>, Option<usize>),
    op: &Operator,
) -> Option<usize> {
    if from == to {
        // no statement is in between
        return from;
    }
    let way = way(script, from, to).into_iter();
    let way: Vec<&Statement> = way.filter_map(|at| script.statements.get(at)).collect();
    let one = |fits: &dyn Fn(&Statement) -> bool| {
        let mut found = way.iter().filter(|s| fits(s));
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only.index),
            _ => None,
        }
    };
    if op.kind == OperatorKind::Union {
        return one(&|s| !s.query.branches.is_empty());
    }
    let new = new_columns(op);
    if !new.is_empty() {
        let is_computed = |c: &OutputColumn| c.expression.as_column().is_none();
        let computes = |q: &Query, name: &str| {
            let mut columns = q.columns.iter();
            columns.any(|c| has_name(c, name) && is_computed(c))
        };
        let fits = |s: &Statement, name: &str| any_query(&s.query, &|q| computes(q, name));
        return one(&|s| new.iter().all(|name| fits(s, name)));
    }
    let known: Vec<&str> = names(op.inputs.first().map_or(&[][..], |i| &i.schema));
    let filters = |q: &Query| {
        let conditions = || q.filter.iter().chain(&q.having);
        let mut uses = conditions().flat_map(|c| &c.expression.uses);
        conditions().next().is_some() && uses.all(|column| any_is(&known, &column.name))
    };
    let is_filter = op.class_name.contains("Filter");
    if is_filter && way.iter().any(|s| any_query(&s.query, &filters)) {
        return one(&|s| any_query(&s.query, &filters));
    }
    // the operator only projects
    let inner = |s: &Statement| Some(s.index) != from && Some(s.index) != to;
    one(&|s| inner(s) && s.query.branches.is_empty())
}

/// Statements that rows pass from one statement to another, including both; if an end is
/// unknown, all statements on that side.
fn way(script: &Script, from: Option<usize>, to: Option<usize>) -> Vec<usize> {
    let flow = script.flow();
    let inputs = |statement: usize| -> Vec<usize> {
        match flow.of_statement(statement) {
            Some(rowset) => {
                let of = |at: &usize| Some(flow.rowsets.get(*at)?.statement);
                rowset.inputs.iter().filter_map(of).collect()
            }
            None => {
                let inputs = script.statements.get(statement).map(|s| &s.query.inputs);
                let inputs = inputs.into_iter().flatten();
                inputs.filter_map(|i| i.definition).collect()
            }
        }
    };
    let readers = |statement: usize| -> Vec<usize> {
        let readers = flow.of_statement(statement).map(|r| r.readers.as_slice());
        let of = |at: &usize| Some(flow.rowsets.get(*at)?.statement);
        readers.into_iter().flatten().filter_map(of).collect()
    };
    match (from, to) {
        (Some(from), Some(to)) => {
            let above = reached(to, &inputs);
            let below = reached(from, &readers);
            above.into_iter().filter(|at| below.contains(at)).collect()
        }
        (Some(from), None) => reached(from, &readers),
        (None, Some(to)) => reached(to, &inputs),
        (None, None) => Vec::new(),
    }
}

/// A statement and all statements reachable from it.
fn reached(from: usize, step: &dyn Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let (mut open, mut seen) = (vec![from], vec![from]);
    while let Some(at) = open.pop() {
        for next in step(at) {
            if !seen.contains(&next) && seen.len() < MAX_STATEMENTS {
                seen.push(next);
                open.push(next);
            }
        }
    }
    seen
}

fn having(script: &Script, fits: &dyn Fn(&Query) -> bool) -> Vec<usize> {
    let all = script.statements.iter();
    let fits = all.filter(|s| any_query(&s.query, fits));
    fits.map(|s| s.index).collect()
}

/// Whether a query, a branch of it, or a query in its FROM clause fits.
fn any_query(query: &Query, fits: &dyn Fn(&Query) -> bool) -> bool {
    fits(query)
        || query.branches.iter().any(|branch| any_query(branch, fits))
        || query.inputs.iter().any(|input| match &input.source {
            RowsetSource::Query(inner) => any_query(inner, fits),
            _ => false,
        })
}

/// Columns of an operator's output that are not in its inputs.
fn new_columns(op: &Operator) -> Vec<&str> {
    let taken: Vec<&str> = op.inputs.iter().flat_map(|i| names(&i.schema)).collect();
    let put_out = op.outputs.first().map_or(&[][..], |o| &o.schema);
    let mut new = names(put_out);
    new.retain(|name| !any_is(&taken, name));
    new
}

fn names(schema: &[crate::model::Column]) -> Vec<&str> {
    schema.iter().map(|c| c.name.as_str()).collect()
}

fn any_is(names: &[&str], name: &str) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}

fn has_name(column: &OutputColumn, name: &str) -> bool {
    let own = column.name.as_deref();
    own.is_some_and(|n| n.eq_ignore_ascii_case(name))
}

/// Whether a query lists a column of that name; `*` does not count.
fn provides(query: &Query, name: &str) -> bool {
    any_query(query, &|q| q.columns.iter().any(|c| has_name(c, name)))
}

/// The compiler renames a second column of the same name: `Postcode1`.
fn same_column(script: &str, compiled: &str) -> bool {
    let plain = compiled.trim_end_matches(|c: char| c.is_ascii_digit());
    script.eq_ignore_ascii_case(compiled)
        || (!plain.is_empty() && script.eq_ignore_ascii_case(plain))
}

/// Whether one of a query's joins has the keys of an operator, in either order of the sides.
fn joins_on(query: &Query, op: &Operator) -> bool {
    query.joins.iter().any(|join| {
        let n = join.keys.len();
        if n == 0 || op.keys.is_empty() {
            return op.keys.is_empty() && matches!(join.kind, JoinKind::Cross);
        }
        let sides = || op.keys.iter().zip(&op.right_keys);
        n == op.keys.len()
            && join.keys.iter().all(|(left, right)| {
                let (left, right) = (&left.name, &right.name);
                sides().any(|(l, r)| same_column(left, l) && same_column(right, r))
                    || sides().any(|(l, r)| same_column(left, r) && same_column(right, l))
            })
    })
}

/// Whether a query groups by the keys of an operator, in any order; `COUNT(DISTINCT x)` groups by
/// `x` as well.
fn groups_by(query: &Query, op: &Operator) -> bool {
    let grouped = query.group_by.iter();
    let grouped: Vec<&str> = grouped
        .filter_map(|e| Some(&*e.uses.last()?.name))
        .collect();
    if op.keys.is_empty() {
        return query.group_by.is_empty() && !query.aggregates.is_empty();
    }
    let distinct = query.aggregates.iter().filter(|a| a.distinct && !a.over);
    let distinct = distinct.flat_map(|a| &a.arguments);
    let distinct: Vec<&str> = distinct
        .filter_map(|e| Some(&*e.uses.last()?.name))
        .collect();
    let selected = query.columns.iter().filter_map(|c| c.name.as_deref());
    let selected: Vec<&str> = selected.filter(|_| query.distinct).collect();
    let is_key = |name: &&str| op.keys.iter().any(|key| same_column(name, key));
    let same = |names: &[&str]| names.len() == op.keys.len() && names.iter().all(is_key);
    same(&grouped) || same(&[grouped.as_slice(), &distinct].concat()) || same(&selected)
}

/// Whether a query orders by the keys of an operator.
fn orders_by(query: &Query, op: &Operator) -> bool {
    let mut both = query.order_by.iter().zip(&op.keys);
    !op.keys.is_empty()
        && query.order_by.len() == op.keys.len()
        && both.all(|(item, key)| {
            let column = item.expression.uses.last();
            column.is_some_and(|c| same_column(&c.name, key))
        })
}

/// Whether a query reads a path: written in it, or declared as its parameter.
fn reads_path(script: &Script, query: &Query, path: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().filter(|f| !f.is_empty());
    let file = file.unwrap_or(path);
    let plain = |name: &str| name.trim_start_matches('@').to_ascii_lowercase();
    let declared = |name: &str| {
        let name = plain(name);
        script.statements.iter().any(|s| {
            s.kind == StatementKind::Declare
                && s.target.as_deref().is_some_and(|t| plain(t) == name)
                && script.slice(&s.span).contains(file)
        })
    };
    let given = query.params.iter().map(|(_, value)| value);
    query.paths.iter().chain(given).any(|expression| {
        script.slice(&expression.span).contains(file)
            || expression.parameters.iter().any(|p| declared(p))
    })
}

/// Whether the path of an operator's input is known.
pub(super) fn has_path(job: &Job, op: &Operator) -> bool {
    let input = op.inputs.first().map(|input| bare(&input.id));
    let mut tables = job.tables.iter();
    let table = input.and_then(|id| tables.find(|t| t.stream_id.as_deref() == Some(id)));
    table.is_some_and(|t| t.path.is_some())
}

/// Whether a statement reads the input of an extracting operator: by the path or the name of the
/// table, or by the columns of an `EXTRACT`.
fn reads(script: &Script, statement: &Statement, op: &Operator, job: &Job) -> bool {
    let input = op.inputs.first();
    let table = input.and_then(|input| {
        let mut tables = job.tables.iter();
        tables.find(|t| t.stream_id.as_deref() == Some(bare(&input.id)))
    });
    let path = table.and_then(|t| t.path.as_deref());
    if let Some(path) = path
        && any_query(&statement.query, &|q| reads_path(script, q, path))
    {
        return true;
    }
    if statement.kind == StatementKind::Extract {
        let columns = statement.query.columns.iter();
        let columns: Vec<&str> = columns.filter_map(|c| c.name.as_deref()).collect();
        let schema: Vec<&str> = names(input.map_or(&[][..], |input| &input.schema));
        return !schema.is_empty()
            && columns.len() == schema.len()
            && columns.iter().all(|name| any_is(&schema, name));
    }
    table.is_some_and(|t| {
        any_query(&statement.query, &|q| {
            q.inputs.iter().any(|i| {
                let name = i.name.rsplit('.').next().unwrap_or(&i.name);
                let plain = name.trim_matches(['[', ']']);
                i.definition.is_none() && plain.eq_ignore_ascii_case(&t.name)
            })
        })
    })
}
