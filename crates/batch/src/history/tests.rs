use testkit::{Answer, HistoryServer, description, zip};

use crate::location::Access;
use crate::source::{Bounds, Sources, fixture};
use crate::{Entry, Wanted, discover};

/// The first event of a log, and enough of the second to recognize one.
const LOG: &[u8] = b"{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n\
    {\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"nightly\",\"App ID\":\"app-1\",\"Timestamp\":1,\"User\":\"etl\"}\n";

const SMALL: Bounds = Bounds {
    bytes: 1_000_000,
    entries: 5,
    depth: 3,
};

fn log() -> Vec<u8> {
    zip(&[("app-1", LOG)])
}

/// Opens an address on a server that is allowed, and returns its origin with the names of its files, or the error.
async fn opened(server: &HistoryServer, address: &str) -> Result<(String, Vec<String>), String> {
    let here = tempfile::tempdir().expect("folder");
    let access = Access::default().with_history([server.url.as_str()]);
    let opened = fixture::opened(here.path(), access, SMALL, address).await;
    opened
        .map(|(origin, names)| (origin.expect("an origin"), names))
        .map_err(|error| error.one_line())
}

#[tokio::test]
async fn a_log_is_that_of_the_attempt_that_was_named_or_else_the_newest() {
    let one = HistoryServer::with("app-1", vec![log()]);
    let attempts = ["a", "b", "c"].map(|name| zip(&[(name, LOG)]));
    let three = HistoryServer::with("app-1", attempts.into());
    let rolling = [
        ("eventlog_v2_app-1/appstatus_app-1", b"".as_slice()),
        ("eventlog_v2_app-1/events_1_app-1", LOG),
    ];
    let rolling = HistoryServer::with("app-1", vec![zip(&rolling)]);
    for (server, address, origin, files) in [
        (&one, "app-1", "app-1", vec!["app-1"]),
        (&one, "app-1/jobs/job/?id=3", "app-1", vec!["app-1"]),
        // a server that numbers no attempts
        (&one, "app-1/1/stages", "app-1", vec!["app-1"]),
        (&three, "app-1", "app-1/3", vec!["c"]),
        (&three, "app-1/jobs/", "app-1/3", vec!["c"]),
        (&three, "app-1/2/jobs/", "app-1/2", vec!["b"]),
        (
            &rolling,
            "app-1",
            "app-1",
            vec!["appstatus_app-1", "events_1_app-1"],
        ),
    ] {
        let found = opened(server, &server.page(address)).await.expect(address);
        let files = files.into_iter().map(str::to_owned).collect();
        assert_eq!(found, (server.page(origin), files), "{address}");
    }
}

