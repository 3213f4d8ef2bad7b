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

    /// Identifier, and title in Chinese and in English.
    fn names(self) -> [&'static str; 3] {
        match self {
            StepId::Classify => ["think1", "问题分类", "Problem class"],
            StepId::KeyCode => ["think2", "关键代码分析", "Key code"],
            StepId::Experience => [
                "think3",
                "经验推导分析",
                "Causes in the light of experience",
            ],
            StepId::Completeness => [
                "think4",
                "信息完整性检查",
                "Completeness of the information",
            ],
            StepId::Advice => ["think5", "最终方案建议", "Advice"],
            StepId::Hypotheses => ["hypotheses", "假设推理", "Hypotheses"],
            StepId::Answer => ["answer", "回答", "Answer"],
        }
    }

    /// Identifier in reports, templates and profiles: `think1`.
    pub fn id(self) -> &'static str {
        self.names()[0]
    }

    pub fn from_id(id: &str) -> Option<StepId> {
        let others = [StepId::Hypotheses, StepId::Answer];
        let mut all = StepId::THINK.into_iter().chain(others);
        all.find(|step| step.id() == id)
    }

    /// Title in the report's language.
    pub fn title(self, language: Language) -> &'static str {
        let [_, zh, en] = self.names();
        language.select(zh, en)
    }
}
