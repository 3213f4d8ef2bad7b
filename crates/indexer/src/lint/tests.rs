use std::fs;

use report::Language;
use tempfile::TempDir;

use super::*;

const WHOLE: &str = "---\nid: good\ntitle: Good\nlanguage: en\nproblem_type: data_skew\ncauses: [skew.a]\nsource: own\n\
confidence: observed\nreviewed: 2026-01-01\n---\n# Good\n\n## Symptom\n\ns\n\n## Cause\n\nc\n\n## Check\n\nk\n\n## Fix\n\nf\n\n\
## Example\n\ne\n\n## Trade-offs\n\nt\n\n## Not when\n\nn\n";

const BOTH: [Engine; 2] = [Engine::Scope, Engine::Spark];

fn check(files: &[(&str, &str)], expect: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    assert_eq!(codes(&folder, &[]), expect);
    folder
}

fn codes(folder: &TempDir, causes: &[&str]) -> Vec<String> {
    let options = Options {
        causes: causes
            .iter()
            .map(|&cause| (cause.to_owned(), BOTH.to_vec()))
            .collect(),
        problem_types: vec!["data_skew".to_owned(), "other".to_owned()],
        parse: Some(|code| match code.find("WRONG") {
            Some(at) => Err((1 + code[..at].matches('\n').count(), "wrong".to_owned())),
            None => Ok(()),
        }),
    };
    let findings = lint(folder.path(), &options).expect("linted").into_iter();
    findings
        .map(|f| format!("{}:{} {}", f.file, f.line, f.code))
        .collect()
}

#[test]
fn a_good_playbook_has_no_finding() {
    check(&[("experience/good.md", WHOLE)], &[]);
}

/// Checks the good playbook with `old` replaced by `new`; `expect` has line and code of each finding.
fn check_edit(old: &str, new: &str, expect: &[&str]) {
    let expect = expect.iter().map(|e| format!("experience/good.md:{e}"));
    let expect: Vec<String> = expect.collect();
    let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
    check(&[("experience/good.md", &WHOLE.replace(old, new))], &expect);
}

#[test]
fn front_matter_is_asked_for() {
    let bare = ("experience/a.md", "# A\n\ntext\n");
    check(&[bare], &["experience/a.md:1 front-matter"]);
    check_edit("causes: [skew.a]", "causes: [skew.a", &["6 front-matter"]);
    let both = ["6 front-matter", "8 front-matter"];
    check_edit(
        "causes: [skew.a]\nsource: own\nconfidence: observed",
        "causes: [skew.a\nsource: own\nconfidence: sure",
        &both,
    );
    check_edit(
        "problem_type: data_skew",
        "problem_type: skewed",
        &["5 unknown-problem-type"],
    );
    check_edit("2026-01-01", "2026-02-30", &["9 bad-date"]);
    check_edit("2026-01-01", "January", &["9 bad-date"]);
    let renamed = ["1 missing-key", "7 unknown-key"];
    check_edit("source: own", "sources: own", &renamed);
    check_edit("language: en", "language: zh", &["4 language"]);
}

#[test]
fn sections_headings_and_links_are_checked() {
    let fixed = "#### Fixed [x](../gone.md)\n";
    check_edit("## Fix\n", fixed, &["25 dead-link", "25 heading-level"]);
    let repeated = ["1 missing-section", "17 heading-twice"];
    check_edit("## Cause", "## Symptom", &repeated);
    let links = "\n[a](good.md#fix) [b](good.md#nowhere) [c](https://x.org)\n";
    check_edit("\nf\n", links, &["27 dead-link"]);
}

#[test]
fn a_missing_section_is_named_as_it_has_to_be_written() {
    let text = WHOLE
        .replace("## Trade-offs", "## More")
        .replace("## Fix", "## Else");
    let folder = check(
        &[("experience/good.md", &text)],
        &["experience/good.md:1 missing-section"; 2],
    );
    let findings = lint(folder.path(), &Options::default()).expect("linted");
    let messages: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    let write = |name| format!("a section is missing; write `## {name}`");
    assert_eq!(messages, [write("Fix"), write("Trade-offs")]);
}

