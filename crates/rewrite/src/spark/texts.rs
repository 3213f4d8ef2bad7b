//! Translates the operations of a Python function on texts: patterns, parts between separators, and look-ups in dictionaries.

use job::code::Call;

use super::declared::Kind;
use super::udf::Translation;

/// Most entries of a dictionary that becomes part of a query.
const MOST_ENTRIES: usize = 200;

/// Characters that stand for themselves in the patterns of Python and of Java.
const PLAIN: &str = " _-,/:;@#%=<>!~'";

/// Characters that a backslash makes plain in both.
const ESCAPED: &str = ".-/()[]{}+*?|^$";

impl Translation<'_, '_> {
    /// `re.sub(pattern, text, value)`, `pattern.sub(text, value)` and `names.get(key, default)`.
    pub(super) fn special_call(&mut self, call: &Call, depth: usize) -> Option<(String, Kind)> {
        let arguments: Vec<usize> = call.arguments.iter().map(|a| a.node).collect();
        if call.arguments.iter().any(|a| a.keyword.is_some()) {
            return None;
        }
        match (call.name.as_str(), arguments.as_slice()) {
            ("sub", [pattern, text, value]) => {
                let is_module = self.program.text_of(call.receiver?) == "re";
                self.replaced(*pattern, *text, *value, depth)
                    .filter(|_| is_module)
            }
            ("sub", [text, value]) => {
                let made = self.program.bound(call.receiver?, self.statement);
                let made = self
                    .program
                    .call_of(made)
                    .filter(|made| made.name == "compile")?;
                let [pattern] = made.arguments.as_slice() else {
                    return None;
                };
                self.replaced(pattern.node, *text, *value, depth)
            }
            ("get", [key]) => self.looked_up(call.receiver?, *key, depth),
            ("get", [key, default]) => {
                let (found, kind) = self.looked_up(call.receiver?, *key, depth)?;
                let Some((other, own)) = self.value(*default, depth + 1)? else {
                    return Some((found, kind));
                };
                let coalesce = self.spark("coalesce").filter(|_| own == kind)?;
                Some((format!("{coalesce}({found}, {other})"), kind))
            }
            _ => None,
        }
    }

    /// `text.split(separator)[n]` and `names[key]`.
    pub(super) fn item(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let (of, at) = (
            syntax.child(node, "value")?,
            syntax.child(node, "subscript")?,
        );
        if syntax.kind(of) == "identifier" {
            return self.looked_up(of, at, depth);
        }
        let split = program.call_of(of).filter(|call| call.name == "split")?;
        let [separator] = split.arguments.as_slice() else {
            return None;
        };
        program
            .string(separator.node)
            .filter(|text| !text.is_empty())?;
        let (text, kind) = self.expression(split.receiver?, depth + 1)?;
        let cut = self
            .spark("substring_index")
            .filter(|_| kind.may_be_text())?;
        let separator = program.text_of(separator.node);
        let cut = |text: &str, count: i64| format!("{cut}({text}, {separator}, {count})");
        let found = match program.text_of(at).parse::<i64>().ok()? {
            -1 => cut(&text, -1),
            0 => cut(&text, 1),
            n @ 1..100 => cut(&cut(&text, n + 1), -1),
            _ => return None,
        };
        Some((found, Kind::Text))
    }

    fn replaced(
        &mut self,
        pattern: usize,
        text: usize,
        value: usize,
        depth: usize,
    ) -> Option<(String, Kind)> {
        let program = self.program;
        let pattern = java_pattern(literal(program.text_of(pattern))?)?;
        program.string(text).filter(|t| !t.contains(['\\', '$']))?;
        let (own, kind) = self.expression(value, depth + 1)?;
        let replace = self
            .spark("regexp_replace")
            .filter(|_| kind.may_be_text())?;
        let text = program.text_of(text);
        let call = format!("{replace}({own}, r\"{pattern}\", {text})");
        Some((call, Kind::Text))
    }

