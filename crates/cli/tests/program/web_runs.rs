//! The list of runs, their history and the choice of jobs on the web page.

use std::fs;

use simulator::{Rerun, simulate_reruns};
use testkit::{contains, lacks};

use crate::mcp::client::HttpServer;
use crate::support::{User, case, copy};
use crate::web::{analyze, get};

#[test]
fn analyses_of_one_folder_are_one_line_with_the_others_behind_it() {
    let user = User::new();
    copy(&case("healthy"), &user.path("jobs/daily"));
    let server = HttpServer::serve(&user, &["--root", &user.path("jobs").display().to_string()]);
    let first = analyze(&server, "daily");
    let second = analyze(&server, "daily");
    let list = get(&server, "/").body;
    lacks(&list, [first.as_str()]);
    contains(
        &list,
        [second.as_str(), "Other analyses of this folder (1)"],
    );
    let link = list
        .split("class=\"others\" href=\"")
        .nth(1)
        .expect("a link");
    let link = link
        .split('"')
        .next()
        .expect("an address")
        .replace("&amp;", "&")
        .replace("&#x2f;", "/");
    let all = get(&server, &link).body;
    contains(&all, [first.as_str(), second.as_str()]);
}

#[test]
fn a_report_is_in_the_language_of_the_page() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("jobs/daily"));
    let server = HttpServer::serve(&user, &["--root", &user.path("jobs").display().to_string()]);
    let run = analyze(&server, "daily");
    let english = get(&server, &run).body;
    contains(
        &english,
        [
            "Problem found: hot key in a join",
            "<div class=\"report\" lang=\"en\">",
        ],
    );
    let chinese = get(&server, &format!("{run}?lang=zh")).body;
    contains(
        &chinese,
        [
            "发现问题：连接键存在热点值",
            "<div class=\"report\" lang=\"zh\">",
            "先改",
        ],
    );
    lacks(&chinese, ["Problem found"]);
    // without its job the report keeps its language
    fs::remove_dir_all(user.path("jobs/daily")).expect("removed");
    user.run(&format!(
        "feedback {} accept S1",
        run.trim_start_matches("/runs/")
    ))
    .text();
    contains(
        get(&server, &format!("{run}?lang=zh")).body,
        ["Problem found"],
    );
}

#[test]
fn jobs_are_chosen_from_the_folders_that_may_be_read() {
    let user = User::new();
    for name in ["a", "b"] {
        copy(&case("healthy"), &user.path(&format!("jobs/daily/{name}")));
    }
    let server = HttpServer::serve(&user, &["--root", &user.path("jobs").display().to_string()]);
    let page = get(&server, "/analyze").body;
    contains(&page, [">daily/</a>"]);
    let link = page.split("<li><a href=\"").nth(1).expect("an entry");
    let link = link
        .split('"')
        .next()
        .expect("an address")
        .replace("&#x2f;", "/")
        .replace("&amp;", "&");
    let inside = get(&server, &link).body.replace("&#x2f;", "/");
    contains(&inside, [">a/</a>", ">b/</a>", "jobs/daily\""]);
    let outside = get(&server, "/analyze?in=%2Fetc");
    assert_eq!(outside.status, 404, "{}", outside.body);
    lacks(&outside.body, ["passwd"]);
}

#[test]
fn the_history_of_a_job_marks_its_regression() {
    let user = User::new();
    let request = simulator::Request {
        tidy: true,
        ..simulator::Request::healthy(4)
    };
    let mut reruns: Vec<Rerun> = (0..5)
        .map(|luck| Rerun {
            luck,
            ..Rerun::default()
        })
        .collect();
    reruns.push(Rerun {
        luck: 5,
        tokens: 0.3,
        ..Rerun::default()
    });
    for (n, run) in simulate_reruns(&request, &reruns)
        .expect("runs")
        .iter()
        .enumerate()
    {
        run.write(&user.path(&format!("jobs/run-{n}")))
            .expect("written");
    }
    user.run("analyze jobs/run-0 jobs/run-1 jobs/run-2 jobs/run-3 jobs/run-4 jobs/run-5 --out reports.txt").text();
    let server = HttpServer::serve(&user, &["--root", &user.path("jobs").display().to_string()]);
    let runs = user.runs();
    let newest = runs[0]["run_id"].as_str().expect("a run");
    contains(
        get(&server, &format!("/runs/{newest}")).body,
        [format!("/runs/{newest}/history").as_str()],
    );
    let page = get(&server, &format!("/runs/{newest}/history")).body;
    assert_eq!(page.matches("<tr class=\"slow\">").count(), 1, "{page}");
    contains(
        &page,
        [
            "slower +",
            "capacity fell",
            "this run",
            "tokens",
            "/compare?run=",
        ],
    );
    let chinese = get(&server, &format!("/runs/{newest}/history?lang=zh")).body;
    contains(&chinese, ["变慢", "资源减少", "历次运行"]);
}
