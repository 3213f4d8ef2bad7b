//! The web page as a browser without scripts sees it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::contains;
use testkit::llm::{Server, Turn};

use crate::llm::configured;
use crate::mcp::client::HttpServer;
use crate::support::{User, case, cases, copy};

/// An answer of the server.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    /// The value of a header; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// The token that forms of this page send.
    pub(crate) fn token(&self) -> &str {
        let (_, rest) = self
            .body
            .split_once("name=\"token\" value=\"")
            .expect("a form");
        rest.split('"').next().expect("a value")
    }
}

/// Sends a request and reads all of its answer. Headers of the same name replace the usual ones.
pub(crate) fn ask(
    server: &HttpServer,
    request: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Page {
    let length = body.len().to_string();
    let usual = [
        ("host", server.address()),
        ("connection", "close"),
        ("content-length", &length),
    ];
    let is_replaced = |name: &str| headers.iter().any(|(given, _)| *given == name);
    let mut head = format!("{request} HTTP/1.1\r\n");
    let usual = usual.iter().filter(|(name, _)| !is_replaced(name));
    for (name, value) in usual.chain(headers) {
        head += &format!("{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("set");
    // A server that refuses a request need not read all of it.
    let _ = write!(stream, "{head}\r\n").and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Page {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

pub(crate) fn get(server: &HttpServer, path: &str) -> Page {
    ask(server, &format!("GET {path}"), &[], b"")
}

pub(crate) fn post(server: &HttpServer, path: &str, fields: &[(&str, &str)]) -> Page {
    let form = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    ask(server, &format!("POST {path}"), &kind, form.as_bytes())
}

/// The page of a run when its report exists.
fn report(server: &HttpServer, path: &str) -> Page {
    loop {
        let page = get(server, path);
        assert_eq!(page.status, 200, "{}", page.body);
        if !page.body.contains("data-events") {
            return page;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Has a job analyzed by the form; returns the path of its run.
pub(crate) fn analyze(server: &HttpServer, job: &str) -> String {
    let token = get(server, "/analyze").token().to_owned();
    let started = post(server, "/analyze", &[("token", &token), ("job", job)]);
    assert_eq!(started.status, 303, "{}", started.body);
    let path = started.header("location").to_owned();
    report(server, &path);
    path
}

fn server(user: &User) -> HttpServer {
    HttpServer::serve(user, &["--root", &cases().display().to_string()])
}

#[test]
fn a_job_is_analyzed_read_and_judged() {
    let user = User::new();
    let server = server(&user);
    let empty = get(&server, "/");
    contains(&empty.body, ["No runs yet"]);
    let run = analyze(&server, "join-hot-key-skew/job");
    let page = get(&server, &run);
    let facts = [
        "skew.join_hot_key",
        "id=\"F1\"",
        "data-findings=\"F1\"",
        "class=\"gantt\"",
        "class=\"passage\"",
    ];
    contains(&page.body, facts);

    let listed = page.body.split("<li id=\"").nth(1).expect("experience");
    let listed = listed.split("</li>").next().expect("an item");
    contains(listed, ["href=\"/knowledge/passage?id="]);

    let list = get(&server, "/?cause=skew.join_hot_key&sort=newest");
    contains(
        &list.body,
        ["RouteQuality_V3", "hot key in a join", &run[1..]],
    );
    for (facet, other) in [
        ("cause", "skew.group_hot_key"),
        ("owner", "nobody"),
        ("week", "2001-W01"),
    ] {
        let select = list.body.split(&format!("name=\"{facet}\"")).nth(1);
        let chosen = select.and_then(|rest| rest.split("<option value=\"").nth(2));
        let chosen = chosen.and_then(|rest| rest.split('"').next());
        let chosen = chosen.unwrap_or_else(|| panic!("{facet} has no choice"));
        let some = get(&server, &format!("/?{facet}={chosen}"));
        contains(&some.body, ["RouteQuality_V3"]);
        let none = get(&server, &format!("/?{facet}={other}"));
        contains(&none.body, ["No run matches"]);
    }
    let other = get(&server, "/?script=another.script");
    contains(&other.body, ["No run matches"]);
    let zh = get(&server, "/?lang=zh&theme=dark");
    contains(&zh.body, ["可避免", "lang=\"zh\"", "data-theme=\"dark\""]);
    contains(zh.head.as_str(), ["lang=zh; ", "theme=dark; "]);

    let link = page.body.split("class=\"source\" href=\"").nth(1);
    let link = link
        .and_then(|rest| rest.split('"').next())
        .expect("a link to a file");
    let file = get(&server, &link.replace("&amp;", "&").replace("&#x2f;", "/"));
    contains(&file.body, ["class=\"marked meant\""]);
    let diff = get(&server, &format!("{run}/suggestions/S1.diff"));
    contains(&diff.body, ["--- a/", "+++ b/"]);
    for (form, has) in [
        ("json", "\"schema_version\""),
        ("markdown", "# "),
        ("html", "<!doctype html>"),
    ] {
        let file = get(&server, &format!("{run}/report/{form}"));
        assert!(
            file.body.contains(has) && file.header("content-disposition").starts_with("attachment")
        );
    }

    let give = |action| {
        let fields = [
            ("token", page.token()),
            ("suggestion", "S1"),
            ("action", action),
        ];
        let given = post(&server, &format!("{run}/feedback"), &fields);
        assert_eq!(given.header("location"), format!("{run}#S1"));
        get(&server, &run).body
    };
    contains(give("accept"), ["class=\"given accepted\""]);
    assert!(!give("undo").contains("class=\"given"));
}

/// Has a job analyzed by an LLM that never answers; returns the path of the run.
fn begin(server: &HttpServer, llm: &Server) -> String {
    let token = get(server, "/analyze").token().to_owned();
    let wish = [("token", &*token), ("job", "join-hot-key-skew/job")];
    let started = post(server, "/analyze", &wish);
    let waiting = Instant::now();
    while llm.requests().is_empty() {
        let patient = waiting.elapsed() < Duration::from_secs(60);
        assert!(patient, "the LLM was never asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    started.header("location").to_owned()
}

/// An LLM that answers in ten minutes.
fn endless() -> Server {
    let slow = Turn::text("later").delay(Duration::from_secs(600));
    Server::start([]).rule(move |_| Some(slow.clone()))
}

#[test]
fn progress_is_streamed_until_the_analysis_is_cancelled() {
    let llm = endless();
    let user = configured(&llm);
    let server = server(&user);
    let run = begin(&server, &llm);
    let page = get(&server, &run);
    contains(&page.body, ["data-events=\"", "<noscript>"]);
    let events = std::thread::scope(|scope| {
        let events = scope.spawn(|| get(&server, &format!("{run}/events")));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!events.is_finished(), "the stream waits for more");
        let token = [("token", page.token())];
        let stopped = post(&server, &format!("{run}/cancel"), &token);
        assert_eq!(stopped.status, 303);
        events.join().expect("read")
    });
    assert_eq!(events.header("content-type"), "text/event-stream");
    contains(&events.body, ["data: ", "event: end"]);
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_ends_its_streams_and_its_analyses() {
    for signal in ["-INT", "-TERM"] {
        let llm = endless();
        let user = configured(&llm);
        let mut server = server(&user);
        let run = begin(&server, &llm);
        let address = server.address().to_owned();
        let mut events = TcpStream::connect(&address).expect("connected");
        write!(
            events,
            "GET {run}/events HTTP/1.1\r\nhost: {address}\r\n\r\n"
        )
        .expect("sent");
        let mut start = [0; 12];
        events.read_exact(&mut start).expect("an answer");
        assert_eq!(&start, b"HTTP/1.1 200");
        let told = Instant::now();
        assert!(server.end(signal).success(), "{signal}");
        let took = told.elapsed();
        assert!(took < Duration::from_secs(15), "{signal}: {took:?}");
        let mut rest = Vec::new();
        let _ = events.read_to_end(&mut rest);
        assert!(TcpStream::connect(&address).is_err(), "{signal}");
        assert_eq!(user.runs()[0]["status"], "interrupted", "{signal}");
    }
}

#[test]
fn runs_are_compared_and_knowledge_is_found_in_its_context() {
    let user = User::new();
    let server = server(&user);
    let [even, skewed] = ["near-join-hot-key-skew/job", "join-hot-key-skew/job"]
        .map(|job| analyze(&server, job).replace("/runs/", "run="));
    let page = get(&server, &format!("/compare?{skewed}&{even}"));
    contains(
        &page.body,
        ["class=\"worse\"", "skew.join_hot_key", "class=\"changes\""],
    );
    assert_eq!(get(&server, &format!("/compare?{even}")).status, 400);

    let found = get(&server, "/knowledge?q=hot+key+in+a+join");
    contains(&found.body, ["class=\"hit\""]);
    let link = found.body.split("<h2><a href=\"").nth(1);
    let link = link
        .and_then(|rest| rest.split('"').next())
        .expect("a link to a passage");
    let passage = get(&server, &link.replace("&#x2f;", "/"));
    contains(&passage.body, ["class=\"cited\" id=\"passage\""]);
}

#[test]
fn a_question_is_answered_on_the_page_and_stays_there() {
    let llm = Server::start([]).rule(|_| {
        let said = r#"{"text":"The hot key costs most of the time [E1].","evidence":["E1"]}"#;
        Some(Turn::text(said))
    });
    let user = configured(&llm);
    let report = user.report(&case("join-hot-key-skew"), "--reasoner offline");
    let run = format!("/runs/{}", report["run_id"].as_str().expect("saved"));
    let server = server(&user);
    let page = get(&server, &run);
    assert!(!page.body.contains("class=\"turn\""));
    let question = "Which <b>stage</b> is slow?";
    let asked = |question| [("token", page.token()), ("question", question)];

    let streamed = {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(asked(question))
            .finish();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("x-requested-with", "script"),
        ];
        ask(
            &server,
            &format!("POST {run}/ask"),
            &headers,
            form.as_bytes(),
        )
    };
    assert_eq!(streamed.header("content-type"), "text/event-stream");
    let shown = [
        "event: text\ndata: The",
        "event: answer\n",
        "Which &lt;b&gt;stage",
    ];
    contains(streamed.body.replace("\r\n", "\n"), shown);

    let sent = post(&server, &format!("{run}/ask"), &asked("And why?"));
    assert_eq!(sent.header("location"), format!("{run}#asked"));
    let kept = get(&server, &format!("{run}?lang=zh")).body;
    contains(&kept, ["Which &lt;b&gt;stage", "And why?", "由 LLM 回答"]);
    let unasked = post(&server, &format!("{run}/ask"), &asked(" "));
    assert_eq!(unasked.status, 400);
    let nobody = post(&server, "/runs/none/ask", &asked("why?"));
    assert_eq!(nobody.status, 404);
}

#[test]
fn errors_are_in_the_language_of_the_visitor() {
    let user = User::new();
    let server = server(&user);
    for (path, status, zh, en) in [
        (
            "/runs/none",
            404,
            "没有运行 <code>none</code>",
            "there is no run <code>none</code>",
        ),
        ("/nowhere", 404, "没有这个页面", "there is no such page"),
        (
            "/compare",
            400,
            "比较需要两次运行",
            "a comparison takes two runs",
        ),
    ] {
        for (language, expected) in [("zh", zh), ("en", en)] {
            let page = get(&server, &format!("{path}?lang={language}"));
            assert_eq!(page.status, status, "{path}");
            contains(&page.body, [expected]);
        }
    }
    let token = get(&server, "/analyze").token().to_owned();
    let zh = [
        ("cookie", "lang=zh"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let form = format!("token={token}&job=/etc");
    let outside = ask(&server, "POST /analyze", &zh, form.as_bytes());
    contains(&outside.body, ["不在本服务可以读取的目录中", "--root DIR"]);
    let foreign = ask(&server, "POST /analyze", &zh, b"token=x&job=.");
    contains(&foreign.body, ["表单不是来自本页面"]);
}

/// The first link of a page to an address that starts so.
fn link(page: &Page, start: &str) -> String {
    let body = page.body.replace("&amp;", "&").replace("&#x2f;", "/");
    let found = body.split("href=\"").find(|rest| rest.starts_with(start));
    let found = found.and_then(|rest| rest.split('"').next());
    found
        .unwrap_or_else(|| panic!("no link to {start}"))
        .to_owned()
}

#[test]
fn the_jobs_of_a_batch_are_listed_filtered_and_read() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("jobs/a"));
    copy(&case("healthy"), &user.path("jobs/b"));
    user.write("jobs/c/photo.png", "\u{89}P\0\u{1}");
    user.run("batch run jobs --out store");
    let [root, store] = ["jobs", "store"].map(|name| user.path(name).display().to_string());
    let server = HttpServer::serve(&user, &["--root", &root, "--batch", &store]);
    let list = loop {
        let page = get(&server, "/batches/1");
        if page.body.contains("1–3") {
            break page;
        }
        assert_eq!(page.status, 200, "{}", page.body);
        std::thread::sleep(Duration::from_millis(50));
    };
    contains(
        &list.body,
        ["hot key in a join", "href=\"/batches\"", "dot failed"],
    );
    let one = get(&server, "/batches/1?cause=skew.join_hot_key");
    contains(&one.body, ["1–1", "hot key in a join"]);
    let none = get(&server, "/batches/1?owner=nobody");
    contains(&none.body, ["No run matches"]);

    let clusters = get(&server, "/batches/1/clusters");
    contains(&clusters.body, ["hot key in a join", "Combine_Reduce"]);
    let of_cluster = get(&server, &link(&clusters, "/batches/1?cause="));
    contains(&of_cluster.body, ["1–1", "hot key in a join"]);

    let job = get(&server, &link(&one, "/batches/1/jobs/"));
    contains(&job.body, ["id=\"F1\"", "id=\"S1\""]);
    for absent in ["class=\"feedback\"", "name=\"question\" required"] {
        assert!(!job.body.contains(absent), "{absent} needs a saved run");
    }
    let base = link(&one, "/batches/1/jobs/");
    let file = get(&server, &link(&job, &format!("{base}/file?")));
    contains(&file.body, ["class=\"marked meant\""]);
    let diff = get(&server, &format!("{base}/suggestions/S1.diff"));
    contains(&diff.body, ["--- a/"]);
    let json = get(&server, &format!("{base}/report/json"));
    contains(&json.body, ["\"schema_version\""]);
    for path in [
        "/batches/2",
        "/batches/0",
        "/batches/1/jobs/none",
        "/batches/x/jobs/y/file?name=z",
    ] {
        assert_eq!(get(&server, path).status, 404, "{path}");
    }
    let outside = HttpServer::serve(&user, &["--root", &store, "--batch", &store]);
    loop {
        let page = get(&outside, &base);
        if page.status == 200 {
            assert!(
                !page.body.contains("class=\"source\""),
                "its files may not be read"
            );
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        get(&outside, &format!("{base}/file?name=scope.script")).status,
        404
    );
}

/// A form with files, as browsers send it.
pub(crate) fn upload(server: &HttpServer, token: &str, files: &[(&str, &[u8])]) -> Page {
    let mut body =
        format!("--x\r\ncontent-disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n")
            .into_bytes();
    for (name, content) in files {
        body.extend(
            format!(
                "--x\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
            )
            .bytes(),
        );
        body.extend_from_slice(content);
        body.extend(b"\r\n");
    }
    body.extend(b"--x--\r\n");
    let kind = [("content-type", "multipart/form-data; boundary=x")];
    ask(server, "POST /uploads", &kind, &body)
}

#[test]
fn uploaded_files_are_analyzed() {
    let user = User::new();
    let server = HttpServer::serve(&user, &[]);
    let token = get(&server, "/analyze").token().to_owned();
    let files = files(&case("join-hot-key-skew"));
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_slice()))
        .collect();
    let started = upload(&server, &token, &files);
    assert_eq!(started.status, 303, "{}", started.body);
    let page = report(&server, started.header("location"));
    contains(&page.body, ["skew.join_hot_key"]);
    assert_eq!(
        upload(&server, &token, &[]).status,
        400,
        "nothing was chosen"
    );
}

/// The files of a folder, with the name of the folder as browsers send it.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            let name = format!("job/{}", entry.file_name().to_string_lossy());
            (name, fs::read(entry.path()).expect("read"))
        })
        .collect()
}
