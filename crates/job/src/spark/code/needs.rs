//! The statements that the actions of an application need.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Part, Program, link::site_in};
use crate::code::find::only;
use crate::model::{Application, Execution};

/// Most statements that are followed backwards from an action.
const MOST_STEPS: usize = 10_000;

/// The statements that run the executions of an application.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Actions {
    /// Parallel to [`Application::executions`]: the statement with the action, if it is known.
    of: Vec<Option<usize>>,
    /// By the statement of an action: the statements that it needs.
    needed: BTreeMap<usize, BTreeSet<usize>>,
}

impl Actions {
    pub(super) fn of(app: &Application, program: &Program) -> Actions {
        let mut sites: Vec<Vec<&String>> = Vec::new();
        sites.extend(
            app.executions
                .iter()
                .map(|e| e.description.iter().collect()),
        );
        for job in &app.jobs {
            if let Some(own) = job.execution.and_then(|at| sites.get_mut(at)) {
                own.extend(&job.call_site);
            }
        }
        let executions = app.executions.iter().zip(&sites);
        let of: Vec<_> = executions
            .map(|(execution, sites)| action(program, execution, sites))
            .collect();
        let definitions = Definitions::of(program);
        let actions: BTreeSet<usize> = of.iter().flatten().copied().collect();
        let needed = actions.into_iter();
        let needed = needed.map(|action| (action, definitions.needed_by(action)));
        Actions {
            needed: needed.collect(),
            of,
        }
    }

    /// The statement with the action of an execution.
    pub(super) fn action(&self, execution: usize) -> Option<usize> {
        *self.of.get(execution)?
    }

    /// The statements that the action of an execution needs.
    pub(super) fn needed(&self, execution: usize) -> Option<&BTreeSet<usize>> {
        self.needed.get(&self.action(execution)?)
    }
}

/// The statement with the action of an execution: by its call site, the path that it writes, or its method.
fn action(program: &Program, execution: &Execution, sites: &[&String]) -> Option<usize> {
    if let Some((_, line)) = sites.iter().find_map(|site| site_in(program, site)) {
        return program.statement_at(line);
    }
    let written = execution.plan.iter().take(3).find_map(|node| {
        let (_, path) = node.text.split_once("InsertIntoHadoopFsRelationCommand ")?;
        let path = path.split([',', ' ']).next()?;
        Some(path.trim_end_matches('/').rsplit('/').next()?.to_owned())
    });
    if let Some(path) = written {
        let place = program.find(Part::Write, &[path], None);
        return place.map(|place| place.statement);
    }
    let method = sites.first()?.split_once(" at ")?.0;
    only(program.calls.iter().filter(|call| call.name == method)).map(|call| call.statement)
}

/// The statements of a program by the names that they define.
pub(super) struct Definitions<'p> {
    program: &'p Program,
    /// Statements in the function of a name, and those that register a view of the name for queries.
    used: HashMap<&'p str, Vec<usize>>,
    /// Statements that register a view by the name in a variable, which may be any.
    views: Vec<usize>,
}

impl<'p> Definitions<'p> {
    pub(super) fn of(program: &'p Program) -> Definitions<'p> {
        let mut used: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut views = Vec::new();
        for (at, statement) in program.statements.iter().enumerate() {
            if let Some(function) = statement.function.as_deref() {
                used.entry(function).or_default().push(at);
            }
        }
        let registering = program.calls.iter();
        for call in registering.filter(|c| c.name.ends_with("TempView")) {
            let name = call.arguments.first().map(|name| program.string(name.node));
            match name {
                Some(Some(name)) => used.entry(name).or_default().push(call.statement),
                Some(None) => views.push(call.statement),
                None => {}
            }
        }
        Definitions {
            program,
            used,
            views,
        }
    }

    /// The last statement that needs another one.
    pub(super) fn last_use(&self, of: usize) -> Option<usize> {
        let later = of + 1..self.program.statements.len();
        later.rev().find(|at| self.needed_by(*at).contains(&of))
    }

    /// The statements that a statement needs: the ones that assign the names that it reads, and so on.
    pub(super) fn needed_by(&self, statement: usize) -> BTreeSet<usize> {
        let mut needed = BTreeSet::from([statement]);
        let mut open = vec![statement];
        while let Some(at) = open.pop().filter(|_| needed.len() < MOST_STEPS) {
            let reads = &self.program.statements[at].reads;
            let assigning = reads
                .iter()
                .filter_map(|name| self.program.assigning.get(name));
            let assigning = assigning.flatten().filter(|other| **other < at);
            let used = reads.iter().filter_map(|name| self.used.get(name.as_str()));
            let others = assigning.chain(used.flatten()).chain(&self.views);
            open.extend(others.filter(|other| needed.insert(**other)));
        }
        needed
    }
}
