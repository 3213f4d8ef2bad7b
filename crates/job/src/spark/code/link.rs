//! Connects stages and operators of an application with the program that it ran.

use std::collections::BTreeSet;

use super::find::only;
use super::needs::Definitions;
use super::{Actions, Call, Language, Part, Place, Program, Scope, Stream};
use crate::link::Lines;
use crate::model::{Job, JobError, Operator, OperatorKind};
use crate::script::Span;
use crate::text::base_name;

/// Limits on comparing operators with calls and statements: some seconds of work.
const MOST_COMPARISONS: usize = 4_000_000;
const MOST_PIECES: usize = 10_000;

impl Program {
    /// The last statement that needs the rows that another statement assigns.
    pub fn last_use(&self, statement: usize) -> Option<usize> {
        Definitions::of(self).last_use(statement)
    }
}

impl Job {
    /// The program of an application, if it was next to the log.
    pub fn program(&self) -> Option<&Program> {
        self.spark.as_ref()?.scripts.first()
    }

    /// Puts the program first that the call sites name most often, among equals the longest, and finds its actions.
    pub(crate) fn choose_program(&mut self) {
        let Some(app) = &mut self.spark else { return };
        let (jobs, stages) = (&app.jobs, &app.stages);
        let named = |program: &Program| {
            let of_jobs = jobs.iter().filter_map(|job| job.call_site.as_deref());
            let sites = of_jobs.chain(stages.iter().map(|stage| stage.call_site.as_str()));
            sites.filter(|site| program.has_site(site)).count()
        };
        app.scripts
            .sort_by_cached_key(|p| std::cmp::Reverse((named(p), p.calls.len(), p.text.len())));
        let is_unnamed = app.scripts.first().is_some_and(|p| named(p) == 0);
        if is_unnamed && self.drops_other_program() {
            return;
        }
        let operators: usize = self.stages.iter().map(|s| s.operators.len()).sum();
        let is_small_enough = |program: &&Program| {
            let pieces = program.calls.len() + program.statements.len();
            operators.max(1).saturating_mul(pieces) <= MOST_COMPARISONS && pieces <= MOST_PIECES
        };
        let Some(app) = &mut self.spark else { return };
        let program = app.scripts.first().filter(is_small_enough);
        app.actions = program.map(|program| Actions::of(app, program));
    }

    /// The program, if it is small enough to search the piece of each operator, with the statements of its actions.
    fn searched(&self) -> Option<(&Program, &Actions)> {
        self.program().zip(self.spark.as_ref()?.actions.as_ref())
    }

    /// The last statement that all actions of an application need: the place for a cache. `None` if there is no other
    /// than an action.
    pub fn shared_statement(&self) -> Option<usize> {
        let (app, (program, known)) = (self.spark.as_ref()?, self.searched()?);
        let ran = app.executions.iter().enumerate();
        let ran = ran.filter(|(_, e)| e.plan.iter().any(|node| !node.stages.is_empty()));
        let of_plans = ran.filter_map(|(at, _)| known.action(at));
        let of_jobs = app.jobs.iter().filter(|job| job.execution.is_none());
        let of_jobs = of_jobs.filter_map(|job| {
            let (_, line) = program.site(job.call_site.as_deref()?)?;
            program.statement_at(line)
        });
        let actions: BTreeSet<usize> = of_plans.chain(of_jobs).collect();
        let definitions = Definitions::of(program);
        let needed: Vec<_> = actions
            .iter()
            .map(|action| definitions.needed_with_callers(*action))
            .collect();
        let scope = self.scope(None)?;
        let of_batches = app.is_streaming().then(|| program.in_batches(&scope));
        let is_streamed = |at: usize| {
            let needs = definitions.needed_by(BTreeSet::from([at]));
            let mut streams = program
                .calls
                .iter()
                .filter(|call| needs.contains(&call.statement));
            app.is_streaming() && streams.any(|call| program.reads_stream(call))
        };
        let counts = |at: usize| match needed.is_empty() {
            false => needed.iter().filter(|needed| needed.contains(&at)).count(),
            // actions of a library have no call site
            true => program.readers(at, &scope),
        };
        let data = 0..program.statements.len();
        let data = data.filter(|at| program.assigns_rows(*at) && !actions.contains(at));
        let counted = data.map(|at| (counts(at), at)).filter(|(n, at)| {
            // each step of a loop computes other rows
            let looped = program.loop_around(*at);
            let runs = |body: &Span| {
                let starts = actions.iter().map(|a| program.statements[*a].span.start);
                starts.into_iter().any(|start| body.contains(&start))
            };
            let differs = looped.is_some_and(|body| *n == 1 || !runs(&body));
            *n > 0 && !differs && !is_streamed(*at)
        });
        // a session or a path is needed by all; rows that most actions need come later in the program
        let found = counted.max().map(|(_, at)| at);
        found.or(of_batches.flatten())
    }

