//! Whole folders: real ones and simulated ones, read where they lie. Skips, and says so, where they
//! are absent.

mod hostile;
mod real;
mod seeds;
mod simulated;
