//! Operators of a stage, and the channels between them.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// Name as the compiler spells it (`Expr_0`, `partialagg0__` are its own).
    pub name: String,
    /// Type without the mark for nullable: `long`, `string`, `SQL.MAP<string, int>`.
    pub type_name: String,
    /// Whether it may be null (`long?`).
    pub nullable: bool,
}

/// Kind of an operator, derived from its class name, arguments and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperatorKind {
    /// Reads a stream, table or file.
    Extract,
    /// Filters or projects, native or with inlined C#.
    Transform,
    Process,
    Reduce,
    Combine,
    Join,
    /// Aggregation before an exchange.
    PartialAggregate,
    Aggregate,
    Sort,
    Top,
    Union,
    /// Partitions its output by hash (`-hash`).
    HashPartition,
    /// Partitions its output by range (`-range`).
    RangePartition,
    /// Sends its output to every reader (`-broadcast`).
    Broadcast,
    /// Window functions over sorted groups.
    Window,
    /// Sends all its output to one reader (`-merge`).
    Gather,
    /// Partitions by a method that its arguments do not show.
    Partition,
    /// Copies its input to several readers.
    Split,
    Output,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Name; the reader of a channel has an input with the writer's output id.
    pub id: String,
    /// Its number in the run-time counters.
    pub uid: Option<u32>,
    pub schema: Vec<Column>,
    /// `numberOfInputs` or `numberOfOutputs`; `None` if absent or "ALL".
    pub count: Option<u32>,
    pub is_final: bool,
}

impl Channel {
    /// A channel with all other fields empty.
    pub fn named(id: String, uid: Option<u32>) -> Channel {
        Channel {
            id,
            uid,
            schema: Vec::new(),
            count: None,
            is_final: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Identifier: `Join_5`.
    pub id: String,
    /// Its number in the run-time counters.
    pub uid: Option<u32>,
    pub kind: OperatorKind,
    /// Class that implements it: `ScopeCombineWrapper_1`.
    pub class_name: String,
    /// Arguments as written: `-key Postcode|Postcode1`.
    pub args: String,
    /// Keys it joins, groups, sorts or partitions by (the left input's for a join).
    pub keys: Vec<String>,
    pub right_keys: Vec<String>,
    /// `-count N` of a partitioner.
    pub partition_count: Option<u32>,
    /// First number of the signature; equals `HTS` of the plan node.
    pub signature: Option<String>,
    /// Script file of the statement, if the definition has it.
    pub file: Option<String>,
    /// 1-based script line of the statement, if the definition has it.
    pub line: Option<u32>,
    pub inputs: Vec<Channel>,
    pub outputs: Vec<Channel>,
}

impl Operator {
    /// An operator with all other fields empty.
    pub fn new(id: String, uid: Option<u32>, kind: OperatorKind, class_name: &str) -> Operator {
        Operator {
            id,
            uid,
            kind,
            class_name: class_name.to_owned(),
            args: String::new(),
            keys: Vec::new(),
            right_keys: Vec::new(),
            partition_count: None,
            signature: None,
            file: None,
            line: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Whether its definition is complete: its class, and the columns of its inputs and outputs.
    pub fn is_described(&self) -> bool {
        let have_columns = |channels: &[Channel]| {
            !channels.is_empty() && channels.iter().all(|c| !c.schema.is_empty())
        };
        !self.class_name.is_empty() && have_columns(&self.inputs) && have_columns(&self.outputs)
    }
}
