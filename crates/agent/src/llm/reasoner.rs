//! The reasoner that asks a language model: prompt, call, retries, reading, one turn of repair.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::conclusion;
use crate::progress::{Event, Observer};
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::report::{Engine, ReasonerKind, Usage};
use crate::step::StepId;

use super::answer;
use super::context::{self, Prompt};
use super::level;
use super::profile::{Level, Profile};
use super::redact::Mask;
use super::retry::{self, Next};
use super::transport::{CallError, Chat, Finish, Piece, Reply, Transport};

/// A model with the way to reach it.
pub struct Lane {
    /// Its profile.
    pub profile: Profile,
    /// Carries its requests.
    pub transport: Arc<dyn Transport>,
    level: AtomicU8,
}

impl Lane {
    /// A lane that begins with the way of structured output that suits the model.
    pub fn new(profile: Profile, transport: Arc<dyn Transport>) -> Lane {
        let level = AtomicU8::new(level::first(&profile) as u8);
        Lane {
            profile,
            transport,
            level,
        }
    }

    fn level(&self) -> Level {
        [Level::Schema, Level::Tool, Level::JsonObject, Level::Text]
            .into_iter()
            .find(|l| *l as u8 == self.level.load(Ordering::Relaxed))
            .unwrap_or(Level::Text)
    }

    /// Takes the next weaker way for the rest of the run; whether there is one.
    fn weaken(&self, from: Level) -> bool {
        let next = level::weaker(from);
        if let Some(next) = next {
            self.level.store(next as u8, Ordering::Relaxed);
        }
        next.is_some()
    }

    fn name(&self) -> String {
        format!("{} {}", self.profile.provider.name(), self.profile.model)
    }
}

/// What the reasoner is to do besides asking.
#[derive(Debug, Clone, Default)]
pub struct LlmOptions {
    /// Most that the run may cost, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// Whether paths, names and literals are masked before anything leaves the machine.
    pub redact: bool,
    /// Whether answers are streamed.
    pub stream: bool,
}

/// Reasons by asking a language model.
pub struct LlmReasoner {
    main: Lane,
    lanes: BTreeMap<StepId, Lane>,
    options: LlmOptions,
    spent: Mutex<f64>,
}

impl LlmReasoner {
    /// A reasoner that asks one model.
    pub fn new(main: Lane, options: LlmOptions) -> LlmReasoner {
        context::warm_up();
        LlmReasoner {
            main,
            lanes: BTreeMap::new(),
            options,
            spent: Mutex::new(0.0),
        }
    }

    /// Asks another model for one step.
    pub fn with_step(mut self, step: StepId, lane: Lane) -> LlmReasoner {
        self.lanes.insert(step, lane);
        self
    }

    fn lane(&self, step: StepId) -> &Lane {
        self.lanes.get(&step).unwrap_or(&self.main)
    }

    async fn conclude(
        &self,
        task: Task<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        let lane = self.lane(task.step());
        let schema = conclusion::schema_of(task.steps);
        let mut call = Call {
            reasoner: self,
            lane,
            task,
            schema,
            usage: Usage::default(),
            remarks: Vec::new(),
        };
        let reply = call
            .ask(
                task.faulty.map(|f| (f.answer.clone(), f.faults.clone())),
                observer,
            )
            .await?;
        call.read(reply, observer).await
    }

    /// Stops a run before it costs more than it may.
    fn check_cost(&self) -> Result<(), ReasonerError> {
        let spent = self.spent.lock().map(|s| *s).unwrap_or(0.0);
        match self.options.max_cost {
            Some(cap) if spent >= cap => Err(ReasonerError::CostCap { spent, cap }),
            _ => Ok(()),
        }
    }
}

impl Reasoner for LlmReasoner {
    fn engine(&self) -> Engine {
        Engine {
            reasoner: ReasonerKind::Llm,
            provider: Some(self.main.profile.provider.name().to_owned()),
            model: Some(self.main.profile.model.clone()),
            fallback: None,
        }
    }

    fn can_repair(&self) -> bool {
        true
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        self.conclude(task, observer).boxed()
    }
}

/// One task under way.
struct Call<'a> {
    reasoner: &'a LlmReasoner,
    lane: &'a Lane,
    task: Task<'a>,
    schema: Value,
    usage: Usage,
    remarks: Vec<String>,
}

