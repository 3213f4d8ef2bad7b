//! Providers that a scripted server imitates, and their habits.

/// A provider that a server imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// A local server (vLLM, llama.cpp): accepts everything.
    #[default]
    Local,
    /// OpenAI, chat completions and Responses.
    OpenAi,
    /// Azure OpenAI.
    Azure,
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Qwen on DashScope.
    DashScope,
    /// DeepSeek.
    DeepSeek,
    /// OpenRouter.
    OpenRouter,
    Ollama,
}

impl Dialect {
    /// Field of a chat message that holds thoughts.
    pub(super) fn thoughts_field(self) -> &'static str {
        match self {
            Dialect::OpenRouter | Dialect::Ollama => "reasoning",
            _ => "reasoning_content",
        }
    }

    /// Whether a stream has its token counts in the last choice rather than in a separate chunk.
    pub(super) fn counts_in_last_choice(self) -> bool {
        matches!(self, Dialect::DeepSeek | Dialect::OpenRouter)
    }

    /// Whether a stream starts with a chunk without choices (Azure's filter results for the prompt).
    pub(super) fn begins_without_choice(self) -> bool {
        self == Dialect::Azure
    }

    /// Media type of an error's body.
    pub(super) fn error_type(self) -> &'static str {
        match self {
            Dialect::DeepSeek => "application/octet-stream",
            Dialect::Gemini => "application/json; charset=UTF-8",
            _ => "application/json",
        }
    }

    /// Whether it answers without a key.
    pub(super) fn needs_key(self) -> bool {
        !matches!(self, Dialect::Local | Dialect::Ollama)
    }
}
