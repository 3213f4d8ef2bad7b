//! Translates a script to SQL that computes the outputs that a change touches.

mod aggregate;
mod call;
mod joins;
mod order;
mod query;
mod rowset;
mod select;
mod user_code;
mod value;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job::script::flow::DataFlow;
use job::script::{Script, Statement, StatementKind};

use crate::Unknown;
use crate::facts::Facts;
use crate::kind::{Column, Kind};
use crate::pairs::{Touch, references};
use crate::unknown::excerpt;
use job::script::expr::{Expr, Op};

/// Columns of a rowset that is executed.
const MOST_COLUMNS: usize = 300;

/// Maximum number of parts of a declared value, including the values that it names.
const LONGEST_VALUE: usize = 200;
/// Maximum nesting of queries.
const DEEPEST: u32 = 40;

/// Whether a null key of a join matches another one, which the documentation leaves open. A change whose
/// result depends on it is not called the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullKeys {
    Match,
    Differ,
}

/// Options for executing a change.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) facts: &'a Facts<'a>,
    /// Kinds of columns without a declaration, derived from their comparisons.
    pub(crate) kinds: &'a HashMap<String, Kind>,
    pub(crate) null_keys: NullKeys,
    /// Whether functions may take the place of user code even where the change touches it.
    pub(crate) stands_in: bool,
}

/// One step of a program; steps run in sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Makes a table; with `exercised`, some run must put rows into it.
    Make {
        table: String,
        name: String,
        sql: String,
        line: u32,
        exercised: bool,
    },
    /// Finds rows that are tied where the script takes the first ones; if there are any, the run does not
    /// count.
    Tied { sql: String },
    /// Must find a row in some run.
    Matches {
        sql: String,
        line: u32,
        code: String,
    },
}

/// A comparison in a changed statement: the runs together must meet each side of its boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) op: Op,
    pub(crate) line: u32,
    pub(crate) code: String,
}

/// An output to compare after the last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// Rows in the order of the script, if it orders them.
    pub(crate) sql: String,
    pub(crate) order: Option<Vec<usize>>,
}

/// A script in SQL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// Tables to fill with generated rows, by the source that each replaces.
    pub(crate) sources: BTreeMap<String, Vec<Column>>,
    pub(crate) steps: Vec<Step>,
    pub(crate) probes: Vec<Probe>,
    pub(crate) outputs: Vec<Output>,
    /// Classes of user code with the columns that they get and may read.
    pub(crate) read: BTreeSet<(String, Vec<String>)>,
}

/// A table or a query in brackets, and its columns `c0`, `c1`, ….
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub(crate) from: String,
    pub(crate) columns: Vec<Column>,
    /// Keys that order its rows, as positions of columns.
    pub(crate) order: Option<Vec<(usize, bool)>>,
}

pub(crate) struct Translator<'a> {
    pub(crate) script: &'a Script,
    pub(crate) way: Way<'a>,
    flow: DataFlow,
    program: Program,
    rowsets: HashMap<usize, Relation>,
    parameters: HashMap<String, Expr>,
    /// Effect of the change on the current statement.
    touch: Touch,
    line: u32,
    /// Number of queries around the current one.
    depth: u32,
}

/// Translates all statements behind the outputs that a change touches.
pub(crate) fn translate(
    script: &Script,
    touches: &[Touch],
    way: Way<'_>,
) -> Result<Program, Unknown> {
    let mut translator = Translator {
        script,
        way,
        flow: script.flow_with(way.facts.reads),
        program: Program::default(),
        rowsets: HashMap::new(),
        parameters: HashMap::new(),
        touch: Touch::None,
        line: 0,
        depth: 0,
    };
    let needed = needed(script, touches);
    for statement in &script.statements {
        translator.touch = touches[statement.index];
        translator.line = statement.lines.0;
        match statement.kind {
            StatementKind::Declare => translator.declare(statement),
            StatementKind::Output if needed[statement.index] => translator.output(statement)?,
            _ if needed[statement.index] && statement.makes_rowset() => {
                translator.rowset(statement)?
            }
            // for example tables that are written to
            _ if needed[statement.index] => {
                translator.not_executed(script.slice(&statement.span))?
            }
            _ => {}
        }
    }
    Ok(translator.program)
}

/// The outputs that the change touches, and all statements behind them.
fn needed(script: &Script, touches: &[Touch]) -> Vec<bool> {
    let mut needed = vec![false; script.statements.len()];
    for statement in script.statements.iter().rev() {
        let touched = touches[statement.index] != Touch::None;
        let written = !statement.makes_rowset() && !statement.query.is_empty();
        needed[statement.index] |= touched && written;
        if needed[statement.index] {
            let read = references(&statement.query).filter_map(|input| input.definition);
            read.for_each(|at| needed[at] = true);
        }
    }
    needed
}

