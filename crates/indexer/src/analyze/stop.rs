//! Words that carry no topic. A short list: BM25 already gives frequent words little weight, so it only saves
//! postings and keeps questions (`why is`, `how do I`) from matching by their wording.

const ENGLISH: [&str; 115] = [
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "but", "by", "can", "could", "did", "do", "does",
    "doing", "during", "each", "for", "from", "further", "had", "has", "have", "having", "he",
    "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may",
    "me", "might", "more", "most", "must", "my", "of", "off", "on", "once", "only", "or", "other",
    "our", "out", "over", "own", "s", "same", "shall", "she", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "until", "up", "upon", "us", "very", "was", "we", "were", "what",
    "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "within", "would", "you", "your", "yours",
];

/// As part of a pair they are kept.
const CHINESE: &str = "的了是在和与及或也都就这那吗呢吧啊么着过把被让给";

/// Phrases that only ask. Text about the subject hardly has them, and their pairs with the words around them say nothing.
const ASKING: &str = "为什么|怎么回事|怎么办|怎么样|怎么|怎样|如何|为啥|为何|咋|哪个|哪些|哪里|哪儿|什么|多少|是不是|有没有|能不能|\
     要不要|会不会|是否|能否|请问|一下|应该|可以";

/// Words for how often or how much. Complaints have them, and pages have others or none.
const DEGREES: &str = "频繁|老是|总是|经常|反复|一直|动不动|严重|特别|非常|十分|相当|贼|巨";

/// `text` with a space in place of each phrase that only asks or says how much.
pub(crate) fn without_asking(text: &str) -> String {
    let replace = |text: String, phrase: &str| text.replace(phrase, " ");
    let phrases = ASKING.split('|').chain(DEGREES.split('|'));
    phrases.fold(text.to_owned(), replace)
}

pub(super) fn is_english(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

pub(super) fn is_chinese(single: &str) -> bool {
    CHINESE.contains(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(ENGLISH.is_sorted());
        assert!(is_english("why") && is_english("a") && is_english("yours"));
        assert!(!is_english("not"), "negation changes the meaning");
    }
}
