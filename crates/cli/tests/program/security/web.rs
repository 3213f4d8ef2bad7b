//! Visitors that the web page refuses, and hostile jobs on the page.

use crate::mcp::client::HttpServer;
use crate::security::escaping::attacked;
use crate::support::{User, case, cases, copy};
use crate::web::{analyze, ask, get, post, upload};

const ATTACKS: [&str; 4] = [
    "<script>alert",
    "<img src=x",
    "onerror=alert(1)>",
    "href=\"javascript",
];

#[test]
fn foreign_pages_are_turned_away() {
    let user = User::new();
    let server = HttpServer::serve(&user, &[]);
    let own = server.address();
    let origin = format!("http://{own}");
    for (headers, expected) in [
        (&[("host", own)][..], 200),
        (&[("host", "localhost:1")], 200),
        (&[("host", "evil.example")], 403),
        (&[("host", "127.0.0.1.evil.example")], 403),
        (&[("host", "192.0.2.1")], 403),
        (&[("host", own), ("origin", &origin)], 200),
        (&[("host", own), ("origin", "http://evil.example")], 403),
        (&[("host", own), ("origin", "null")], 403),
    ] {
        assert_eq!(
            ask(&server, "GET /", headers, b"").status,
            expected,
            "{headers:?}"
        );
    }
    let page = get(&server, "/analyze");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"));

    let form = format!("token={}&job=.", page.token());
    let kind = ("content-type", "application/x-www-form-urlencoded");
    for (body, header, expected) in [
        (form.as_str(), ("origin", origin.as_str()), 303),
        (&form, ("origin", "http://evil.example"), 403),
        (&form, ("sec-fetch-site", "cross-site"), 403),
        ("job=.", ("origin", &origin), 403),
        ("token=&job=.", ("origin", &origin), 403),
        ("token=00&job=.", ("origin", &origin), 403),
    ] {
        let answer = ask(&server, "POST /analyze", &[kind, header], body.as_bytes());
        assert_eq!(answer.status, expected, "{body} {header:?}");
    }
    let run = "/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for path in [
        "/analyze",
        &format!("{run}/feedback"),
        &format!("{run}/ask"),
        &format!("{run}/cancel"),
    ] {
        assert_eq!(post(&server, path, &[]).status, 403, "{path}");
    }
    assert_eq!(upload(&server, "wrong", &[("a", b"x")]).status, 400);
}

#[test]
fn nothing_outside_the_allowed_folders_is_read() {
    let user = User::new();
    copy(&case("healthy"), &user.path("outside"));
    let server = HttpServer::serve(&user, &["--root", &cases().display().to_string()]);
    let token = get(&server, "/analyze").token().to_owned();
    let outside = user.path("outside").display().to_string();
    for job in ["..", "/etc", &outside, "join-hot-key-skew/../../.."] {
        let answer = post(&server, "/analyze", &[("token", &token), ("job", job)]);
        assert_eq!(answer.status, 404, "{job}");
        assert!(
            answer.body.contains("outside the folders"),
            "{}",
            answer.body
        );
    }
    let run = analyze(&server, "healthy/job");
    for name in [
        "../truth.json",
        "/etc/passwd",
        "..%2f..%2ftruth.json",
        "a\\..\\..\\b",
        "",
    ] {
        let answer = get(&server, &format!("{run}/file?name={name}"));
        assert_eq!(answer.status, 404, "{name}: {}", answer.body);
    }
    // A run of the same store with a job elsewhere: its report is shown, its files are not.
    let id = user.report(&user.path("outside"), "")["run_id"].to_string();
    let file = format!("/runs/{}/file?name=scope.script", id.trim_matches('"'));
    assert_eq!(get(&server, &file).status, 404);
    for path in [
        "/static/../app.js",
        "/static/%2e%2e%2fCargo.toml",
        "/compare?run=..&run=/etc",
    ] {
        assert_eq!(get(&server, path).status, 404, "{path}");
    }
    for name in ["job/../../x", "..", "job/a:b"] {
        let answer = upload(&server, &token, &[(name, b"x")]);
        assert_eq!(answer.status, 400, "{name}");
    }
}

