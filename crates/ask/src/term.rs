//! A term with its definition.

use report::{SegmentKind, StaticText};

use crate::vocabulary::Phrases;

/// A term by its names, with the kind of time that it stands for.
pub(crate) struct Term {
    pub(crate) kind: Option<SegmentKind>,
    pub(crate) zh: Phrases,
    pub(crate) en: Phrases,
    pub(crate) says: StaticText,
}

pub(crate) const fn term(
    kind: Option<SegmentKind>,
    zh: Phrases,
    en: Phrases,
    says_zh: &'static str,
    says_en: &'static str,
) -> Term {
    let says = StaticText {
        zh: says_zh,
        en: says_en,
    };
    Term { kind, zh, en, says }
}
