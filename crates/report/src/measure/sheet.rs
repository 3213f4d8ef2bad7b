//! Everything that was measured of one run.

use super::Values;

/// The values of a job and of its parts, each part at its index in the job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    pub job: Values,
    pub stages: Vec<StageSheet>,
    pub exchanges: Vec<Values>,
    pub inputs: Vec<InputSheet>,
    /// Of an application.
    pub executors: Vec<Values>,
    /// Of an application.
    pub executions: Vec<Values>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageSheet {
    pub values: Values,
    pub operators: Vec<Values>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputSheet {
    pub values: Values,
    pub columns: Vec<Values>,
}
