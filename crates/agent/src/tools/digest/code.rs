//! The digest of C#: classes, the operators that run them, and code that is costly because it runs once per row.

use job::model::{Codegen, CodegenClass};
use report::format::{Names, list};
use report::{Text, text};

use super::Look;
use crate::code::runs;
use crate::wording::Lines;

/// Lines of a body that are shown.
const BODY_LINES: usize = 120;

/// Expressions of a class in a list of classes.
const EXPRESSIONS: usize = 5;

/// Costs in time or memory of code that runs once per row, by the words that show them.
const HAZARDS: &[(&str, &str, &str)] = &[
    ("正则表达式", "regular expressions", "Regex"),
    (
        "JSON 解析",
        "JSON parsing",
        "JsonConvert|JObject|JArray|JToken|JsonSerializer|JsonDocument|JavaScriptSerializer",
    ),
    (
        "分配对象",
        "allocation",
        "new List|new Dictionary|new HashSet|new StringBuilder|new byte[|new string(|.ToList(|.ToArray(|.Split(|.Substring(|.ToLower(|.ToUpper(|string.Format(",
    ),
    (
        "输入输出",
        "I/O",
        "File.|Directory.|StreamReader|StreamWriter|HttpClient|WebRequest|WebClient|SqlConnection|Console.",
    ),
    (
        "LINQ",
        "LINQ",
        ".Where(|.Select(|.OrderBy(|.GroupBy(|.ToDictionary(|.Any(|.Distinct(",
    ),
    (
        "反射",
        "reflection",
        "Activator.|.GetMethod(|.GetProperty(|.GetType(",
    ),
];

/// The classes, each in a few lines.
pub(super) fn classes(look: &Look<'_>, named: Option<&str>) -> Lines {
    described(look, named, false)
}

/// Classes with their bodies; `argument` is part of a name, empty for all.
pub(crate) fn explain(look: &Look<'_>, argument: &str) -> Lines {
    let named = Some(argument.trim()).filter(|name| !name.is_empty());
    let mut digest = described(look, named, named.is_some());
    if digest.lines.is_empty() {
        let line = match &look.job.codegen {
            Some(_) => text!("没有名为“{argument}”的类", "no class `{argument}`"),
            None => text!("尚未读取生成的代码", "the generated code has not been read"),
        };
        digest.say(line);
    }
    digest
}

fn described(look: &Look<'_>, named: Option<&str>, with_body: bool) -> Lines {
    let mut digest = Lines::new(look.language);
    let Some(codegen) = &look.job.codegen else {
        return digest;
    };
    let classes = codegen
        .classes
        .iter()
        .filter(|c| Look::wants(named, &c.name));
    let mut classes: Vec<&CodegenClass> = classes.collect();
    // The user's own first: those can be changed.
    classes.sort_by_key(|class| !class.user_code);
    let text = (look.text)(&codegen.file).unwrap_or_default();
    for class in classes {
        let (name, file, (first, last)) = (&class.name, &codegen.file, class.lines);
        let author = match class.user_code {
            true => text!("用户代码", "user code"),
            false => text!("编译器生成", "generated"),
        };
        digest.say(text!(
            "{name}（{author}），{file} 第 {first}–{last} 行",
            "{name} ({author}), lines {first}–{last} of {file}",
            author = author
        ));
        let run_by = run_by(look, class, codegen);
        if !run_by.is_empty() {
            let ops = list(&run_by, look.language);
            digest.detail(text!("运行它的算子：{ops}", "run by {ops}"));
        }
        let most = if with_body { usize::MAX } else { EXPRESSIONS };
        for expression in class.expressions.iter().take(most) {
            digest.detail(text!("计算 {expression}", "evaluates {expression}"));
        }
        let lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at as u32 + 1, line));
        let body: Vec<(u32, &str)> = lines.filter(|(n, _)| (first..=last).contains(n)).collect();
        let hazards = hazards(&body).into_iter();
        hazards.for_each(|hazard| digest.detail(hazard));
        if with_body {
            let shown = body.iter().take(BODY_LINES);
            shown.for_each(|(n, line)| digest.say(format!("{n:>6}  {line}")));
        }
    }
    digest
}

/// The operators that run a class, with their stages and script lines.
fn run_by(look: &Look<'_>, class: &CodegenClass, codegen: &Codegen) -> Vec<String> {
    let mut found = Vec::new();
    for stage in &look.job.stages {
        let operators = stage.operators.iter();
        for operator in operators.filter(|o| runs(o, class, codegen)) {
            let place = format!("{}/{}", stage.name, operator.id);
            found.push(match operator.line {
                Some(line) => text!(
                    "{place}（脚本第 {line} 行）",
                    "{place} (script line {line})"
                )
                .into(look.language),
                None => place,
            });
        }
    }
    found
}

/// Costly code in a body that runs once per row, with line numbers. Objects that are created once do not count.
fn hazards(body: &[(u32, &str)]) -> Vec<Text> {
    let runs_often = |line: &str| {
        let line = line.trim_start();
        let is_comment = line.starts_with("//") || line.starts_with('*') || line.starts_with("/*");
        !is_comment && !line.starts_with("using ") && !line.contains("static readonly")
    };
    let mut found = Vec::new();
    for (zh, en, words) in HAZARDS {
        let lines = body.iter().filter(|(_, line)| {
            runs_often(line) && words.split('|').any(|word| line.contains(word))
        });
        let lines: Vec<String> = lines.map(|(number, _)| number.to_string()).collect();
        if !lines.is_empty() {
            let numbers = Names(&lines);
            found.push(match lines.len() {
                1 => text!("{zh}：第 {lines} 行", "{en}: line {lines}", lines = numbers),
                _ => text!(
                    "{zh}：第 {lines} 行",
                    "{en}: lines {lines}",
                    lines = numbers
                ),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards_are_what_runs_once_per_row() {
        let code = "using System.Text.RegularExpressions;\n\
            static readonly Regex Word = new Regex(\"a\");\n\
            // Regex is slow\n\
            var m = Regex.Match(row[0].String, \"b\");\n\
            var parts = text.Split(',').Where(p => p != null).ToList();";
        let body: Vec<(u32, &str)> = (1..).zip(code.lines()).collect();
        let found: Vec<String> = hazards(&body).into_iter().map(|t| t.en).collect();
        assert_eq!(
            found,
            [
                "regular expressions: line 4",
                "allocation: line 5",
                "LINQ: line 5"
            ]
        );
    }
}
