//! One reading of a question: its words by their phrases, and the parts without a known word.

use std::ops::Range;

use report::measure::{Entity, Measure, book};
use report::{Cause, Language, ProblemType, SegmentKind};

use crate::spelling::corrected;
use crate::vocabulary::{Phrase, Token, WORDS, is_joined, phrases_at, word};
use crate::word::{Cue, Quantity, Thing, Word};
use Thing::*;
use Word::*;

/// The words of a question in their order, and the parts without a known word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    text: String,
    pub(crate) words: Vec<Word>,
    /// The words of each phrase, with its text.
    pub(crate) phrases: Vec<(&'static [Word], String)>,
    pub(crate) left: Vec<String>,
    /// Whether it is about the things of the part before it.
    pub(crate) inherits: bool,
    /// Words found anywhere, with their places.
    loose: Vec<(Range<usize>, Word)>,
}

/// English nouns in Chinese sentences: “哪些 stage 只有一个 vertex”.
#[rustfmt::skip]
const NOUNS: [(&str, &str); 6] = [
    ("stage", "阶段"), ("vertices", "顶点"), ("vertex", "顶点"), ("task", "任务"), ("token", "令牌"), ("column", "列"),
];

/// Verbs that a question for yes or no begins with.
const AUXILIARIES: &str = "is|are|was|were|do|does|did|has|have|had|can|could|would|should|will";

impl Reading {
    pub(crate) fn of(text: &str) -> Reading {
        let mut reading = Reading {
            text: corrected(&text.replace('’', "'")),
            ..Reading::default()
        };
        reading.read_content();
        let text = reading.text.clone();
        reading.read_loose(&text);
        if Language::of(&text) == Language::Zh {
            let mut chinese = text;
            for (en, zh) in NOUNS {
                chinese = chinese.replace(&format!("{en}s"), zh).replace(en, zh);
            }
            let known = reading.loose.len();
            reading.read_loose(&chinese.replace(' ', ""));
            reading.loose[known..]
                .iter_mut()
                .for_each(|(place, _)| *place = 0..0);
        }
        reading
    }

    fn read_content(&mut self) {
        let lower = self.text.clone();
        let mut at = 0;
        while let Some(c) = lower[at..].chars().next() {
            if !c.is_alphanumeric() {
                at += c.len_utf8();
                continue;
            }
            match phrases_at(&lower, at).find(|(phrase, _)| !phrase.is_loose) {
                Some((phrase, length)) => {
                    self.words.extend(phrase.words);
                    let text = lower[at..at + length].to_owned();
                    self.phrases.push((phrase.words, text));
                    at += length;
                }
                None => {
                    let word = word(&lower[at..]);
                    // a number belongs to a condition that no other word accounts for
                    self.left.push(word.to_owned());
                    at += word.len();
                }
            }
        }
        // "the median vertex time" is no sum
        if self.has(Of(&book::BUSY)) && self.has_any(&[Mean, Median, Most]) {
            self.words.retain(|word| *word != Of(&book::BUSY));
            self.words.extend([Noun(Vertex), Time]);
            self.phrases
                .retain(|(words, _)| *words != [Of(&book::BUSY)]);
        }
        // "when did the last executor join?"
        if self.has(Noun(Executor)) {
            let joins = self.words.iter_mut().filter(|word| **word == Kind("JOIN"));
            joins.for_each(|word| *word = Arrived);
        }
    }

    fn read_loose(&mut self, text: &str) {
        for (at, _) in text.char_indices() {
            for (phrase, length) in phrases_at(text, at).filter(|(phrase, _)| phrase.is_loose) {
                let words = phrase.words.iter();
                self.loose
                    .extend(words.map(|word| (at..at + length, *word)));
            }
        }
    }

