//! Recognizes a file by its first bytes: root element, JSON keys, or the shape of its lines.
//!
//! Never looks at the name: a file called `Algebra.xml` may contain a compile result or a path.

use crate::json;
use crate::model::FileKind;
use crate::text::{decode, head};

/// Bytes examined. Vertex events may start after a page of other log lines.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

pub(crate) fn sniff(head: &[u8]) -> FileKind {
    if let Some(kind) = crate::spark::sniff(head) {
        return kind;
    }
    let text = decode(head).text;
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    match text.as_bytes().first() {
        None => FileKind::Unknown,
        Some(b'<') => xml_kind(text),
        Some(b'{' | b'[') if looks_like_json(text) => json_kind(text),
        Some(_) => text_kind(text),
    }
}

/// `[` also begins a hint, a log line (`[Info] …`) or an ini section.
fn looks_like_json(text: &str) -> bool {
    let next = text[1..].trim_start().as_bytes().first();
    matches!(next, Some(b'"' | b'{' | b'[' | b'}' | b']'))
}

fn xml_kind(text: &str) -> FileKind {
    match root_name(text).unwrap_or_default() {
        "ScopeVertices" => FileKind::VertexDef,
        "AggregatedStats" => FileKind::RuntimeStatistics,
        "CSSRelatedInfo" => FileKind::OptimizerPlan,
        "OperatorPhyMapping" => FileKind::OperatorPlanMap,
        "ScriptAndGraph" | "CsJobAlgebra" => FileKind::Algebra,
        "SStreams" if text.contains("LastRowId") => FileKind::PartitionLastRows,
        "SStreams" => FileKind::StreamInfo,
        "StatisticsInfo" => FileKind::InternalStatistics,
        "vertexCommand" => FileKind::VertexCommand,
        "JobInfo" => FileKind::JobInfo,
        "Warnings" => FileKind::Warnings,
        "CompileResult" | "CommonCompileResult" => FileKind::CompileResult,
        "CompilerTimers" => FileKind::CompilerTimers,
        "Vertex" => FileKind::UserDiagnostics,
        _ => FileKind::Unknown,
    }
}

/// Name of the first element, after declaration, comments and document type.
fn root_name(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')? + 1..];
        let (skip_to, markup) = match rest {
            _ if rest.starts_with("!--") => ("-->", true),
            _ if rest.starts_with('?') => ("?>", true),
            _ if rest.starts_with('!') => (">", true),
            _ => ("", false),
        };
        if !markup {
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
            let name = &rest[..end];
            return Some(name.rsplit(':').next().unwrap_or(name));
        }
        rest = &rest[rest.find(skip_to)? + skip_to.len()..];
    }
}

fn json_kind(text: &str) -> FileKind {
    let keys = json::keys(text);
    let has = |name: &str| keys.iter().any(|(_, key)| *key == name);
    let at_top = |name: &str| keys.iter().any(|(depth, key)| *depth <= 2 && *key == name);
    let syntax_tree = has("Batch") || head(text, 200).contains("\"Batch\"");
    match () {
        () if at_top("CompilerPlanStart") => FileKind::CompilerPlan,
        () if syntax_tree => FileKind::Ast,
        () if has("stages") && (has("stageName") || has("lastUpdateTimeUtc")) => {
            FileKind::RestStatistics
        }
        () if has("jobId") && (has("degreeOfParallelism") || has("submitTime")) => {
            FileKind::RestJob
        }
        () if at_top("tables") => FileKind::Tables,
        () if at_top("errorId") || at_top("diagnosticCode") => FileKind::Error,
        () => FileKind::Unknown,
    }
}

fn text_kind(text: &str) -> FileKind {
    match () {
        () if text.lines().any(is_vertex_event) => FileKind::VertexEvents,
        () if is_stdout(text) => FileKind::VertexStdout,
        () if is_spark_script(text) => FileKind::SparkScript,
        () if is_driver_log(text) => FileKind::DriverLog,
        () if is_log(text) => FileKind::Ignored,
        () if is_csharp(text) => FileKind::Codegen,
        () if is_command_line(text) => FileKind::CommandLine,
        () if is_script(text) => FileKind::Script,
        () if has_error_id(text) => FileKind::Error,
        () => FileKind::Unknown,
    }
}

