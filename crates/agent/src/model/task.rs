//! One task under way: prompt, call, retries, reading, one turn of repair.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::conclusion::Conclusion;
use crate::progress::{Event, Observer};
use crate::reasoner::{Answer, ReasonerError, Reservation, Task};
use crate::schema;
use crate::step::StepId;
use crate::tools;
use llm::ToolCalls;
use report::{Language, Usage, text};

use super::answer;
use super::chat;
use super::context::{self, Form, Prompt};
use llm::Mask;
use llm::retry::{self, Next};
use llm::transport::{CallError, Chat, Finish, Piece, Reply};
use llm::{LlmOptions, Model};

/// Longest answer that is paid for where a run has a limit and the profile names none; reasoning
/// models think for some ten thousand tokens.
const MOST_ANSWER_TOKENS: u32 = 16_000;

/// An answer needs this many; a run that cannot pay for them ends.
const LEAST_ANSWER_TOKENS: u32 = 4_000;

/// Minimum length of prose to be summed up, in characters; five long sentences have half of it in
/// English, and less in Chinese.
const LONG_TEXT: usize = 3_000;

pub(super) struct Call<'a> {
    model: &'a Model,
    options: &'a LlmOptions,
    task: Task<'a>,
    schema: Value,
    usage: Usage,
    remarks: Vec<String>,
    /// Whether answers come in pieces; not after one that could not be read.
    stream: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(model: &'a Model, options: &'a LlmOptions, task: Task<'a>) -> Call<'a> {
        Call {
            model,
            options,
            task,
            schema: schema::schema_for(task.steps, task.input, &model.profile),
            usage: Usage::default(),
            remarks: Vec::new(),
            stream: options.stream,
        }
    }

    pub(super) async fn conclude(
        mut self,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        let faulty = self.task.faulty;
        let repair = faulty.map(|f| (f.answer.clone(), f.faults.clone()));
        let reply = self.ask(repair, observer).await?;
        self.read(reply, observer).await
    }

    /// Reserves the maximum cost of a request, and limits its answer to the remaining budget.
    fn reserve(&self, chat: &mut Chat) -> Result<Option<Reservation<'a>>, ReasonerError> {
        let Some(cap) = self.options.max_cost else {
            return Ok(None);
        };
        let tokens_in = chat::sent(chat) as u64;
        let most = chat.max_output_tokens.unwrap_or(MOST_ANSWER_TOKENS);
        let least = most.min(LEAST_ANSWER_TOKENS);
        let price = |tokens_out: u32| {
            let price = self.model.profile.price(tokens_in, u64::from(tokens_out));
            price.ok_or_else(|| ReasonerError::Permanent {
                provider: self.model.name(),
                reason: "`max_cost` is set, but the profile has no prices".to_owned(),
                hint: "set price_per_million_in and price_per_million_out".to_owned(),
            })
        };
        for tokens_out in [most, least] {
            if let Some(reservation) = self.task.meter.reserve(price(tokens_out)?, cap) {
                chat.max_output_tokens = Some(tokens_out);
                return Ok(Some(reservation));
            }
        }
        let (spent, needed) = (self.task.meter.committed(), price(least)?);
        Err(ReasonerError::CostCap { spent, needed, cap })
    }

    /// Sends a request within the common budget of all runs. Waiting for the budget does not count as
    /// time of the request.
    async fn send_budgeted(
        &mut self,
        chat: &mut Chat,
        mask: Option<&Mask>,
        left: &mut Duration,
        observer: &mut dyn Observer,
    ) -> Result<Result<Reply, CallError>, ReasonerError> {
        let Some(budget) = self.options.budget.clone() else {
            return Ok(self.send_once(chat, mask, left, observer).await);
        };
        let tokens_out = chat.max_output_tokens.unwrap_or(MOST_ANSWER_TOKENS);
        let profile = &self.model.profile;
        let most = profile.price(chat::sent(chat) as u64, u64::from(tokens_out));
        if most.is_some() {
            chat.max_output_tokens = Some(tokens_out);
        }
        let reserved = budget.reserve(most).await;
        let reserved = reserved.map_err(ReasonerError::Budget)?;
        let before = self.usage.clone();
        let sent = self.send_once(chat, mask, left, observer).await;
        let cost = |usage: &Usage| usage.cost.unwrap_or(0.0);
        let (calls, cost) = (
            self.usage.calls - before.calls,
            cost(&self.usage) - cost(&before),
        );
        reserved.settle(calls, cost).await;
        Ok(sent)
    }

    /// How the task is put now: with tools where the step and the server have them.
    fn form(&self, collapsed: bool) -> Form<'_> {
        let level = self.model.level();
        let tools = self.task.steps == [StepId::Completeness] && self.model.has_tools();
        Form {
            level,
            schema: &self.schema,
            tools,
            conversing: tools && !collapsed && !self.task.rounds.is_empty(),
            correcting: false,
        }
    }

    /// Sends the prompt, shrinks it once if it is too long, weakens tools and structured output
    /// where the server does not know them.
    async fn ask(
        &mut self,
        repair: Option<(String, Vec<String>)>,
        observer: &mut dyn Observer,
    ) -> Result<Reply, ReasonerError> {
        let mut budget = context::budget(&self.model.profile);
        let mut shrunk = false;
        loop {
            // A conversation that is too long starts over, with the files in its prompt.
            let mut form = self.form(shrunk || context::rounds(self.task.rounds) > budget / 2);
            // An answer that can be read is corrected by itself; any other needs the facts again.
            let is_readable = |(answer, _): &(String, Vec<String>)| answer::holds_object(answer);
            form.correcting = !form.tools && repair.as_ref().is_some_and(is_readable);
            let prompt = self.prompt(&form, budget)?;
            let chat = self.chat(&prompt, &form, repair.clone())?;
            let (level, tools) = (form.level, form.tools);
            let sent = prompt.tokens + context::rounds(&chat.rounds);
            match self.send(chat, observer).await? {
                Ok(reply) => {
                    self.note_cuts(&prompt);
                    return Ok(reply);
                }
                Err(CallError::TooLong { .. }) if !shrunk => {
                    shrunk = true;
                    budget = sent.min(budget) / 2;
                }
                Err(CallError::LevelRefused { .. } | CallError::Unreadable { .. }) if tools => {
                    self.model.drop_tools();
                }
                Err(CallError::LevelRefused { reason }) => {
                    if !self.model.weaken(level) {
                        return Err(self.error(CallError::LevelRefused { reason }));
                    }
                }
                Err(error) => return Err(self.error(error)),
            }
        }
    }

    fn prompt(&self, form: &Form<'_>, budget: usize) -> Result<Prompt, ReasonerError> {
        context::build(&self.task, form, budget).map_err(|e| ReasonerError::Prompt(e.to_string()))
    }

    fn chat(
        &self,
        prompt: &Prompt,
        form: &Form<'_>,
        repair: Option<(String, Vec<String>)>,
    ) -> Result<Chat, ReasonerError> {
        let repair = repair.map(|(answer, faults)| {
            let alone = form.correcting;
            let context = serde_json::json!({ "faults": faults, "alone": alone });
            Ok((answer, self.render("repair", context)?))
        });
        Ok(Chat {
            repair: repair.transpose()?,
            stream: self.stream,
            ..chat::chat(&self.task, form, prompt, &self.model.profile)
        })
    }

    /// Renders a template that asks for another answer.
    fn render(&self, name: &str, context: impl Serialize) -> Result<String, ReasonerError> {
        let text = self.task.prompts.render(self.language(), name, context);
        text.map_err(|e| ReasonerError::Prompt(e.to_string()))
    }

    fn language(&self) -> Language {
        self.task.input.facts.language
    }

    fn note_cuts(&mut self, prompt: &Prompt) {
        if !prompt.cuts.is_empty() {
            let cuts = prompt.cuts.join(self.language().select("；", "; "));
            let remark = text!("提示词中略去：{cuts}", "left out of the prompt: {cuts}");
            self.remarks.push(remark.into(self.language()));
        }
    }

    /// Sends a request, masked if necessary, within the time of a request; again after errors that may pass. All requests go
    /// through this function.
    async fn send(
        &mut self,
        mut chat: Chat,
        observer: &mut dyn Observer,
    ) -> Result<Result<Reply, CallError>, ReasonerError> {
        let mask = self.task.input.facts.mask.as_ref();
        mask.iter().for_each(|mask| mask.hide_chat(&mut chat));
        let step = self.task.step();
        let retries = self.model.profile.retries.unwrap_or(2);
        let mut attempt = 0;
        let deadline = self.model.profile.timeout();
        let mut left = deadline;
        loop {
            // Set aside until the call is accounted for.
            let reserved = self.reserve(&mut chat)?;
            let sent = self.send_budgeted(&mut chat, mask, &mut left, observer);
            let error = match sent.await? {
                Ok(mut reply) => {
                    mask.iter().for_each(|mask| mask.show_reply(&mut reply));
                    return Ok(Ok(reply));
                }
                Err(error) => error,
            };
            drop(reserved);
            attempt += 1;
            match retry::after(&error, attempt, retries, retry::jitter()) {
                Next::GiveUp => return Ok(Err(error)),
                Next::Again(wait) if wait >= left => {
                    return Ok(Err(CallError::timed_out(deadline)));
                }
                Next::Again(wait) => {
                    left -= wait;
                    self.note(&Usage {
                        retries: 1,
                        ..Usage::default()
                    });
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    observer.event(Event::Retry {
                        step,
                        attempt,
                        reason: error.to_string().into(),
                        wait_ms,
                    });
                    tokio::time::sleep(wait).await;
                    // A stream that broke or came empty is asked for in one piece: some breaks lie
                    // in how the pieces were cut.
                    chat.stream &= !is_broken_stream(&error);
                }
            }
        }
    }

    /// Sends a request once, within its remaining time, and subtracts the used time.
    async fn send_once(
        &mut self,
        chat: &Chat,
        mask: Option<&Mask>,
        left: &mut Duration,
        observer: &mut dyn Observer,
    ) -> Result<Reply, CallError> {
        let step = self.task.step();
        let mut tell = |piece: Piece<'_>| match piece {
            Piece::Text(text) => {
                let text = mask.map_or(text.into(), |m| m.show(text).into());
                observer.event(Event::Token { step, text });
            }
            Piece::Thought(text) => observer.event(Event::Thinking {
                step,
                text: text.into(),
            }),
        };
        let started = Instant::now();
        let sent = tokio::time::timeout(*left, self.model.transport.send(chat, &mut tell)).await;
        *left = left.saturating_sub(started.elapsed());
        let result = sent.unwrap_or_else(|_| {
            *left = Duration::ZERO;
            Err(CallError::timed_out(self.model.profile.timeout()))
        });
        match &result {
            Ok(reply) => self.account(chat, reply),
            // An answer that broke off was paid for, as far as it came.
            Err(CallError::Transient { had_text: true, .. }) => {
                self.charge(chat::sent(chat) as u64, 0)
            }
            Err(_) => {}
        }
        result
    }

    fn account(&mut self, chat: &Chat, reply: &Reply) {
        let received = || (context::tokens(&reply.text) + context::tokens(&reply.thoughts)) as u64;
        let tokens_in = reply
            .tokens_in
            .filter(|n| *n > 0)
            .unwrap_or_else(|| chat::sent(chat) as u64);
        let tokens_out = reply.tokens_out.filter(|n| *n > 0).unwrap_or_else(received);
        self.charge(tokens_in, tokens_out);
    }

    fn charge(&mut self, tokens_in: u64, tokens_out: u64) {
        let cost = self.model.profile.price(tokens_in, tokens_out);
        self.note(&Usage {
            calls: 1,
            retries: 0,
            tokens_in,
            tokens_out,
            cost,
        });
    }

    fn note(&mut self, usage: &Usage) {
        self.usage.add(usage);
        self.task.meter.add(usage);
    }

    /// Reads the answer; one that is too long is summarized, one that is malformed repaired, once each.
    async fn read(
        &mut self,
        first: Reply,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        if let Some(calls) = first.calls {
            return Ok(self.called(&first.text, calls));
        }
        let mut reply = first;
        let mut repaired = false;
        let (steps, language) = (self.task.steps, self.language());
        let reader = if self.form(false).tools {
            answer::read_beside_tools
        } else {
            answer::read
        };
        let is_whole = |text: &str| reader(steps, text, language).is_ok_and(|read| !read.repaired);
        let is_cut = reply.finish == Finish::Length && !is_whole(&reply.text);
        let has_long_text = |text: &str| {
            let read = reader(steps, text, language);
            let mut texts = read.iter().flat_map(|read| &read.conclusions);
            texts.any(|conclusion| conclusion.text().chars().count() > LONG_TEXT)
        };
        if is_cut || has_long_text(&reply.text) {
            match self.summarise(&reply, observer).await {
                Ok(summary) if is_cut || is_whole(&summary.text) => {
                    let remark = text!(
                        "回答过长，已改为摘要",
                        "the answer was too long and was summed up"
                    );
                    self.remarks.push(remark.into(self.language()));
                    reply = summary;
                }
                Err(error) if is_cut => return Err(error),
                // A long answer can still be read.
                Ok(_) | Err(_) => {}
            }
        }
        let read = match reader(steps, &reply.text, language) {
            Ok(read) => read,
            Err(fault) => {
                repaired = true;
                // Some proxies lose pieces of a stream; a complete answer shows whether the model
                // is at fault.
                self.stream = false;
                let again = Some((shown(&reply.text), vec![fault]));
                reply = self.ask(again, observer).await?;
                if let Some(calls) = reply.calls {
                    return Ok(self.called(&reply.text, calls));
                }
                reader(steps, &reply.text, language).map_err(|reason| ReasonerError::Unusable {
                    provider: self.model.name(),
                    reason,
                })?
            }
        };
        let repaired = repaired || read.repaired;
        Ok(self.answer(read.conclusions, reply.text, repaired, None))
    }

    /// An answer that calls tools: the conclusion where it hands one in, else what it asks for.
    fn called(&mut self, said: &str, calls: ToolCalls) -> Answer {
        let (request, raw, calls) = match tools::submitted(&calls.calls) {
            Some(request) => {
                let arguments = calls.calls.first().map(|c| c.arguments.to_string());
                (request, arguments.unwrap_or_default(), None)
            }
            None => {
                let request = tools::request_of(&calls.calls, said.trim());
                (request, said.to_owned(), Some(calls))
            }
        };
        let conclusions = vec![Conclusion::Completeness(request)];
        self.answer(conclusions, raw, false, calls)
    }

    fn answer(
        &mut self,
        conclusions: Vec<Conclusion>,
        raw: String,
        repaired: bool,
        calls: Option<ToolCalls>,
    ) -> Answer {
        Answer {
            conclusions,
            raw,
            repaired,
            usage: Some(self.usage.clone()),
            remarks: std::mem::take(&mut self.remarks),
            calls,
        }
    }

    async fn summarise(
        &mut self,
        reply: &Reply,
        observer: &mut dyn Observer,
    ) -> Result<Reply, ReasonerError> {
        let mut form = self.form(false);
        // The reply is shortened; its input is not sent again.
        form.correcting = !reply.text.trim().is_empty();
        let prompt = self.prompt(&form, context::budget(&self.model.profile))?;
        let mut chat = self.chat(&prompt, &form, None)?;
        chat.repair = Some((shown(&reply.text), self.render("summary", ())?));
        let reply = self.send(chat, observer).await?;
        reply.map_err(|error| self.error(error))
    }

    fn error(&self, error: CallError) -> ReasonerError {
        let provider = self.model.name();
        let permanent = |reason, hint: &str| ReasonerError::Permanent {
            provider: self.model.name(),
            reason,
            hint: hint.to_owned(),
        };
        match error {
            CallError::Transient { reason, .. } | CallError::Unreadable { reason } => {
                ReasonerError::Transient { provider, reason }
            }
            CallError::Permanent { reason, hint } => permanent(reason, &hint),
            CallError::TooLong { reason } => ReasonerError::TooLong { provider, reason },
            CallError::LevelRefused { reason } => {
                permanent(reason, "set `structured_output = \"text\"` in the profile")
            }
            CallError::Refused { reason } => permanent(
                format!("the model declined to answer: {reason}"),
                "try --redact or another profile",
            ),
        }
    }
}

fn is_broken_stream(error: &CallError) -> bool {
    match error {
        CallError::Transient {
            reason, had_text, ..
        } => *had_text || reason.contains("empty") || reason.contains("cut short"),
        CallError::Unreadable { .. } => true,
        _ => false,
    }
}

/// The part of a faulty answer that is sent back; its beginning shows the fault.
fn shown(answer: &str) -> String {
    report::format::cut(answer, 12 << 10).to_owned()
}