    /// The value of a key in a dictionary of literals that the program defines once and does not change.
    fn looked_up(&mut self, names: usize, key: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let dictionary = program.bound(names, self.statement);
        let mut statements = program.statements.iter();
        let own = statements.find(|s| s.value == Some(dictionary))?;
        let is_plain = syntax.kind(dictionary) == "dictionary" && own.scopes.is_empty();
        let name = own.target.as_deref().filter(|_| is_plain)?;
        if self.changes(name) {
            return None;
        }
        let mut kinds = syntax.children(dictionary).map(|pair| {
            let [key, value] = ["key", "value"].map(|field| syntax.child(pair, field));
            program.string(key?)?;
            match syntax.kind(value?) {
                "string" => program.string(value?).map(|_| Kind::Text),
                "integer" => Some(Kind::Whole),
                "float" => Some(Kind::Real),
                _ => None,
            }
        });
        let kind = kinds.next()??;
        let is_alike = kinds.all(|own| own == Some(kind));
        let is_small = syntax.children(dictionary).count() <= MOST_ENTRIES;
        let (key, key_kind) = self.expression(key, depth + 1)?;
        if !is_alike || !is_small || !key_kind.may_be_text() {
            return None;
        }
        let (map, lit) = (self.spark("create_map")?, self.spark("lit")?);
        let map = format!("{map}(*[{lit}(part) for entry in {name}.items() for part in entry])");
        Some((format!("{map}[{key}]"), kind))
    }

    /// Whether the program may change a dictionary after its definition.
    fn changes(&self, name: &str) -> bool {
        const READ: [&str; 4] = ["get", "items", "keys", "values"];
        let (program, syntax) = (self.program, &self.program.syntax);
        let is_own = |at: usize| program.text_of(at) == name;
        let mut calls = program.calls.iter();
        let by_call = calls
            .any(|call| call.receiver.is_some_and(is_own) && !READ.contains(&call.name.as_str()));
        let mut nodes = 0..syntax.nodes.len();
        let by_item = nodes.any(|at| {
            let is_written = syntax.nodes[at].field == Some("left")
                || syntax.kind(syntax.nodes[at].parent) == "delete_statement";
            is_written && syntax.child(at, "value").is_some_and(is_own)
        });
        by_call || by_item
    }
}

/// The pattern in a Python literal; `None` if the literal has escapes.
fn literal(text: &str) -> Option<&str> {
    let raw = text.strip_prefix(['r', 'R']);
    let quoted = raw.unwrap_or(text);
    let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_plain = !inner.contains(quote) && (raw.is_some() || !inner.contains('\\'));
    is_plain.then_some(inner)
}

/// The pattern of Java that matches the same texts as a pattern of Python, if the two languages agree on all its parts: characters,
/// sets of characters, digits, white space, and repetition.
fn java_pattern(pattern: &str) -> Option<String> {
    let mut java = String::new();
    let mut chars = pattern.chars().peekable();
    // the last part may be repeated; a pattern that fits the empty text would fit between all characters
    let (mut repeatable, mut needed) = (false, 0_usize);
    while let Some(c) = chars.next() {
        match c {
            '+' if repeatable => java.push('+'),
            '*' | '?' if repeatable => {
                needed -= 1;
                java.push(c);
            }
            '[' => {
                java.push('[');
                java.extend(chars.next_if_eq(&'^'));
                let mut size = 0;
                loop {
                    let c = chars.next()?;
                    match c {
                        ']' if size > 0 => break,
                        '\\' => java += &escaped(chars.next()?, true)?,
                        c if is_plain(c) || ".()+*?".contains(c) => java.push(c),
                        _ => return None,
                    }
                    size += 1;
                }
                java.push(']');
            }
            '\\' => java += &escaped(chars.next()?, false)?,
            c if is_plain(c) => java.push(c),
            _ => return None,
        }
        repeatable = !matches!(c, '+' | '*' | '?');
        needed += usize::from(repeatable);
    }
    let unicode = if java.contains("\\s") || java.contains("\\d") {
        "(?U)"
    } else {
        ""
    };
    (needed > 0).then(|| format!("{unicode}{java}"))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || PLAIN.contains(c)
}