    /// The statements that a change may edit for a finding of a stage, or of the application.
    pub fn scope(&self, stage: Option<usize>) -> Option<Scope> {
        let program = self.program()?;
        let Some((_, known)) = self.searched() else {
            return Some(Scope::whole(program));
        };
        let actions = match stage {
            Some(stage) => known.of_stage(stage).into_iter().collect(),
            None => known.all(),
        };
        Some(Scope::of(program, &actions))
    }

    /// File and text of the user's script, of either engine.
    pub fn script_text(&self) -> Option<(&str, &str)> {
        let of_scope = self
            .script
            .as_ref()
            .map(|s| (s.file.as_str(), s.text.as_str()));
        of_scope.or_else(|| self.program().map(|p| (p.file.as_str(), p.text.as_str())))
    }

    /// Lines of a piece of the program.
    pub fn lines_of(&self, place: &Place) -> Option<Lines> {
        Some(self.program()?.lines(&place.span))
    }

    /// Lines of the action or transformation at a call site such as `collect at /app/job.py:12`.
    pub fn lines_at(&self, call_site: &str) -> Option<Lines> {
        let program = self.program()?;
        let (method, line) = program.site(call_site)?;
        let only = Lines {
            first: line,
            last: line,
        };
        if program.language != Language::Python {
            return Some(only);
        }
        let of_calls = program.calls.iter().filter(|call| call.name == method);
        let mut lines = of_calls.map(|call| program.lines(&call.span));
        lines.find(|lines| lines.contains(line)).or_else(|| {
            let statement = program.statements.get(program.statement_at(line)?)?;
            Some(program.lines(&statement.span))
        })
    }

    /// The piece of the program that an operator of a plan came from.
    pub fn place_of_operator(&self, stage: usize, operator: usize) -> Option<Place> {
        let (program, actions) = self.searched()?;
        let operator = self.stages.get(stage)?.operators.get(operator)?;
        let (part, words) = self.origin(operator)?;
        program.find(part, &words, actions.needed(stage))
    }

    /// The piece of the program that does `part` in a stage: by its operators, else by the call site of the stage or
    /// of the stages that write its rows.
    pub fn place_in(&self, stage: usize, part: Part) -> Option<Place> {
        let (program, actions) = self.searched()?;
        let needed = actions.needed(stage);
        if part == Part::UserCode && self.spark.as_ref()?.stages.get(stage)?.execution.is_none() {
            let functions = self.functions_of_rdds(program, stage);
            if functions.is_some() {
                return functions;
            }
        }
        let operators = self.stages.get(stage)?.operators.iter();
        let origins = operators.filter_map(|o| self.origin(o));
        let own = origins.filter(|(own, _)| *own == part);
        let mut found = own.filter_map(|(_, words)| program.find(part, &words, needed));
        found
            .next()
            .or_else(|| self.place_by_site(program, stage, part))
    }

    /// The only piece that does `part` among the statements that the action of a stage needs.
    pub fn place_needed(&self, stage: usize, part: Part) -> Option<Place> {
        let (program, actions) = self.searched()?;
        program.find(part, &[], Some(actions.needed(stage)?))
    }

    /// Lines of the call site of a stage, else of the action that ran it.
    pub fn lines_of_action(&self, stage: usize) -> Option<Lines> {
        let of_action = || {
            let (program, actions) = self.searched()?;
            let statement = program.statements.get(actions.of_stage(stage)?)?;
            Some(program.lines(&statement.span))
        };
        let record = self.spark.as_ref()?.stages.get(stage)?;
        self.lines_at(&record.call_site).or_else(of_action)
    }

