//! Real runs of small applications that other authors wrote, slow by one change of code or setting each. Two only look slow.

use std::path::Path;

use advice::diagnose;
use diagnosis::Settings;
use job::Catalogue;
use report::Language;

/// Name of a run, its cause, and the seconds that it took longer than the application without it.
const RUNS: [(&str, &str, f64); 24] = [
    ("labs_audit", "cache.ineffective", 25.9),
    ("chats_counts", "cache.ineffective", 33.7),
    ("turbines_infer", "cache.ineffective", 5.1),
    ("claims_cached", "cache.ineffective", 7.2),
    ("stream_royalties", "cache.ineffective", 27.1),
    ("auction_risk", "skew.join_hot_key", 10.7),
    ("leads_or", "join.explosion", 69.6),
    ("impressions_adv", "shuffle.missed_broadcast", 3.8),
    ("claims_repart", "shuffle.redundant_repartition", 4.3),
    ("views_distinct", "shuffle.redundant_repartition", 16.5),
    ("views_late", "shuffle.late_filter", 11.3),
    ("port_dwell", "shuffle.late_filter", 4.9),
    ("carrier_sheets", "driver.bottleneck", 5.1),
    ("moves_rank", "shuffle.serial_gather", 2.7),
    ("crm_sync", "cache.ineffective", 18.9),
    ("reader_metrics", "compute.costly_expression", 15.9),
    ("campaign_weekend", "io.scan_without_filter", 5.7),
    ("star_clusters", "cache.ineffective", 19.8),
    ("betting_limits", "skew.join_hot_key", 30.1),
    ("branch_stats", "driver.bottleneck", 94.9),
    ("order_shards", "skew.partition_layout", 14.2),
    ("weather_grid", "io.small_files", 118.8),
    ("supplier_risk", "cache.ineffective", 33.1),
    ("s_rdd_parallelism", "parallelism.tiny_vertices", 126.5),
];

const HEALTHY: [&str; 8] = [
    "h_dense_grid",
    "h_repart_reused",
    "churn_model",
    "ledger_balance",
    "gate_stream",
    "cinema_report",
    "book_words",
    "weather_archive",
];

/// Factor between claimed and measured seconds, on a machine that was shared.
const MOST: f64 = 2.0;

/// From this many times less on, a further finding beside the cause is no error.
const SMALL: f64 = 10.0;

fn causes(name: &str) -> Vec<(&'static str, f64)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let job = job::load(&folder.join(format!("{name}.zstd"))).expect("a log");
    let (catalogue, settings) = (Catalogue::builtin(), Settings::default());
    let found = diagnose(&job, &catalogue, &settings, Language::En).findings;
    let saved = |f: &report::Finding| f.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
    found.iter().map(|f| (f.cause.code(), saved(f))).collect()
}

#[test]
fn a_slow_run_has_its_cause_and_about_its_saving() {
    for (name, cause, seconds) in RUNS {
        let found = causes(name);
        let [(first, claimed), others @ ..] = found.as_slice() else {
            panic!("{name}: healthy");
        };
        assert_eq!(*first, cause, "{name}");
        let are_small = others.iter().all(|(_, other)| other * SMALL <= *claimed);
        assert!(are_small, "{name}: {found:?}");
        let factor = (claimed / seconds).max(seconds / claimed);
        assert!(
            factor <= MOST,
            "{name}: {claimed:.1} s claimed, {seconds} s measured"
        );
    }
}

#[test]
fn a_run_that_only_looks_slow_has_no_finding() {
    for name in HEALTHY {
        assert_eq!(causes(name), [], "{name}");
    }
}