#[test]
fn code_in_fences_is_closed_and_parsed() {
    let fence = |code: &str| format!("\nf\n\n{code}\n");
    for (code, expect) in [
        ("```scope\na = b;\n```", vec![]),
        ("```scope\na = b;\nWRONG\n```", vec!["31 bad-code"]),
        ("```json\n{\n\"a\": }\n```", vec!["31 bad-code"]),
        ("```toml\na = 1\nb\n```", vec!["31 bad-code"]),
        ("```python\nWRONG\n```", vec![]),
    ] {
        check_edit("\nf\n", &fence(code), &expect);
    }
    check_edit("\nn\n", "\n```scope\na = b;\n", &["39 open-fence"]);
}

#[test]
fn ids_are_unique_and_causes_covered() {
    let folder = check(
        &[
            ("experience/good.md", WHOLE),
            ("experience/other.md", &WHOLE.replace("data_skew", "other")),
        ],
        &[
            "experience/other.md:1 contradiction",
            "experience/other.md:1 duplicate-id",
            "experience/other.md:2 id-name",
        ],
    );
    let codes = codes(&folder, &["skew.b"]);
    for code in [
        "experience:1 uncovered-cause",
        "experience/good.md:6 unknown-cause",
    ] {
        assert!(codes.iter().any(|known| known == code), "{codes:?}");
    }
}

#[test]
fn each_engine_needs_its_own_playbooks_once_there_is_one() {
    let spark = |causes| {
        WHOLE
            .replace("id: good", "id: spark\nengine: spark")
            .replace("[skew.a]", causes)
    };
    let folder = check(
        &[
            ("experience/good.md", WHOLE),
            ("experience/spark.md", &spark("[]")),
        ],
        &[],
    );
    let covered = |folder: &TempDir| codes(folder, &["skew.a"]);
    let uncovered = [
        "experience:1 uncovered-cause",
        "experience:1 uncovered-language",
    ];
    assert_eq!(
        covered(&folder),
        uncovered,
        "Spark's, then SCOPE's in Chinese"
    );
    let path = folder.path().join("experience/spark.md");
    fs::write(&path, spark("[skew.a]")).expect("written");
    assert_eq!(covered(&folder), [uncovered[1]; 2]);
    let options = Options {
        causes: vec![("skew.a".to_owned(), vec![Engine::Scope])],
        ..Options::default()
    };
    let findings = lint(folder.path(), &options).expect("linted");
    let refused = findings.iter().filter(|f| f.file == "experience/spark.md");
    assert_eq!(
        refused.map(|f| f.code).collect::<Vec<_>>(),
        ["unknown-cause"]
    );
}

#[test]
fn coverage_counts_playbooks_and_sections_per_language() {
    let folder = check(&[("experience/good.md", WHOLE)], &[]);
    let options = Options {
        causes: ["skew.a", "skew.b"]
            .map(|cause| (cause.to_owned(), BOTH.to_vec()))
            .to_vec(),
        ..Options::default()
    };
    let rows = coverage(folder.path(), &options).expect("counted");
    let of = |cause: &str, language| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.cause == cause && row.language == language);
        row.expect("a row").clone()
    };
    assert_eq!(rows.len(), 4);
    let covered = of("skew.a", Language::En);
    assert_eq!(covered.playbooks, 1);
    assert!(covered.sections.iter().all(|&(_, n)| n == 1));
    assert_eq!(of("skew.a", Language::Zh).playbooks, 0);
    assert_eq!(of("skew.b", Language::En).playbooks, 0);
}

#[test]
fn glossary_and_judgements_are_checked() {
    check(
        &[
            ("experience/good.md", WHOLE),
            (
                "glossary.toml",
                "[[term]]\nzh = \"倾斜\"\nen = [\"skew\"]\n\n[[term]]\nen = [\"skew\", \"tilt\"]\n\n[[term]]\nen = \"alone\"\n",
            ),
            (
                "judgements/a.toml",
                "[[query]]\ntext = \"q\"\nrelevant = [{ chunk = \"experience/good.md#fix\" }, { document = \"gone.md\" }]\n",
            ),
        ],
        &[
            "glossary.toml:5 glossary-loop",
            "glossary.toml:8 glossary-lone",
            "judgements/a.toml:1 judgement",
        ],
    );
    let broken = ("files.toml", "version = 1\n[[file\n");
    check(
        &[("experience/good.md", WHOLE), broken],
        &["files.toml:2 toml"],
    );
}

