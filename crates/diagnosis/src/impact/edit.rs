//! Edits that remove a cause from the work of a run: even out, regroup, merge, scale, drop waste.

use super::schedule::{MAX_VERTICES, StageWork, VertexWork};

/// Default spread of run times of vertices with equal input, as the standard deviation of their
/// logarithm. Observed in balanced stages (0.15 to 0.2).
pub const RUN_NOISE: f64 = 0.18;

/// Fewer vertices don't show how much run times spread.
const MIN_SPREAD: usize = 12;

/// Attempts at a vertex that a job can lose without failing, an upper bound for any file.
const MOST_LOST: f64 = 10.0;

/// Vertices that read less than this share of the mean are taken for empty.
const EMPTY_SHARE: f64 = 0.25;

/// Multiplies the run time of every vertex of a stage.
pub fn scale_run(stage: &mut StageWork, factor: f64) {
    for vertex in &mut stage.vertices {
        vertex.run_s *= factor.max(0.0);
    }
}

/// Multiplies the usual run time of every vertex: up to the expected slowest of as many like the median. The rest of a longer run
/// belongs to that vertex.
pub fn scale_usual(stage: &mut StageWork, factor: f64) {
    let mut runs: Vec<f64> = stage.vertices.iter().map(|v| v.run_s).collect();
    runs.sort_by(f64::total_cmp);
    let median = runs.get(runs.len() / 2).copied().unwrap_or(0.0);
    let most = median * slowest_of(runs.len());
    for vertex in &mut stage.vertices {
        vertex.run_s -= vertex.run_s.min(most) * (1.0 - factor).clamp(0.0, 1.0);
    }
}

/// Lets the vertices of a stage begin earlier by some seconds after its inputs have ended.
pub fn shorten_handover(stage: &mut StageWork, seconds: f64) {
    stage.handover_s = (stage.handover_s - seconds).max(0.0);
}

/// Removes failed and revoked attempts.
pub fn drop_waste(stage: &mut StageWork) {
    for vertex in &mut stage.vertices {
        vertex.wasted_s = 0.0;
        vertex.lost = 0;
    }
}

/// Spreads attempts that were lost over the vertices.
pub(super) fn lose(vertices: &mut [VertexWork], attempts: f64, seconds_each: f64) {
    let attempts = attempts.floor();
    let hit = attempts.min(vertices.len() as f64) as usize;
    if hit == 0 {
        return;
    }
    let lost = (attempts / hit as f64).round().min(MOST_LOST);
    let step = vertices.len() / hit;
    for vertex in vertices.iter_mut().step_by(step).take(hit) {
        vertex.wasted_s += seconds_each * attempts / hit as f64;
        vertex.lost += lost as u32;
    }
}

/// Gives every vertex the mean input, at the pace of its usual vertices: the median pace of all
/// vertices that are neither empty nor larger than the mean, else the pace of the whole stage; all its work stays but
/// `surplus_s` (work that only uneven input causes, such as spilling). Each vertex keeps its deviation from
/// its pace.
pub fn flatten(stage: &mut StageWork, surplus_s: f64) {
    let n = stage.vertices.len() as f64;
    let bytes = stage.bytes();
    if n < 2.0 || bytes <= 0.0 {
        let run = (stage.run_s() - surplus_s).max(0.0) / n.max(1.0);
        stage.vertices.iter_mut().for_each(|v| v.run_s = run);
        return;
    }
    let mean = bytes / n;
    let Some(pace) = usual_pace(&stage.vertices, mean) else {
        return flatten_few(stage, mean, surplus_s);
    };
    let work_s = stage.run_s() - surplus_s;
    even_out(stage, mean, |vertex| pace * vertex.bytes, pace * mean);
    // a hot vertex that is slower per byte has more rows in it: its work stays
    let even_s = stage.run_s();
    if even_s > 0.0 && even_s < work_s {
        scale_run(stage, work_s / even_s);
    }
}

/// Gives every vertex the mean input if too few are usual for a pace. A line through all vertices gives the fixed time
/// per vertex and the time per byte; at the mean input the line has the mean time.
fn flatten_few(stage: &mut StageWork, mean: f64, surplus_s: f64) {
    let n = stage.vertices.len() as f64;
    let mean_s = (stage.run_s() - surplus_s).max(0.0) / n;
    let points = || stage.vertices.iter().map(|v| (v.bytes - mean, v.run_s));
    let spread: f64 = points().map(|(x, _)| x * x).sum();
    let rise: f64 = points().map(|(x, y)| x * y).sum();
    let slope = match spread > 0.0 {
        true => (rise / spread).clamp(0.0, mean_s / mean),
        false => 0.0,
    };
    let expected = |vertex: &VertexWork| mean_s + slope * (vertex.bytes - mean);
    even_out(stage, mean, expected, mean_s);
}

