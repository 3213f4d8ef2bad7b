//! Writes the files of a job folder: one module per file or group of small files.

pub(crate) mod codegen;
pub(crate) mod json;
pub(crate) mod optimizer;
pub(crate) mod profile;
pub(crate) mod runtime;
pub(crate) mod small;
pub(crate) mod statistics;
pub(crate) mod tables;
pub(crate) mod vertex_def;
pub(crate) mod xml;
