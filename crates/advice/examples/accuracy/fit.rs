//! Fits the weights of the confidence: logistic regression by Newton's method, with a weak normal prior.

use super::Failure;
use diagnosis::calibration::features;

/// A finding and whether it is right.
pub(crate) struct Judged {
    pub(crate) strength: f64,
    /// Share of the run; `None` for a failed job.
    pub(crate) share: Option<f64>,
    pub(crate) right: bool,
}

pub(crate) type Weights = [f64; 3];

/// Variance of the prior of each weight.
const PRIOR: f64 = 4.0;
const STEPS: usize = 25;

/// Weights that explain which findings were right. Strength and stake never count against a finding.
pub(crate) fn fit<'a>(judged: impl Iterator<Item = &'a Judged>) -> Weights {
    let data: Vec<(Weights, f64)> = judged
        .map(|j| (features(j.strength, j.share), f64::from(u8::from(j.right))))
        .collect();
    let mut weights = solve(&data, [true; 3]);
    // A negative weight would be an accident of the sample; that feature is then not used.
    let used = [true, weights[1] > 0.0, weights[2] > 0.0];
    if used.contains(&false) {
        weights = solve(&data, used);
    }
    weights
}

fn solve(data: &[(Weights, f64)], used: [bool; 3]) -> Weights {
    let mut w = [0.0; 3];
    for _ in 0..STEPS {
        let mut gradient = [0.0; 3];
        let mut hessian = [[0.0; 3]; 3];
        for i in 0..3 {
            gradient[i] = -w[i] / PRIOR;
            hessian[i][i] = 1.0 / PRIOR;
        }
        for (x, right) in data {
            let p = sigmoid(dot(x, &w));
            for i in 0..3 {
                gradient[i] += (right - p) * x[i];
                for j in 0..3 {
                    hessian[i][j] += p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        for i in (0..3).filter(|i| !used[*i]) {
            gradient[i] = 0.0;
            hessian.iter_mut().for_each(|row| row[i] = 0.0);
            hessian[i] = [0.0; 3];
            hessian[i][i] = 1.0;
        }
        let step = eliminate(hessian, gradient);
        for i in 0..3 {
            w[i] += step[i];
        }
    }
    w
}

/// Solves a system of three equations with a positive definite matrix.
fn eliminate(mut a: [[f64; 3]; 3], mut b: Weights) -> Weights {
    for i in 0..3 {
        for j in i + 1..3 {
            let factor = a[j][i] / a[i][i];
            let row = a[i];
            a[j].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
            b[j] -= factor * b[i];
        }
    }
    let mut x = [0.0; 3];
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|j| a[i][j] * x[j]).sum();
        x[i] = (b[i] - known) / a[i][i];
    }
    x
}

/// Confidence of a finding with these weights.
pub(crate) fn probability(weights: Weights, judged: &Judged) -> f64 {
    let x = features(judged.strength, judged.share);
    sigmoid(dot(&x, &weights)).clamp(0.05, 0.99)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &Weights, b: &Weights) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Writes the weights into the source of the calibration.
pub(crate) fn save(weights: Weights, seed: u64, jobs: usize) -> Result<(), Failure> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../diagnosis/src/calibration/weights.rs"
    );
    let [a, b, c] = weights;
    let text = format!(
        "// Written by `cargo run --release -p advice --example accuracy -- --fit` (seed {seed}, {jobs} jobs).\n/// Weights of the features.\npub const WEIGHTS: [f64; 3] = [{a:.3}, {b:.3}, {c:.3}];\n"
    );
    Ok(std::fs::write(path, text)?)
}
