//! The columns of the tables: name, type, unit, meaning, and access to the value.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::Date;
use report::measure::{Entity, Measure, Unit, book};

use super::rows::{ClusterRow, FindingRow, JobRow, SegmentRow, code, millis};

/// Type of a column; every column but the key may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Real,
    Boolean,
    /// Milliseconds since 1970, UTC.
    Timestamp,
    Date,
}

impl Kind {
    /// Name of the type in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Kind::Text => "VARCHAR",
            Kind::Integer => "BIGINT",
            Kind::Real => "DOUBLE",
            Kind::Boolean => "BOOLEAN",
            Kind::Timestamp => "TIMESTAMPTZ",
            Kind::Date => "DATE",
        }
    }
}

/// One value of its column's type, or null.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    Null,
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Timestamp(Timestamp),
    Date(Date),
}

/// A column of rows of type `R`.
pub(super) struct Column<R: 'static> {
    name: &'static str,
    kind: Kind,
    /// `s`, `h`, `0..1`; empty for texts and counts.
    unit: &'static str,
    /// Meaning, in English: the documentation of the tables.
    about: &'static str,
    get: fn(&R) -> Cell<'_>,
}

/// Rows that can be written as a table.
pub trait Row: Sized + 'static {
    /// Name of the file without its extension.
    const NAME: &'static str;

    /// Name, type, unit and meaning of each column.
    fn columns() -> Vec<(&'static str, Kind, &'static str, &'static str)>;

    /// The values, in the order of the columns.
    fn cells(&self) -> Vec<Cell<'_>>;
}

macro_rules! columns {
    ($row:ty; $($name:ident $kind:ident $unit:literal $about:literal $get:expr;)*) => {
        &[$(Column::<$row> {
            name: stringify!($name), kind: Kind::$kind, unit: $unit, about: $about, get: $get,
        }),*]
    };
}

const JOBS: &[Column<JobRow>] = columns! { JobRow;
    key Text "" "key of the result" |r| text(&r.key);
    uri Text "" "address of the job" |r| text(&r.uri);
    report Text "" "path of the result in the store; it contains the whole report" |r| text(&r.report);
    status Text "" "`done`, or `failed` if the job could not be analyzed" |r| coded(Some(r.status));
    tries Integer "" "attempts to analyze the job" |r| integer(r.tries);
    reason Text "" "reason of a failed analysis" |r| maybe(&r.reason);
    job_id Text "" "identifier of the job" |r| maybe(&r.job_id);
    name Text "" "name of the job" |r| maybe(&r.name);
    engine Text "" "`scope`, `usql` or `spark`" |r| coded(r.engine);
    state Text "" "`succeeded`, `failed` or `cancelled`" |r| coded(r.state);
    owner Text "" "submitter of the job" |r| maybe(&r.owner);
    queue Text "" "queue or virtual cluster" |r| maybe(&r.queue);
    submitted Timestamp "UTC" "time of submission" |r| r.submitted.map_or(Cell::Null, Cell::Timestamp);
    week Date "UTC" "Monday of the week of submission" |r| r.week.map_or(Cell::Null, Cell::Date);
    script_hash Text "" "hash of the script's text" |r| maybe(&r.script_hash);
    script_shape Text "" "hash of the script without comments, spaces and literals: equal for the runs of a recurring job" |r| maybe(&r.script_shape);
    total_seconds Real "s" "from submission to end" |r| real(r.total_seconds);
    avoidable_seconds Real "s" "saving of all fixes together" |r| real(r.avoidable_seconds);
    explained_share Real "0..1" "explained share of the total time" |r| real(r.explained_share);
    cost Real "`cost_unit`" "cost of the run" |r| real(r.cost_hours);
    cost_wasted Real "`cost_unit`" "lost attempts, and work that the findings would avoid" |r| real(r.wasted_hours);
    cost_unit Text "" "`vertex-hour`, `AU-hour` or `executor-core-hour`" |r| maybe(&r.cost_unit);
    verdict Text "" "`problem`, `healthy` or `insufficient_information`" |r| coded(r.verdict);
    problem_type Text "" "class of the first finding; `none` without one" |r| coded(r.problem_type);
    findings Integer "" "number of findings" |r| integer(r.findings.map(|n| n as u64));
    causes Text "" "causes of the findings, costliest first, separated by commas" |r| maybe(&r.causes);
    cause Text "" "cause of the first finding" |r| r.cause.map_or(Cell::Null, text);
    severity Text "" "severity of the first finding" |r| coded(r.severity);
    first_line Integer "" "first script line of the first finding, from 1" |r| line(r.script_lines, 0);
    last_line Integer "" "last script line of the first finding" |r| line(r.script_lines, 1);
    suggestion Text "" "best suggestion" |r| maybe(&r.suggestion);
    suggestion_kind Text "" "`rewrite`, `hint`, `parameter`, `layout` or `investigate`" |r| coded(r.suggestion_kind);
    gain Text "" "expected gain of the best suggestion" |r| maybe(&r.gain);
    missing_file Text "" "file that would let more causes be checked" |r| maybe(&r.missing_file);
};

