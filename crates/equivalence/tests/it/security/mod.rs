//! A script written by a model must not pass as equivalent when its result differs.

mod mutations;
