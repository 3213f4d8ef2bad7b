//! The prompts of each step, their tokens and their price, without sending them.
//!
//! Later prompts build on the conclusions of the offline reasoner.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use crate::offline::Offline;
use crate::progress::Observer;
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::schema;
use crate::step::StepId;
use report::Engine;

use super::chat;
use super::context::{self, Form};
use llm::{Level, Profile, ToolSpec, level};

/// Tokens of an ordinary conclusion, as JSON.
const ANSWER_TOKENS: usize = 600;

/// A prompt that would be sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// Ids of the steps that it is for.
    pub steps: Vec<String>,
    pub system: String,
    pub user: String,
    /// Schema of the answer, where it is sent next to the prompt.
    pub schema: Option<Value>,
    /// Tools that are offered.
    pub tools: Vec<ToolSpec>,
    /// Estimated tokens of all of it.
    pub tokens: usize,
    /// Parts left out of the prompt to shorten it.
    pub cuts: Vec<String>,
    /// Tokens of an ordinary answer.
    pub tokens_out: usize,
    /// Price of sending it and of such an answer, by the prices of the profile or the list price; `None` if neither is known.
    pub cost: Option<f64>,
    /// Whether `cost` is by the list price: the profile has no prices.
    pub is_list_price: bool,
}

pub struct DryRun {
    profile: Profile,
    previews: Arc<Mutex<Vec<Preview>>>,
}

impl DryRun {
    /// A dry run for a profile.
    pub fn new(profile: Profile) -> DryRun {
        DryRun {
            profile,
            previews: Arc::default(),
        }
    }

    /// The place where the prompts gather; keep it before the reasoner is given away.
    pub fn previews(&self) -> Arc<Mutex<Vec<Preview>>> {
        Arc::clone(&self.previews)
    }

    fn preview(&self, task: &Task<'_>) -> Result<Preview, ReasonerError> {
        let schema = schema::schema_for(task.steps, task.input, &self.profile);
        let form = Form {
            level: level::first(&self.profile),
            schema: &schema,
            tools: task.steps == [StepId::Completeness] && level::has_tools(&self.profile),
            conversing: false,
            correcting: false,
        };
        let budget = context::budget(&self.profile);
        let prompt = context::build(task, &form, budget)
            .map_err(|e| ReasonerError::Prompt(e.to_string()))?;
        let mut chat = chat::chat(task, &form, &prompt, &self.profile);
        let mask = task.input.facts.mask.as_ref();
        mask.iter().for_each(|mask| mask.hide_chat(&mut chat));
        let tokens = chat::sent(&chat);
        let (read, written) = (tokens as u64, ANSWER_TOKENS as u64);
        Ok(Preview {
            steps: task.steps.iter().map(|s| s.id().to_owned()).collect(),
            system: chat.system,
            user: chat.user,
            tools: chat.tools,
            schema: chat.schema.filter(|_| chat.level <= Level::Tool),
            tokens,
            cuts: prompt.cuts,
            tokens_out: ANSWER_TOKENS,
            cost: self.profile.list_price(read, written),
            is_list_price: self.profile.price(read, written).is_none(),
        })
    }
}

impl Reasoner for DryRun {
    fn engine(&self) -> Engine {
        Offline.engine()
    }

    fn asks_model(&self) -> bool {
        true
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        match self.preview(&task) {
            Ok(preview) => {
                if let Ok(mut previews) = self.previews.lock() {
                    previews.push(preview);
                }
                Offline.reason(task, observer)
            }
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}
