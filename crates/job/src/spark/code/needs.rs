//! The statements that the actions of an application need.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Part, Program};
use crate::code::find::only;
use crate::model::{Application, Execution};

/// Most statements that are followed backwards from an action.
const MOST_STEPS: usize = 10_000;

/// The statements that run the executions of an application.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Actions {
    /// Parallel to [`Application::executions`]: the statement with the action, if it is known.
    of: Vec<Option<usize>>,
    /// Parallel to [`Application::stages`](crate::model::Application::stages).
    of_stages: Vec<Option<usize>>,
    /// By the statement of an action: the statements that it needs, those of all its callers included.
    needed: BTreeMap<usize, BTreeSet<usize>>,
}

/// The statements that a change may edit: those that certainly run for a stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope(BTreeSet<usize>);

impl Scope {
    pub fn contains(&self, statement: usize) -> bool {
        self.0.contains(&statement)
    }

    /// All statements of a program.
    pub fn whole(program: &Program) -> Scope {
        Scope((0..program.statements.len()).collect())
    }

    /// The functions with the actions, their callers where there is only one, and what all of them need. Without a known
    /// action, what the code outside of functions needs.
    pub(super) fn of(program: &Program, actions: &BTreeSet<usize>) -> Scope {
        let definitions = Definitions::of(program);
        let statements = 0..program.statements.len();
        let mut roots: BTreeSet<usize> = actions.clone();
        let mut open: Vec<usize> = actions.iter().copied().collect();
        while let Some(at) = open.pop() {
            let scope = program.statements[at].scopes.first();
            let same = |other: &usize| {
                program.statements[*other].scopes.first() == scope && !program.is_definition(*other)
            };
            roots.extend(statements.clone().filter(same));
            let callers = definitions.callers(at);
            if let [caller] = callers[..]
                && roots.insert(caller)
            {
                open.push(caller);
            }
        }
        if actions.is_empty() {
            let outside = |at: &usize| {
                program.statements[*at].scopes.is_empty() && !program.is_definition(*at)
            };
            roots.extend(statements.filter(outside));
        }
        Scope(definitions.needed_by(roots))
    }
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
        let at_site = |site: &str| program.statement_at(program.site(site)?.1);
        let of_stages = app.stages.iter().map(|stage| match stage.execution {
            Some(execution) => *of.get(execution)?,
            None => {
                let job = stage.job.and_then(|job| app.jobs.get(job));
                let of_job = job.and_then(|job| at_site(job.call_site.as_deref()?));
                of_job.or_else(|| at_site(&stage.call_site))
            }
        });
        let of_stages: Vec<_> = of_stages.collect();
        let definitions = Definitions::of(program);
        let actions: BTreeSet<usize> = of.iter().chain(&of_stages).flatten().copied().collect();
        let needed = actions.into_iter();
        let needed = needed.map(|action| (action, definitions.needed_with_callers(action)));
        Actions {
            needed: needed.collect(),
            of,
            of_stages,
        }
    }

    /// The statement with the action of an execution.
    pub(super) fn action(&self, execution: usize) -> Option<usize> {
        *self.of.get(execution)?
    }

    /// The statement with the action that ran a stage.
    pub(super) fn of_stage(&self, stage: usize) -> Option<usize> {
        *self.of_stages.get(stage)?
    }

    /// The statements that the action of a stage needs.
    pub(super) fn needed(&self, stage: usize) -> Option<&BTreeSet<usize>> {
        self.needed.get(&self.of_stage(stage)?)
    }

    pub(super) fn all(&self) -> BTreeSet<usize> {
        self.needed.keys().copied().collect()
    }
}

/// The statement with the action of an execution: by its call site, the path that it writes, or its method.
fn action(program: &Program, execution: &Execution, sites: &[&String]) -> Option<usize> {
    if let Some((_, line)) = sites.iter().find_map(|site| program.site(site)) {
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
        let needs = |at: &usize| self.needed_by(BTreeSet::from([*at])).contains(&of);
        later.rev().find(needs)
    }

    /// The statements that others need: the ones that assign the names that they read, and so on.
    pub(super) fn needed_by(&self, statements: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = statements.iter().copied().collect();
        let mut needed = statements;
        while let Some(at) = open.pop().filter(|_| needed.len() < MOST_STEPS) {
            let own = &self.program.statements[at];
            let reads = own.reads.iter();
            let assigning = reads
                .clone()
                .flat_map(|name| self.program.assigned_before(name, at));
            let used = reads.filter_map(|name| self.used.get(name.as_str()));
            let used = used
                .flatten()
                .copied()
                .filter(|other| self.sees(at, *other));
            let others = assigning.chain(used).chain(self.views.iter().copied());
            open.extend(others.filter(|other| needed.insert(*other)));
        }
        needed
    }

    pub(super) fn needed_with_callers(&self, action: usize) -> BTreeSet<usize> {
        let mut all = BTreeSet::from([action]);
        let mut open = vec![action];
        while let Some(at) = open.pop().filter(|_| all.len() < MOST_STEPS) {
            let callers = self.callers(at).into_iter();
            open.extend(callers.filter(|caller| all.insert(*caller)));
        }
        self.needed_by(all)
    }

    /// Whether a statement sees the function with another one.
    fn sees(&self, at: usize, other: usize) -> bool {
        let [own, other] = [at, other].map(|at| &self.program.statements[at].scopes);
        other.get(1).is_none_or(|outer| own.contains(outer))
    }

    /// The statements that call the function with a statement, or pass it to another one.
    fn callers(&self, of: usize) -> Vec<usize> {
        let called = &self.program.statements[of];
        let (Some(name), Some(definition)) = (&called.function, called.scopes.first()) else {
            return Vec::new();
        };
        let calls = |at: &usize| {
            let other = &self.program.statements[*at];
            other.reads.contains(name)
                && !other.scopes.contains(definition)
                && !self.program.is_definition(*at)
                && self.sees(*at, of)
        };
        let all = 0..self.program.statements.len();
        all.filter(calls).collect()
    }
}
