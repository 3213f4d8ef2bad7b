//! The report of a batch: tables, the page, and the pages of jobs that it links to.

use std::fs;

use serde_json::{Value, json};
use testkit::contains;

use crate::support::{User, case, copy, items};

#[test]
fn a_report_has_tables_and_a_page_whose_links_lead_somewhere() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("jobs/a"));
    user.write("jobs/b/photo.png", "\u{89}P\0\u{1}");
    user.run("batch run jobs --out store --lang en");
    user.write("jobs/c/photo.png", "\u{89}P\0\u{1}");
    user.run("batch plan jobs --out store");
    let written = user
        .run("batch report store --lang en --format json")
        .json();
    let counts = ["jobs", "failed", "pending"].map(|name| written[name].as_u64());
    assert_eq!(counts, [Some(2), Some(1), Some(1)]);
    let folder = user.path("store/report");
    for table in ["jobs", "findings", "segments", "clusters"] {
        let parquet = fs::read(folder.join(format!("{table}.parquet"))).expect("Parquet");
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
        let csv = fs::read_to_string(folder.join(format!("{table}.csv"))).expect("CSV");
        assert!(csv.lines().count() > 1, "{table}");
    }
    let page = user.read("store/report/index.html");
    contains(&page, ["1 job without a result yet"]);
    let begin = "<script type=\"application/json\" id=\"data\">";
    let data = page.split_once(begin).expect("data").1;
    let data = data.split_once("</script>").expect("an end").0;
    let data: Value = serde_json::from_str(data).expect("JSON");
    let jobs = &data["jobs"];
    assert!(
        items(&jobs["name"]).contains(&json!("RouteQuality_V3")),
        "{jobs}"
    );
    assert!(items(&data["causes"]).contains(&json!("hot key in a join")));
    let paged = items(&data["paged"]);
    assert_eq!(paged.len(), 1, "the job that could be analyzed");
    for (at, key) in items(&jobs["key"]).iter().enumerate() {
        let key = key.as_str().expect("a key");
        let link = match paged.contains(&json!(at)) {
            true => format!("jobs/{key}.html"),
            false => {
                let base = data["base"].as_str().expect("an address");
                format!("{base}results/{}/{key}.json", &key[..2])
            }
        };
        assert!(folder.join(&link).is_file(), "{link}");
    }
}

#[test]
fn a_store_without_a_manifest_is_refused_with_the_command_that_writes_one() {
    let user = User::new();
    fs::create_dir(user.path("store")).expect("folder");
    let error = user.run("batch report store").refused(2);
    contains(&error, ["no manifest", "batch plan"]);
    let nothing = fs::read_dir(user.path("store/report"))
        .into_iter()
        .flatten()
        .count();
    assert_eq!(nothing, 0, "no half report is left");
}
