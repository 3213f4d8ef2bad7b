//! The THINK steps by name: identifiers, order, titles.

use report::Language;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StepId {
    /// Which class of problem is it?
    Classify,
    /// Which statements, operators and stages matter?
    KeyCode,
    /// How does experience explain the causes?
    Experience,
    /// Is the information complete, and which files would complete it?
    Completeness,
    /// Which changes are advisable, and at which cost?
    Advice,
    /// Which hypotheses are open, and how would they be checked?
    Hypotheses,
    /// How is a question about a saved run answered?
    Answer,
}

impl StepId {
    /// The five steps of every analysis.
    pub const THINK: [StepId; 5] = [
        StepId::Classify,
        StepId::KeyCode,
        StepId::Experience,
        StepId::Completeness,
        StepId::Advice,
    ];

    /// Identifier in reports, templates and profiles: `think1`.
    pub fn id(self) -> &'static str {
        match self {
            StepId::Classify => "think1",
            StepId::KeyCode => "think2",
            StepId::Experience => "think3",
            StepId::Completeness => "think4",
            StepId::Advice => "think5",
            StepId::Hypotheses => "hypotheses",
            StepId::Answer => "answer",
        }
    }

    pub fn from_id(id: &str) -> Option<StepId> {
        let all = StepId::THINK
            .into_iter()
            .chain([StepId::Hypotheses, StepId::Answer]);
        all.into_iter().find(|step| step.id() == id)
    }

    /// Title in the report's language.
    pub fn title(self, language: Language) -> &'static str {
        match (self, language) {
            (StepId::Classify, Language::Zh) => "问题分类",
            (StepId::Classify, Language::En) => "Problem class",
            (StepId::KeyCode, Language::Zh) => "关键代码分析",
            (StepId::KeyCode, Language::En) => "Key code",
            (StepId::Experience, Language::Zh) => "经验推导分析",
            (StepId::Experience, Language::En) => "Causes in the light of experience",
            (StepId::Completeness, Language::Zh) => "信息完整性检查",
            (StepId::Completeness, Language::En) => "Completeness of the information",
            (StepId::Advice, Language::Zh) => "最终方案建议",
            (StepId::Advice, Language::En) => "Advice",
            (StepId::Hypotheses, Language::Zh) => "假设推理",
            (StepId::Hypotheses, Language::En) => "Hypotheses",
            (StepId::Answer, Language::Zh) => "回答",
            (StepId::Answer, Language::En) => "Answer",
        }
    }
}