/// Sentences of the job manager.
fn is_vertex_event(line: &str) -> bool {
    const STARTS: &str = "---HiPriTime |Timing Information |Process started for vert|Process has failed Vertex |\
         Process was terminated Vertex |Process was revoked by remote scheduler|\
         Created process execution record for vert|Creating process for vertex |JM Finish time: |Abandoning duplicate ";
    STARTS.split('|').any(|start| line.starts_with(start))
}

fn is_stdout(text: &str) -> bool {
    text.starts_with("LocaVertexHost")
        || text.lines().any(|line| {
            let name = line.split_once(": vertexGuid=").map(|(name, _)| name);
            name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
        })
}

/// Python or Scala that uses Spark.
fn is_spark_script(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        [
            "from pyspark",
            "import pyspark",
            "import org.apache.spark",
            "-- Databricks notebook",
            "# Databricks notebook",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    })
}

/// Lines of a driver's logger: `26/11/22 01:10:42 INFO SparkContext: Running Spark version 3.5.9`.
fn is_driver_log(text: &str) -> bool {
    let levels = [" INFO ", " WARN ", " ERROR "];
    let logged = |line: &&str| {
        let leveled = levels.iter().any(|level| line.contains(level));
        leveled && line.starts_with(|c: char| c.is_ascii_digit())
    };
    let classes = [
        "SparkContext",
        "DAGScheduler",
        "TaskSetManager",
        "BlockManager",
        "SparkSubmit",
        "TaskSchedulerImpl",
    ];
    // what a driver with few log lines prints first, and the stacks of its exceptions
    let marks = [
        "Using Spark's default log4j profile",
        "Setting default log level to ",
        "py4j.protocol.",
        "\tat org.apache.spark.",
        "pyspark.errors.",
    ];
    let mut lines = text.lines().filter(logged);
    lines.any(|line| classes.iter().any(|class| line.contains(class)))
        || marks.iter().any(|mark| text.contains(mark))
}

/// Logs of the compiler and of the vertex host, build files, settings: never read.
fn is_log(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let dated = line.len() > 20 && line.as_bytes()[4] == b'-' && line.as_bytes()[10] == b'T';
    line.starts_with("[Info] (")
        || line.starts_with("@ECHO OFF")
        || line.starts_with("*** Entering compilation")
        || line.starts_with("[EventStream]")
        || line.starts_with("//Reflected script of operator")
        || (dated && line.contains('\t'))
        || (line.contains(",SrcFile=\"") && line.contains("Pid=\""))
}

/// Generated or user C#: `using X;` and a class, and no statement of a script around it.
fn is_csharp(text: &str) -> bool {
    let is_name = |name: &str| {
        name.chars()
            .all(|c| c.is_alphanumeric() || "._ =".contains(c))
    };
    let using = text.lines().map(str::trim).any(|line| {
        let rest = line
            .strip_prefix("using ")
            .and_then(|rest| rest.strip_suffix(';'));
        rest.is_some_and(is_name)
    });
    let class = text.contains("class ") && text.contains('{');
    let script = text.lines().any(|l| l.trim_start().starts_with("#CS")) || script_lines(text) > 1;
    (using && class || text.contains("___Scope_Generated_Classes___")) && !script
}

fn is_command_line(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let flag = |name: &str| {
        line.split_whitespace()
            .any(|word| word.eq_ignore_ascii_case(name))
    };
    line.to_ascii_lowercase().contains("scope") && (flag("-vc") || flag("-tokens"))
        || flag("submit") && flag("-i")
}

/// Whether a text is a script. A Markdown page that quotes a script is not.
fn is_script(text: &str) -> bool {
    let prose = text.lines().any(|line| line.starts_with("```")) || text.starts_with("# ");
    !prose && script_lines(text) > 0
}

/// Number of lines that begin like a statement of SCOPE or U-SQL.
fn script_lines(text: &str) -> usize {
    let starts = text.lines().filter(|line| is_statement_start(line.trim()));
    starts.count()
}

