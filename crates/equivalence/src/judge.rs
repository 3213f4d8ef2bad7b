//! Verdict on a change: proven, tested, different, or unknown.

use std::collections::{BTreeMap, HashMap};

use job::script::{Script, Statement, StatementKind};

use crate::data::{self, Hints};
use crate::difference::difference;
use crate::facts::Facts;
use crate::functions::Coverage;
use crate::kind::{Column, Kind};
use crate::known::{is_known, only_hints};
use crate::pairs::{Pairs, clauses, pair};
use crate::run::{Budget, Exercised, Ran, run};
use crate::translate::{NullKeys, Program, Step, Way, translate};
use crate::unknown::excerpt;
use crate::{Difference, Unknown};

/// Runs that must count for a comparison; the others are tied, or the script itself fails on them.
const LEAST_RUNS: usize = 4;

/// Verdict on the result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgment {
    /// The same on any rows.
    Proven,
    /// The same on generated rows that exercise the change.
    Tested,
    /// The result differs.
    Different(Difference),
    Unknown(Unknown),
}

/// Judges a change.
pub fn judge(before: &Script, after: &Script, facts: &Facts<'_>) -> Judgment {
    if !before.errors.is_empty() || !after.errors.is_empty() {
        return Judgment::Unknown(Unknown::NotParsed);
    }
    if only_hints(before, after) || is_known(before, after, facts.rewrites) {
        return Judgment::Proven;
    }
    executed(before, after, facts, false)
}

/// Executes both scripts, with functions in the place of user code even where the change touches
/// it: a rewrite that moves or copies a call must give the same rows for any result of the call.
pub fn execute(before: &Script, after: &Script, facts: &Facts<'_>) -> Judgment {
    executed(before, after, facts, true)
}

fn executed(before: &Script, after: &Script, facts: &Facts<'_>, stands_in: bool) -> Judgment {
    compared(before, after, facts, stands_in).unwrap_or_else(Judgment::Unknown)
}

fn compared(
    before: &Script,
    after: &Script,
    facts: &Facts<'_>,
    stands_in: bool,
) -> Result<Judgment, Unknown> {
    let pairs = pair(before, after)?;
    if let Some(difference) = outputs_kept(before, after, &pairs)? {
        return Ok(Judgment::Different(difference));
    }
    let (hints, kinds) = crate::hints::read([before, after]);
    let budget = Budget::new();
    let mut seen: Option<[Program; 2]> = None;
    let mut found: Vec<Option<Difference>> = Vec::new();
    for null_keys in [NullKeys::Match, NullKeys::Differ] {
        let way = Way {
            facts,
            kinds: &kinds,
            null_keys,
            stands_in,
        };
        let programs = [
            translate(before, &pairs.before, way)?,
            translate(after, &pairs.after, way)?,
        ];
        if programs.iter().all(|program| program.outputs.is_empty()) {
            return Ok(Judgment::Proven);
        }
        if seen.as_ref() == Some(&programs) {
            continue;
        }
        if let Some(difference) = alike(&programs)? {
            return Ok(Judgment::Different(difference));
        }
        found.push(over_rows(&programs, &hints, &budget)?);
        seen = Some(programs);
    }
    match found.iter().flatten().next() {
        None => Ok(Judgment::Tested),
        Some(_) if found.iter().any(Option::is_none) => Err(Unknown::NullKeys),
        Some(difference) => Ok(Judgment::Different(difference.clone())),
    }
}

/// Whether the outputs are the same ones, stored in the same way.
fn outputs_kept(
    before: &Script,
    after: &Script,
    pairs: &Pairs,
) -> Result<Option<Difference>, Unknown> {
    let outputs = |script: &'_ Script| -> Vec<usize> {
        let outputs = script
            .statements
            .iter()
            .filter(|s| s.kind == StatementKind::Output);
        outputs.map(|statement| statement.index).collect()
    };
    let (old, new) = (outputs(before), outputs(after));
    if old.len() != new.len() {
        return Ok(Some(Difference::Outputs {
            before: old.len(),
            after: new.len(),
        }));
    }
    for (old, new) in old.into_iter().zip(new) {
        let statements: (&Statement, &Statement) =
            (&before.statements[old], &after.statements[new]);
        let same = pairs.partner[old] == Some(new)
            || clauses(before, statements.0) == clauses(after, statements.1);
        if !same {
            return Err(Unknown::Layout {
                code: excerpt(after.slice(&statements.1.span)),
            });
        }
    }
    Ok(None)
}

