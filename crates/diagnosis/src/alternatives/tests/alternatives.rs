use job::Job;
use job::script::Script;

use super::plan::plan;
use crate::alternatives::cost::Rates;
use crate::alternatives::{broadcast, columns, filter, gather, repartition};
use crate::settings::Settings;
use crate::view::View;
use report::Language;

fn look<T>(job: &Job, at: impl FnOnce(&View<'_>, &Rates) -> T) -> T {
    let settings = Settings::default();
    let view = View::new(job, &settings, Language::En);
    let rates = Rates::of(&view);
    at(&view, &rates)
}

const LIMITS: broadcast::Limits = broadcast::Limits {
    max: 256e6,
    sure: 256e6,
};

/// Gives every join of a plan a kind, through a script.
fn with_join(mut job: Job, kind: &str) -> Job {
    let script = format!("r = SELECT * FROM a {kind} JOIN b ON a.K == b.J;");
    job.script = Some(Script::parse("scope.script", script));
    for operator in job.stages.iter_mut().flat_map(|s| &mut s.operators) {
        if operator.id.starts_with("Op") && !operator.right_keys.is_empty() {
            operator.line = Some(1);
        }
    }
    job
}

/// 100 M rows on 40 vertices meet `small` rows; the operators after the join are given.
fn star_join(small: f64, after: &str) -> Job {
    plan(
        &format!(
            "
SV1 40
  extract T1 -> a(K,A,V) 100e6
  hash K 40 a -> c1
SV2 4
  extract T2 -> b(J,B) {small}
  hash J 40 b -> c2
SV4 20
  extract T4 -> d(L,D) 20e6
  hash L 40 d -> c4
SV3 40
  sort K c1 -> s1
  sort J c2 -> s2
  join K=J s1 s2 -> j(K,A,V,B) 100e6
{after}"
        ),
        &[("T1", "A", 40)],
    )
}

/// Share of the run that broadcasting the small side saves, and gigabytes exchanged after it.
fn broadcast_saves(job: &Job) -> Option<(f64, f64)> {
    look(job, |view, rates| {
        let mut found = broadcast::alternatives(view, rates, LIMITS).into_iter();
        let found = found.find_map(Result::ok)?;
        let share = found.saved.as_ref().map_or(0.0, |s| s.share);
        Some((share, found.exchanged_after / 1e9))
    })
}

#[test]
fn a_broadcast_pays_for_what_it_makes_others_exchange() {
    // operators after the join, whether broadcasting still saves a fifth, gigabytes exchanged then
    for (after, saves, exchanged) in [
        ("  output j -> o", true, 0.0),
        ("  filter j -> f(K,B)\n  output f -> o", true, 0.0),
        // Together by A as the big side is stored: no exchange.
        ("  agg A,B j -> g(A,B,N) 1e6\n  output g -> o", true, 0.0),
        // A local aggregation that is exchanged after it anyway.
        (
            "  partial B j -> p(B,N) 1e6\n  hash B 8 p -> c3\nSV5 8\n  agg B c3 -> g(B,N) 1e5",
            true,
            0.0,
        ),
        // Groups by the key: aggregated in part and exchanged, few bytes.
        ("  agg K j -> g(K,N) 1e5\n  output g -> o", true, 0.064),
        // As many groups as rows: the whole result is exchanged instead.
        ("  agg K j -> g(K,V,B,N) 100e6\n  output g -> o", false, 3.2),
        // Another big side meets the result on the same key.
        (
            "  sort L c4 -> s4\n  join K=L j s4 -> k(K,A,V,B,D) 100e6\n  output k -> o",
            false,
            3.2,
        ),
    ] {
        let job = with_join(star_join(50e3, after), "INNER");
        let (share, bytes) = broadcast_saves(&job).expect("an alternative");
        assert_eq!(share >= 0.2, saves, "{after}: saves {share}");
        assert!((bytes - exchanged).abs() < 0.01, "{after}: {bytes} GB");
    }
}

/// A broken file can leave an operator without inputs; the search for another broadcast side must still end.
#[test]
fn a_side_that_comes_from_nowhere_is_not_broadcast() {
    let mut job = star_join(
        50e3,
        "  sort L c4 -> s4\n  join K=L j s4 -> k(K,A,V,B,D) 100e6",
    );
    let mut operators = job.stages.iter_mut().flat_map(|s| &mut s.operators);
    let sort = operators.find(|o| o.keys == ["L"] && o.kind == job::model::OperatorKind::Sort);
    sort.expect("the sort of the second join").inputs.clear();
    let (_, bytes) = broadcast_saves(&with_join(job, "INNER")).expect("an alternative");
    assert!(
        bytes > 1.0,
        "the result is exchanged for the second join: {bytes} GB"
    );
}

#[test]
fn two_small_sides_are_broadcast_together() {
    let mut job = star_join(
        50e3,
        "  sort L c4 -> s4\n  join K=L j s4 -> k(K,A,V,B,D) 100e6",
    );
    let edge = job
        .edges
        .iter_mut()
        .find(|e| e.channel == "c4")
        .expect("c4");
    edge.bytes_written = Some(10e6);
    edge.rows_written = Some(600e3);
    let (share, bytes) = broadcast_saves(&with_join(job, "INNER")).expect("an alternative");
    assert!(share > 0.2 && bytes == 0.0, "{share}, {bytes} GB");
}

#[test]
fn only_a_side_that_fits_and_that_the_join_does_not_keep_is_broadcast() {
    for (kind, small, expected) in [
        ("INNER", 50e3, true),
        ("LEFT OUTER", 50e3, true),
        ("RIGHT OUTER", 50e3, false),
        ("FULL OUTER", 50e3, false),
        ("LEFT SEMI", 50e3, true),
        ("INNER", 20e6, false),
    ] {
        let job = with_join(star_join(small, "  output j -> o"), kind);
        let found = broadcast_saves(&job).is_some_and(|(share, _)| share > 0.0);
        assert_eq!(found, expected, "{kind} {small}");
    }
    let unknown = look(&star_join(50e3, "  output j -> o"), |view, rates| {
        broadcast::alternatives(view, rates, LIMITS)
    });
    assert!(
        unknown.iter().all(Result::is_err),
        "the join's kind is not known"
    );
}

#[test]
fn copies_can_cost_more_than_the_exchange() {
    // 200 MB on each of 40 vertices is more than the 2.4 GB that are exchanged.
    let job = with_join(star_join(12e6, "  output j -> o"), "INNER");
    assert!(broadcast_saves(&job).is_some_and(|(share, _)| share < 0.02));
}

/// Channels of the exchanges that could go, with the keys that suffice.
fn needless(text: &str, tables: &[(&str, &str, u32)]) -> Vec<String> {
    look(&plan(text, tables), |view, rates| {
        let mut found = repartition::needless(view, rates);
        found.retain(|n| n.saved.as_ref().is_some_and(|s| s.share > 0.01));
        let name = |n: &repartition::Needless| {
            let instead = if n.instead_of.is_empty() { "" } else { "!" };
            format!(
                "{}{instead} {}",
                view.job.edges[n.edge].channel,
                n.have.join(",")
            )
        };
        found.iter().map(name).collect()
    })
}

#[test]
fn an_exchange_is_needless_if_the_rows_are_together_without_it() {
    let chain = |first: &str, second: &str, before: u32| {
        format!(
            "
SV1 40
  extract T1 -> a(K,A,V) 100e6
  hash {first} {before} a -> c1
SV2 {before}
  reduce {first} c1 -> b(K,A,V) 80e6
  hash {second} 40 b -> c2
SV3 40
  sort {second} c2 -> s
  reduce {second} s -> d(K,A,R) 60e6
  output d -> o"
        )
    };
    for (first, second, before, expected) in [
        ("K", "K", 40, vec!["c2 K"]),
        ("K", "K,A", 40, vec!["c2 K"]),
        // The first reducer needs K and A only together: K alone serves both.
        ("K,A", "K", 40, vec!["c2! K"]),
        ("K", "A", 40, vec![]),
        // The exchange spreads the rows over ten times the vertices.
        ("K", "K", 4, vec![]),
    ] {
        let found = needless(&chain(first, second, before), &[]);
        assert_eq!(
            found, expected,
            "{first} then {second}, {before} vertices before"
        );
    }
    let stored = "
SV1 40
  extract T1 -> a(K,A,V) 100e6
  hash K 20 a -> c1
SV2 20
  sort K c1 -> s
  agg K s -> g(K,N) 50e6
  output g -> o";
    assert_eq!(needless(stored, &[("T1", "K", 40)]), ["c1 K"]);
    assert_eq!(
        needless(stored, &[("T1", "K", 4)]),
        [""; 0],
        "split partitions"
    );
    assert_eq!(needless(stored, &[("T1", "A", 40)]), [""; 0]);
}

#[test]
fn a_join_needs_both_sides_alike() {
    let joined = |left: &str, right: &str, keys: &str| {
        format!(
            "
SV1 40
  extract T1 -> a(K,A) 100e6
  hash {left} 40 a -> c1
SV2 40
  agg {left} c1 -> b(K,A) 80e6
  hash K,A 40 b -> c2
SV4 40
  extract T2 -> d(J,B) 50e6
  hash {right} 40 d -> c3
SV5 40
  join {keys} c2 c3 -> j(K,A,J,B) 80e6
  output j -> o"
        )
    };
    assert_eq!(needless(&joined("K,A", "J,B", "K,A=J,B"), &[]), ["c2 K,A"]);
    // The other side can be repartitioned on the matching subset.
    assert_eq!(needless(&joined("K", "J,B", "K,A=J,B"), &[]), ["c2 K"]);
}

#[test]
fn a_filter_goes_below_every_exchange_that_its_rows_cross() {
    let job = |keep: &str, rows: f64| {
        plan(
            &format!(
                "
SV1 40
  extract T1 -> a(K,A,V) 100e6
  hash K 20 a -> c1
SV2 20
  agg K,A c1 -> g(K,A,N) 80e6
  hash A 20 g -> c2
SV4 4
  extract T2 -> d(J,B) 1e6
  hash J 20 d -> c3
SV3 20
  sort A c2 -> s
  join A=J s c3 -> j(K,A,N,B) 80e6
  filter j -> f(K,A,N,B) {rows}
  output f -> o"
            ),
            &[],
        )
        .with_filter(keep)
    };
    for (condition, rows, edges, saves) in [
        ("Udf.Keep(K)", 8e6, vec!["c2", "c1"], true),
        ("Udf.Keep(A)", 8e6, vec!["c2", "c1"], true),
        // Computed by the aggregation: only the join is passed.
        ("Udf.Keep(N)", 8e6, vec!["c2"], true),
        ("Udf.Keep(K, B)", 8e6, vec![], false),
        // The optimizer has moved the condition that it understands.
        ("Udf.Keep(K) AND B > 5", 8e6, vec!["c2", "c1"], true),
        ("Udf.Keep(K)", 79e6, vec!["c2", "c1"], false),
    ] {
        let (found, share) = look(&job(condition, rows), |view, rates| {
            let found = filter::alternatives(view, rates);
            let edges = found.iter().flat_map(|f| &f.edges);
            let names: Vec<String> = edges.map(|e| view.job.edges[*e].channel.clone()).collect();
            let saved = found.first().and_then(|f| f.saved.as_ref());
            (names, saved.map_or(0.0, |s| s.share))
        });
        assert_eq!(found, edges, "{condition}");
        assert_eq!(share > 0.05, saves, "{condition} {rows}: {share}");
    }
}

trait Filtered {
    fn with_filter(self, condition: &str) -> Job;
}

impl Filtered for Job {
    fn with_filter(mut self, condition: &str) -> Job {
        let script =
            format!("r = SELECT K, A, N, B FROM g INNER JOIN d ON g.A == d.J WHERE {condition};");
        self.script = Some(Script::parse("scope.script", script));
        let last = self.stages.last_mut().expect("a stage");
        last.operators.iter_mut().for_each(|o| o.line = Some(1));
        self
    }
}

#[test]
fn columns_that_nobody_reads_are_found_through_unions() {
    // A sort may unite its inputs itself.
    columns_through("  union c1 c2 -> u(K,A,W)\n  sort K u -> s");
    columns_through("  sort K c1 c2 -> s(K,A,W)");
}

fn columns_through(united: &str) {
    let text = format!(
        "
SV1 40
  extract T1 -> a(K,A,W) 100e6
  hash K 20 a -> c1
SV2 40
  extract T2 -> b(J,B,X) 50e6
  hash J 20 b -> c2
SV3 20
{united}
  reduce K s -> r(K,N) 1e6
  output r -> o"
    );
    let unused = |read: Option<&[&str]>| {
        let mut job = plan(&text, &[]);
        job.codegen = read.map(|read| job::model::Codegen {
            file: "code.cs".to_owned(),
            classes: vec![job::model::CodegenClass {
                name: "MyReducer".to_owned(),
                user_code: true,
                columns_read: Some(read.iter().map(|c| (*c).to_owned()).collect()),
                ..job::model::CodegenClass::default()
            }],
        });
        look(&job, |view, rates| {
            let (found, _) = columns::pruned(view, rates)?;
            let names = found.iter().flat_map(|u| &u.columns);
            Some(names.map(|c| c.name.clone()).collect::<Vec<_>>().join(" "))
        })
    };
    assert_eq!(unused(Some(&["A"])).as_deref(), Some("W X"));
    assert_eq!(unused(Some(&["W"])).as_deref(), Some("A B"));
    assert_eq!(unused(Some(&["A", "W"])), None);
    assert_eq!(unused(None), None, "the code is not there");
}

#[test]
fn a_gather_is_divided_unless_user_code_needs_all_rows() {
    let gathered = |after: &str, rows: f64| {
        let text = format!(
            "
SV1 40
  extract T1 -> a(K,V) 200e6
  filter a -> f(K,V) {rows}
  gather f -> c1
SV2 1
{after}
  output r -> o"
        );
        look(&plan(&text, &[]), |view, rates| {
            let found = gather::alternatives(view, rates);
            found
                .first()
                .and_then(|g| g.saved.as_ref())
                .map(|s| s.share)
        })
    };
    for (after, rows, least, most) in [
        ("  sort K c1 -> r", 50e6, 0.5, 1.0),
        ("  agg K c1 -> r(K,N) 100", 50e6, 0.5, 1.0),
        // as many groups as rows: gathering the results costs as much as gathering the rows
        ("  agg K c1 -> r(K,N) 50e6", 50e6, 0.0, 0.4),
        ("  sort K c1 -> r", 1e4, 0.0, 0.02),
    ] {
        let share = gathered(after, rows).unwrap_or(-1.0);
        assert!((least..=most).contains(&share), "{after} {rows}: {share}");
    }
    assert_eq!(gathered("  reduce , c1 -> r(K,N) 100", 50e6), None);
}

#[test]
fn another_layout_counts_if_it_leaves_no_exchange() {
    let text = "
SV1 40
  extract T1 -> a(K,A,V) 100e6
  hash K 40 a -> c1
SV2 40
  extract T2 -> b(J,B) 20e6
  hash J 40 b -> c2
SV3 40
  sort K c1 -> s1
  sort J c2 -> s2
  join K=J s1 s2 -> j(K,A,V,B) 100e6
  output j -> o";
    let layout = |tables: &[(&str, &str, u32)], first: Option<(&str, f64)>| {
        let mut job = plan(text, tables);
        if let Some((kind, rows)) = first {
            job.tables[0].rows = Some(rows as u64);
            let clustering = job.tables[0].clustering.as_mut().expect("a clustering");
            clustering.kind = kind.to_owned();
        }
        look(&job, |view, rates| {
            let found = repartition::layouts(view, rates);
            let names = found.iter().flat_map(|l| &l.inputs);
            let names: Vec<&str> = names.map(|s| s.table.name.as_str()).collect();
            let saves = found.iter().filter_map(|l| l.saved.as_ref());
            (names.join(" "), saves.map(|s| s.share).sum::<f64>() > 0.1)
        })
    };
    let (a, b, j, k) = (
        ("T1", "A", 40),
        ("T2", "B", 40),
        ("T2", "J", 40),
        ("T1", "K", 40),
    );
    for (tables, first, expected) in [
        (&[a, b][..], None, "T1 T2"),
        (&[a, j], None, "T1"),
        (&[k, j], None, ""),
        // The other side is not partitioned: it has to be exchanged anyway.
        (&[a], None, ""),
        // Ranges are useful to readers of a part.
        (&[a, j], Some(("range", 100e6)), "T1"),
        (&[a, j], Some(("range", 1e9)), ""),
    ] {
        let (found, saves) = layout(tables, first);
        assert_eq!(
            (found.as_str(), saves),
            (expected, !expected.is_empty()),
            "{tables:?}"
        );
    }
}

#[test]
fn ways_through_a_plan_that_goes_round_end() {
    let text = "
SV1 40
  extract T1 -> e(K,A) 100e6
  filter e -> a(K,A) 100e6
  filter a -> b(K,A) 100e6
  hash K 40 b -> c1
SV2 40
  sort K c1 -> s1
  agg K s1 -> g(K) 1e6
  output g -> o";
    let mut job = plan(text, &[]);
    let operators = &mut job.stages[0].operators;
    operators[1].inputs = operators[2].outputs.clone();
    look(&job, |view, rates| {
        assert!(repartition::layouts(view, rates).is_empty());
        assert!(repartition::needless(view, rates).is_empty());
    });
}