/// Gives every vertex the mean input, and `even_s` of run time for it. A vertex with usual input keeps its deviation from its
/// expected time.
fn even_out(stage: &mut StageWork, mean: f64, expected: impl Fn(&VertexWork) -> f64, even_s: f64) {
    for vertex in &mut stage.vertices {
        let usual = vertex.bytes >= EMPTY_SHARE * mean && vertex.bytes <= 2.0 * mean;
        let expected = expected(vertex);
        let own = match usual && expected > 0.0 {
            true => (vertex.run_s / expected).clamp(0.5, 1.6),
            false => 1.0,
        };
        let even = even_s * own;
        if vertex.run_s > 0.0 {
            // attempts that failed had the same input to work on
            vertex.wasted_s *= (even / vertex.run_s).min(1.0);
        }
        vertex.run_s = even;
        vertex.bytes = mean;
    }
}

/// Median seconds per byte of the vertices around or below the mean; `None` if they are too few
/// or almost empty.
fn usual_pace(vertices: &[VertexWork], mean: f64) -> Option<f64> {
    let mut paces: Vec<f64> = vertices
        .iter()
        .filter(|v| v.bytes >= 0.1 * mean && v.bytes <= 2.0 * mean)
        .map(|v| v.run_s / v.bytes)
        .collect();
    if paces.len() < 3 || (paces.len() as f64) < 0.3 * vertices.len() as f64 {
        return None;
    }
    paces.sort_by(f64::total_cmp);
    Some(paces[paces.len() / 2])
}

/// Runs the stage's work, less `removed_s`, on `count` even vertices; very many are modeled by fewer.
pub fn regroup(stage: &mut StageWork, count: usize, removed_s: f64) {
    let count = count.clamp(1, MAX_VERTICES as usize);
    let work = (stage.run_s() - removed_s).max(0.0) / count as f64;
    let bytes = stage.bytes() / count as f64;
    // the lost share stays: its reason is another cause
    let lost: f64 = stage.vertices.iter().map(|v| v.wasted_s).sum();
    let lost_share = lost / stage.run_s().max(f64::MIN_POSITIVE);
    let start_s = stage.start_s() / stage.vertices.len().max(1) as f64;
    let spread = run_spread(&stage.vertices);
    stage.vertices = (0..count)
        .map(|i| VertexWork {
            start_s,
            run_s: work * noise(i, count, spread),
            wasted_s: work * lost_share,
            lost: 0,
            bytes,
        })
        .collect();
}

/// Moves `work_s` of stage `from` into the vertices of stage `into` and takes `from` away; its
/// readers then wait for `into`.
pub fn merge_into(stages: &mut [StageWork], from: usize, into: usize, work_s: f64) {
    let run = stages[into].run_s();
    if run > 0.0 {
        scale_run(&mut stages[into], 1.0 + work_s / run);
    }
    let mut inputs = std::mem::take(&mut stages[from].inputs);
    inputs.retain(|i| *i != into && *i != from);
    stages[from].vertices.clear();
    stages[from].inputs = vec![into];
    for input in inputs {
        if !stages[into].inputs.contains(&input) && !depends_on(stages, input, into) {
            stages[into].inputs.push(input);
        }
    }
}

/// Whether `stage` needs `other` to have ended, directly or not.
fn depends_on(stages: &[StageWork], stage: usize, other: usize) -> bool {
    let mut seen = vec![false; stages.len()];
    let mut open = vec![stage];
    while let Some(s) = open.pop() {
        if s == other {
            return true;
        }
        if !std::mem::replace(&mut seen[s], true) {
            open.extend(&stages[s].inputs);
        }
    }
    false
}

