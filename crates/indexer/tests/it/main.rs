//! The index from outside.

mod checked;
mod concurrent;
mod faults;
mod index;
mod kill;
mod old;
#[cfg(feature = "fastembed")]
mod onnx;
mod questions;
mod session;
mod support;
