use report::SegmentKind;

use super::*;

#[test]
fn small_parts_are_summed_up_and_name_every_finding_that_claims_some() {
    let parts = [
        (SegmentKind::Read, 90.0, None),
        (SegmentKind::Sort, 0.2, None),
        (SegmentKind::Spill, 0.3, Some("F1")),
        (SegmentKind::Gc, 0.4, Some("F2")),
        (SegmentKind::Spill, 0.1, Some("F1")),
        (SegmentKind::Straggler, 9.0, Some("F2")),
    ];
    let segment = |(kind, seconds, finding): (SegmentKind, f64, Option<&str>)| Segment {
        kind,
        stage: Some("SV1".to_owned()),
        start_seconds: 0.0,
        seconds,
        finding: finding.map(str::to_owned),
        ..Segment::default()
    };
    let account = TimeAccount {
        segments: parts.map(segment).to_vec(),
        explained_share: 1.0,
        ..TimeAccount::default()
    };
    for (language, expected) in [
        (Language::En, ["", " (F2)", " (F1: 400 ms, F2: 400 ms)"]),
        (
            Language::Zh,
            ["", "（F2）", "（F1：400 毫秒，F2：400 毫秒）"],
        ),
    ] {
        let lines = by_stage(&account, language);
        let claims = lines.iter().map(|line| {
            let at = line.find(" %").expect("a share") + " %".len();
            &line[at..]
        });
        assert_eq!(claims.collect::<Vec<_>>(), expected, "{lines:#?}");
    }
}
