//! Resolved cases: the job, the problem, the fix, and the result. Written from a run in the fixed
//! form of the knowledge base, for a curator to edit; and checked.

mod body;
mod check;
mod material;
mod write;

use report::Language;

pub use check::{Fault, check};
pub use material::Material;
pub use write::{CaseError, NewCase, private_names, private_texts, write};

use report::FILL_IN;

/// The sections of a case, in their order, in both languages.
const SECTIONS: [(&str, &str); 6] = [
    ("作业形态", "Job shape"),
    ("症状", "Symptoms"),
    ("诊断", "Diagnosis"),
    ("改动", "What was changed"),
    ("结果", "Result"),
    ("采纳的建议", "Accepted suggestions"),
];

fn section(index: usize, language: Language) -> &'static str {
    let (zh, en) = SECTIONS[index];
    language.select(zh, en)
}
