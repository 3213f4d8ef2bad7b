//! Diffs of an application's program, by the cause of a finding.

use job::code::{Part, Place, Program, Scope, Stream, only};

use crate::adaptive::{hot_side, is_left, join_of, kind_of};
use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::configuration::BROADCAST;
use diagnosis::measurements::tasks::{By, origin};
use diagnosis::{RECOMPUTED, SAMPLED, STEPS, USUAL_BATCHES};
use report::{Cause, Text, text};
use rewrite::Rewrite;
use rewrite::hint::Side;
use rewrite::spark::{
    batches, columns, either, filters, hints, loops, partitions, rdd, reuse, schema, semi,
    settings, streams, udf,
};

/// Methods that read rows, which a change may spread over more tasks.
const SOURCES: [&str; 8] = [
    "parquet", "csv", "json", "orc", "text", "load", "table", "textFile",
];

impl<'a> Case<'a> {
    /// The piece of the program that the finding names.
    pub(crate) fn piece(&self, parts: &[Part]) -> Option<(&'a Program, Place)> {
        let (job, stage) = (self.job, self.stage?);
        let program = job.program()?;
        if let Some(place) = diagnosis::located::certain(job, self.finding.cause, stage) {
            return Some((program, place));
        }
        let named = self.finding.script_lines;
        let is_named = |place: &Place| named == Some(program.lines(&place.span).into());
        let mut places = parts.iter().filter_map(|part| job.place_in(stage, *part));
        let place = places.find(is_named).or_else(|| {
            let operators = 0..job.stages.get(stage)?.operators.len();
            let mut places = operators.filter_map(|at| job.place_of_operator(stage, at));
            places.find(is_named)
        });
        Some((program, place?))
    }

    /// The program, and its statements that a change may edit.
    fn editable(&self) -> Option<(&'a Program, Scope)> {
        self.job.program().zip(self.job.scope(self.stage))
    }

    /// The change of the program that removes the cause, in the code that the finding is about.
    pub(crate) fn program_change(&self) -> Option<Rewrite> {
        let (program, scope) = self.editable()?;
        self.in_scope(self.change_in(program, &scope))
    }

    /// A change that edits only code which the finding is about.
    pub(crate) fn in_scope(&self, change: Option<Rewrite>) -> Option<Rewrite> {
        let (_, scope) = self.editable()?;
        // an import is added to the first statement
        let is_own = |at: &usize| *at == 0 || scope.contains(*at);
        change.filter(|rewrite| rewrite.touched.iter().all(is_own))
    }

    fn change_in(&self, program: &'a Program, scope: &Scope) -> Option<Rewrite> {
        match self.finding.cause {
            Cause::MissedBroadcast => self.broadcast_in_program(),
            Cause::BroadcastTooLarge => hints::no_broadcast(program, scope),
            Cause::RedundantRepartition => {
                let (program, place) = self.piece(&[Part::Partitioning, Part::Distinct])?;
                partitions::remove(program, &place)
            }
            Cause::SerialGather => {
                let (program, place) = self.piece(&[Part::Gather])?;
                // the output has several files
                partitions::remove(program, &place).map(|change| Rewrite {
                    reorders: true,
                    ..change
                })
            }
            Cause::JoinExplosion => {
                self.evidence_number("compared pairs of rows")?;
                let (program, place) = self.piece(&[Part::Join])?;
                either::by_each_key(program, &place)
            }
            Cause::CpuBoundUdo => {
                let call = |place: &Place| program.calls.get(place.call?);
                let named = self.piece(&[Part::UserCode]);
                let builtin = |(_, place)| udf::builtin(program, call(&place)?);
                named.and_then(builtin).or_else(|| {
                    let place = self.job.place_in(self.stage?, Part::UserCode)?;
                    batches::prepared_once(program, call(&place)?)
                })
            }
            Cause::IneffectiveCache if self.lists_files() => None,
            Cause::IneffectiveCache if self.evidence_number("cached columns").is_some() => {
                reuse::uncache(program, scope)
            }
            Cause::IneffectiveCache if self.evidence_number(RECOMPUTED).is_some() => {
                reuse::spill_to_disk(program, scope)
            }
            Cause::IneffectiveCache if self.evidence_number(SAMPLED).is_some() => None,
            Cause::IneffectiveCache => match self.evidence_number(STEPS) {
                Some(_) => reuse::checkpoint(program, scope),
                None => reuse::cache(program, self.job.shared_statement()?),
            },
            Cause::GroupHotKey | Cause::ExecutorLost => self.grouped_values(),
            Cause::Spill | Cause::HeapPressure => self
                .grouped_values()
                .or_else(|| reuse::free(program, scope)),
            Cause::LimitFailure => self.grouped_values().or_else(|| {
                self.failed_of("maxResultSize").then_some(())?;
                columns::needed(program, scope, self.columns_read())
                    .or_else(|| reuse::stream(program, scope))
            }),
            Cause::UserCodeFailure if self.failed_of("CAST_INVALID_INPUT") => {
                hints::try_cast(program, scope)
            }
            Cause::JoinHotKey | Cause::NullOrDefaultKey => self.salted_in_program(),
            Cause::DriverBottleneck if self.has_short_batches() => streams::larger_batches(
                program,
                scope,
                |key| self.configured(key),
                self.times_larger(),
            ),
            Cause::SmallFiles => {
                let place = self.job.place_in(self.stage?, Part::Write)?;
                let write = program.calls.get(place.call?)?;
                partitions::without_file_limit(program, write)
                    .or_else(|| partitions::as_written(program, write, scope))
            }
            Cause::DriverBottleneck => columns::at_once(program, scope)
                .or_else(|| loops::grouped(program, scope))
                .or_else(|| semi::joined(program, scope))
                .or_else(|| columns::needed(program, scope, self.columns_read())),
            Cause::LateFilter => rdd::early_filter(program, scope).or_else(|| {
                let (_, place) = self.piece(&[Part::Filter])?;
                filters::before_step(program, &place)
            }),
            Cause::ParallelismTooLow => self.more_tasks_in_program(),
            _ => None,
        }
    }

