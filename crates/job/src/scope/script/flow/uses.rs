//! Columns needed in the end, found backwards from the outputs.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use super::columns::{provided, starred};
use super::{ReadColumns, Rowset};
use crate::script::model::{
    ColumnRef, Expression, Query, RowsetRef, RowsetSource, Statement, StatementKind,
};

/// Columns visited over all statements, some seconds of work. Beyond this limit, every column counts
/// as used.
const MAX_WORK: usize = 50_000_000;

/// Inputs of a query; beyond this limit, every column counts as used. Real queries have fewer, and
/// the time grows with the square.
const MAX_INPUTS: usize = 256;

/// Columns of a rowset that a reader needs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Needed {
    All,
    Some(BTreeSet<String>),
}

impl Needed {
    fn none() -> Needed {
        Needed::Some(BTreeSet::new())
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Needed::All => true,
            Needed::Some(names) => names.contains(name),
        }
    }

    fn add(&mut self, more: Needed) {
        match (&mut *self, more) {
            (Needed::All, _) => {}
            (Needed::Some(names), Needed::Some(more)) => names.extend(more),
            (_, Needed::All) => *self = Needed::All,
        }
    }

    fn add_name(&mut self, name: &str) {
        if let Needed::Some(names) = self {
            names.insert(name.to_owned());
        }
    }
}

struct Marker<'a> {
    columns: HashMap<usize, Option<Vec<String>>>,
    /// Needed columns of each statement's rowset, by statement.
    needed: HashMap<usize, Needed>,
    reads: &'a ReadColumns<'a>,
    /// Remaining work budget, in columns.
    left: Cell<usize>,
}

/// Fills `used` and `dropped` of every rowset.
pub(super) fn mark(
    statements: &[Statement],
    rowsets: &mut [Rowset],
    by_statement: &HashMap<usize, usize>,
    reads: &ReadColumns<'_>,
) {
    let columns = rowsets.iter().map(|r| (r.statement, r.columns.clone()));
    let mut marker = Marker {
        columns: columns.collect(),
        needed: HashMap::new(),
        reads,
        left: Cell::new(MAX_WORK),
    };
    for statement in statements.iter().rev() {
        if !by_statement.contains_key(&statement.index) {
            continue;
        }
        let needed = match statement.makes_rowset() {
            true => marker.needed.get(&statement.index).map(|n| marker.copy(n)),
            false => Some(Needed::All),
        };
        let needed = needed.unwrap_or_else(Needed::none);
        marker.query(&statement.query, &needed);
    }
    for rowset in rowsets {
        let needed = marker.needed.remove(&rowset.statement);
        let needed = needed.unwrap_or_else(Needed::none);
        let provided = rowset.columns.clone().unwrap_or_default();
        rowset.used = match &needed {
            Needed::All => provided.clone(),
            Needed::Some(names) => names.iter().cloned().collect(),
        };
        let provided = provided.into_iter();
        rowset.dropped = provided.filter(|column| !needed.has(column)).collect();
    }
}

