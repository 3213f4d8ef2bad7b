//! Whole folders, real and simulated, read in place; scripts of the knowledge base.

mod hostile;
mod knowledge;
mod real;
mod seeds;
mod simulated;
mod spark;
