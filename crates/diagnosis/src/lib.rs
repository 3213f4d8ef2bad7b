//! Turns a [`job::Job`] into facts, findings, impact and verified suggestions. Pure: it opens no
//! file, asks no LLM and prints nothing.

pub mod model;