/// Whether outputs have the same columns, and user code gets the columns that it may read.
fn alike(programs: &[Program; 2]) -> Result<Option<Difference>, Unknown> {
    let [before, after] = programs;
    if let Some((class, _)) = before.read.symmetric_difference(&after.read).next() {
        return Err(Unknown::UserCode {
            code: excerpt(class),
        });
    }
    if before.outputs.len() != after.outputs.len() {
        return Err(Unknown::Layout {
            code: "OUTPUT".to_owned(),
        });
    }
    for (old, new) in before.outputs.iter().zip(&after.outputs) {
        let names = |columns: &[Column]| -> Vec<String> {
            columns.iter().map(|c| c.name.clone()).collect()
        };
        let (of_old, of_new) = (names(&old.columns), names(&new.columns));
        if of_old != of_new {
            return Ok(Some(Difference::Columns {
                output: new.name.clone(),
                before: of_old.join(", "),
                after: of_new.join(", "),
            }));
        }
        let differs = |(a, b): &(&Column, &Column)| {
            let known = a.kind != Kind::Opaque && b.kind != Kind::Opaque;
            known && a.kind != b.kind && !(a.kind.is_whole() && b.kind.is_whole())
        };
        if let Some((_, column)) = old.columns.iter().zip(&new.columns).find(differs) {
            return Err(Unknown::Layout {
                code: column.name.clone(),
            });
        }
    }
    Ok(None)
}

/// The tables that the programs read, with the columns of both.
fn sources(programs: &[Program; 2]) -> BTreeMap<&str, Vec<Column>> {
    let mut sources: BTreeMap<&str, Vec<Column>> = BTreeMap::new();
    for (name, columns) in programs.iter().flat_map(|program| &program.sources) {
        let known = sources.entry(name).or_default();
        let new = columns
            .iter()
            .filter(|column| known.iter().all(|k| k.name != column.name));
        let new: Vec<Column> = new.cloned().collect();
        known.extend(new);
    }
    sources
}

/// The first difference over generated rows.
fn over_rows(
    programs: &[Program; 2],
    hints: &Hints,
    budget: &Budget,
) -> Result<Option<Difference>, Unknown> {
    let sources = sources(programs);
    let met = [0, 1].map(|side: usize| Coverage::new(programs[side].probes.len()));
    let mut exercised = [Exercised::default(), Exercised::default()];
    let (mut counted, mut tied, mut fails) = (0, false, None);
    let mut filled: HashMap<usize, bool> = HashMap::new();
    for shape in data::shapes(sources.len()) {
        let tables = sources
            .iter()
            .enumerate()
            .map(|(position, (name, columns))| {
                (
                    *name,
                    (
                        columns.as_slice(),
                        data::rows(&shape, position, columns, hints),
                    ),
                )
            });
        let tables = tables.collect();
        let mut results = Vec::new();
        for (side, program) in programs.iter().enumerate() {
            results.push(run(
                program,
                &tables,
                &met[side],
                &mut exercised[side],
                budget,
            )?);
        }
        let (before, after) = match (&results[0], &results[1]) {
            (Ran::Rows(before), Ran::Rows(after)) => (before, after),
            // the job never had such rows, or the script does not determine the result for them
            (Ran::Fails(_), _) => continue,
            (Ran::Tied, _) | (_, Ran::Tied) => {
                tied = true;
                continue;
            }
            (_, Ran::Fails(why)) => {
                fails = Some(excerpt(why));
                continue;
            }
        };
        counted += 1;
        for (at, (before, after)) in before.iter().zip(after).enumerate() {
            if let Some(found) = difference(before, after) {
                return Ok(Some(found));
            }
            *filled.entry(at).or_default() |= !before.rows.is_empty();
        }
    }
    if let Some(why) = fails {
        return Err(Unknown::Fails { why });
    }
    if tied && counted < LEAST_RUNS {
        let line = programs[1].probes.first().map_or(0, |probe| probe.line);
        return Err(Unknown::Undetermined { line });
    }
    for (program, (met, exercised)) in programs.iter().zip(met.iter().zip(&exercised)) {
        enough(program, met, exercised)?;
    }
    match counted < LEAST_RUNS || filled.values().any(|filled| !filled) {
        true => Err(Unknown::NotExercised {
            line: 1,
            code: "OUTPUT".to_owned(),
        }),
        false => Ok(None),
    }
}

/// Whether the runs met everything that was changed.
fn enough(program: &Program, met: &Coverage, exercised: &Exercised) -> Result<(), Unknown> {
    for (step, found) in program.steps.iter().zip(&exercised.steps) {
        match step {
            Step::Make {
                exercised: true,
                line,
                name,
                ..
            } if !found => {
                return Err(Unknown::NotExercised {
                    line: *line,
                    code: name.clone(),
                });
            }
            Step::Matches { line, code, .. } if !found => {
                return Err(Unknown::NotExercised {
                    line: *line,
                    code: code.clone(),
                });
            }
            _ => {}
        }
    }
    let undecided = program
        .probes
        .iter()
        .enumerate()
        .find(|(at, probe)| !met.decided(*at, probe.op.sign()));
    match undecided {
        Some((_, probe)) => Err(Unknown::NotExercised {
            line: probe.line,
            code: excerpt(&probe.code),
        }),
        None => Ok(()),
    }
}