/// Spread of the run times of some vertices, beyond the spread of their inputs: of the middle
/// half, in standard deviations of the logarithm.
fn run_spread(vertices: &[VertexWork]) -> f64 {
    let spread = |time: fn(&VertexWork) -> f64| {
        let mut logs: Vec<f64> = vertices
            .iter()
            .map(time)
            .filter(|t| t.is_normal())
            .map(f64::ln)
            .collect();
        logs.sort_by(f64::total_cmp);
        let quarter = logs.len() / 4;
        let middle_half = 1.349;
        (logs.len() >= MIN_SPREAD)
            .then(|| (logs[logs.len() - 1 - quarter] - logs[quarter]) / middle_half)
    };
    let by_time = spread(|v| v.run_s).unwrap_or(RUN_NOISE);
    let by_byte = spread(|v| v.run_s / v.bytes).unwrap_or(RUN_NOISE);
    by_time.min(by_byte).min(RUN_NOISE)
}

/// The `i`-th of `count` evenly spread quantiles of a spread of run times, shuffled so that slow
/// vertices are not all in the last wave; deterministic.
pub(super) fn noise(i: usize, count: usize, spread: f64) -> f64 {
    if count == 1 {
        return 1.0;
    }
    let place = (i * 7919 + count / 3) % count;
    let p = (place as f64 + 0.5) / count as f64;
    (spread * normal_quantile(p)).exp()
}

/// How much longer than the median the slowest of `count` like vertices is expected to run.
pub fn slowest_of(count: usize) -> f64 {
    let rank = 1.0 - 0.5 / count.max(1) as f64;
    (RUN_NOISE * normal_quantile(rank)).exp()
}

/// Quantile of the standard normal distribution (Bowling et al. 2009, error under 0.01).
fn normal_quantile(p: f64) -> f64 {
    let logit = (p / (1.0 - p)).ln();
    // The logistic fit φ(z) ≈ 1 / (1 + exp(−(0.07056 z³ + 1.5976 z))) inverted by two Newton steps.
    let mut z = logit / 1.702;
    for _ in 0..3 {
        let f = 0.07056 * z.powi(3) + 1.5976 * z - logit;
        z -= f / (3.0 * 0.07056 * z * z + 1.5976);
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(work: &[(f64, f64)]) -> StageWork {
        let vertices = work.iter().map(|(run_s, bytes)| VertexWork {
            run_s: *run_s,
            bytes: *bytes,
            ..VertexWork::default()
        });
        StageWork {
            inputs: Vec::new(),
            handover_s: 0.0,
            vertices: vertices.collect(),
        }
    }

    #[test]
    fn flattening_keeps_the_work_without_the_surplus() {
        for (surplus_s, even_s) in [(0.0, 68.0), (240.0, 20.0), (300.0, 20.0)] {
            let mut s = stage(&[
                (10.0, 1.0),
                (10.0, 1.0),
                (10.0, 1.0),
                (10.0, 1.0),
                (300.0, 6.0),
            ]);
            flatten(&mut s, surplus_s);
            let mean = s.run_s() / 5.0;
            assert!(mean <= even_s + 1e-9, "{surplus_s}: {s:?}");
            assert!(s.vertices[4].run_s > even_s - 1e-9, "{surplus_s}: {s:?}");
        }
    }

    #[test]
    fn few_vertices_are_evened_out_along_a_line() {
        // the fixed time of each vertex does not make the small ones slow
        let mut s = stage(&[(21.8, 16.8), (8.5, 3.6), (7.6, 3.6)]);
        flatten(&mut s, 0.0);
        let longest = s.vertices.iter().map(|v| v.run_s).fold(0.0, f64::max);
        assert!((longest - 13.3).abs() < 0.1, "{s:?}");
    }

    #[test]
    fn regrouping_keeps_the_work() {
        let mut s = stage(&[(90.0, 1.0), (90.0, 1.0)]);
        regroup(&mut s, 20, 20.0);
        assert_eq!(s.vertices.len(), 20);
        assert!((s.run_s() - 160.0).abs() < 8.0, "{}", s.run_s());
    }

    #[test]
    fn merging_takes_the_stage_away_and_keeps_its_readers_waiting() {
        let mut stages = vec![
            stage(&[(10.0, 1.0)]),
            stage(&[(30.0, 1.0)]),
            stage(&[(1.0, 1.0)]),
        ];
        stages[1].inputs = vec![0];
        stages[2].inputs = vec![1];
        merge_into(&mut stages, 1, 0, 5.0);
        assert!(stages[1].vertices.is_empty());
        assert_eq!(stages[0].vertices[0].run_s, 15.0);
        assert_eq!(super::super::replay(&stages, 8), 16.0);
    }
}
