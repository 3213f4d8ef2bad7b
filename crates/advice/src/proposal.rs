//! A suggestion under construction, and its gain.

use report::format::Seconds;
use report::{Origin, Setting, Suggestion, SuggestionKind, Text, text};

use crate::case::Case;
use crate::setting::Wanted;
use diagnosis::Suggested;
use diagnosis::impact::Saved;
use rewrite::spark::settings;
use rewrite::{Checked, Rewrite};

/// Least share of the run for a change worth a separate suggestion.
const LEAST_SHARE: f64 = 0.01;

/// Least share of a finding's saving for a change that counts as a complete fix.
const ALL: f64 = 0.95;

/// Saving of a change.
pub(crate) enum Gain {
    /// The finding's whole saving. Stated once: another suggestion of the finding with the same
    /// effect replaces the first.
    Whole,
    /// Saving of the run with this change; `None` if no file shows the cost of its stages.
    Own(Option<Saved>),
    /// Not estimable, and why.
    Unknown(Text),
}

impl Gain {
    /// Gain of a change that is only a request to the optimizer.
    pub(crate) fn up_to_the_optimizer() -> Gain {
        Gain::Unknown(text!(
            "取决于优化器是否因此改变执行计划",
            "it depends on whether the optimizer changes its plan",
        ))
    }

    /// Gain of an investigation, which changes no code.
    pub(crate) fn none_by_itself() -> Gain {
        Gain::Unknown(text!(
            "查明原因本身不节省时间",
            "finding the cause does not save time by itself",
        ))
    }
}

/// A suggestion without the parts that all suggestions of a finding share.
pub(crate) struct Proposal {
    pub(crate) kind: SuggestionKind,
    /// Keywords for finding experience on it.
    pub(crate) topic: &'static str,
    pub(crate) title: Text,
    pub(crate) gain: Gain,
    pub(crate) steps: Vec<Text>,
    pub(crate) settings: Vec<Wanted>,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) pros: Vec<Text>,
    pub(crate) cons: Vec<Text>,
}

/// A proposal, or a function that makes one: its kind, its gain and keywords for finding experience on it; then its
/// texts, in both languages as in [`text!`] or as a [`Text`], some of them only under a `[condition]`.
macro_rules! advice {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),*) = $($proposal:tt)*) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) -> Proposal {
            advice! { $($proposal)* }
        }
    };
    (@ $zh:literal, $en:literal $($named:tt)*) => { report::text!($zh, $en $($named)*) };
    (@ $text:expr) => { $text };
    (?) => { true };
    (? $condition:expr) => { $condition };
    ($kind:ident, $gain:expr, $topic:literal; $($([$condition:expr])? $part:ident($($text:tt)*);)*) => {{
        let proposal = Proposal::new(report::SuggestionKind::$kind, $gain, $topic);
        $(
            let proposal = match advice!(? $($condition)?) {
                true => proposal.$part(advice!(@ $($text)*)),
                false => proposal,
            };
        )*
        proposal
    }};
}
pub(crate) use advice;

impl Proposal {
    pub(crate) fn new(kind: SuggestionKind, gain: Gain, topic: &'static str) -> Proposal {
        Proposal {
            kind,
            topic,
            title: Text::default(),
            gain,
            steps: Vec::new(),
            settings: Vec::new(),
            rewrite: None,
            pros: Vec::new(),
            cons: Vec::new(),
        }
    }

    /// Another topic if the finding shows the mechanism.
    pub(crate) fn about(mut self, topic: Option<&'static str>) -> Proposal {
        self.topic = topic.unwrap_or(self.topic);
        self
    }

    pub(crate) fn title(mut self, text: Text) -> Proposal {
        self.title = text;
        self
    }

    pub(crate) fn step(mut self, text: Text) -> Proposal {
        self.steps.push(text);
        self
    }

    /// Adds settings. A change of settings that are all in force already would repeat them, so it is an investigation.
    pub(crate) fn settings(mut self, settings: impl IntoIterator<Item = Wanted>) -> Proposal {
        self.settings.extend(settings);
        if self.settings.is_empty() && self.kind == SuggestionKind::Parameter {
            self.kind = SuggestionKind::Investigate;
        }
        self
    }

    pub(crate) fn pro(mut self, text: Text) -> Proposal {
        self.pros.push(text);
        self
    }

    pub(crate) fn con(mut self, text: Text) -> Proposal {
        self.cons.push(text);
        self
    }

    pub(crate) fn rewrite(mut self, rewrite: Option<Rewrite>) -> Proposal {
        self.rewrite = rewrite;
        self
    }

    fn is_worthwhile(&self) -> bool {
        match &self.gain {
            Gain::Own(Some(saved)) => saved.share >= LEAST_SHARE,
            _ => true,
        }
    }
}

