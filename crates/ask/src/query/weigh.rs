//! How well a text fits a question: by the words that both have, rare ones first.

use std::collections::{HashMap, HashSet};

use report::measure::{Entity, Measure, Unit};

use crate::clauses::ASKING_ZH;
use crate::words::Word::*;
use crate::words::{ALL, Scan, Thing, Word, length, word};

/// Statistics and directions: a measure with one that the question lacks fits less.
const NARROWER: [Word; 7] = [Mean, Median, Most, Spread, Estimated, In, Out];

/// Part of its weight that a measure loses for each.
const TOO_NARROW: f64 = 0.3;

/// A phrase or word of a question, by the features that a text may share with it.
pub(super) struct Piece {
    features: Vec<String>,
    pub(super) weight: f64,
}

/// A text by its features.
#[derive(Default)]
pub(super) struct Features {
    all: HashSet<String>,
    /// Those of the names of a measure, without its definition.
    named: HashSet<String>,
    narrower: Vec<Word>,
}

fn key(word: &Word) -> String {
    match word {
        Of(measure) => format!("={:?}.{}", measure.entity, measure.id),
        word => format!("={word:?}"),
    }
}

/// Whether a word only asks.
fn asks(text: &str) -> bool {
    const ASKING_EN: &str = "how|much|many|what|which|who|when|where|why";
    let mut words = ASKING_ZH.split('|').chain(ASKING_EN.split('|'));
    words.any(|word| word == text)
}

/// Terms without single Chinese characters and words that only ask.
fn terms(text: &str) -> impl Iterator<Item = String> {
    let is_long =
        |term: &String| term.len() > 1 && term.chars().count() > usize::from(!term.is_ascii());
    let is_content = move |term: &String| is_long(term) && !asks(term);
    indexer::terms(text).into_iter().filter(is_content)
}

impl Features {
    pub(super) fn of_text(text: &str) -> Features {
        Features {
            all: terms(text).collect(),
            ..Features::default()
        }
    }

    /// The features of a text with the words of the vocabulary that it has.
    pub(super) fn of_words(text: &str) -> Features {
        let words = Scan::of(text).words.into_iter();
        let named = words.filter(|w| matches!(w, Noun(_) | Kind(_) | Key | Place));
        let terms = terms(text).collect::<Vec<_>>();
        Features {
            all: named.map(|word| key(&word)).chain(terms).collect(),
            ..Features::default()
        }
    }

    /// The features of a measure: its words, its unit and its statistic.
    pub(super) fn of_measure(measure: &'static Measure, text: &str) -> Features {
        let mut words = vec![Of(measure)];
        let thing = match measure.entity {
            Entity::Operator => Some(Thing::Operator),
            Entity::Exchange => Some(Thing::Exchange),
            Entity::Input => Some(Thing::Input),
            Entity::Column => Some(Thing::Column),
            Entity::Executor => Some(Thing::Executor),
            Entity::Execution => Some(Thing::Execution),
            Entity::Job | Entity::Stage => None,
        };
        words.extend(thing.map(Noun));
        words.extend(match measure.unit {
            Unit::Rows => Some(Rows),
            Unit::Bytes => Some(Bytes),
            Unit::Ms | Unit::Seconds => Some(Time),
            Unit::Share => Some(Share),
            Unit::Ratio => Some(Spread),
            Unit::Vertices => Some(Noun(Thing::Vertex)),
            Unit::Partitions => Some(Noun(Thing::Partition)),
            Unit::Files => Some(Noun(Thing::File)),
            _ => None,
        });
        let id = measure.id;
        let has = |parts: &[&str]| id.split('_').any(|part| parts.contains(&part));
        for (word, parts) in [
            (Mean, &["mean"][..]),
            (Median, &["median"]),
            (Most, &["max"]),
            (Estimated, &["estimated"]),
            (In, &["in", "read", "input"]),
            (Out, &["out", "written"]),
            (Arrived, &["added"]),
            (Lost, &["lost"]),
        ] {
            words.extend(has(parts).then_some(word));
        }
        let narrower = words.iter().filter(|w| NARROWER.contains(w));
        let names = [measure.title, measure.words].map(|text| format!("{} {}", text.zh, text.en));
        let named = names.iter().flat_map(|text| terms(text));
        Features {
            named: words.iter().map(key).chain(named).collect(),
            narrower: narrower.copied().collect(),
            all: words.iter().map(key).chain(terms(text)).collect(),
        }
    }
}

