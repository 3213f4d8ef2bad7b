//! The index from outside.

mod concurrent;
mod faults;
mod index;
mod kill;
mod old;
#[cfg(feature = "fastembed")]
mod onnx;
mod session;
mod support;
