use super::*;

fn run(tokens: usize, stages: &[(&[usize], &[f64])]) -> WhatIf {
    let stage = |(inputs, runs): &(&[usize], &[f64])| StageWork {
        inputs: inputs.to_vec(),
        handover_s: 0.0,
        vertices: runs
            .iter()
            .map(|run_s| VertexWork {
                run_s: *run_s,
                ..VertexWork::default()
            })
            .collect(),
    };
    let stages: Vec<StageWork> = stages.iter().map(stage).collect();
    WhatIf {
        names: (0..stages.len()).map(|n| format!("SV{}", n + 1)).collect(),
        run: RunModel::from_stages(stages, tokens),
        resource: Resource::Tokens,
        partitioned: Vec::new(),
        repairs: vec![
            Repair {
                fix: Some(Fix::stage(0, |stage| stage.vertices.truncate(1))),
                seconds: Some(12.0),
            },
            Repair {
                fix: None,
                seconds: None,
            },
        ],
    }
}

#[test]
fn a_curve_ends_where_more_tokens_change_nothing() {
    let curve = run(4, &[(&[], &[10.0; 8])])
        .curve(&Change::default(), &[])
        .expect("answerable");
    assert_eq!((curve.now, curve.would_do, curve.enough), (4, 4, 8));
    assert_eq!(
        curve.limit,
        Some(Limit::Stage {
            stage: "SV1".into(),
            seconds: 10.0
        })
    );
    let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
    assert!(seconds.is_sorted_by(|a, b| a >= b), "{seconds:?}");
}

#[test]
fn idle_tokens_are_not_needed() {
    let curve = run(50, &[(&[], &[10.0; 8])])
        .curve(&Change::default(), &[])
        .expect("answerable");
    assert_eq!((curve.would_do, curve.enough, curve.cheapest), (8, 8, 8));
}

#[test]
fn the_limit_is_the_longest_part_of_the_critical_path() {
    let stages: [(&[usize], &[f64]); 3] =
        [(&[], &[5.0; 3]), (&[0], &[2.0, 2.0, 30.0]), (&[1], &[9.0])];
    let limit = |run: WhatIf| {
        run.curve(&Change::default(), &[])
            .expect("answerable")
            .limit
    };
    assert_eq!(
        limit(run(2, &stages)),
        Some(Limit::LargestVertex {
            stage: "SV2".into(),
            seconds: 30.0
        })
    );
    let serial: [(&[usize], &[f64]); 2] = [(&[], &[5.0; 3]), (&[0], &[9.0])];
    assert_eq!(
        limit(run(2, &serial)),
        Some(Limit::Serial {
            stage: "SV2".into(),
            seconds: 9.0
        })
    );
}

#[test]
fn changes_are_applied_together() {
    let run = run(4, &[(&[], &[10.0; 8])]);
    let at = |change: &Change| run.at(change).map(|p| p.seconds);
    let doubled = Change {
        input: 2.0,
        ..Change::default()
    };
    assert_eq!(at(&doubled), Ok(40.0));
    assert_eq!(
        at(&Change {
            count: Some(8),
            ..doubled
        }),
        Ok(20.0)
    );
    assert_eq!(
        at(&Change {
            fixed: vec![0],
            ..Change::default()
        }),
        // what the finding claims, more than its fix alone
        Ok(8.0)
    );
    assert_eq!(
        at(&Change {
            fixed: vec![1],
            ..Change::default()
        }),
        Err(Unanswerable::NoFix(1))
    );
    let partitions = Some(16);
    assert_eq!(
        at(&Change {
            partitions,
            ..Change::default()
        }),
        Err(Unanswerable::NoPartitions)
    );
}