impl Call<'_> {
    /// Sends the prompt, shrinks it once if it is too long, weakens the structured output where the
    /// server does not know it.
    async fn ask(
        &mut self,
        repair: Option<(String, Vec<String>)>,
        observer: &mut dyn Observer,
    ) -> Result<Reply, ReasonerError> {
        let mut budget = self.budget();
        let mut shrunk = false;
        loop {
            self.reasoner.check_cost()?;
            let level = self.lane.level();
            let prompt = self.prompt(level, budget)?;
            let chat = self.chat(&prompt, level, repair.clone())?;
            match self.send(chat, observer).await {
                Ok(reply) => {
                    self.note_cuts(&prompt);
                    return Ok(reply);
                }
                Err(CallError::TooLong { .. }) if !shrunk => {
                    shrunk = true;
                    budget = prompt.tokens.min(budget) / 2;
                }
                Err(CallError::LevelRefused { reason }) => {
                    if !self.lane.weaken(level) {
                        return Err(self.error(CallError::LevelRefused { reason }));
                    }
                }
                Err(error) => return Err(self.error(error)),
            }
        }
    }

    fn budget(&self) -> usize {
        context::budget(&self.lane.profile)
    }

    fn prompt(&self, level: Level, budget: usize) -> Result<Prompt, ReasonerError> {
        let in_text = matches!(level, Level::JsonObject | Level::Text).then_some(&self.schema);
        context::build(&self.task, in_text, budget)
            .map_err(|e| ReasonerError::Prompt(e.to_string()))
    }

    fn chat(
        &self,
        prompt: &Prompt,
        level: Level,
        repair: Option<(String, Vec<String>)>,
    ) -> Result<Chat, ReasonerError> {
        let faults = |faults: Vec<String>| {
            let context = serde_json::json!({ "faults": faults });
            self.task
                .prompts
                .render(self.task.view.language, "repair", context)
                .map_err(|e| ReasonerError::Prompt(e.to_string()))
        };
        let repair = match repair {
            Some((answer, lines)) => Some((answer, faults(lines)?)),
            None => None,
        };
        Ok(Chat {
            step: self.task.step().id().to_owned(),
            system: prompt.system.clone(),
            user: prompt.user.clone(),
            repair,
            schema: Some(self.schema.clone()),
            level,
            max_output_tokens: self.lane.profile.max_output_tokens,
            stream: self.reasoner.options.stream,
        })
    }

    fn note_cuts(&mut self, prompt: &Prompt) {
        if !prompt.cuts.is_empty() {
            self.remarks.push(format!(
                "left out of the prompt: {}",
                prompt.cuts.join("; ")
            ));
        }
    }

    /// One request with its retries.
    async fn send(
        &mut self,
        mut chat: Chat,
        observer: &mut dyn Observer,
    ) -> Result<Reply, CallError> {
        let step = self.task.step();
        let mask = self
            .reasoner
            .options
            .redact
            .then(|| Mask::of(self.task.view));
        if let Some(mask) = &mask {
            mask.hide_chat(&mut chat);
        }
        let retries = self.lane.profile.retries.unwrap_or(2);
        let mut attempt = 0;
        loop {
            let result = self.send_once(&chat, mask.as_ref(), observer).await;
            let error = match result {
                Ok(mut reply) => {
                    if let Some(mask) = &mask {
                        reply.text = mask.show(&reply.text);
                    }
                    return Ok(reply);
                }
                Err(error) => error,
            };
            attempt += 1;
            match retry::after(&error, attempt, retries, retry::spread()) {
                Next::GiveUp => return Err(error),
                Next::Again(wait) => {
                    self.usage.retries += 1;
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    observer.event(Event::Retry {
                        step,
                        attempt,
                        reason: &error.to_string(),
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

    async fn send_once(
        &mut self,
        chat: &Chat,
        mask: Option<&Mask>,
        observer: &mut dyn Observer,
    ) -> Result<Reply, CallError> {
        let step = self.task.step();
        let mut tell = |piece: Piece<'_>| match piece {
            Piece::Text(text) if mask.is_none() => observer.event(Event::Token { step, text }),
            Piece::Text(text) => observer.event(Event::Token {
                step,
                text: &mask.map_or(String::new(), |m| m.show(text)),
            }),
            Piece::Thought(text) => observer.event(Event::Thinking { step, text }),
        };
        let reply = self.lane.transport.send(chat, &mut tell).await?;
        self.account(chat, &reply);
        Ok(reply)
    }

    fn account(&mut self, chat: &Chat, reply: &Reply) {
        let sent = || (context::tokens(&chat.system) + context::tokens(&chat.user)) as u64;
        let received = || (context::tokens(&reply.text) + context::tokens(&reply.thoughts)) as u64;
        let tokens_in = reply.tokens_in.filter(|n| *n > 0).unwrap_or_else(sent);
        let tokens_out = reply.tokens_out.filter(|n| *n > 0).unwrap_or_else(received);
        let cost = self.lane.profile.price(tokens_in, tokens_out);
        self.usage.add(&Usage {
            calls: 1,
            retries: 0,
            tokens_in,
            tokens_out,
            cost,
        });
        if let (Some(cost), Ok(mut spent)) = (cost, self.reasoner.spent.lock()) {
            *spent += cost;
        }
    }

    /// Reads the answer; what is too long is summed up, what is malformed mended, once each.
    async fn read(
        &mut self,
        first: Reply,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        let mut reply = first;
        let mut repaired = false;
        let is_whole =
            |text: &str| answer::read(self.task.steps, text).is_ok_and(|read| !read.repaired);
        if reply.finish == Finish::Length && !is_whole(&reply.text) {
            self.remarks
                .push("the answer was too long and was summed up".to_owned());
            reply = self.summarise(&reply, observer).await?;
        }
        let read = match answer::read(self.task.steps, &reply.text) {
            Ok(read) => read,
            Err(faults) => {
                repaired = true;
                let again = Some((shown(&reply.text), faults));
                reply = self.ask(again, observer).await?;
                answer::read(self.task.steps, &reply.text).map_err(|faults| {
                    ReasonerError::Unusable {
                        provider: self.lane.name(),
                        reason: faults.join("; "),
                    }
                })?
            }
        };
        Ok(Answer {
            conclusions: read.conclusions,
            raw: reply.text,
            repaired: repaired || read.repaired,
            usage: Some(self.usage.clone()),
            remarks: std::mem::take(&mut self.remarks),
        })
    }

    async fn summarise(
        &mut self,
        reply: &Reply,
        observer: &mut dyn Observer,
    ) -> Result<Reply, ReasonerError> {
        self.reasoner.check_cost()?;
        let level = self.lane.level();
        let prompt = self.prompt(level, self.budget())?;
        let mut chat = self.chat(&prompt, level, None)?;
        let ask = self
            .task
            .prompts
            .render(self.task.view.language, "summary", ())
            .map_err(|e| ReasonerError::Prompt(e.to_string()))?;
        chat.repair = Some((shown(&reply.text), ask));
        self.send(chat, observer)
            .await
            .map_err(|error| self.error(error))
    }

    fn error(&self, error: CallError) -> ReasonerError {
        let provider = self.lane.name();
        match error {
            CallError::Transient { reason, .. } => ReasonerError::Transient { provider, reason },
            CallError::Permanent { reason, hint } => ReasonerError::Permanent {
                provider,
                reason,
                hint,
            },
            CallError::TooLong { reason } => ReasonerError::TooLong { provider, reason },
            CallError::LevelRefused { reason } => ReasonerError::Permanent {
                provider,
                reason,
                hint: "set `structured_output = \"text\"` in the profile".to_owned(),
            },
            CallError::Refused { reason } => ReasonerError::Permanent {
                provider,
                reason: format!("the model declined to answer: {reason}"),
                hint: "try --redact or another profile".to_owned(),
            },
        }
    }
}

fn is_broken_stream(error: &CallError) -> bool {
    match error {
        CallError::Transient {
            reason, had_text, ..
        } => *had_text || reason.contains("empty") || reason.contains("cut short"),
        _ => false,
    }
}

/// The part of a faulty answer that is sent back; its beginning shows what went wrong.
fn shown(answer: &str) -> String {
    crate::wording::cut(answer, 12 << 10).to_owned()
}