    /// The last line of the program in the traceback of an error, else in its stack.
    pub fn lines_of_error(&self, error: &JobError) -> Option<Lines> {
        let program = self.program()?;
        let texts = [&error.description, &error.details];
        let in_traceback = texts.into_iter().flatten().find_map(|text| {
            let (found, _) = text.rmatch_indices("File \"").find_map(|(at, _)| {
                let (file, rest) = text[at + 6..].split_once("\", line ")?;
                let digits = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                let line: u32 = rest[..digits].parse().ok()?;
                let is_own = base_name(file) == base_name(&program.file);
                is_own.then_some((line, at))
            })?;
            self.lines_at(&format!(" at {}:{found}", program.file))
        });
        in_traceback.or_else(|| {
            let (place, function) = error.frame.as_deref()?.split_once(" in ")?;
            self.lines_at(&format!("{function} at {place}"))
        })
    }

    /// The call that sets a property of a streaming query.
    pub fn place_of_stream(&self, property: Stream) -> Option<Place> {
        let (program, app) = (self.program()?, self.spark.as_ref()?);
        let scope = self.scope(None).filter(|_| app.is_streaming())?;
        program.of_stream(property, &scope)
    }

    /// The call that asks for the number of tasks of a stage.
    pub fn place_of_count(&self, stage: usize) -> Option<Place> {
        let (program, actions) = self.searched()?;
        let tasks = self.spark.as_ref()?.stages.get(stage)?.tasks;
        program.with_number(tasks.into(), actions.needed(stage))
    }

    /// The partitioning in the code that brings rows to a stage.
    pub fn place_asked_for(&self, stage: usize) -> Option<Place> {
        let (program, actions) = self.searched()?;
        let written = self
            .edges
            .iter()
            .filter(|e| e.to == stage)
            .filter_map(|edge| {
                let mut operators = self.stages.get(edge.from)?.operators.iter();
                operators.find(|o| o.uid.is_some() && o.uid == edge.uid)
            });
        let mut asked = written
            .filter_map(|o| self.origin(o))
            .filter(|(part, _)| *part == Part::Partitioning);
        let (_, words) = asked.next()?;
        program.find(Part::Partitioning, &words, actions.needed(stage))
    }

    /// The operation in a stage that needs its rows partitioned by their keys.
    pub fn place_by_keys(&self, stage: usize) -> Option<Place> {
        let shuffled = self
            .edges
            .iter()
            .filter(|e| e.to == stage)
            .flat_map(|e| &e.keys);
        let keys: BTreeSet<String> = shuffled.flat_map(|key| words(key)).collect();
        let shuffled = self.edges.iter().filter(|e| e.to == stage);
        let shuffled: Vec<&Vec<String>> = shuffled.map(|e| &e.keys).collect();
        let operators = self.stages.get(stage)?.operators.iter().enumerate();
        let mut keyed = operators.filter(|(_, o)| {
            let own = || o.keys.iter().chain(&o.right_keys);
            let common = own()
                .flat_map(|key| words(key))
                .any(|word| keys.contains(&word));
            // a constant has no words
            let same = own().next().is_some() && shuffled.contains(&&o.keys);
            !matches!(o.kind, OperatorKind::PartialAggregate | OperatorKind::Sort)
                && (common || same)
        });
        keyed.find_map(|(at, _)| self.place_of_operator(stage, at))
    }

    fn place_by_site(&self, program: &Program, stage: usize, part: Part) -> Option<Place> {
        let writers = self.edges.iter().filter(|e| e.to == stage).map(|e| e.from);
        let by_shuffle = matches!(
            part,
            Part::Aggregate | Part::Join | Part::Partitioning | Part::Sort
        );
        let stages = writers.filter(|_| by_shuffle).chain([stage]);
        let mut sites = stages.filter_map(|s| self.stages.get(s)?.call_site.as_deref());
        sites.find_map(|site| {
            let (method, line) = match program.site(site) {
                Some((method, line)) => (method, Some(line)),
                None => (site.split_once(" at ")?.0, None),
            };
            let fits = part.methods().contains(&method);
            let is_there = |line: u32, call: &Call| program.lines(&call.span).contains(line);
            let does = |call: &Call| program.points(part, call, &BTreeSet::new()).is_some();
            let mut named = program.calls.iter().enumerate().filter(|(_, call)| {
                let is_named = call.name == method && does(call);
                is_named && line.is_none_or(|line| is_there(line, call))
            });
            // without a line, only a single call is certain
            let (at, _) = match line {
                Some(_) => named.next()?,
                None => only(named)?,
            };
            program.place_of(at).filter(|_| fits)
        })
    }