fn is_statement_start(line: &str) -> bool {
    /// `@` matches any variable.
    const STARTS: &str = "#DECLARE|#IF|#CS|DECLARE @|OUTPUT|SELECT|EXTRACT|REDUCE|PROCESS|COMBINE|INSERT INTO|CREATE TABLE|CREATE VIEW|\
         CREATE FUNCTION|CREATE PROCEDURE|CREATE DATABASE|CREATE ASSEMBLY|CREATE SCHEMA|USE DATABASE|REFERENCE|MODULE";
    let mut words = [""; 4];
    let mut count = 0;
    for (place, word) in words.iter_mut().zip(line.split_whitespace()) {
        *place = word;
        count += 1;
    }
    let fits = |want: &str, word: &str| match want {
        "@" => word.starts_with('@'),
        want => word.trim_end_matches(';') == want,
    };
    let begins = |words: &[&str]| {
        STARTS.split('|').any(|start| {
            let mut words = words.iter();
            let mut wanted = start.split(' ');
            wanted.all(|want| words.next().is_some_and(|word| fits(want, word)))
        })
    };
    match &words[..count] {
        // `name = SELECT …`; the right side may be on the next line
        [name, "=", rest @ ..] if is_rowset_name(name) => {
            rest.is_empty() || begins(rest) || rest.first() == Some(&"SSTREAM")
        }
        [name] => name.starts_with('@') && name.ends_with('='),
        words => begins(words),
    }
}

fn is_rowset_name(word: &str) -> bool {
    let word = word.strip_prefix('@').unwrap_or(word);
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// `E_RUNTIME_USER_…`: an error that is not JSON.
fn has_error_id(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|word| word.starts_with("E_") && word.len() > 8 && word.matches('_').count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_content() {
        use FileKind as K;
        for (kind, text) in [
            (
                K::VertexDef,
                "<?xml version='1.0'?><!-- <JobInfo/> -->\n<ScopeVertices a='1'>",
            ),
            (K::RuntimeStatistics, "\u{feff}<AggregatedStats>"),
            (K::JobInfo, "<!DOCTYPE x><x:JobInfo>"),
            (
                K::PartitionLastRows,
                "<SStreams><SStream id='a'><Partition LastRowId='3'/>",
            ),
            (K::StreamInfo, "<SStreams/>"),
            (K::Unknown, "<html>"),
            (K::Unknown, "<"),
            (K::RestStatistics, r#"{"stages": [{"stageName": "SV1""#),
            (
                K::RestJob,
                r#"{"jobId": "x", "submitTime": "", "errorMessage": [{"errorId":1}]}"#,
            ),
            (
                K::Error,
                r#"{"errorId": "E_X", "message": "\"tables\": 1"}"#,
            ),
            (K::Tables, r#"{"version": 1, "tables": []}"#),
            (K::CompilerPlan, r#"{ "CompilerPlanStart":"x" }, {"#),
            (K::Unknown, "{}"),
            (K::VertexEvents, "x\n---HiPriTime a,b\n"),
            (K::VertexStdout, "SV1_Extract: vertexGuid=F, bytes=1,\n"),
            (K::Ignored, "[Info] (a.cpp, main:3) x"),
            (K::Script, "[ROWCOUNT=5]\nA = SELECT x FROM B;\n"),
            (
                K::Script,
                "// note\n@a =\n  EXTRACT x int FROM @p USING Extractors.Csv();",
            ),
            (K::Codegen, "using System;\npublic class A : Reducer { }"),
            (
                K::Script,
                "A = SELECT * FROM B;\nOUTPUT A TO @x;\n#CS\nusing System;\nclass X {}\n#ENDCS",
            ),
            (
                K::CommandLine,
                "scope.exe submit -i a.script -vc x -tokens 5",
            ),
            (K::Unknown, "# job\n\nA = SELECT x FROM y;"),
            (K::Unknown, "asked the data team"),
            (K::Error, "job failed with E_CSC_USER_SYNTAXERROR: x"),
            (K::Unknown, ""),
        ] {
            assert_eq!(sniff(text.as_bytes()), kind, "{text}");
        }
    }

    #[test]
    fn utf16_is_read() {
        let units = "\u{feff}<JobInfo/>".encode_utf16();
        let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        assert_eq!(sniff(&bytes), FileKind::JobInfo);
    }
}
