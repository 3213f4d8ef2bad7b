//! Judging changes of scripts: same, different, and unknown.

mod cases;
mod rewrites;
mod security;
mod support;
