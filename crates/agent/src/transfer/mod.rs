//! Transfers advice on a finding to another job with the same finding: names and values become the other job's, and the resulting claims
//! are checked against its facts. A piece of advice that does not hold there is withheld, with the reason.

mod counterparts;

use job::Job;
use job::script::Script;
use report::{Text, text};

use crate::check::{Checker, mark_of};
use crate::conclusion::{Advice, Conclusion, Proposal, Recommendation};
use crate::facts::StepInput;
use crate::offline;
use crate::step::StepId;
use counterparts::{Counterparts, Values};

/// The advice that holds for another job, and the withheld parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transferred {
    pub advice: Advice,
    pub withheld: Vec<Withheld>,
}

/// A piece of advice that another job does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The piece in one line, as it was given to the first job.
    pub piece: String,
    /// Why, in the language of the facts.
    pub reasons: Vec<String>,
}

/// Gives advice on the finding that `from` is about to the job of `to`, which is about a finding of the same cause.
pub fn transfer(advice: &Advice, from: &StepInput, to: &StepInput) -> Transferred {
    let job = job_of(to);
    let mut pieces = Pieces {
        counterparts: Counterparts::of(from, to),
        checker: Checker::new(to, &job).accepting(&[offline::conclude(StepId::Advice, to)]),
        from,
        to,
        given: Transferred::default(),
    };
    for recommendation in &advice.recommendations {
        pieces.recommendation(recommendation);
    }
    for proposal in &advice.additional {
        pieces.proposal(proposal);
    }
    if !advice.text.trim().is_empty() {
        pieces.text(&advice.text);
    }
    pieces.given
}

/// A job with the script of the facts only.
pub(crate) fn job_of(input: &StepInput) -> Job {
    let script = input.facts.outline.script.as_ref();
    Job {
        script: script.map(|s| Script::parse(&s.file, s.text.clone())),
        ..Job::default()
    }
}

struct Pieces<'a> {
    counterparts: Counterparts,
    checker: Checker<'a>,
    from: &'a StepInput,
    to: &'a StepInput,
    given: Transferred,
}

impl Pieces<'_> {
    /// A rule computed its proposal for the other job too.
    fn recommendation(&mut self, of: &Recommendation) {
        let known = self.from.suggestions.iter().find(|s| s.id == of.suggestion);
        let title = known.map_or(&of.why, |s| &s.title);
        let moved = (|| {
            let suggestion = self.counterparts.id(&of.suggestion).ok_or_else(|| {
                text!(
                    "规则没有为该作业给出这条建议",
                    "no rule suggests it for this job"
                )
            })?;
            Ok(Recommendation {
                suggestion,
                why: self.moved(&of.why, Values::Any)?,
                trade_offs: self.moved(&of.trade_offs, Values::Any)?,
                evidence: self.ids(&of.evidence)?,
                experiences: of.experiences.clone(),
            })
        })();
        let recommendations = moved.map(|moved| Advice {
            recommendations: vec![moved],
            ..Advice::default()
        });
        if let Some(advice) = self.checked(title, recommendations) {
            let given = &mut self.given.advice.recommendations;
            given.extend(advice.recommendations);
        }
    }

    /// A proposal was not computed for the other job, so its values must be similar there.
    fn proposal(&mut self, of: &Proposal) {
        let moved = (|| {
            let all = |texts: &[String]| -> Result<Vec<String>, Text> {
                let moved = texts.iter().map(|text| self.moved(text, Values::Alike));
                moved.collect()
            };
            Ok(Proposal {
                finding: of
                    .finding
                    .as_deref()
                    .and_then(|id| self.counterparts.id(id)),
                title: self.moved(&of.title, Values::Alike)?,
                steps: all(&of.steps)?,
                diff: of.diff.as_deref().map(|d| self.counterparts.names(d)),
                pros: all(&of.pros)?,
                cons: all(&of.cons)?,
                evidence: self.ids(&of.evidence)?,
                experiences: of.experiences.clone(),
            })
        })();
        let additional = moved.map(|moved| Advice {
            additional: vec![moved],
            ..Advice::default()
        });
        if let Some(advice) = self.checked(&of.title, additional) {
            self.given.advice.additional.extend(advice.additional);
        }
    }

    fn text(&mut self, of: &str) {
        let moved = self.moved(of, Values::Any).map(|text| Advice {
            text,
            ..Advice::default()
        });
        if let Some(advice) = self.checked(of, moved) {
            self.given.advice.text = advice.text;
        }
    }

    /// Keeps a piece if everything that it claims is a fact of the other job.
    fn checked(&mut self, piece: &str, moved: Result<Advice, Text>) -> Option<Advice> {
        let reasons = match moved {
            Ok(advice) => {
                let mut checked = [Conclusion::Advice(advice)];
                let reasons = self.checker.check(&mut checked).remarks;
                match checked {
                    [Conclusion::Advice(advice)] if reasons.is_empty() => return Some(advice),
                    _ => reasons,
                }
            }
            Err(reason) => vec![reason.into(self.to.facts.language)],
        };
        let piece = piece.lines().next().unwrap_or_default().to_owned();
        self.given.withheld.push(Withheld { piece, reasons });
        None
    }

    fn moved(&self, text: &str, values: Values) -> Result<String, Text> {
        if text.contains(mark_of(self.from.facts.language).trim()) {
            return Err(text!(
                "对首个作业也未能核实",
                "it is not confirmed for the job that it was written for"
            ));
        }
        self.counterparts.text(text, values)
    }

    fn ids(&self, ids: &[String]) -> Result<Vec<String>, Text> {
        let moved = ids.iter().map(|id| {
            let moved = self.counterparts.id(id);
            moved.ok_or_else(|| {
                text!(
                    "该作业没有与证据 {id} 对应的数据",
                    "this job has nothing like evidence {id}"
                )
            })
        });
        moved.collect()
    }
}

#[cfg(test)]
mod tests;
