//! Messages to a webhook, Slack or Teams.

use std::time::Duration;

use batch::Written;
use batch::page::{New, Overview};
use report::format::{JOB, Number, Seconds, Share};
use report::{Localize, Report, say};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use server::{Result, error};

use crate::args::{MessageForm, Notify};

/// Time that a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Characters of a text; chats cut longer ones.
const LONGEST: usize = 2000;

/// What is said, whatever the form.
pub(crate) struct Message {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) facts: Vec<(String, String)>,
}

impl Message {
    /// The result of an analysis.
    pub(crate) fn of(report: &Report) -> Message {
        let words = render::Words::of(report);
        let causes: Vec<_> = report.findings.iter().map(|f| f.cause).collect();
        let mut facts = Vec::new();
        if let Some(seconds) = report.job.elapsed_seconds {
            let time = Seconds(seconds).localize(report.language);
            facts.push((report.language.select("用时", "time").to_owned(), time));
        }
        if let Some(first) = report.suggestions.first() {
            facts.push((words.first().to_owned(), first.title.clone()));
        }
        facts.push((words.run().to_owned(), report.run_id.clone()));
        Message {
            title: format!(
                "{}: {}",
                report.job.label(),
                words.verdict(report.verdict, &causes)
            ),
            text: report
                .findings
                .first()
                .map(|f| f.summary.clone())
                .unwrap_or_default(),
            facts,
        }
    }

    /// The result of a batch: counts, news since the report before, and the worst jobs.
    pub(crate) fn of_batch(store: &str, written: &Written) -> Message {
        let overview = &written.overview;
        let mut facts = vec![(say!("结论", "verdicts"), verdicts(overview))];
        let counted = [
            (
                overview.broken,
                say!("在集群上失败", "failed on the cluster"),
            ),
            (overview.slow, say!("性能回退", "slower than usual")),
        ];
        let counted = counted.into_iter().filter(|(n, _)| *n > 0);
        facts.extend(counted.map(|(n, name)| (name, said(JOB.count(n as f64)))));
        facts.push((
            say!("可避免的时间", "avoidable time"),
            avoidable(overview.avoidable_seconds, overview.total_seconds),
        ));
        if let Some(new) = &overview.new {
            let name = say!("上次报告之后新增", "new since the last report");
            facts.push((name, news(new)));
        }
        for worst in &overview.worst {
            let seconds = said(Seconds(worst.avoidable_seconds));
            let saves = match worst.avoidable_share.map(Share).map(said) {
                Some(share) => say!(
                    "可避免 {seconds}（{share}）",
                    "{seconds} avoidable ({share})"
                ),
                None => say!("可避免 {seconds}", "{seconds} avoidable"),
            };
            let advice = worst.suggestion.iter().map(String::as_str);
            let parts: Vec<&str> = std::iter::once(saves.as_str()).chain(advice).collect();
            facts.push((worst.name.clone(), parts.join(&say!("；", "; "))));
        }
        Message {
            title: say!("批次结果：{store}", "batch results: {store}"),
            text: counts(written),
            facts,
        }
    }

    fn body(&self, form: MessageForm) -> Value {
        let cut = |text: &str| -> String {
            let shown = report::visible_line(text);
            shown.chars().take(LONGEST).collect()
        };
        let (title, text) = (cut(&self.title), cut(&self.text));
        let facts = || {
            self.facts
                .iter()
                .map(|(name, value)| (cut(name), cut(value)))
        };
        match form {
            MessageForm::Json => {
                let facts: Vec<Value> = facts()
                    .map(|(name, value)| json!({"name": name, "value": value}))
                    .collect();
                json!({"title": title, "text": text, "facts": facts})
            }
            MessageForm::Slack => {
                let facts: Vec<String> = facts()
                    .map(|(name, value)| format!("*{}*: {}", slack(&name), slack(&value)))
                    .collect();
                let body = format!(
                    "*{}*\n{}\n{}",
                    slack(&title),
                    slack(&text),
                    facts.join("\n")
                );
                let section = json!({"type": "section", "text": {"type": "mrkdwn", "text": body}});
                json!({"text": title, "blocks": [section]})
            }
            MessageForm::Teams => {
                let facts: Vec<Value> = facts()
                    .map(|(title, value)| json!({"title": title, "value": value}))
                    .collect();
                let block = |text: &str, weight: &str| json!({"type": "TextBlock", "text": text, "weight": weight, "wrap": true});
                let card = json!({
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": [block(&title, "Bolder"), block(&text, "Default"), {"type": "FactSet", "facts": facts}],
                });
                let card = json!({"contentType": "application/vnd.microsoft.card.adaptive", "content": card});
                json!({"type": "message", "attachments": [card]})
            }
        }
    }
}

