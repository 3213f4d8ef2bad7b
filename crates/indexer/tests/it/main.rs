//! The index from outside.

mod checked;
mod concurrent;
mod faults;
mod index;
mod kill;
mod old;
mod onnx;
mod questions;
mod session;
mod support;
