//! The request that a prompt makes: with the schema or the tools that go along, and its tokens.

use super::context::{self, Form, Prompt};
use super::tokens::tokens;
use crate::reasoner::Task;
use crate::tools;
use llm::transport::Chat;
use llm::{Level, Profile};

/// The request for a step, before names are masked.
pub(super) fn chat(task: &Task<'_>, form: &Form<'_>, prompt: &Prompt, profile: &Profile) -> Chat {
    let language = task.input.facts.language;
    let tools = match form.tools {
        true => tools::offered(language),
        false => Vec::new(),
    };
    let rounds = form.conversing.then(|| task.rounds.to_vec());
    Chat {
        step: task.step().id().to_owned(),
        system: prompt.system.clone(),
        user: prompt.user.clone(),
        repair: None,
        schema: (!form.tools).then(|| form.schema.clone()),
        level: if form.tools { Level::Text } else { form.level },
        max_output_tokens: profile.answer_limit(),
        stream: false,
        tools,
        rounds: rounds.unwrap_or_default(),
    }
}

/// Estimated tokens of a request: its texts, and the schema or the tools next to them.
pub(super) fn sent(chat: &Chat) -> usize {
    let repair = chat
        .repair
        .iter()
        .flat_map(|(answer, faults)| [answer, faults]);
    let texts = [&chat.system, &chat.user].into_iter().chain(repair);
    let texts: usize = texts.map(|text| tokens(text)).sum();
    // At a weaker level the schema is part of the text.
    let is_apart = chat.level <= Level::Tool;
    let schema = chat.schema.as_ref().filter(|_| is_apart);
    let schema = schema.map_or(0, |schema| tokens(&schema.to_string()));
    let of_tool = |tool: &llm::ToolSpec| {
        tokens(&tool.name) + tokens(&tool.description) + tokens(&tool.schema.to_string())
    };
    let tools: usize = chat.tools.iter().map(of_tool).sum();
    texts + schema + tools + context::rounds(&chat.rounds)
}