    /// Whether the finding is about the driver's time in many short micro-batches, and the driver does not collect their rows.
    pub(crate) fn has_short_batches(&self) -> bool {
        let place = self.job.place_of_stream(Stream::Pace);
        let call = place.and_then(|place| self.job.program()?.calls.get(place.call?));
        let collects = call.is_some_and(|call| call.name == "collect" || call.name == "toPandas");
        self.evidence_number("triggerExecution").is_some() && !collects
    }

    /// Times the rows of a micro-batch for the usual number of batches.
    pub(crate) fn times_larger(&self) -> u64 {
        let app = self.job.spark.as_deref();
        let count = app.map_or(0, |app| app.main_query().len());
        (count as f64 / USUAL_BATCHES).ceil().max(2.0) as u64
    }

    fn configured(&self, key: &str) -> Option<u64> {
        let value = self.job.spark.as_deref()?.setting(None, key)?;
        value.trim().parse().ok()
    }

    /// Most columns that a scan of the application reads.
    fn columns_read(&self) -> Option<usize> {
        let app = self.job.spark.as_deref()?;
        let nodes = app.executions.iter().flat_map(|e| &e.plan);
        let read = nodes.filter_map(|n| schema::fields(n.metadata.get("ReadSchema")?));
        read.map(|columns| columns.len()).max()
    }

    /// Whether the error of the failure contains a name.
    fn failed_of(&self, name: &str) -> bool {
        let error = self.view.failure().and_then(|failure| failure.error);
        error.is_some_and(|error| error.message.contains(name))
    }

    /// `count() > 0` in a program with many short jobs.
    pub(crate) fn any_row(&self) -> Option<Rewrite> {
        let (program, scope) = self.editable()?;
        reuse::any_row(program, &scope)
    }

    /// Fewer partitions where the program names their number.
    pub(crate) fn fewer_in_program(&self, count: usize) -> Option<Rewrite> {
        let (program, place) = self.piece(&[Part::Partitioning, Part::Read])?;
        let now = self.view.vertices(self.stage?)?;
        let scope = self.job.scope(self.stage)?;
        partitions::resize(program, &place, now, count as u64)
            .filter(|_| scope.contains(place.statement))
    }

    /// A change of the place that sets the number of tasks.
    fn more_tasks_in_program(&self) -> Option<Rewrite> {
        let stage = self.stage?;
        let slots = self.view.run.as_ref()?.tokens as u64;
        let by = origin(self.view, self.job.spark.as_deref()?, stage)?.by;
        let (program, place) = self.piece(&[Part::Partitioning, Part::Read])?;
        let now = self.view.vertices(stage)?;
        let called = place.call.map(|at| program.calls[at].name.as_str());
        let text = program.slice(&place.span).trim_start_matches('.');
        let is_merge = text
            .get(..8)
            .is_some_and(|name| name.eq_ignore_ascii_case("coalesce"))
            || called == Some("hint") && text.to_ascii_lowercase().contains("coalesce");
        match by {
            _ if is_merge => partitions::remove(program, &place).filter(|_| now < slots),
            By::Coalesce | By::Setting | By::Splits | By::Merged => None,
            By::Repartition => partitions::resize(program, &place, now, slots),
            By::Files | By::Rdd => {
                let scope = self.job.scope(self.stage)?;
                let is_read = called.is_some_and(|name| SOURCES.contains(&name));
                let spread = || partitions::spread(program, &place, slots);
                let changed = partitions::resize(program, &place, now, slots);
                changed.or_else(|| {
                    spread().filter(|_| is_read && !partitions::merges(program, &scope))
                })
            }
        }
    }