impl Case<'_> {
    /// The suggestion; without a diff if the rewrite does not pass its checks.
    pub(crate) fn finish(&self, proposal: Proposal) -> Suggested {
        let checked = self.checked(&proposal);
        self.finished(proposal, checked)
    }

    /// The suggestion if its rewrite passes its checks; without a diff it would have no content.
    pub(crate) fn finish_checked(&self, proposal: Proposal) -> Option<Suggested> {
        let checked = self.checked(&proposal)?;
        let worthwhile = proposal.is_worthwhile();
        worthwhile.then(|| self.finished(proposal, Some(checked)))
    }

    /// The suggestion, unless its known saving is negligible.
    pub(crate) fn finish_worthwhile(&self, proposal: Proposal) -> Option<Suggested> {
        proposal.is_worthwhile().then(|| self.finish(proposal))
    }

    fn checked(&self, proposal: &Proposal) -> Option<Checked> {
        let Some(program) = self.job.program() else {
            let rewrite = proposal.rewrite.as_ref()?;
            return rewrite.checked(self.script?, &|class| self.reads(class));
        };
        let own = proposal.rewrite.as_ref();
        own.and_then(|rewrite| rewrite.checked_program(program))
            .or_else(|| {
                let settings = proposal.settings.iter().map(|wanted| wanted.setting());
                let settings: Vec<&Setting> = settings.collect();
                settings::set(program, &settings)?.checked_program(program)
            })
    }

    fn finished(&self, proposal: Proposal, checked: Option<Checked>) -> Suggested {
        let (diff, verified) = checked.map(|c| (c.diff, c.verified)).unzip();
        let language = self.view.language;
        let code = self.finding.cause.code();
        // a topic is in English; the title also finds experience in the reader's language
        let topic = match language {
            report::Language::En => format!("{code} {}", proposal.topic),
            report::Language::Zh => format!("{code} {} {}", proposal.topic, proposal.title.zh),
        };
        let words = |text: Text| without_gaps(&text.into(language));
        let all = |texts: Vec<Text>| texts.into_iter().map(words).collect();
        let suggestion = Suggestion {
            id: String::new(),
            finding: Some(self.id.clone()),
            kind: proposal.kind,
            title: words(proposal.title),
            steps: all(proposal.steps),
            settings: (proposal.settings.into_iter())
                .map(|wanted| wanted.into(language))
                .collect(),
            diff,
            verified,
            seconds_saved: self.seconds_saved(&proposal.gain),
            gain: words(self.gain(proposal.gain)),
            pros: all(proposal.pros),
            cons: all(proposal.cons),
            sources: Vec::new(),
            origin: Origin::Rules,
            unverified: Vec::new(),
        };
        Suggested { suggestion, topic }
    }

    fn seconds_saved(&self, gain: &Gain) -> Option<f64> {
        let whole = self.finding.impact.as_ref().map(|i| i.seconds_saved);
        match gain {
            Gain::Own(saved) => {
                let own = saved.as_ref()?.seconds;
                Some(whole.map_or(own, |whole| own.min(whole)))
            }
            Gain::Whole => whole,
            Gain::Unknown(_) => None,
        }
    }

    fn gain(&self, gain: Gain) -> Text {
        let impact = self.finding.impact.as_ref();
        let claimed = impact.map(|i| i.seconds_saved);
        let why = match (gain, claimed) {
            (Gain::Unknown(why), _) => why,
            // a change fixes at most the cause; other findings claim any further saving
            (Gain::Own(Some(saved)), Some(seconds)) if saved.seconds >= ALL * seconds => {
                return self.gain(Gain::Whole);
            }
            (Gain::Own(Some(saved)), _) => {
                return text!(
                    "约 {saved}；与本问题的其他建议不叠加",
                    "about {saved}; the other suggestions for this finding do not add to it",
                    saved = self.time(saved.seconds),
                );
            }
            (Gain::Whole, Some(seconds)) => {
                let first = !self.claimed.replace(true);
                let saved = self.time(seconds);
                return match first {
                    true => text!("最多约 {saved}", "up to about {saved}", saved = saved),
                    false => text!(
                        "与 {id} 的另一条建议相同，取其一即可",
                        "the same as another suggestion for {id}: one of them is enough",
                        id = self.id,
                    ),
                };
            }
            (Gain::Own(None) | Gain::Whole, None) if self.view.failed() => text!(
                "失败的运行无法用来比较时间",
                "a failed run has no time to compare with",
            ),
            (Gain::Own(None) | Gain::Whole, _) => text!(
                "数据不足以重演这项修改之后的运行",
                "too little is known about the run to replay it with this change",
            ),
        };
        text!("无法估算：{why}", "not estimable: {why}", why = why)
    }

    /// Seconds and their share of the total time.
    fn time(&self, seconds: f64) -> Text {
        text!(
            "{time}{share}",
            "{time}{share}",
            time = Seconds(seconds),
            share = self.view.saved_share(seconds),
        )
    }
}

/// The text without blanks between two Chinese characters; they occur if a word replaces a name.
fn without_gaps(text: &str) -> String {
    let chinese = |c: &char| *c >= '\u{2e80}';
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let before = kept.chars().next_back();
        let gap = before.is_some_and(|b| chinese(&b)) && chars.peek().is_some_and(chinese);
        if c != ' ' || !gap {
            kept.push(c);
        }
    }
    kept
}