const FINDINGS: &[Column<FindingRow>] = columns! { FindingRow;
    finding Text "" "id of the finding in its report" |r| text(&r.finding.id);
    cause Text "" "cause" |r| text(r.finding.cause.code());
    problem_type Text "" "class of the cause" |r| text(r.finding.problem_type.code());
    severity Text "" "`critical`, `high`, `medium` or `low`" |r| coded(Some(r.finding.severity));
    confidence Real "0..1" "chance that the finding is right" |r| real(Some(r.finding.confidence));
    stage Text "" "stage of the finding" |r| maybe(&r.finding.stage);
    stage_role Text "" "the stage's name without its number" |r| maybe(&r.cluster.role);
    first_line Integer "" "first script line, from 1" |r| line(r.finding.script_lines, 0);
    last_line Integer "" "last script line" |r| line(r.finding.script_lines, 1);
    summary Text "" "the finding in one sentence" |r| text(&r.finding.summary);
    seconds_saved Real "s" "saving of this fix alone" |r| real(r.finding.impact.as_ref().map(|i| i.seconds_saved));
    avoidable_seconds Real "s" "the finding's part of the job's avoidable time; parts add up, savings overlap" |r| real(r.avoidable_seconds);
    share_of_elapsed Real "0..1" "`seconds_saved` as a share of the run time" |r| real(r.finding.impact.as_ref().and_then(|i| i.share_of_elapsed));
    vertex_hours_saved Real "h" "vertex time saved by this fix alone" |r| real(r.finding.impact.as_ref().and_then(|i| i.vertex_hours_saved));
    suggestion Text "" "best suggestion for the finding" |r| r.suggestion.as_ref().map_or(Cell::Null, |s| text(&s.title));
    suggestion_kind Text "" "kind of that suggestion" |r| coded(r.suggestion.as_ref().map(|s| s.kind));
    cluster Text "" "cluster of the finding" |r| Cell::Text(Cow::Owned(r.cluster.id()));
    diff_verified Boolean "" "true if the diff passed every check; null without a diff" |r| r.suggestion.as_ref().and_then(|s| s.verified).map_or(Cell::Null, |v| Cell::Boolean(v.holds()));
};

const CLUSTERS: &[Column<ClusterRow>] = columns! { ClusterRow;
    cluster Text "" "identifier of the cluster" |r| text(&r.cluster);
    cause Text "" "cause of its findings" |r| text(&r.cause);
    script Text "" "script of its jobs" |r| maybe(&r.script);
    stage_role Text "" "the stages' name without its number" |r| maybe(&r.stage_role);
    jobs Integer "" "jobs with such a finding" |r| integer(Some(r.jobs));
    findings Integer "" "findings of the cluster" |r| integer(Some(r.findings));
    avoidable_seconds Real "s" "parts of the jobs' avoidable time" |r| real(Some(r.avoidable_seconds));
    costliest Text "" "key of the job with the costliest finding" |r| text(&r.costliest);
    suggestion Text "" "best suggestion for that finding" |r| maybe(&r.suggestion);
    advice Text "" "advice of a language model on one finding of the cluster (`batch advise`)" |r| maybe(&r.advice);
    advised Text "" "key of the job with that finding" |r| maybe(&r.advised);
    model Text "" "model that gave the advice" |r| maybe(&r.model);
    calls Integer "" "calls needed for the advice" |r| integer(r.calls);
    cost Real "currency of the prices" "cost of the advice" |r| real(r.cost);
};

