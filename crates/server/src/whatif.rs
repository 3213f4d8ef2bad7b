//! A run with other resources, more input or findings fixed, and why it cannot be replayed.

use std::path::Path;

use diagnosis::whatif::{Change, Curve, Point, Resource, Unanswerable};
use report::{Language, say};
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::session::Session;

/// A replayed change, next to the run as it is.
#[derive(Debug, Serialize)]
pub(crate) struct Replayed {
    pub(crate) resource: Resource,
    pub(crate) now: Point,
    pub(crate) changed: Point,
    pub(crate) curve: Curve,
}

impl Session {
    /// Replays the job in a folder with a change; `fixed` are ids of findings.
    pub(crate) fn what_if(
        &self,
        folder: &Path,
        mut change: Change,
        fixed: &[String],
        language: Language,
    ) -> Result<Replayed> {
        let job = job::load(folder)?;
        let (found, run) = diagnosis::what_if(
            &job,
            &job::Catalogue::builtin(),
            self.thresholds(),
            language,
        );
        let ids: Vec<String> = found.findings.iter().map(|f| f.id.clone()).collect();
        let failed = |why| unanswerable(why, &ids, "`fixed`");
        let run = run.map_err(failed)?;
        for id in fixed {
            let at = ids.iter().position(|known| known.eq_ignore_ascii_case(id));
            let known = ids.join(", ");
            let at = at.ok_or_else(|| {
                let error = say!("没有发现 `{id}`", "there is no finding `{id}`");
                Error::new(ErrorKind::Usage, error)
                    .hint(say!("有：{known}", "the findings are {known}"))
            })?;
            if !change.fixed.contains(&at) {
                change.fixed.push(at);
            }
        }
        Ok(Replayed {
            resource: run.resource(),
            now: run.at(&Change::default()).map_err(failed)?,
            changed: run.at(&change).map_err(failed)?,
            curve: run
                .curve(&change, change.count.as_slice())
                .map_err(failed)?,
        })
    }
}

/// The error for a run that cannot be replayed; `fixed` is the name of the argument with the fixed findings.
pub fn unanswerable(why: Unanswerable, findings: &[String], fixed: &str) -> Error {
    let (error, hint) = match why {
        Unanswerable::Failed => (
            say!(
                "作业失败了，只做了一部分工作",
                "the job failed, so only a part of its work is known"
            ),
            say!("换一次成功的运行", "use a run that succeeded"),
        ),
        Unanswerable::NoWork => (
            say!(
                "没有文件说明各阶段的工作量",
                "no file shows the work of the stages"
            ),
            say!(
                "加入 profile 或 __ScopeRuntimeStatistics__.xml（Spark：完整的事件日志）",
                "add `profile` or `__ScopeRuntimeStatistics__.xml` (Spark: the whole event log)"
            ),
        ),
        Unanswerable::NoResources => (
            say!(
                "没有文件说明作业有多少令牌或核",
                "no file shows how many tokens or cores the job had"
            ),
            say!(
                "加入 JobInfo.xml 或 profile（Spark：含 Executor 事件的日志）",
                "add `JobInfo.xml` or `profile` (Spark: a log with the executors' events)"
            ),
        ),
        Unanswerable::NoFix(at) => {
            let id = findings.get(at).cloned().unwrap_or_default();
            (
                say!("{id} 的修复无法重放", "fixing {id} can't be replayed"),
                say!("去掉 {fixed} 中的 {id}", "leave {id} out of {fixed}"),
            )
        }
        Unanswerable::NoPartitions => (
            say!(
                "没有阶段的任务数等于当前的 spark.sql.shuffle.partitions：任务数由 AQE 或代码决定",
                "no stage has as many tasks as spark.sql.shuffle.partitions says: AQE or the code chose their number"
            ),
            say!("改用 --executors 或 --cores", "use --executors or --cores"),
        ),
    };
    Error::new(ErrorKind::Input, error).hint(hint)
}
