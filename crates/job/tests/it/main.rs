//! Whole folders, real and simulated, read in place; scripts of the knowledge base.

#[path = "../generated/mod.rs"]
mod generated;
mod hostile;
mod knowledge;
mod large;
mod real;
mod seeds;
mod simulated;
mod spark;