impl Translator<'_> {
    /// The error for code that is not executed.
    fn not_executed<T>(&self, code: &str) -> Result<T, Unknown> {
        Err(Unknown::NotExecuted {
            line: self.line,
            code: excerpt(code),
        })
    }

    fn is_touched(&self) -> bool {
        self.touch != Touch::None
    }

    fn declare(&mut self, statement: &Statement) {
        let value = statement
            .value
            .as_ref()
            .and_then(|value| self.script.expression(&value.span));
        let mut most = LONGEST_VALUE;
        let value = value.and_then(|value| value.expanded(&self.parameters, &mut most));
        if let Some(name) = &statement.target {
            let name = name.trim_start_matches('@').to_owned();
            match value {
                Some(value) => self.parameters.insert(name, value),
                None => self.parameters.remove(&name),
            };
        }
    }

    fn rowset(&mut self, statement: &Statement) -> Result<(), Unknown> {
        let made = self
            .checked_query(statement)
            .or_else(|why| match self.touch {
                // its rows are the same in both scripts, so any rows will do
                Touch::None => self.any_rows(statement).ok_or(why),
                _ => Err(why),
            })?;
        if made.columns.len() > MOST_COLUMNS {
            return Err(Unknown::TooLarge);
        }
        let table = format!("r{}", statement.index);
        self.program.steps.push(Step::Make {
            table: table.clone(),
            name: statement.target.clone().unwrap_or_default(),
            sql: format!("SELECT * FROM {}", made.from),
            line: self.line,
            exercised: self.is_touched(),
        });
        self.rowsets.insert(
            statement.index,
            Relation {
                from: table,
                ..made
            },
        );
        Ok(())
    }

    fn checked_query(&mut self, statement: &Statement) -> Result<Relation, Unknown> {
        if self.is_touched()
            && !is_user_code(statement.kind)
            && let Some(unknown) = crate::tokens::unaccounted(self.script, statement)
        {
            return self.not_executed(unknown);
        }
        if crate::tokens::has_directive(self.script, &statement.span) {
            return self.not_executed("#IF");
        }
        self.query(&statement.query)
    }

    /// Generated rows instead of a statement that is not executed.
    fn any_rows(&mut self, statement: &Statement) -> Option<Relation> {
        let rowset = self.flow.of_statement(statement.index)?;
        let names = rowset
            .columns
            .clone()
            .unwrap_or_else(|| rowset.used.clone());
        let columns = names.into_iter().map(|name| self.undeclared(name));
        let columns: Vec<Column> = columns.collect();
        (!columns.is_empty()).then(|| self.source(self.script.slice(&statement.span), columns))
    }

    /// A column without a declared type.
    fn undeclared(&self, name: String) -> Column {
        let kind = self.way.kinds.get(&name).copied().unwrap_or(Kind::Opaque);
        Column {
            name,
            kind,
            nullable: true,
        }
    }

    fn output(&mut self, statement: &Statement) -> Result<(), Unknown> {
        let Some(output) = &statement.output else {
            return self.not_executed(self.script.slice(&statement.span));
        };
        let Some(input) = statement.query.inputs.first() else {
            return self.not_executed(self.script.slice(&statement.span));
        };
        let relation = self.input(input)?;
        let path = output.path.as_ref().map(|path| self.path(&path.span));
        let mut keys = Vec::new();
        for item in &output.sorted_by {
            let name = item.expression.as_column().map(|column| &column.name);
            let at = relation
                .columns
                .iter()
                .position(|column| Some(&column.name) == name);
            match at {
                Some(at) => keys.push((at, item.descending)),
                None => return self.not_executed(self.script.slice(&item.expression.span)),
            }
        }
        let order = if keys.is_empty() {
            relation.order
        } else {
            Some(keys)
        };
        let by = order
            .iter()
            .flatten()
            .map(|(at, descending)| format!("c{at}{}", if *descending { " DESC" } else { "" }));
        let by: Vec<String> = by.collect();
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" ORDER BY {}", by.join(", "))
        };
        self.program.outputs.push(Output {
            name: path.unwrap_or_else(|| input.name.clone()),
            sql: format!("SELECT * FROM {}{by}", relation.from),
            columns: relation.columns,
            order: order.map(|keys| keys.into_iter().map(|(at, _)| at).collect()),
        });
        Ok(())
    }
}

fn is_user_code(kind: StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Process
            | StatementKind::Reduce
            | StatementKind::Combine
            | StatementKind::Extract
    )
}
