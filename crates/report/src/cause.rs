//! The causes of the contract and the classes that the specification puts them in.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! causes {
    ($($variant:ident = $code:literal, $type:ident;)*) => {
        /// A cause of the report contract; its code says what it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Cause { $($variant),* }

        impl Cause {
            /// Every cause in the order of the contract.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant),*];

            /// Code in reports: `skew.join_hot_key`.
            pub fn code(self) -> &'static str {
                match self { $(Cause::$variant => $code),* }
            }

            pub fn problem_type(self) -> ProblemType {
                match self { $(Cause::$variant => ProblemType::$type),* }
            }

            pub fn from_code(code: &str) -> Option<Cause> {
                match code { $($code => Some(Cause::$variant),)* _ => None }
            }
        }
    };
}

causes! {
    JoinHotKey = "skew.join_hot_key", DataSkew;
    GroupHotKey = "skew.group_hot_key", DataSkew;
    NullOrDefaultKey = "skew.null_or_default_key", DataSkew;
    LowCardinalityKey = "skew.low_cardinality_key", DataSkew;
    PartitionLayout = "skew.partition_layout", DataSkew;
    RedundantRepartition = "shuffle.redundant_repartition", ExcessiveShuffle;
    UnusedColumns = "shuffle.unused_columns", ExcessiveShuffle;
    LateFilter = "shuffle.late_filter", ExcessiveShuffle;
    MissedBroadcast = "shuffle.missed_broadcast", ExcessiveShuffle;
    SerialGather = "shuffle.serial_gather", ExcessiveShuffle;
    UnalignedInput = "shuffle.unaligned_input", ExcessiveShuffle;
    HeapPressure = "gc.heap_pressure", Other;
    Spill = "memory.spill", Other;
    MemoryEstimateTooLow = "memory.estimate_too_low", Other;
    Misestimate = "cardinality.misestimate", Other;
    JoinExplosion = "join.explosion", Other;
    CpuBoundUdo = "udo.cpu_bound", Other;
    ParallelismTooLow = "parallelism.too_low", Other;
    TinyVertices = "parallelism.tiny_vertices", Other;
    SmallFiles = "io.small_files", Other;
    VertexRetries = "failure.vertex_retries", Other;
    SlowMachine = "failure.slow_machine", Other;
    UserCodeFailure = "failure.user_code", Other;
    CompileFailure = "failure.compile", Other;
    LimitFailure = "failure.limit", Other;
    QueueWait = "queue.wait", Other;
}

/// Codes, separated by commas.
pub fn codes(causes: &[Cause]) -> String {
    let codes: Vec<&str> = causes.iter().map(|c| c.code()).collect();
    codes.join(", ")
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Cause, D::Error> {
        let code = Cow::<str>::deserialize(d)?;
        Cause::from_code(&code)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown cause `{code}`")))
    }
}

impl JsonSchema for Cause {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cause".into()
    }

    // Not an enum: a reader must accept causes that a later version adds.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// Class of a problem, as the specification names them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProblemType {
    /// Few vertices get most of the rows.
    DataSkew,
    /// More rows cross the network than necessary.
    ExcessiveShuffle,
    Other,
    /// No problem.
    None,
}

impl ProblemType {
    /// Code in reports and in the index's facets.
    pub fn code(self) -> &'static str {
        match self {
            ProblemType::DataSkew => "data_skew",
            ProblemType::ExcessiveShuffle => "excessive_shuffle",
            ProblemType::Other => "other",
            ProblemType::None => "none",
        }
    }
}
