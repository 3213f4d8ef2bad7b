//! A suggestion in the making, and what it says of its gain.

use report::format::{Seconds, Share};
use report::{Cause, Origin, Suggestion, SuggestionKind, Text, text};

use super::case::Case;
use crate::Suggested;
use crate::impact::Saved;
use crate::rewrite::Rewrite;

/// Share of the run from which a change is worth a separate suggestion.
const LEAST_SHARE: f64 = 0.01;

/// What a change saves.
pub(super) enum Gain {
    /// All that the finding claims. Only one suggestion of a finding has it.
    Whole,
    /// The same as another suggestion of the finding, which it replaces.
    Instead(Text),
    /// What the run saves with this change; `None` where no file shows what its stages cost.
    Own(Option<Saved>),
    /// Not estimable, and why.
    Unknown(Text),
}

impl Gain {
    /// Of a change that only asks for something.
    pub(super) fn up_to_the_optimizer() -> Gain {
        Gain::Unknown(text!(
            "取决于优化器是否因此改变执行计划",
            "it depends on whether the optimizer changes its plan",
        ))
    }

    /// Of a look at something, which changes nothing.
    pub(super) fn none_by_itself() -> Gain {
        Gain::Unknown(text!(
            "查明原因本身不节省时间",
            "finding the cause saves nothing by itself",
        ))
    }
}

/// A suggestion without what all suggestions of a finding share.
pub(super) struct Proposal {
    pub(super) kind: SuggestionKind,
    /// Keywords by which experience on it is found.
    pub(super) topic: &'static str,
    pub(super) title: Text,
    pub(super) gain: Gain,
    pub(super) steps: Vec<Text>,
    pub(super) rewrite: Option<Rewrite>,
    pub(super) pros: Vec<Text>,
    pub(super) cons: Vec<Text>,
}

impl Proposal {
    pub(super) fn new(
        kind: SuggestionKind,
        topic: &'static str,
        gain: Gain,
        title: Text,
    ) -> Proposal {
        Proposal {
            kind,
            topic,
            title,
            gain,
            steps: Vec::new(),
            rewrite: None,
            pros: Vec::new(),
            cons: Vec::new(),
        }
    }

    pub(super) fn step(mut self, text: Text) -> Proposal {
        self.steps.push(text);
        self
    }

    pub(super) fn pro(mut self, text: Text) -> Proposal {
        self.pros.push(text);
        self
    }

    pub(super) fn con(mut self, text: Text) -> Proposal {
        self.cons.push(text);
        self
    }

    pub(super) fn rewrite(mut self, rewrite: Option<Rewrite>) -> Proposal {
        self.rewrite = rewrite;
        self
    }
}

impl Case<'_> {
    /// The suggestion; without a diff if the rewrite does not pass its checks.
    pub(super) fn finish(&self, proposal: Proposal) -> Suggested {
        let rewrite = proposal.rewrite.as_ref().zip(self.script);
        let checked = rewrite.and_then(|(r, script)| r.checked(script, &|class| self.reads(class)));
        let (diff, verified) = checked.map(|c| (c.diff, c.verified)).unzip();
        let language = self.view.language;
        let code = self.finding.cause.code();
        // A topic is in English; the title finds what readers of another language can read.
        let topic = match language {
            report::Language::En => format!("{code} {}", proposal.topic),
            report::Language::Zh => format!("{code} {} {}", proposal.topic, proposal.title.zh),
        };
        let all = |texts: Vec<Text>| texts.into_iter().map(|t| t.into(language)).collect();
        let suggestion = Suggestion {
            id: String::new(),
            finding: Some(self.id.clone()),
            kind: proposal.kind,
            title: proposal.title.into(language),
            steps: all(proposal.steps),
            diff,
            verified,
            gain: self.gain(&proposal.gain).into(language),
            pros: all(proposal.pros),
            cons: all(proposal.cons),
            sources: Vec::new(),
            origin: Origin::Rules,
            unverified: Vec::new(),
        };
        Suggested { suggestion, topic }
    }

    /// The suggestion if its rewrite passes its checks; without a diff it would be empty words.
    pub(super) fn finish_checked(&self, proposal: Proposal) -> Option<Suggested> {
        let suggested = self.finish_worthwhile(proposal)?;
        suggested.suggestion.diff.is_some().then_some(suggested)
    }

    /// The suggestion unless it is known to save next to nothing.
    pub(super) fn finish_worthwhile(&self, proposal: Proposal) -> Option<Suggested> {
        match proposal.gain {
            Gain::Own(Some(saved)) if saved.share < LEAST_SHARE => None,
            _ => Some(self.finish(proposal)),
        }
    }

    fn gain(&self, gain: &Gain) -> Text {
        let impact = self.finding.impact.as_ref();
        let claimed = impact.map(|i| (i.seconds_saved, i.share_of_elapsed));
        let unknown = |why: Text| text!("无法估算：{why}", "not estimable: {why}", why = why);
        match (gain, claimed) {
            (Gain::Unknown(why), _) => unknown(why.clone()),
            (Gain::Instead(other), _) => text!(
                "与“{other}”相同，二者取一，收益不叠加",
                "the same as {other}, instead of it rather than on top",
                other = other,
            ),
            (Gain::Own(Some(saved)), _) => {
                // The change undoes no more than the cause; what it saves beside it, other
                // findings claim.
                let most = claimed.map_or(f64::MAX, |(seconds, _)| seconds);
                let seconds = saved.seconds.min(most);
                let share = saved.share * seconds / saved.seconds.max(f64::MIN_POSITIVE);
                let saved = self.time(seconds, Some(share));
                text!(
                    "约 {saved}；与本问题的其他建议不叠加",
                    "about {saved}; the other suggestions for this finding do not add to it",
                    saved = saved,
                )
            }
            (Gain::Own(None) | Gain::Whole, None) => unknown(match self.view.failed() {
                true => text!(
                    "失败的运行无法用来比较时间",
                    "a run that failed gives no time to compare with",
                ),
                false => text!(
                    "没有文件给出各顶点的运行时间",
                    "no file gives the run times of the vertices",
                ),
            }),
            (Gain::Own(None), Some(_)) => unknown(text!(
                "数据不足以单独估算这项修改",
                "too little is known of the run to replay this change alone",
            )),
            (Gain::Whole, Some((seconds, share))) => {
                let saved = self.time(seconds, share);
                text!("最多约 {saved}", "up to about {saved}", saved = saved)
            }
        }
    }

    /// Seconds and their share, which names its base.
    fn time(&self, seconds: f64, share: Option<f64>) -> Text {
        let time = Seconds(seconds);
        match (share.map(Share), self.finding.cause) {
            (None, _) => text!("{time}", "{time}", time = time),
            (Some(share), Cause::QueueWait) => text!(
                "{time}（占从提交到结束的 {share}）",
                "{time} ({share} of the time from submission to end)",
                time = time,
                share = share,
            ),
            (Some(share), _) => text!(
                "{time}（占运行时间的 {share}）",
                "{time} ({share} of the run)",
                time = time,
                share = share,
            ),
        }
    }
}