/// The pieces of a question: the longest phrases of the vocabulary, and the words between them.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let lower = text.to_lowercase().replace('’', "'");
    let (mut pieces, mut at, mut unknown) = (Vec::new(), 0, String::new());
    while at < lower.len() {
        let rest = &lower[at..];
        let found = ALL.iter().find_map(|p| Some((p, length(p.text, rest)?)));
        let is_letter = rest.starts_with(char::is_alphanumeric);
        match found.filter(|_| is_letter) {
            Some((phrase, length)) => {
                flush(&mut pieces, &mut unknown);
                let same = ALL.iter().filter(|p| p.text == phrase.text);
                let words: Vec<Word> = same.flat_map(|p| p.words.iter().copied()).collect();
                let is_content = |w: &&Word| {
                    !matches!(
                        w,
                        Filler | Other | Which | Number | Each | Not | Define | When | Who | Run
                    )
                };
                let is_asking = asks(phrase.text);
                let mut own: Vec<&Word> = words.iter().filter(is_content).collect();
                if own.contains(&&Data) {
                    own.extend([&Rows, &Bytes]);
                }
                let is_detail =
                    |w: &&Word| matches!(w, In | Out | Most | Least | Sum | Mean | Median);
                let weight = match own.first() {
                    None => 0.7,
                    Some(_) if own.iter().all(is_detail) => 0.25,
                    Some(Kind(_)) => 0.5,
                    Some(_) => 1.0,
                };
                let only_asks =
                    |w: &Word| matches!(w, Which | Number | Each | Not | Define | When | Who);
                let is_asking = is_asking || words.iter().any(only_asks);
                let is_filler = words.contains(&Filler) || is_asking && own.is_empty();
                let features: Vec<String> = own
                    .into_iter()
                    .map(key)
                    .chain(terms(&rest[..length]))
                    .collect();
                if !is_filler && !features.is_empty() {
                    pieces.push(Piece { features, weight });
                }
                at += length;
            }
            None if is_letter => {
                let word = word(rest);
                if word.is_ascii() {
                    flush(&mut pieces, &mut unknown);
                    let is_name = word.contains(|c: char| c.is_ascii_alphabetic());
                    let features: Vec<String> = terms(word).filter(|_| is_name).collect();
                    if !features.is_empty() {
                        pieces.push(Piece {
                            features,
                            weight: 1.0,
                        });
                    }
                } else {
                    unknown.push_str(word);
                }
                at += word.len();
            }
            None => {
                flush(&mut pieces, &mut unknown);
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
    }
    flush(&mut pieces, &mut unknown);
    pieces
}

/// Adds a run of unknown Chinese characters as one piece.
fn flush(pieces: &mut Vec<Piece>, unknown: &mut String) {
    let text = std::mem::take(unknown);
    let features: Vec<String> = terms(&text).collect();
    if !features.is_empty() {
        pieces.push(Piece {
            features,
            weight: 0.3,
        });
    }
}

/// Weighs texts against a question.
pub(super) struct Weigher {
    pieces: Vec<Piece>,
    texts: f64,
    having: HashMap<String, f64>,
}

impl Weigher {
    pub(super) fn new<'f>(pieces: Vec<Piece>, all: impl Iterator<Item = &'f Features>) -> Weigher {
        let (mut texts, mut having) = (0.0, HashMap::new());
        let asked: HashSet<&String> = pieces.iter().flat_map(|p| &p.features).collect();
        for features in all {
            texts += 1.0;
            for &feature in asked.iter().filter(|f| features.all.contains(**f)) {
                *having.entry(feature.clone()).or_insert(0.0) += 1.0;
            }
        }
        Weigher {
            pieces,
            texts,
            having,
        }
    }

    fn rarity(&self, feature: &String) -> f64 {
        let n = self.having.get(feature).copied().unwrap_or(0.0);
        (1.0 + (self.texts - n + 0.5) / (n + 0.5)).ln()
    }

    /// The pieces of the question, by their indices, that some texts don't share.
    pub(super) fn left<'f>(&self, texts: impl Iterator<Item = &'f Features>) -> Vec<usize> {
        let texts: Vec<&Features> = texts.collect();
        let is_shared = |piece: &Piece| {
            let mut features = piece.features.iter();
            features.any(|f| texts.iter().any(|text| text.all.contains(f)))
        };
        let pieces = self.pieces.iter().enumerate();
        let left = pieces.filter(|(_, piece)| !is_shared(piece));
        left.map(|(at, _)| at).collect()
    }

    /// The part of the question that some texts cover.
    pub(super) fn covered<'f>(&self, texts: impl Iterator<Item = &'f Features>) -> f64 {
        let all: f64 = self.pieces.iter().map(|piece| piece.weight).sum();
        let left = self
            .left(texts)
            .into_iter()
            .map(|at| self.pieces[at].weight);
        match all > 0.0 {
            true => 1.0 - left.sum::<f64>() / all,
            false => 1.0,
        }
    }

    /// The weight of the shared words of some pieces.
    pub(super) fn weigh(&self, text: &Features, pieces: &[usize]) -> f64 {
        let mut weight = 0.0;
        for piece in pieces.iter().map(|at| &self.pieces[*at]) {
            let shared = piece.features.iter().filter(|f| text.all.contains(*f));
            let best = shared.map(|f| self.rarity(f)).reduce(f64::max);
            weight += best.map_or(0.0, |best| piece.weight * best);
        }
        let lacks = |word: &&Word| {
            let feature = key(word);
            !self.pieces.iter().any(|p| p.features.contains(&feature))
        };
        let narrower = text.narrower.iter().filter(lacks).count() as f64;
        weight * (1.0 - TOO_NARROW * narrower)
    }

    /// Whether a measure has a word of the question besides statistics and directions.
    pub(super) fn names_measure(&self, text: &Features) -> bool {
        let details = [In, Out, Most, Least, Sum, Mean, Median].map(|word| key(&word));
        let mut asked = self.pieces.iter().flat_map(|p| &p.features);
        asked.any(|f| text.named.contains(f) && !details.contains(f))
    }

    /// Whether the question has words of another subject only.
    pub(super) fn is_foreign(&self) -> bool {
        let is_known = |piece: &Piece| piece.features.iter().any(|f| self.having.contains_key(f));
        let is_word = |piece: &Piece| piece.features.iter().any(|f| f.starts_with('='));
        let is_foreign = |piece: &Piece| piece.weight >= 1.0 && !is_known(piece) && !is_word(piece);
        self.pieces.iter().any(is_foreign) && !self.pieces.iter().any(is_known)
    }

    /// Whether the question has no word besides names.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}
