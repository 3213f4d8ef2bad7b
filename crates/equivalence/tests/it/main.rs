//! Judging changes of scripts: what is the same, what is not, and what is not known.

mod cases;
mod rewrites;
mod security;
mod support;