#[tokio::test]
async fn a_log_that_is_not_there_is_an_error_that_says_why() {
    let two = HistoryServer::with("app-1", vec![log(), log()]);
    let foreign = HistoryServer::start(|_| None);
    let page = HistoryServer::start(|_| Some(Answer::Body(200, "text/html", b"<p>".to_vec())));
    let denied = HistoryServer::start(|_| Some(Answer::status(403)));
    let broken = HistoryServer::start(|_| Some(Answer::status(503)));
    for (server, address, expected) in [
        (&two, "app-2", "has no application `app-2`"),
        (&two, "app-1/3", "has no attempt 3; it has 2, 1"),
        (
            &foreign,
            "app-1",
            "does not answer like a Spark History Server",
        ),
        (
            &page,
            "app-1",
            "does not answer like a Spark History Server",
        ),
        (&denied, "app-1", "denies access (HTTP 403)"),
        (&broken, "app-1", "failed (HTTP 503)"),
    ] {
        let error = opened(server, &server.page(address)).await;
        let error = error.expect_err(address);
        assert!(error.contains(expected), "{address}: {error}");
    }
    let access = Access::default().with_history(["http://127.0.0.1:1"]);
    let sources = Sources::new(access, &std::env::temp_dir(), SMALL);
    let error = sources
        .open("http://u:secret@127.0.0.1:1/history/app-1")
        .await;
    let error = error.expect_err("nobody listens");
    assert!(error.is_transient());
    let error = error.one_line();
    assert!(
        error.contains("`http://127.0.0.1:1` cannot be reached"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

#[tokio::test]
async fn a_planned_application_is_the_attempt_that_is_opened() {
    let server = HistoryServer::with("app-1", vec![log(), log()]);
    let access = Access::default().with_history([server.url.as_str()]);
    let sources = Sources::new(access, &std::env::temp_dir(), SMALL);
    let planned = discover(
        &sources,
        &server.page("app-1/jobs/"),
        "store",
        &Wanted::default(),
    )
    .await;
    let planned: Vec<Entry> = planned.expect("planned");
    assert_eq!(planned.len(), 1);
    assert_eq!(planned[0].uri, server.page("app-1/2"));
    let opened = sources.open(&planned[0].uri).await.expect("opened");
    assert_eq!(opened.etag, planned[0].etag);
    let first = sources.open(&server.page("app-1/1")).await.expect("opened");
    assert_ne!(first.etag, opened.etag);
}

mod security {
    use super::*;

    #[tokio::test]
    async fn only_servers_that_were_allowed_are_asked() {
        let server = HistoryServer::with("app-1", vec![log()]);
        let sources = Sources::new(Access::default(), &std::env::temp_dir(), SMALL);
        for address in [
            server.page("app-1"),
            format!("{}/api/v1/applications/app-1", server.url),
        ] {
            let error = sources.open(&address).await.expect_err("not allowed");
            assert!(error.to_string().contains("was not allowed"), "{error}");
            let error = discover(&sources, &address, "store", &Wanted::default()).await;
            assert!(error.is_err());
        }
        assert!(server.asked().is_empty());
    }

    #[tokio::test]
    async fn redirects_are_followed_within_the_server_only() {
        let other = HistoryServer::with("app-1", vec![log()]);
        let to = format!("{}/api/v1/applications/app-1", other.url);
        let elsewhere = HistoryServer::start(move |_| Some(Answer::Redirect(to.clone())));
        let error = opened(&elsewhere, &elsewhere.page("app-1")).await;
        let error = error.expect_err("redirected");
        assert!(
            error.contains(&other.url) && error.contains("not asked"),
            "{error}"
        );
        // an answer may pass and its log still be elsewhere
        let to = format!("{}/api/v1/applications/app-1/logs", other.url);
        let logs = HistoryServer::start(move |path| {
            Some(match path.ends_with("/logs") {
                true => Answer::Redirect(to.clone()),
                false => Answer::json(description("app-1", 1)),
            })
        });
        let error = opened(&logs, &logs.page("app-1")).await;
        assert!(error.expect_err("redirected").contains(&other.url));
        assert!(other.asked().is_empty());
        let within = HistoryServer::start(|path| {
            Some(match path {
                "/api/v1/applications/app-1" => {
                    Answer::Redirect("/api/v1/applications/app-1/".to_owned())
                }
                "/api/v1/applications/app-1/logs" => Answer::zip(log()),
                _ => Answer::json(description("app-1", 1)),
            })
        });
        opened(&within, &within.page("app-1"))
            .await
            .expect("followed");
        let round = HistoryServer::start(|path| Some(Answer::Redirect(format!("{path}x"))));
        let error = opened(&round, &round.page("app-1")).await;
        error.expect_err("round and round");
        assert!(round.asked().len() < 10);
    }

    #[tokio::test]
    async fn a_log_takes_no_more_than_it_may_and_stays_in_its_folder() {
        let zeros = vec![0; 3_000_000];
        let bomb = Answer::zip(zip(&[("app-1", &zeros)]));
        let up = Answer::zip(zip(&[("../up", LOG)]));
        let root = Answer::zip(zip(&[("/tmp/up", LOG)]));
        let many: Vec<String> = (0..9).map(|n| format!("{n}")).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|n| (n.as_str(), LOG)).collect();
        let none = Answer::zip(b"PK\x03\x04 no archive".to_vec());
        for (answer, expected) in [
            (bomb, "1000000 bytes"),
            (Answer::Endless, "1000000 bytes"),
            (Answer::Announced(1 << 40), "1000000 bytes"),
            (up, "`../up`"),
            (root, "`/tmp/up`"),
            (Answer::zip(zip(&many)), "5 entries"),
            (none, "cannot be unpacked"),
        ] {
            let server = HistoryServer::start(move |path| {
                Some(match path.ends_with("/logs") {
                    true => answer.clone(),
                    false => Answer::json(description("app-1", 1)),
                })
            });
            let error = opened(&server, &server.page("app-1")).await;
            let error = error.expect_err(expected);
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let endless = HistoryServer::start(|_| Some(Answer::Endless));
        let error = opened(&endless, &endless.page("app-1")).await;
        let error = error.expect_err("a description without an end");
        assert!(error.contains("does not answer like"), "{error}");
    }
}