    fn grouped_values(&self) -> Option<Rewrite> {
        let (program, place) = self.piece(&[Part::Aggregate])?;
        rdd::reduce_by_key(program, place.statement)
    }

    fn salted_in_program(&self) -> Option<Rewrite> {
        let (program, place) = self.piece(&[Part::Join])?;
        let large = match hot_side(self)? {
            (true, true) => Side::Left,
            (false, true) => Side::Right,
            (_, false) => return None,
        };
        hints::salt(program, &place, large, crate::uneven::salts(self) as u64)
    }

    fn broadcast_in_program(&self) -> Option<Rewrite> {
        let app = self.job.spark.as_deref()?;
        let (program, place) = self.piece(&[Part::Join])?;
        // the program's own limit prevents the broadcast
        if settings::sets(program, BROADCAST) && crate::computed::broadcast_limit(self).is_some() {
            return None;
        }
        let record = app.stages.get(self.stage?)?;
        let execution = app.executions.get(record.execution?)?;
        let join = join_of(execution, self.stage?)?;
        let exchanges = record.reads.iter().filter_map(|at| app.exchanges.get(*at));
        let sized =
            exchanges.filter_map(|e| Some((e.data_bytes?, is_left(execution, join, e.uid)?)));
        let (_, left) = sized.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let side = match (left, kind_of(&execution.plan[join].text)?) {
            (true, "Inner" | "RightOuter") => Side::Left,
            (false, "Inner" | "LeftOuter" | "LeftSemi" | "LeftAnti") => Side::Right,
            _ => return None,
        };
        hints::broadcast(program, &place, side)
    }

    /// The schema of JSON files that a job before the plan looked for.
    pub(crate) fn schema_of_json(&self) -> Option<Rewrite> {
        let app = self.job.spark.as_deref()?;
        let inferred = app
            .stages
            .iter()
            .any(|s| s.lists_files() && s.call_site.starts_with("json"));
        let program = self.job.program().filter(|_| inferred)?;
        let nodes = app.executions.iter().flat_map(|e| &e.plan);
        let scans = nodes.filter(|n| n.metadata.get("Format").is_some_and(|f| f == "JSON"));
        let places: Vec<&str> = scans
            .clone()
            .filter_map(|n| n.metadata.get("Location").map(String::as_str))
            .collect();
        let read: Vec<&str> = scans
            .filter_map(|n| n.metadata.get("ReadSchema").map(String::as_str))
            .collect();
        let readers = program.calls.iter().enumerate().filter(|(_, call)| {
            call.name == "json"
                && call
                    .receiver
                    .is_some_and(|at| program.text_of(at).contains(".read"))
        });
        let place = program.place_of(only(readers)?.0)?;
        let same = places.iter().all(|place| Some(place) == places.first());
        schema::json(program, &place, &read).filter(|_| same && !read.is_empty())
    }
}

/// The condition for a change that only the data can confirm.
pub(crate) fn unproven() -> Text {
    text!(
        "运行前在样本上比较新旧结果：空值、类型和空白字符可能使两者不同",
        "compare the results on a sample first: nulls, types and white space may make them differ",
    )
}

/// Gain of a stated schema, if the finding is not about the pass that infers it.
pub(crate) fn without_inference() -> Gain {
    Gain::Unknown(text!(
        "省去推断模式时对全部文件的一遍读取",
        "it saves the pass over all files that infers the schema",
    ))
}

pub(crate) fn schema(gain: Gain, change: Option<Rewrite>) -> Proposal {
    advice! { Rewrite, gain, "spark json schema inference";
        title("给出文件的模式，不再推断", "state the schema of the files instead of inferring it");
        step("用 spark.read.schema(…) 给出查询用到的列和类型", "give the columns and types that the queries use with spark.read.schema(…)");
        rewrite(change);
        pro("不再为推断而多读一遍文件", "the files are no longer read a second time to infer it");
        con("以后用到新的列时要补上；与模式不符的值会成为空值", "new columns must be added when they are used; values of another type become null");
    }
}

pub(crate) fn any_row(rewrite: Rewrite) -> Proposal {
    let gain = text!(
        "取决于计数占多少时间",
        "it depends on how long the counts take"
    );
    advice! { Rewrite, Gain::Unknown(gain), "spark count isEmpty take";
        title("只看有没有行，不要数所有的行", "look for one row instead of counting all");
        step("用 df.take(1) 或 df.isEmpty() 代替 df.count() > 0", "use df.take(1) or df.isEmpty() instead of df.count() > 0");
        rewrite(Some(rewrite));
        pro("找到一行就停止", "it stops at the first row");
        con("很少有行时仍要看完所有分区", "it still visits all partitions if there are no rows");
    }
}