    /// The part of a program that makes an operator, and the words that it would contain.
    fn origin(&self, operator: &Operator) -> Option<(Part, Vec<String>)> {
        use OperatorKind as K;
        let keys = || {
            let keys = operator.keys.iter().chain(&operator.right_keys);
            keys.flat_map(|key| words(key)).collect::<Vec<String>>()
        };
        let asked_for = ["REPARTITION", "REBALANCE"]
            .iter()
            .any(|origin| operator.args.contains(origin));
        Some(match operator.kind {
            K::Join if operator.keys.is_empty() => (Part::Join, words(&operator.args)),
            K::Join => (Part::Join, keys()),
            K::Aggregate | K::PartialAggregate if self.only_distinct(operator) => {
                (Part::Distinct, Vec::new())
            }
            K::Aggregate | K::PartialAggregate if !operator.keys.is_empty() => {
                let called = functions(&operator.args).into_iter();
                let called = called.map(|name| format!("{name}("));
                (Part::Aggregate, keys().into_iter().chain(called).collect())
            }
            // windows over the same rows share their sort, also if they compute different columns
            K::Window => {
                let (_, over) = operator.args.split_once("], [")?;
                (Part::Window, words(over))
            }
            K::Process => (Part::UserCode, functions(&operator.args)),
            K::RangePartition if !asked_for => (Part::Sort, keys()),
            K::Sort => (Part::Sort, keys()),
            K::HashPartition | K::RangePartition | K::Partition if asked_for => {
                let count = operator.partition_count.map(|n| n.to_string());
                (
                    Part::Partitioning,
                    keys().into_iter().chain(count).collect(),
                )
            }
            K::Gather => (Part::Gather, Vec::new()),
            K::Extract => (Part::Read, vec![self.scanned(operator)?]),
            K::Transform if operator.class_name == "Filter" => {
                let words = words(&operator.args);
                let own: Vec<String> = words.into_iter().filter(|w| w != "isnotnull").collect();
                (Part::Filter, own)
            }
            K::Transform if operator.class_name == "Project" => {
                (Part::Expression, functions(&operator.args))
            }
            _ if operator.class_name == "Coalesce" => {
                (Part::Partitioning, vec![operator.args.clone()])
            }
            _ if operator.class_name == "Generate" => (Part::Explode, functions(&operator.args)),
            _ => return None,
        })
    }

    /// Whether an operator removes rows that repeat, and one piece of the program does.
    fn only_distinct(&self, operator: &Operator) -> bool {
        let found = || self.program()?.find(Part::Distinct, &[], None);
        operator.args.contains("functions=[]") && found().is_some()
    }

    /// Last part of the path or table that an operator scans.
    fn scanned(&self, operator: &Operator) -> Option<String> {
        let app = self.spark.as_ref()?;
        let nodes = app.executions.iter().flat_map(|e| &e.plan);
        let node = nodes.into_iter().find(|n| Some(n.uid) == operator.uid)?;
        let location = node.metadata.get("Location")?;
        let (_, path) = location.split_once('[')?;
        let path = path.split([',', ']']).next()?.trim_end_matches('/');
        Some(path.rsplit('/').next()?.to_owned())
    }
}

/// Names in an expression of a plan.
pub(super) fn words(expression: &str) -> Vec<String> {
    const NO_NAMES: [&str; 34] = [
        "cast",
        "as",
        "bigint",
        "int",
        "string",
        "double",
        "date",
        "timestamp",
        "isnotnull",
        "isnull",
        "AND",
        "OR",
        "NOT",
        "Inner",
        "LeftOuter",
        "RightOuter",
        "FullOuter",
        "LeftSemi",
        "LeftAnti",
        "BuildLeft",
        "BuildRight",
        "Cross",
        "ASC",
        "DESC",
        "NULLS",
        "FIRST",
        "LAST",
        "windowspecdefinition",
        "specifiedwindowframe",
        "RowFrame",
        "RangeFrame",
        "unboundedpreceding",
        "unboundedfollowing",
        "currentrow",
    ];
    let words = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let names = words.filter(|w| {
        !NO_NAMES.contains(w) && w.starts_with(|c: char| c.is_alphabetic() || c == '_')
    });
    names.map(str::to_owned).collect()
}

/// Names of the functions that an expression of a plan calls.
fn functions(expression: &str) -> Vec<String> {
    let calls = expression.match_indices('(').filter_map(|(at, _)| {
        let before = &expression[..at];
        let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        match &before[name.len()..] {
            // the name of a lambda is `<lambda>`
            "" => before.ends_with("<lambda>").then(|| "lambda".to_owned()),
            name => Some(name.to_owned()),
        }
    });
    calls.collect()
}
