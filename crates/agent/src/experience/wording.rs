//! The words of a query. Names and numbers of one job are meaningless to the knowledge base. Without them, jobs with the same
//! problem make the same search, and no remote embedder learns them.

use crate::outline::Outline;

/// Units of the numbers that are left out.
const UNITS: [&str; 14] = [
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "K", "M", "ms", "s", "min", "h", "d", "k",
];

/// A text without the names and numbers of its job. Ids of errors stay, even those that end in digits.
pub(super) fn general(text: &str, job: &Outline) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut kept: Vec<String> = Vec::new();
    let mut counts = false;
    for run in chars.chunk_by(|a, b| Sign::of(*a) == Sign::of(*b)) {
        let run: String = run.iter().collect();
        let word = run.trim_matches(['.', '-']);
        match Sign::of(run.chars().next().unwrap_or(' ')) {
            Sign::Apart => continue,
            Sign::Latin if word.is_empty() => continue,
            Sign::Latin if is_number(word) => counts = true,
            Sign::Latin if counts && UNITS.contains(&word) => {}
            Sign::Latin if is_name(word, job) => counts = false,
            Sign::Latin | Sign::Other => {
                counts = false;
                kept.push(word.to_owned());
            }
        }
    }
    kept.join(" ")
}

#[derive(PartialEq)]
enum Sign {
    /// Words and numbers of Latin letters.
    Latin,
    /// Letters of another script.
    Other,
    Apart,
}

impl Sign {
    fn of(sign: char) -> Sign {
        match sign {
            '_' | '.' | '-' => Sign::Latin,
            _ if sign.is_ascii_alphanumeric() => Sign::Latin,
            _ if sign.is_alphanumeric() => Sign::Other,
            _ => Sign::Apart,
        }
    }
}

/// Whether a word is a number or a value with digits; the ids of errors, as `CS0246`, begin with capitals.
fn is_number(word: &str) -> bool {
    let is_id = word.starts_with(|c: char| c.is_ascii_uppercase());
    !is_id && word.contains(|c: char| c.is_ascii_digit())
}

/// Whether authors of the job chose a word as a name. A word of the field is no name, even if it is also a column.
fn is_name(word: &str, job: &Outline) -> bool {
    if word.chars().all(|c| c.is_ascii_lowercase()) {
        return false;
    }
    let statements = job.statements.iter();
    let mut rowsets = statements.flat_map(|s| s.target.iter().chain(&s.inputs));
    let known = |name: &str| {
        let found = job.names.binary_search_by(|known| known.as_str().cmp(name));
        found.is_ok()
    };
    known(word)
        || known(&format!("@{word}"))
        || rowsets.any(|rowset| rowset.trim_start_matches('@') == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general_text(text: &str) -> String {
        let names = ["@RouteQualityFolder", "PlayerId", "SV3_Combine", "key"];
        let outline = Outline {
            names: names.map(str::to_owned).to_vec(),
            ..Outline::default()
        };
        general(text, &outline)
    }

    #[test]
    fn jobs_with_the_same_problem_ask_the_same() {
        for text in [
            "the join in SV3_Combine is skewed on PlayerId: one vertex gets 45 % of the rows, 1.8 times the mean",
            "the join in is skewed on: one vertex gets 3.75 % of the rows, 12,180.25 times the mean",
        ] {
            let expected = "the join in is skewed on one vertex gets of the rows times the mean";
            assert_eq!(general_text(text), expected);
        }
        let (minutes, hours) = ("takes 12 h 12 min, 98 %", "takes 47 s, 6 %");
        assert_eq!(general_text(minutes), general_text(hours));
        assert_eq!(
            general_text("RouteQualityFolder is read twice"),
            "is read twice"
        );
        assert_eq!(
            general_text("SV3_Combine 按 PlayerId 倾斜：一个顶点得到 45 % 的行"),
            "按 倾斜 一个顶点得到 的行"
        );
    }

    #[test]
    fn words_of_the_field_stay() {
        for text in [
            "failed E_RUNTIME_USER_EXPRESSIONEVALUATION error CS0246",
            "spark.sql.shuffle.partitions or AQE",
            "a hot key in a group-by with SKEWFACTOR",
        ] {
            assert_eq!(general_text(text), text);
        }
    }
}
