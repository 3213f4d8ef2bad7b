// Written by `cargo run --release -p advice --example accuracy -- --fit` (seed 20261122, 524 jobs).
/// Weights of the features.
pub const WEIGHTS: [f64; 3] = [1.903, 2.915, 1.192];
