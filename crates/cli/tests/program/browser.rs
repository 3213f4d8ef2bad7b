//! The HTML report in a real browser: no error on its console, the hot stage marked. The screenshot
//! stays in the folder of the tests' temporary files, to be looked at.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{User, case};

/// Flags that keep Chromium away from the network and from the user's own profile.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
];

/// The name of an installed browser; without one, `None` and a printed line.
fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|out| out.status.success())
    });
    if found.is_none() {
        testkit::skip("reports in a browser", "no Chromium is installed");
    }
    found
}

/// Opens a page with a fresh profile.
fn open(browser: &str, profile: &Path, action: &str, page: &Path) -> Output {
    Command::new(browser)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(action)
        .arg("--window-size=1200,1600")
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts")
}

#[test]
fn a_page_opens_without_errors_and_marks_the_hot_stage() {
    let Some(browser) = chromium() else { return };
    let user = User::new();
    let flags = "--format html --question '为什么这么慢？'";
    let report = user.analyze(&case("join-hot-key-skew"), flags).text();
    user.write("report.html", &report);
    let page = user.path("report.html");

    let opened = open(browser, &user.path("dom"), "--dump-dom", &page);
    let dom = String::from_utf8_lossy(&opened.stdout);
    let hot: Vec<&str> = dom
        .split("<g ")
        .filter(|g| g.starts_with(r#"class="stage hot"#))
        .collect();
    assert_eq!(hot.len(), 1, "{hot:?}");
    assert!(
        hot[0].contains(r#"data-stage="SV3_Combine_Reduce""#),
        "{}",
        hot[0]
    );
    for outside in ["src=\"http", "href=\"http", "url(http"] {
        assert!(
            !dom.contains(outside),
            "the page asks the network: {outside}"
        );
    }
    let log = String::from_utf8_lossy(&opened.stderr);
    let console: Vec<&str> = log
        .lines()
        .filter(|line| line.contains(":CONSOLE"))
        .collect();
    assert!(console.is_empty(), "{console:?}");

    let screenshot = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report.png");
    let action = format!("--screenshot={}", screenshot.display());
    open(browser, &user.path("picture"), &action, &page);
    let bytes = std::fs::read(&screenshot).expect("a screenshot");
    assert!(
        bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000,
        "{} bytes",
        bytes.len()
    );
    eprintln!("screenshot: {}", screenshot.display());
}