impl Marker<'_> {
    fn provided(&self, query: &Query) -> Option<Vec<String>> {
        let known = |definition| self.columns.get(&definition).cloned().flatten();
        provided(query, &known)
    }

    /// Spends `columns` of the work budget; false if it is exhausted.
    fn works(&self, columns: usize) -> bool {
        let left = self.left.get().checked_sub(columns.max(1));
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// A copy of the needed columns, or all columns once the work budget is exhausted.
    fn copy(&self, needed: &Needed) -> Needed {
        match needed {
            Needed::Some(names) if self.works(names.len()) => needed.clone(),
            _ => Needed::All,
        }
    }

    /// Marks the needed columns of a query's inputs.
    fn query(&mut self, query: &Query, needed: &Needed) {
        match query.kind {
            StatementKind::Union => self.union(query, needed),
            StatementKind::Select | StatementKind::SStream => self.select(query, needed),
            StatementKind::Process | StatementKind::Reduce | StatementKind::Combine => {
                self.user_defined(query, needed);
            }
            _ => {
                for input in 0..query.inputs.len() {
                    let needed = self.copy(needed);
                    self.pass(query, input, needed);
                }
            }
        }
    }

    /// Branches correspond by position; a set operation that compares rows needs all columns.
    fn union(&mut self, query: &Query, needed: &Needed) {
        let mut operators = query.set_operators.iter();
        let compares = operators.any(|operator| operator != "UNION ALL");
        let first = query.branches.first();
        let names = first.and_then(|first| self.provided(first));
        for branch in &query.branches {
            let own = self.provided(branch);
            let needed = match (&names, own, needed) {
                (Some(names), Some(own), Needed::Some(wanted))
                    if !compares && names.len() == own.len() =>
                {
                    let pairs = names.iter().zip(own);
                    let kept = pairs.filter(|(name, _)| wanted.contains(*name));
                    Needed::Some(kept.map(|(_, own)| own).collect())
                }
                _ => Needed::All,
            };
            self.query(branch, &needed);
        }
    }

    fn select(&mut self, query: &Query, needed: &Needed) {
        let mut needs = vec![Needed::none(); query.inputs.len()];
        for column in &query.columns {
            let star = column.is_star();
            let wanted = query.distinct
                || star
                || column.name.as_deref().is_none_or(|name| needed.has(name));
            if star {
                self.star(query, column.expression.as_column(), needed, &mut needs);
            } else if wanted {
                self.expression(query, &column.expression, &mut needs);
            }
        }
        self.clauses(query, needed, &mut needs);
        for (input, needed) in needs.into_iter().enumerate() {
            self.pass(query, input, needed);
        }
    }

    /// `*` passes needed columns on by name.
    fn star(&self, query: &Query, star: Option<&ColumnRef>, needed: &Needed, needs: &mut [Needed]) {
        let qualifier = star.and_then(|star| star.qualifier.as_deref());
        let passed = if query.distinct { &Needed::All } else { needed };
        if needs.len() > MAX_INPUTS {
            return needs.fill(Needed::All);
        }
        for input in starred(query, qualifier) {
            let mut inputs = query.inputs.iter();
            let position = inputs.position(|other| std::ptr::eq(other, input));
            if let Some(need) = position.and_then(|position| needs.get_mut(position)) {
                need.add(self.copy(passed));
            }
        }
    }

    fn clauses(&self, query: &Query, needed: &Needed, needs: &mut [Needed]) {
        let joined = query.joins.iter().flat_map(|join| &join.condition);
        let conjuncts = query.filter.iter().chain(joined).map(|c| &c.expression);
        for expression in conjuncts.chain(&query.group_by) {
            self.expression(query, expression, needs);
        }
        let ordered = query.order_by.iter().chain(&query.presort);
        let having = query.having.iter().map(|c| &c.expression);
        for expression in having.chain(ordered.map(|item| &item.expression)) {
            self.expression(query, expression, needs);
            self.own_columns(query, expression, needs);
        }
        for input in &query.inputs {
            match &input.source {
                RowsetSource::Apply(expression) => self.expression(query, expression, needs),
                RowsetSource::Query(_) if input.alias.is_none() && query.columns.is_empty() => {
                    needs
                        .iter_mut()
                        .for_each(|need| need.add(self.copy(needed)));
                }
                _ => {}
            }
        }
    }

    /// `HAVING` and `ORDER BY` can name columns of the list by their aliases.
    fn own_columns(&self, query: &Query, expression: &Expression, needs: &mut [Needed]) {
        for used in &expression.uses {
            if !self.works(query.columns.len()) {
                return needs.fill(Needed::All);
            }
            let mut columns = query.columns.iter().filter(|column| !column.is_star());
            if let Some(own) = columns.find(|c| c.name.as_ref() == Some(&used.name)) {
                self.expression(query, &own.expression, needs);
            }
        }
    }

    /// A user-defined operator reads the columns that its code names, or all.
    fn user_defined(&mut self, query: &Query, needed: &Needed) {
        let class = query.using_class.as_deref().unwrap_or_default();
        let passes_on = query.columns.iter().any(|column| column.is_star());
        let reads = (self.reads)(class).filter(|_| !passes_on);
        let mut needs = vec![
            match &reads {
                Some(names) => Needed::Some(names.iter().cloned().collect()),
                None => Needed::All,
            };
            query.inputs.len()
        ];
        if reads.is_some() {
            // a produced column with the name of an input column may be its copy
            for column in &query.columns {
                self.expression(query, &column.expression, &mut needs);
            }
            for key in query.on.iter().chain(&query.required) {
                self.column(query, key, &mut needs);
            }
            for (input, need) in query.inputs.iter().zip(needs.iter_mut()) {
                for item in &input.presort {
                    for used in &item.expression.uses {
                        need.add_name(&used.name);
                    }
                }
            }
            self.clauses(query, needed, &mut needs);
        }
        for (input, needed) in needs.into_iter().enumerate() {
            self.pass(query, input, needed);
        }
    }

    fn expression(&self, query: &Query, expression: &Expression, needs: &mut [Needed]) {
        for column in &expression.uses {
            self.column(query, column, needs);
        }
    }

    /// Marks a column in its input; if the input is unknown, in each possible one.
    fn column(&self, query: &Query, column: &ColumnRef, needs: &mut [Needed]) {
        if needs.len() > MAX_INPUTS {
            return needs.fill(Needed::All);
        }
        for (input, need) in query.inputs.iter().zip(needs) {
            let fits = match &column.qualifier {
                Some(qualifier) => {
                    let label = input.label();
                    label == qualifier || label.rsplit('.').next() == Some(qualifier)
                }
                None => self.may_have(input, &column.name),
            };
            match column.name.as_str() {
                "*" if fits => *need = Needed::All,
                name if fits => need.add_name(name),
                _ => {}
            }
        }
    }

    fn may_have(&self, input: &RowsetRef, name: &str) -> bool {
        let has = |columns: &Vec<String>| {
            !self.works(columns.len()) || columns.iter().any(|own| own == name)
        };
        match (&input.source, input.definition) {
            (RowsetSource::Name | RowsetSource::Previous, Some(definition)) => {
                let columns = self.columns.get(&definition);
                columns.and_then(Option::as_ref).is_none_or(has)
            }
            (RowsetSource::Query(inner), _) if self.works(inner.columns.len()) => {
                self.provided(inner).as_ref().is_none_or(has)
            }
            _ => true,
        }
    }

    fn pass(&mut self, query: &Query, input: usize, needed: Needed) {
        let Some(input) = query.inputs.get(input) else {
            return;
        };
        match (&input.source, input.definition) {
            (RowsetSource::Query(inner), _) => self.query(inner, &needed),
            (_, Some(definition)) => {
                let all = self.needed.entry(definition);
                all.or_insert_with(Needed::none).add(needed);
            }
            _ => {}
        }
    }
}
