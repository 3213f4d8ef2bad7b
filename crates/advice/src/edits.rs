//! Edits of the run for changes that remove only a part of a cause.

use diagnosis::impact::{StageWork, flatten, scale_run};

/// Reduces the unevenness of a stage to one `parts`-th, as after spreading a hot key
/// over this many vertices. `surplus_s` is work that only uneven input causes.
pub(crate) fn spread(stage: &mut StageWork, surplus_s: f64, parts: f64) {
    let mut even = stage.clone();
    flatten(&mut even, surplus_s);
    let toward = |now: f64, even: f64| even + (now - even) / parts.max(1.0);
    for (vertex, even) in stage.vertices.iter_mut().zip(even.vertices) {
        vertex.run_s = toward(vertex.run_s, even.run_s);
        vertex.wasted_s = toward(vertex.wasted_s, even.wasted_s);
        vertex.bytes = toward(vertex.bytes, even.bytes);
    }
}

/// Removes the rows of a hot key, `share` of all, from a stage and evens out the rest.
pub(crate) fn without_hot_rows(stage: &mut StageWork, surplus_s: f64, share: f64) {
    flatten(stage, surplus_s);
    scale_run(stage, 1.0 - share.clamp(0.0, 1.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use diagnosis::impact::VertexWork;

    #[test]
    fn spreading_leaves_a_part_of_the_unevenness() {
        let vertex = |bytes: f64| VertexWork {
            run_s: bytes,
            bytes,
            ..VertexWork::default()
        };
        let vertices: Vec<VertexWork> = [1.0, 1.0, 1.0, 1.0, 16.0].map(vertex).to_vec();
        let stage = StageWork {
            inputs: Vec::new(),
            handover_s: 0.0,
            vertices,
        };
        for (parts, slowest) in [(1.0, 16.0), (4.0, 7.0), (1e9, 4.0)] {
            let mut stage = stage.clone();
            spread(&mut stage, 0.0, parts);
            let found = stage.vertices.iter().map(|v| v.run_s).fold(0.0, f64::max);
            assert!((found - slowest).abs() < 1e-6, "{parts}: {found}");
        }
        let mut stage = stage;
        without_hot_rows(&mut stage, 0.0, 0.75);
        assert!((stage.run_s() - 5.0).abs() < 1e-6, "{stage:?}");
    }
}