#[test]
fn requests_are_bounded() {
    let user = User::new();
    let server = HttpServer::serve(&user, &[]);
    let large = vec![b'x'; 1 << 20];
    let kind = ("content-type", "application/x-www-form-urlencoded");
    assert_eq!(ask(&server, "POST /analyze", &[kind], &large).status, 413);
    let pretended = [kind, ("content-length", "99999999999")];
    assert_eq!(ask(&server, "POST /analyze", &pretended, b"x").status, 413);
    let upload = [
        ("content-type", "multipart/form-data; boundary=x"),
        ("content-length", "2000000000"),
    ];
    assert_eq!(ask(&server, "POST /uploads", &upload, b"x").status, 413);
    let long = "x".repeat(64 << 10);
    assert_eq!(ask(&server, "GET /", &[("x", &long)], b"").status, 431);
    let many: Vec<(&str, &str)> = vec![("x", "y"); 1000];
    assert_eq!(ask(&server, "GET /", &many, b"").status, 431);
    assert_eq!(ask(&server, "BREW /", &[], b"").status, 405);
    assert_eq!(get(&server, "/").status, 200, "it still serves");
}

#[test]
fn what_jobs_say_is_text_on_every_page() {
    let user = User::new();
    let job = attacked(&user);
    let home = user.home.path().display().to_string();
    let server = HttpServer::serve(&user, &["--root", &home]);
    let run = analyze(&server, &job.display().to_string());
    let id = run.trim_start_matches("/runs/");
    let evil = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%20onerror=alert(1)%3E";
    for path in [
        run.clone(),
        "/".to_owned(),
        format!("{run}/file?name=Error"),
        format!("{run}/file?name={evil}&at={evil}"),
        format!("/compare?run={id}&run={id}"),
        format!("/?q={evil}&owner={evil}&week={evil}&cause={evil}&{evil}"),
        format!("/knowledge?q={evil}"),
        format!("/knowledge/passage?id={evil}"),
        format!("/runs/{evil}"),
        format!("/{evil}"),
    ] {
        let page = get(&server, &path);
        for attack in ATTACKS {
            assert!(
                !page.body.contains(attack),
                "{attack} in {path}: {}",
                page.body
            );
        }
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
    }
    assert!(
        get(&server, &run).body.contains("alert(1)"),
        "the error is quoted"
    );
}

#[test]
fn other_machines_need_the_token() {
    let user = User::new();
    for flags in [
        "--address 0.0.0.0:0",
        "--address 192.0.2.1:80 --token short",
    ] {
        user.run_plain(&format!("serve {flags}")).refused(2);
    }
    user.write("token", "a long and random text\n");
    let file = user.path("token").display().to_string();
    let server = HttpServer::serve(&user, &["--token-file", &file]);
    let page = get(&server, "/");
    assert_eq!((page.status, page.header("location")), (303, "/login"));
    assert_eq!(post(&server, "/analyze", &[("job", ".")]).status, 401);
    assert_eq!(get(&server, "/runs/last/report/json").status, 303);
    assert_eq!(get(&server, "/static/app.css").status, 200);
    assert_eq!(
        post(&server, "/login", &[("secret", "a long and random")]).status,
        401
    );

    let opened = post(&server, "/login", &[("secret", "a long and random text")]);
    let cookie = opened.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains("random"), "the token stays here: {cookie}");
    let cookie = cookie.split(';').next().expect("a cookie");
    for (header, expected) in [
        (("cookie", cookie), 200),
        (("authorization", "Bearer a long and random text"), 200),
        (("cookie", "scopeagent_login=a long and random text"), 303),
        (("authorization", "Bearer x"), 303),
    ] {
        assert_eq!(
            ask(&server, "GET /", &[header], b"").status,
            expected,
            "{header:?}"
        );
    }
}