/// Analyzed, failed and pending jobs.
pub(crate) fn counts(written: &Written) -> String {
    let count = |n: usize| JOB.count(n as f64);
    let mut text = said(count(written.jobs));
    if written.failed > 0 {
        text += &say!(
            "，其中 {n} 个未能分析",
            ", {n} of them not analyzed",
            n = Number(written.failed as f64)
        );
    }
    if written.pending > 0 {
        text += &say!(
            "；另有{jobs}尚无结果",
            "; {jobs} without a result yet",
            jobs = count(written.pending)
        );
    }
    text
}

fn said(amount: impl Localize) -> String {
    amount.localize(report::interface())
}

fn verdicts(overview: &Overview) -> String {
    let (problem, healthy) = (overview.problem, overview.healthy);
    let inconclusive = overview.inconclusive;
    say!(
        "{problem} 个有问题，{healthy} 个健康，{inconclusive} 个暂无结论",
        "{problem} with a problem, {healthy} healthy, {inconclusive} inconclusive"
    )
}

fn avoidable(seconds: f64, total: f64) -> String {
    let time = said(Seconds(seconds));
    match total > 0.0 {
        true => say!(
            "{time}（占提交至结束时间的 {share}）",
            "{time} ({share} of the time from submission to end)",
            share = Share(seconds / total)
        ),
        false => time,
    }
}

fn news(new: &New) -> String {
    if *new == New::default() {
        return say!("无", "nothing");
    }
    let clusters = new.clusters;
    let mut text = said(JOB.count(new.jobs as f64));
    let counts = [
        (new.problem, say!("有问题", "with a problem")),
        (new.broken, say!("在集群上失败", "failed on the cluster")),
        (new.slow, say!("性能回退", "slower than usual")),
    ];
    for (n, words) in counts.into_iter().filter(|(n, _)| *n > 0) {
        text += &say!("，{n} 个{words}", ", {n} {words}");
    }
    if clusters > 0 {
        text += &say!(
            "；{clusters} 组此前没有的问题",
            "; kinds of finding not seen before: {clusters}"
        );
    }
    text
}

/// Text in which no character acts in Slack.
fn slack(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace(['*', '`', '~'], "\u{2009}")
}

impl Notify {
    /// Sends a message; without an address, does nothing.
    ///
    /// # Errors
    /// If the receiver cannot be reached or refuses it.
    pub(crate) async fn send(&self, message: &Message) -> Result<()> {
        let Some(url) = &self.notify else {
            return Ok(());
        };
        let body = llm::hide(&message.body(self.notify_format).to_string()).into_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .build();
        let request = client.map(|client| {
            client
                .post(url.clone())
                .header("content-type", "application/json")
                .body(body)
        });
        let sent = match request {
            Ok(request) => request
                .send()
                .await
                .and_then(reqwest::Response::error_for_status),
            Err(error) => Err(error),
        };
        // The address of a channel is a secret: errors leave it out.
        sent.map(drop).map_err(|error| {
            let reason = error.without_url().to_string();
            error!(
                Other: "消息未能送达：{reason}", "the message was not delivered: {reason}";
                "请检查 `--notify` 的地址", "check the address of `--notify`"
            )
        })
    }
}
