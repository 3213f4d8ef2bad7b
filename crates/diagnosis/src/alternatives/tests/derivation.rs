use job::Job;
use job::model::ExchangeKind;
use job::script::Script;

use super::plan::plan;
use crate::properties::{Keys, Partitioning};
use crate::settings::Settings;
use crate::view::View;
use report::Language;

/// Keys that the last operator of the last stage delivers: `A|B,C` where A and B are one value.
fn last_delivered(job: &Job) -> String {
    let settings = Settings::default();
    let view = View::new(job, &settings, Language::En);
    let derived = view.derived();
    match &derived.delivered(derived.flow.nodes.len() - 1).partitioning {
        Partitioning::Keyed(Keys { names, .. }) => {
            let names: Vec<String> = names.iter().map(|n| n.join("|")).collect();
            names.join(",")
        }
        other => format!("{other:?}"),
    }
}

const TWO_SIDES: &str = "
SV1 40
  extract T1 -> a(K,A) 100e6
  hash K 20 a -> c1
SV2 10
  extract T2 -> b(J,B) 10e6
  hash J 20 b -> c2
";

#[test]
fn operators_keep_rows_where_they_are() {
    for (operators, expected) in [
        ("", "K"),
        ("  sort K,A x -> y", "K"),
        ("  filter x -> y(K)", "K"),
        ("  agg K x -> y(K,N) 5", "K"),
        ("  agg K,A x -> y(K,A,N) 5", "K"),
        ("  agg A x -> y(A,N) 5", "Unknown"),
        ("  reduce K x -> y(K,R) 5", "K"),
        ("  reduce K x -> y(R) 5", "Unknown"),
        ("  hash A 5 x -> y", "K"),
    ] {
        let text = format!("{TWO_SIDES}SV3 20\n  sort K c1 -> x\n{operators}");
        assert_eq!(last_delivered(&plan(&text, &[])), expected, "{operators}");
    }
}

#[test]
fn a_join_delivers_the_keys_of_the_sides_that_meet() {
    let joined = |kind: &str, output: &str, right: ExchangeKind| {
        let text = format!("{TWO_SIDES}SV3 20\n  join K=J c1 c2 -> {output}");
        let mut job = plan(&text, &[]);
        job.edges[1].exchange = right;
        let script = format!("r = SELECT * FROM a {kind} JOIN b ON a.K == b.J;");
        job.script = Some(Script::parse("scope.script", script));
        job.stages[2].operators[0].line = Some(1);
        last_delivered(&job)
    };
    for (kind, output, expected) in [
        ("INNER", "y(K,J)", "K|J"),
        ("INNER", "y(J,B)", "J"),
        ("INNER", "y(A,B)", "Scattered"),
        ("LEFT OUTER", "y(K,J)", "K"),
        ("LEFT OUTER", "y(J,B)", "Scattered"),
        ("RIGHT OUTER", "y(K,J)", "J"),
        ("FULL OUTER", "y(K,J)", "Scattered"),
    ] {
        let found = joined(kind, output, ExchangeKind::Hash);
        assert_eq!(found, expected, "{kind} {output}");
    }
    let found = joined("INNER", "y(K,J)", ExchangeKind::Broadcast);
    assert_eq!(found, "K|J", "a broadcast side");
}

#[test]
fn keys_are_followed_through_names_of_the_script() {
    let renamed = |script: &str| {
        let text = format!("{TWO_SIDES}SV3 20\n  filter c1 -> y(Key,A)");
        let mut job = plan(&text, &[]);
        job.script = Some(Script::parse("scope.script", script.to_owned()));
        job.stages[2].operators[0].line = Some(1);
        last_delivered(&job)
    };
    assert_eq!(renamed("r = SELECT K AS Key, A FROM a;"), "Key");
    assert_eq!(renamed("r = SELECT K + 1 AS Key, A FROM a;"), "Scattered");
}

#[test]
fn a_union_keeps_what_its_inputs_have_in_common() {
    for (second, expected) in [("J", "K"), ("B", "Scattered")] {
        let text = format!(
            "{}SV3 20\n  union c1 c2 -> y(K,A)",
            TWO_SIDES.replace("hash J", &format!("hash {second}"))
        );
        assert_eq!(last_delivered(&plan(&text, &[])), expected, "{second}");
    }
}

#[test]
fn stored_keys_hold_unless_a_partition_is_split_over_vertices() {
    for (parts, expected) in [(40, "K"), (80, "K"), (4, "Scattered")] {
        let job = plan(
            "SV1 40\n  extract T1 -> a(K,A) 100e6",
            &[("T1", "K", parts)],
        );
        assert_eq!(last_delivered(&job), expected, "{parts} partitions");
    }
}

#[test]
fn rows_are_together_by_every_superset_of_their_keys() {
    let keys = |list: &str| -> Vec<String> { list.split(',').map(str::to_owned).collect() };
    for (have, wanted, expected) in [
        ("A", "A", true),
        ("A", "A,B", true),
        ("A,B", "B,A", true),
        ("A,B", "A", false),
        ("A", "B", false),
    ] {
        let have = Keys::hash(&keys(have), None);
        assert_eq!(have.serve(&keys(wanted)), expected, "{have:?} {wanted}");
    }
    let meets = |left: &str, right: &str| {
        let (l, r) = (
            Keys::hash(&keys(left), Some(8)),
            Keys::hash(&keys(right), Some(8)),
        );
        Partitioning::Keyed(l).meets(&Partitioning::Keyed(r), &keys("A,B"), &keys("X,Y"))
    };
    assert!(meets("A,B", "X,Y") && meets("B", "Y"));
    assert!(!meets("A,B", "Y,X"), "another sequence of keys");
    assert!(!meets("A", "Y") && !meets("A", "X,Y"));
}

#[test]
fn a_sort_orders_and_a_hash_table_does_not() {
    let sorted = |operators: &str| {
        let text = format!("{TWO_SIDES}SV3 20\n  sort K,A c1 -> x\n{operators}");
        let job = plan(&text, &[]);
        let settings = Settings::default();
        let view = View::new(&job, &settings, Language::En);
        let derived = view.derived();
        let last = derived.delivered(derived.flow.nodes.len() - 1);
        let on = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|k| (*k).to_owned()).collect();
            last.is_sorted_on(&keys)
        };
        (on(&["K"]), on(&["A", "K"]), on(&["A"]))
    };
    assert_eq!(sorted(""), (true, true, false));
    assert_eq!(sorted("  filter x -> y(K)"), (true, false, false));
    assert_eq!(sorted("  partial K x -> y(K,N) 5"), (false, false, false));
}
