//! TREC run files: `query Q0 document rank score tag`, one line per hit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::judgements::{read_error, read_text};
use super::metrics;
use super::{EvalError, Judged, Options, Scores, rank};
use crate::model::Fusion;
use crate::search::Index;

/// Rankings by query, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    rankings: BTreeMap<String, Vec<(String, f64)>>,
}

impl Run {
    /// Runs the judged queries; `fusion` as in a query.
    pub fn of(
        index: &Index,
        judged: &[Judged],
        fusion: Option<Fusion>,
        depth: usize,
    ) -> Result<Run, EvalError> {
        let mut run = Run::default();
        for query in judged {
            let ranking = rank(index, query, fusion, depth)?;
            let scored = ranking.into_iter().enumerate();
            // Other tools sort by score, so the score must reflect the rank.
            let scored = scored.map(|(place, (chunk, _))| (chunk, 1.0 / (place + 1) as f64));
            run.rankings.insert(query.id.clone(), scored.collect());
        }
        Ok(run)
    }

    /// White space in an id becomes `_`, since the format has no quoting.
    pub fn to_text(&self, tag: &str) -> String {
        let plain = |id: &str| id.replace(char::is_whitespace, "_");
        let mut out = String::new();
        for (query, ranking) in &self.rankings {
            for (place, (id, score)) in ranking.iter().enumerate() {
                let (query, id, rank) = (plain(query), plain(id), place + 1);
                // Writing to a string cannot fail.
                let _ = writeln!(out, "{query} Q0 {id} {rank} {score:.6} {tag}");
            }
        }
        out
    }
}

/// Reads a run, ordered by score; ties keep their order.
///
/// # Errors
/// When the file cannot be read or a line is malformed.
pub fn read(path: &Path) -> Result<Run, EvalError> {
    let text = read_text(path)?;
    let mut run = Run::default();
    for (number, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let expected = "expected `query Q0 document rank score tag`";
        let malformed = || read_error(path, format!("line {}: {expected}", number + 1));
        match fields[..] {
            [] => {}
            [query, _, id, _, score, _] => {
                let score: f64 = score.parse().map_err(|_| malformed())?;
                let ranking = run.rankings.entry(query.to_owned()).or_default();
                ranking.push((id.to_owned(), score));
            }
            _ => return Err(malformed()),
        }
    }
    for ranking in run.rankings.values_mut() {
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    Ok(run)
}

/// Scores a run of any origin. A query without a ranking counts as 0.
pub fn score(run: &Run, judged: &[Judged], options: &Options) -> Scores {
    let scores = judged.iter().map(|query| {
        let ranking = run.rankings.get(&query.id).into_iter().flatten();
        let document = |id: &str| id.split('#').next().unwrap_or(id).to_owned();
        let ids: Vec<_> = ranking.map(|(id, _)| (id.clone(), document(id))).collect();
        metrics::score(&ids, &query.relevant, options)
    });
    Scores::of(&scores.collect::<Vec<_>>(), options)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::eval::read_judgements;

    #[test]
    fn a_run_is_read_written_and_scored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.txt");
        fs::write(&path, "q1 Q0 b 2 0.5 x\nq1 Q0 a 1 0.9 x\n\n").expect("written");
        let run = read(&path).expect("read");
        let text = "q1 Q0 a 1 0.900000 t\nq1 Q0 b 2 0.500000 t\n";
        assert_eq!(run.to_text("t"), text);
        let judgements = "[[query]]\nid = \"q1\"\ntext = \"\"\nrelevant = [{ document = \"b\" }]";
        let file = folder.path().join("judged.toml");
        fs::write(&file, judgements).expect("written");
        let judged = read_judgements(&file).expect("read");
        let scores = score(&run, &judged, &Options::default());
        assert_eq!(scores.metrics["mrr@10"], 0.5);
        fs::write(&path, "q1 b 0.5\n").expect("written");
        let refused = read(&path).expect_err("refused").to_string();
        assert!(refused.contains("line 1"), "{refused}");
    }
}
