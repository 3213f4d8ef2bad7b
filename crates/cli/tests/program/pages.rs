//! The order and the links of a report as text and as a page.

use testkit::{contains, lacks};

use crate::support::{User, case};

/// The parts are in the text in this order.
#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let places = parts.iter().map(|part| text.find(part));
    let places: Vec<usize> = places
        .map(|at| at.unwrap_or_else(|| panic!("a part of {parts:?} is missing: {text}")))
        .collect();
    assert!(places.is_sorted(), "{parts:?}: {text}");
}

#[test]
fn a_report_leads_with_what_matters_most() {
    let user = User::new();
    let problem = user.analyze(&case("join-hot-key-skew"), "--lang en").text();
    let order = [
        "Problem found",
        "Where the time went",
        "Findings",
        "Suggestions\nS1",
        "Experience",
    ];
    in_order(&problem, &order);
    let open = case("withheld-join-hot-key-skew");
    for format in ["text", "markdown", "html"] {
        let report = user
            .analyze(&open, &format!("--lang en -f {format}"))
            .text();
        in_order(
            &report,
            &[
                "No conclusion possible",
                "Missing information",
                "Where the time went",
            ],
        );
    }
}

#[test]
fn what_a_page_cites_is_on_it_and_plots_say_where_they_start() {
    let user = User::new();
    for name in ["join-hot-key-skew", "late-filter", "user-code-failure"] {
        let page = user.analyze(&case(name), "--lang en -f html").text();
        let targets = page.split("href=\"#").skip(1);
        let targets: Vec<&str> = targets.filter_map(|rest| rest.split('"').next()).collect();
        assert!(targets.iter().any(|t| t.ends_with(".md")), "{name}");
        for target in targets {
            contains(&page, [format!("id=\"{target}\"").as_str()]);
        }
        for plot in page.split("class=\"histogram\"").skip(1) {
            let plot = plot.split("</svg>").next().expect("a plot");
            contains(plot, ["log height"]);
            assert!(
                ["(not from 0)", ">0", "even: ", "all of them: "]
                    .iter()
                    .any(|start| plot.contains(start)),
                "{plot}"
            );
        }
        lacks(&page, [" ratio<br>"]);
    }
}