/// The text for an escaped character, in a set or outside one. Python's white space has four characters more than Java's.
fn escaped(c: char, in_set: bool) -> Option<String> {
    Some(match c {
        's' if in_set => "\\s\\x1c-\\x1f".to_owned(),
        's' => "[\\s\\x1c-\\x1f]".to_owned(),
        'd' => "\\d".to_owned(),
        c if ESCAPED.contains(c) => format!("\\{c}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use job::code::Program;

    use super::{java_pattern, literal};
    use crate::spark::udf::builtin;

    const HEAD: &str = "import re\nfrom pyspark.sql import functions as F\nNAMES = {\"a\": \"b\"}\nP = re.compile(r\"[ -]+\")\n";

    /// The column that replaces `f("s")`, for a function that returns `value`.
    fn column(value: &str, rest: &str) -> Option<String> {
        let text = format!(
            "{HEAD}f = F.udf(lambda s: {value})\nr = d.withColumn(\"u\", f(\"s\"))\n{rest}"
        );
        let program = Program::parse("a.py", &text);
        let call = program.calls.iter().find(|call| call.name == "f")?;
        let changed = builtin(&program, call)?.apply(&text)?;
        let (_, after) = changed.split_once("withColumn(\"u\", ")?;
        let (column, _) = after.split_once(")\n")?;
        Some(column.to_owned())
    }

    #[test]
    fn texts_become_columns() {
        let map = "F.create_map(*[F.lit(part) for entry in NAMES.items() for part in entry])";
        for (value, expected) in [
            (
                "re.sub(\"[^A-Z]\", \"\", s.upper())",
                "F.regexp_replace(F.upper(F.col(\"s\")), r\"[^A-Z]\", \"\")".to_owned(),
            ),
            (
                "P.sub(\"_\", s)",
                "F.regexp_replace(F.col(\"s\"), r\"[ -]+\", \"_\")".to_owned(),
            ),
            (
                "s.split(\"@\")[1]",
                "F.substring_index(F.substring_index(F.col(\"s\"), \"@\", 2), \"@\", -1)"
                    .to_owned(),
            ),
            (
                "s.split(\"@\")[-1]",
                "F.substring_index(F.col(\"s\"), \"@\", -1)".to_owned(),
            ),
            ("NAMES[s]", format!("{map}[F.col(\"s\")]")),
            (
                "NAMES.get(s, \"?\")",
                format!("F.coalesce({map}[F.col(\"s\")], F.lit(\"?\"))"),
            ),
            (
                "\"y\" if \"b\" in s else \"n\"",
                "F.when((F.col(\"s\")).contains(\"b\"), F.lit(\"y\")).otherwise(F.lit(\"n\"))"
                    .to_owned(),
            ),
        ] {
            assert_eq!(column(value, ""), Some(expected), "{value}");
        }
        for (value, rest) in [
            // another dictionary at each call
            ("NAMES.get(s)", "NAMES[\"c\"] = \"d\"\n"),
            ("NAMES.get(s)", "NAMES.update(c=\"d\")\n"),
            // an index that depends on the value
            ("s.split(\"@\")[len(s)]", ""),
            // white space of any length
            ("s.split()[0]", ""),
            ("re.sub(\"a\", \"\\\\1\", s)", ""),
        ] {
            assert_eq!(column(value, rest), None, "{value}");
        }
    }

    #[test]
    fn a_column_is_named_where_its_function_is_called() {
        let own = "from pyspark.sql import functions as F\nf = F.udf(lambda s: s.upper())\ndef g(c):\n    return f(F.col(c))\n";
        for (rest, changes) in [
            ("r = d.withColumn(\"u\", g(\"s\"))\n", true),
            ("r = d.select(g(\"s\"))\n", false),
            (
                "def h(c):\n    return g(c)\ndef g(c):\n    return h(c)\n",
                false,
            ),
        ] {
            let program = Program::parse("a.py", &format!("{own}{rest}"));
            let call = program.calls.iter().find(|call| call.name == "f");
            let found = builtin(&program, call.expect("a call"));
            assert_eq!(found.is_some(), changes, "{rest}");
        }
    }

    #[test]
    fn patterns_are_kept_only_where_both_languages_agree() {
        for (python, java) in [
            ("[^A-Z0-9]", Some("[^A-Z0-9]")),
            (r"\s+", Some(r"(?U)[\s\x1c-\x1f]+")),
            (r"[\s,-]+", Some(r"(?U)[\s\x1c-\x1f,-]+")),
            (r"\d+\.", Some(r"(?U)\d+\.")),
            ("ab?c*", Some("ab?c*")),
            // fits the empty text
            ("a*", None),
            // match other texts
            (r"\w+", None),
            ("a.b", None),
            ("^a|b$", None),
            ("(a)", None),
            ("a{2}", None),
            ("[a&&b]", None),
            ("[[a]", None),
            ("a++", None),
        ] {
            assert_eq!(java_pattern(python).as_deref(), java, "{python}");
        }
        assert_eq!(literal(r#"r"\s""#), Some(r"\s"));
        assert_eq!(literal(r#""\s""#), None);
        assert_eq!(literal(r#"f"a""#), None);
        assert_eq!(literal(r#""""a""""#), None);
    }
}