    /// The longest phrase at each place, and the words between.
    pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
        let (mut tokens, mut at) = (Vec::new(), 0);
        while let Some(c) = text[at..].chars().next() {
            if !c.is_alphanumeric() {
                at += c.len_utf8();
                continue;
            }
            let mut there: Vec<(&Phrase, usize)> = phrases_at(text, at).collect();
            there.retain(|(phrase, _)| phrase.words[0].has_meaning());
            let most = there.iter().map(|(phrase, _)| phrase.text.len()).max();
            there.retain(|(phrase, _)| Some(phrase.text.len()) == most);
            let longest = there.iter().map(|(_, length)| *length).max();
            let end = at + longest.unwrap_or_else(|| word(&text[at..]).len());
            let words = there.iter().flat_map(|(phrase, _)| phrase.words);
            tokens.push(Token {
                text: &text[at..end],
                words: words.copied().collect(),
                is_known: longest.is_some(),
            });
            at = end;
        }
        tokens
    }

    /// The parts of a question that each ask for something: "how many rows does it read and how long does it take?". A part
    /// without a thing is about the thing of the first.
    pub(crate) fn parts(text: &str) -> Vec<Reading> {
        let lower = text
            .to_lowercase()
            .replace(" and ", "，")
            .replace([',', '；', ';', '、'], "，");
        let parts = lower.split('，').map(Reading::of);
        let mut parts: Vec<Reading> = parts.filter(|part| !part.words.is_empty()).collect();
        // “哪个阶段写出最多，多少？”
        let first = parts.first().is_some_and(|part| part.has(Which));
        let mut at = 0;
        parts.retain(|part| {
            at += 1;
            at == 1 || !(first && part.is_elliptic())
        });
        if parts.len() == 1 && at > 1 {
            return parts;
        }
        if parts.len() < 2 || !parts.iter().all(Reading::asks) {
            return vec![Reading::of(text)];
        }
        let words = parts[0].words.clone();
        let is_of_script = parts.iter().any(|part| part.has(Place));
        let with_things = |mut part: Reading| {
            if is_of_script && part.words.iter().any(|word| matches!(word, Kind(_))) {
                part.words.push(Place);
            }
            part.inherit(&words);
            part
        };
        parts.into_iter().map(with_things).collect()
    }

    /// Takes over the things of the first part if this part has none.
    fn inherit(&mut self, first: &[Word]) {
        let is_place = |word: &Word| matches!(word, Noun(Machine | Executor));
        let goes_on =
            |word: &&Word| word.is_thing() || matches!(word, Most | Least | Mean | Median | Each);
        // "which executor is the busiest, and how many tasks did it run?"
        let of_executor = |word: &Word| {
            *word == Noun(Vertex) && (first.contains(&Noun(Executor)) || self.has(Mean))
        };
        let mut own = self.words.iter().filter(|word| word.is_thing());
        if !own.all(|word| is_place(word) || of_executor(word)) {
            return;
        }
        let is_elliptic = self.is_elliptic();
        let amounts = [Rows, Bytes, Data, Time, In, Out];
        // "how many rows does the largest vertex read, and how many times the mean is that?"
        if self.has_any(&[Mean, Times]) && !self.has_any(&amounts) {
            let of_first = first.iter().filter(|word| amounts.contains(word));
            self.words.extend(of_first);
        }
        self.inherits = !self.words.iter().any(Word::is_thing);
        self.words.extend(first.iter().filter(goes_on));
        let measures = first.iter().filter(|word| matches!(word, Of(_)));
        self.words.extend(measures.filter(|_| is_elliptic));
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn has(&self, word: Word) -> bool {
        match word.is_loose() {
            true => self.loose.iter().any(|(_, w)| *w == word),
            false => self.words.contains(&word),
        }
    }

    pub(crate) fn has_any(&self, words: &[Word]) -> bool {
        words.iter().any(|word| self.has(*word))
    }

    pub(crate) fn shows(&self, cue: Cue) -> bool {
        self.has(Word::Cue(cue))
    }

    pub(crate) fn shows_any(&self, cues: &[Cue]) -> bool {
        cues.iter().any(|cue| self.shows(*cue))
    }

    /// Whether a word has a meaning for the answer.
    pub(crate) fn has_thing(&self) -> bool {
        self.words.iter().any(Word::is_thing)
    }

    /// Words of one kind with their places, in the order of the vocabulary.
    pub(crate) fn places<T>(&self, wanted: impl Fn(&Word) -> Option<T>) -> Vec<(T, Range<usize>)> {
        let there = self.loose.iter().filter(|(place, _)| !place.is_empty());
        there
            .filter_map(|(place, word)| Some((wanted(word)?, place.clone())))
            .collect()
    }

    /// Words of one kind in the order of the vocabulary, each once.
    fn named<T: Copy>(&self, of: impl Fn(&Word) -> Option<T>) -> impl Iterator<Item = T> {
        let mut found: Vec<T> = Vec::new();
        for (words, ..) in WORDS.iter().filter(|(words, ..)| words[0].is_loose()) {
            found.extend(words.iter().filter(|word| self.has(**word)).filter_map(&of));
        }
        found.into_iter()
    }

    /// Quantities in the question, in the order of the answer.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        let of = |word: &Word| match word {
            Asks(quantity) => Some(*quantity),
            _ => None,
        };
        self.named(of).collect()
    }

    /// Settings that are named.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static str> {
        // "how many executors, and how much memory does each have?"
        let is_memory = self.shows(Cue::Executor)
            && self.has(Resource(crate::word::Resource::Memory))
            && !self.has_any(&[Most, Mean]);
        let memory = "spark.executor.memory";
        let of = |word: &Word| match word {
            Setting(key) => Some(*key),
            _ => None,
        };
        let named = self.named(of);
        named.chain((is_memory && !self.has(Setting(memory))).then_some(memory))
    }

    pub(crate) fn segments(&self) -> Vec<SegmentKind> {
        let of = |word: &Word| match word {
            Takes(kind) => Some(*kind),
            _ => None,
        };
        // waiting for shuffled data is no waiting for capacity
        let is_fetch = self.waits_for_shuffle();
        let is_other = |kind: &SegmentKind| !(is_fetch && *kind == SegmentKind::CapacityWait);
        self.named(of).filter(is_other).collect()
    }

    /// Whether it is about waiting for shuffled data.
    pub(crate) fn waits_for_shuffle(&self) -> bool {
        self.has(Named(&book::FETCH_WAIT))
            || self.shows(Cue::Waits) && self.has(Takes(SegmentKind::Exchange))
    }

    /// Causes that are named, by a group or by their title.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        // "which key" is about hot ones, unless the key of something is meant
        let is_key = self.shows(Cue::WhichKey) && !self.shows(Cue::KeyOf);
        let is_called = |cause: &Cause| {
            let title = cause.title();
            let names = [title.zh, title.en, cause.code()];
            names.iter().any(|name| self.text.contains(name))
        };
        let is_named = |cause: &Cause| {
            self.has(Caused(*cause))
                || self.has(OfType(cause.problem_type()))
                || is_key && cause.problem_type() == ProblemType::DataSkew
        };
        let named = |is_named: &dyn Fn(&Cause) -> bool| -> Vec<Cause> {
            let all = Cause::ALL.iter().copied();
            all.filter(is_named).collect()
        };
        // the title of one cause has words for others
        match named(&is_called) {
            called if !called.is_empty() => called,
            _ => named(&is_named),
        }
    }

    /// Whether it points at something named before: "it", "that stage".
    pub(crate) fn points_back(&self) -> bool {
        self.shows_any(&[Cue::ThisStage, Cue::It])
    }

    fn english(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split(|c| !is_joined(c));
        words.filter(|word| !word.is_empty())
    }

    /// Whether it continues a question: "and how many rows?", “那顶点数呢”, or has just the quantity.
    pub(crate) fn continues(&self) -> bool {
        let characters = self.text.chars();
        let characters = characters.filter(|c| !c.is_ascii() && c.is_alphanumeric());
        self.begins_with_and() || self.english().count() <= 4 && characters.count() <= 6
    }

    fn begins_with_and(&self) -> bool {
        let starts = ["and ", "what about", "how about", "那", "还有", "以及"];
        let start = self.text.trim_start();
        starts.iter().any(|s| start.starts_with(s))
            || start.trim_end_matches(['?', '？', ' ']).ends_with('呢')
    }

    /// Whether it continues a question with a name alone: "and SV3?".
    pub(crate) fn says_nothing(&self) -> bool {
        let rest = "and|what|how|about|then|那|那么|还有|以及|呢";
        let mut text = self.text.clone();
        rest.split('|')
            .for_each(|word| text = text.replace(word, ""));
        self.begins_with_and() && !text.contains(char::is_alphanumeric)
    }

    /// Whether yes or no would answer it.
    pub(crate) fn is_polar(&self) -> bool {
        self.has_part_from(AUXILIARIES) || self.shows(Cue::Polar)
    }

    /// Whether it asks by a verb and its denial: “准不准”, “用没用”, “用到了没有”.
    fn doubles(&self) -> bool {
        let end = self
            .text
            .trim_end_matches(['?', '？', '。', ' ', '啊', '呢']);
        let pieces: Vec<char> = self.text.chars().collect();
        let is_doubled = |w: &[char]| matches!(w, [a, '不' | '没', b] if a == b && !a.is_ascii());
        ["没有", "没"].iter().any(|no| end.ends_with(no)) || pieces.windows(3).any(is_doubled)
    }

    /// Whether a sentence or clause of it begins with one of some words: "one task failed, is that bad?".
    fn has_part_from(&self, words: &str) -> bool {
        let parts = self.text.split([',', '.', ';', '!', '?', '，', '。']);
        let first = parts.filter_map(|part| {
            let words = part.split(|c| !is_joined(c));
            let mut words = words.filter(|w| !matches!(*w, "" | "and" | "so" | "but"));
            words.next()
        });
        first
            .into_iter()
            .any(|first| words.split('|').any(|word| word == first))
    }

    /// Whether it is a question for yes or no alone.
    pub(crate) fn asks_yes_no(&self) -> bool {
        const ZH: &str = "吗|是否";
        const MORE: &str = "how|what|which|or";
        const MORE_ZH: &str = "多少|几|哪|什么|怎么|还是|谁|多久|多大";
        let is_in = |list: &str, word: &str| list.split('|').any(|known| known == word);
        let has = |list: &str| list.split('|').any(|word| self.text.contains(word));
        let asks_more = self.shows(Cue::Why) || self.english().any(|word| is_in(MORE, word));
        let begins = self.has_part_from(AUXILIARIES) || self.has_part_from("any|anything");
        (begins || has(ZH) || self.doubles()) && !asks_more && !has(MORE_ZH)
    }

    /// Numbers in it.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let digits = self.text.split(move |c| !is_part(c));
        digits.filter_map(|n| n.replace(',', "").parse().ok())
    }

    /// Whether it asks for a number or a name.
    fn asks(&self) -> bool {
        let asked = [
            Rows, Bytes, Data, Time, Number, Mean, Median, Spread, Share, Place, Which,
        ];
        self.has_any(&asked) || self.words.iter().any(|word| matches!(word, Of(_)))
    }

    /// Whether it asks for a time.
    pub(crate) fn is_time(&self) -> bool {
        let amounts = [Mean, Median, Most, Least, Share, Spread, Apart, Times];
        // "how many tasks ran" asks for no time
        let is_count = self.has(Number) && self.has(Noun(Vertex));
        let runs = self.has(Run) && (self.has_any(&amounts) || self.has(Number) && !is_count);
        self.has(Time) || runs
    }

    /// Whether it asks for a number without what it counts: "how many in SV1?".
    pub(crate) fn is_elliptic(&self) -> bool {
        let is_empty = |word: &Word| matches!(word, Filler | Number | Each);
        self.has(Number) && self.left.is_empty() && self.words.iter().all(is_empty)
    }

    /// Whether it compares things that it doesn't name: "which one is bigger?".
    pub(crate) fn compares_unnamed(&self) -> bool {
        self.has(Which) && self.has_any(&[Most, Least]) && !self.has_thing()
    }

    /// Whether it only asks why it isn't another number.
    pub(crate) fn only_denies(&self) -> bool {
        let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        let is_around = |word: &Word| matches!(word, Not | Other | Filler);
        self.has(Not)
            && !self.left.is_empty()
            && self.left.iter().all(is_number)
            && self.words.iter().all(is_around)
    }

    /// Whether it names a kind of thing that isn't a part of a stage or an input, so that it isn't about the thing before.
    pub(crate) fn names_another(&self) -> bool {
        let of_before = [Vertex, Partition, Exchange, Column, Operator, File].map(Noun);
        let mut words = self.words.iter();
        words.any(|word| matches!(word, Noun(_)) && !of_before.contains(word))
    }

    /// Measures of the job, its stages and exchanges by their own words.
    pub(crate) fn measures(&self) -> Vec<&'static Measure> {
        let is_named = |m: &&'static Measure| {
            let of_run = matches!(m.entity, Entity::Job | Entity::Stage);
            (of_run || **m == book::PARTITIONS) && self.has(Named(m))
        };
        let mut measures: Vec<_> = book::ALL.iter().copied().filter(is_named).collect();
        let own = [&book::WAVES, &book::BUSY_SLOTS].into_iter();
        measures.extend(own.filter(|m| self.has(Of(m)) && !self.has(Named(m))));
        measures
    }
}
