//! Small jobs with fixed seeds that tests look at: for every cause one that shows it and one that only resembles it.

use crate::cause::Cause;
use crate::folder::{SimulatedJob, simulate_as};
use crate::plan::Dialect;
use crate::request::{Kind, Request};
use crate::templates::Scale;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

#[derive(Debug, Clone)]
pub struct Case {
    /// Name of its folder.
    pub name: &'static str,
    /// Parameters of the simulation.
    pub request: Request,
}

/// Names of the case that shows a cause and of its near miss.
const NAMES: [(Cause, &str, &str); 26] = [
    (
        Cause::JoinHotKey,
        "join-hot-key-skew",
        "near-join-hot-key-skew",
    ),
    (
        Cause::GroupHotKey,
        "group-hot-key-skew",
        "near-group-hot-key-skew",
    ),
    (
        Cause::NullOrDefaultKey,
        "null-key-skew",
        "near-null-key-skew",
    ),
    (
        Cause::LowCardinalityKey,
        "low-cardinality-key",
        "near-low-cardinality-key",
    ),
    (
        Cause::PartitionLayout,
        "partition-layout",
        "near-partition-layout",
    ),
    (
        Cause::RedundantRepartition,
        "excessive-shuffle",
        "near-excessive-shuffle",
    ),
    (
        Cause::UnusedColumns,
        "unused-columns",
        "near-unused-columns",
    ),
    (Cause::LateFilter, "late-filter", "near-late-filter"),
    (
        Cause::MissedBroadcast,
        "missed-broadcast",
        "near-missed-broadcast",
    ),
    (Cause::SerialGather, "serial-gather", "near-serial-gather"),
    (
        Cause::UnalignedInput,
        "unaligned-input",
        "near-unaligned-input",
    ),
    (Cause::HeapPressure, "heap-pressure", "near-heap-pressure"),
    (Cause::Spill, "memory-spill", "near-memory-spill"),
    (
        Cause::EstimateTooLow,
        "memory-estimate-too-low",
        "near-memory-estimate-too-low",
    ),
    (
        Cause::Misestimate,
        "cardinality-misestimate",
        "near-cardinality-misestimate",
    ),
    (Cause::Explosion, "join-explosion", "near-join-explosion"),
    (Cause::CpuBound, "udo-cpu-bound", "near-udo-cpu-bound"),
    (
        Cause::TooLow,
        "parallelism-too-low",
        "near-parallelism-too-low",
    ),
    (Cause::TinyVertices, "tiny-vertices", "near-tiny-vertices"),
    (Cause::SmallFiles, "small-files", "near-small-files"),
    (
        Cause::VertexRetries,
        "vertex-retries",
        "near-vertex-retries",
    ),
    (Cause::SlowMachine, "slow-machine", "near-slow-machine"),
    (
        Cause::UserCode,
        "user-code-failure",
        "near-user-code-failure",
    ),
    (Cause::Compile, "compile-failure", "near-compile-failure"),
    (Cause::Limit, "limit-exceeded", "near-limit-exceeded"),
    (Cause::QueueWait, "queue-wait", "near-queue-wait"),
];

/// Cases that are committed: under `tests/cases`, for readers of the project and its documentation.
pub const COMMITTED: [&str; 6] = [
    "join-hot-key-skew",
    "excessive-shuffle",
    "late-filter",
    "user-code-failure",
    "near-join-hot-key-skew",
    "withheld-join-hot-key-skew",
];

/// Returns every case: for each cause one case with it and one near miss, then one case without the deciding
/// files, then `healthy`.
pub fn cases() -> Vec<Case> {
    let small = |request: Request, dialect: Dialect| Request {
        scale: Scale::Small,
        dialect: Some(dialect),
        tidy: true,
        ..request
    };
    let mut out = Vec::new();
    for (i, (cause, name, near)) in NAMES.into_iter().enumerate() {
        // Every third case is U-SQL, if the cause allows it.
        let only_scope = [
            Cause::RedundantRepartition,
            Cause::TooLow,
            Cause::TinyVertices,
        ];
        let usql = i % 3 == 2 && !only_scope.contains(&cause);
        let dialect = if usql { Dialect::Usql } else { Dialect::Scope };
        let seed = 1000 + i as u64;
        out.push(Case {
            name,
            request: small(Request::single(cause, seed), dialect),
        });
        let silent = Request {
            near_miss: Some(cause),
            ..Request::healthy(seed + 500)
        };
        out.push(Case {
            name: near,
            request: small(silent, Dialect::Scope),
        });
    }
    let withheld = Request {
        kind: Kind::Withheld,
        ..Request::single(Cause::JoinHotKey, 1000)
    };
    out.push(Case {
        name: "withheld-join-hot-key-skew",
        request: small(withheld, Dialect::Scope),
    });
    out.push(Case {
        name: "healthy",
        request: small(Request::healthy(7), Dialect::Scope),
    });
    out
}

impl Case {
    /// Simulates the job of the case.
    ///
    /// # Panics
    ///
    /// If no seed shows the cause, which a test would find.
    pub fn simulate(&self) -> SimulatedJob {
        simulate_as(&self.request, self.name, "cases")
            .unwrap_or_else(|| panic!("case {}: no seed shows the cause", self.name))
    }

    /// Writes `FOLDER/NAME/job` and `FOLDER/NAME/truth.json`. Files that are there already are left alone and others
    /// appear at once, so that several test programs can use one folder.
    ///
    /// # Errors
    ///
    /// Errors of the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let (job, home) = (self.simulate(), folder.join(self.name));
        fs::create_dir_all(home.join("job"))?;
        let truth = serde_json::to_string_pretty(&job.truth)? + "\n";
        let files = job
            .files
            .iter()
            .map(|(name, bytes)| (home.join("job").join(name), &bytes[..]));
        for (path, bytes) in files.chain([(home.join("truth.json"), truth.as_bytes())]) {
            if !fs::read(&path).is_ok_and(|found| found == bytes) {
                let unfinished = folder.join(format!(".{}", std::process::id()));
                fs::write(&unfinished, bytes)?;
                fs::rename(unfinished, path)?;
            }
        }
        Ok(())
    }
}

/// Returns the folder of all cases, which it writes below `parent` when it is called first. Tests pass
/// `env!("CARGO_TARGET_TMPDIR")`.
///
/// # Panics
///
/// If a file cannot be written.
pub fn cases_in(parent: &str) -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(parent).join("cases");
        write_cases(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        folder
    })
}

/// Writes all cases into `folder`, see [`Case::write`].
///
/// # Errors
///
/// Errors of the file system.
pub fn write_cases(folder: &Path) -> io::Result<()> {
    cases().iter().try_for_each(|case| case.write(folder))
}