#[test]
fn a_document_without_text_lists_questions() {
    let without = "---\nid: none\ntitle: None\nlanguage: en\n---\n";
    let questions = "language: en\nquestions:\n  - \"which broker is the leader\"\n";
    let elsewhere = without.replace("language: en\n", questions);
    check(&[("elsewhere.md", without)], &["elsewhere.md:1 empty"]);
    check(&[("elsewhere.md", &elsewhere)], &[]);
}

#[test]
fn a_page_has_few_questions_and_those_of_a_program_are_apart() {
    let many: String = (0..11).map(|n| format!("  - \"question {n}\"\n")).collect();
    let many = WHOLE.replace("id: good\n", &format!("id: good\nquestions:\n{many}"));
    check(
        &[("experience/good.md", &many)],
        &["experience/good.md:3 many-questions"],
    );
    let list = |page: &str, n: usize| {
        let all: Vec<String> = (0..n).map(|n| format!("\"question {n}\"")).collect();
        format!(
            "made = \"by hand\"\n[pages]\n\"{page}\" = [{}]\n",
            all.join(",")
        )
    };
    for (list, expect) in [
        (list("good.md", 30), &[][..]),
        (
            list("good.md", 31),
            &["experience/questions.toml:1 generated-questions"],
        ),
        (
            list("gone.md", 1),
            &["experience/questions.toml:1 generated-questions"],
        ),
        (
            list("good.md", 1).replace("made", "mode"),
            &["experience/questions.toml:1 toml"],
        ),
    ] {
        check(
            &[
                ("experience/good.md", WHOLE),
                ("experience/questions.toml", &list),
            ],
            expect,
        );
    }
}

#[test]
fn questions_are_nobody_elses() {
    let asking = |id: &str, questions: &[&str]| {
        let others = (questions.len()..10).map(|n| format!("{id} {n}"));
        let all = questions.iter().map(|q| (*q).to_owned()).chain(others);
        let all: Vec<String> = all
            .map(|question| format!("\n  - \"{question}\""))
            .collect();
        let front = format!("id: {id}\nquestions:{}\n", all.concat());
        WHOLE.replace("id: good\n", &front)
    };
    let judged = |split: &str| {
        let query = |id: &str, text: &str| {
            let relevant = "[{ document = \"experience/a.md\" }]";
            format!(
                "[[query]]\nid = \"{id}\"\ntext = \"{text}\"\nsplit = \"{split}\"\nrelevant = {relevant}\n"
            )
        };
        query(
            "words",
            "Well, why is one task reading nearly all rows of it",
        ) + &query("characters", "请问最后一个任务总是卡住")
    };
    let [a, b] = [
        [
            "Skewed?",
            "so why is one task reading nearly all rows",
            "why is one task reading nearly all",
        ],
        ["skewed", "最后一个任务总是卡住吗", "任务总是卡住"],
    ];
    let (a, b) = (asking("a", &a), asking("b", &b));
    let twice = "experience/b.md:4 question-twice";
    let shared = [
        "experience/a.md:5 judged-question",
        twice,
        "experience/b.md:5 judged-question",
    ];
    for (split, expect) in [
        ("heldout", shared.as_slice()),
        ("fresh", &shared),
        ("tune", &[twice]),
    ] {
        let judged = judged(split);
        let files = [
            ("experience/a.md", &*a),
            ("experience/b.md", &b),
            ("judgements/j.toml", &judged),
        ];
        check(&files, expect);
    }
}

#[test]
fn a_repair_changes_nothing_that_is_said() {
    let broken = WHOLE
        .replace("id: good\n", "")
        .replace("language: en\n", "")
        .replace('\n', "\r\n");
    let folder = check(
        &[("experience/good.md", broken.trim_end())],
        &[
            "experience/good.md:1 line-ends",
            "experience/good.md:1 missing-key",
            "experience/good.md:1 missing-key",
            "experience/good.md:37 final-newline",
        ],
    );
    fix(folder.path(), &Options::default()).expect("repaired");
    assert_eq!(codes(&folder, &[]), Vec::<String>::new());
    let text = fs::read_to_string(folder.path().join("experience/good.md")).expect("read");
    let front = "---\nid: \"good\"\nlanguage: en\ntitle: Good\n";
    assert!(text.starts_with(front), "{text}");
    assert!(text.ends_with("## Not when\n\nn\n"));
}
