// Written by `cargo run --release -p diagnosis --example accuracy -- --fit`.
/// Weights of the features.
pub const WEIGHTS: [f64; 3] = [2.2, 1.0, 0.5];