const SEGMENTS: &[Column<SegmentRow>] = columns! { SegmentRow;
    kind Text "" "kind of work or wait" |r| coded(Some(r.segment.kind));
    detail Text "" "use within the kind: `commit`, `planning`, `scheduling`, …" |r| coded(r.segment.detail);
    stage Text "" "stage" |r| maybe(&r.segment.stage);
    start_seconds Real "s" "start, from submission" |r| real(Some(r.segment.start_seconds));
    seconds Real "s" "length; the segments of a job add up to `total_seconds`" |r| real(Some(r.segment.seconds));
    finding Text "" "finding that claims the segment" |r| maybe(&r.segment.finding);
    cause Text "" "cause of that finding" |r| r.cause.map_or(Cell::Null, text);
};

/// Columns of the job that its findings and segments repeat.
const REPEATED: [&str; 10] = [
    "key",
    "job_id",
    "name",
    "engine",
    "owner",
    "queue",
    "submitted",
    "week",
    "script_hash",
    "script_shape",
];

fn repeated() -> impl Iterator<Item = &'static Column<JobRow>> {
    JOBS.iter().filter(|c| REPEATED.contains(&c.name))
}

fn described<R>(column: &Column<R>) -> (&'static str, Kind, &'static str, &'static str) {
    (column.name, column.kind, column.unit, column.about)
}

fn kind(measure: &Measure) -> Kind {
    match measure.unit {
        Unit::Ms | Unit::Seconds | Unit::Share | Unit::Ratio => Kind::Real,
        _ => Kind::Integer,
    }
}

/// The columns above, and a column per measure of a job.
impl Row for JobRow {
    const NAME: &'static str = "jobs";

    fn columns() -> Vec<(&'static str, Kind, &'static str, &'static str)> {
        let measures = book::of(Entity::Job);
        let measures = measures.map(|m| (m.id, kind(m), m.unit.code(), m.title.en));
        JOBS.iter().map(described).chain(measures).collect()
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let measures = book::of(Entity::Job).map(|m| match kind(m) {
            Kind::Integer => integer(self.values.get(m).map(|n| n.round() as i64)),
            _ => real(self.values.get(m).and_then(millis)),
        });
        let own = JOBS.iter().map(|c| (c.get)(self));
        own.chain(measures).collect()
    }
}

impl Row for ClusterRow {
    const NAME: &'static str = "clusters";

    fn columns() -> Vec<(&'static str, Kind, &'static str, &'static str)> {
        CLUSTERS.iter().map(described).collect()
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        CLUSTERS.iter().map(|c| (c.get)(self)).collect()
    }
}

macro_rules! of_a_job {
    ($row:ty, $name:literal, $columns:ident) => {
        impl Row for $row {
            const NAME: &'static str = $name;

            fn columns() -> Vec<(&'static str, Kind, &'static str, &'static str)> {
                repeated()
                    .map(described)
                    .chain($columns.iter().map(described))
                    .collect()
            }

            fn cells(&self) -> Vec<Cell<'_>> {
                let own = $columns.iter().map(|c| (c.get)(self));
                repeated().map(|c| (c.get)(&self.job)).chain(own).collect()
            }
        }
    };
}

of_a_job!(FindingRow, "findings", FINDINGS);
of_a_job!(SegmentRow, "segments", SEGMENTS);

fn text(value: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(value))
}

fn maybe(value: &Option<String>) -> Cell<'_> {
    value.as_deref().map_or(Cell::Null, text)
}

fn coded<'a>(value: Option<impl serde::Serialize>) -> Cell<'a> {
    value.map_or(Cell::Null, |v| Cell::Text(Cow::Owned(code(&v))))
}

fn integer<'a>(value: Option<impl TryInto<i64>>) -> Cell<'a> {
    let value = value.and_then(|v| v.try_into().ok());
    value.map_or(Cell::Null, Cell::Integer)
}

fn real<'a>(value: Option<f64>) -> Cell<'a> {
    value
        .filter(|v| v.is_finite())
        .map_or(Cell::Null, Cell::Real)
}

fn line<'a>(lines: Option<[u32; 2]>, at: usize) -> Cell<'a> {
    integer(lines.map(|lines| lines[at]))
}
