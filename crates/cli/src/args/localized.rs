//! Help and usage errors in the language of the interface.
//!
//! The doc comment of a command or an argument has both languages: `English. ‖ 中文。`

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ErrorKind};
use clap::{Command, ValueEnum};
use report::{Language, interface};

/// Heading of the options that every command has.
pub(super) const GLOBAL: &str = "Global options";

/// The English and the Chinese half of a doc comment; the second half may be empty.
fn halves(doc: &str) -> (&str, &str) {
    let (en, zh) = doc.split_once('‖').unwrap_or((doc, ""));
    (
        en.trim().trim_end_matches('.'),
        zh.trim().trim_end_matches('。'),
    )
}

fn pick(doc: &str) -> String {
    let (en, zh) = halves(doc);
    interface().select(zh, en).to_owned()
}

/// The command with everything below it, each text in one language.
pub(super) fn localized(command: Command) -> Command {
    let about = command.get_about().map(|about| pick(&about.to_string()));
    let mut command = command.mut_args(|arg| {
        let help = arg.get_help().map(|help| pick(&help.to_string()));
        let arg = match help {
            Some(help) => arg.help(help),
            None => arg,
        };
        match arg.get_help_heading() == Some(GLOBAL) {
            true => arg.help_heading(interface().select("全局选项", GLOBAL)),
            false => arg,
        }
    });
    if let Some(about) = about {
        command = command.about(about);
    }
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, localized)
    })
}

/// Parses the name of a variant, which has its help in both languages.
pub(super) fn named<E: ValueEnum + Send + Sync + 'static>() -> impl TypedValueParser<Value = E> {
    let values = E::value_variants().iter();
    let values = values.filter_map(|variant| {
        let value = variant.to_possible_value()?;
        let help = value.get_help().map(|help| pick(&help.to_string()));
        Some(match help {
            Some(help) => value.help(help),
            None => value,
        })
    });
    PossibleValuesParser::new(values).try_map(|text| E::from_str(&text, false))
}

/// Help or an error as it is printed, with styles.
pub(super) fn rendered(error: &clap::Error) -> String {
    let text = error.render().ansi().to_string();
    match (interface(), error.use_stderr()) {
        (Language::En, _) => text,
        (Language::Zh, false) => help(text),
        (Language::Zh, true) => problem(error).unwrap_or(text),
    }
}

/// Texts that clap adds around ours.
const AROUND: [(&str, &str); 18] = [
    ("Usage:\u{1b}[0m ", "用法：\u{1b}[0m"),
    ("Usage: ", "用法："),
    ("[OPTIONS]", "[选项]"),
    ("COMMAND", "命令"),
    ("Commands:", "命令："),
    ("Arguments:", "参数："),
    ("Options:", "选项："),
    ("Possible values:", "可选值："),
    ("[default: ", "[默认："),
    ("[possible values: ", "[可选值："),
    ("[env: ", "[环境变量："),
    ("[aliases: ", "[别名："),
    (
        "Print help (see more with '--help')",
        "显示帮助（--help 更详细）",
    ),
    (
        "Print help (see a summary with '-h')",
        "显示帮助（-h 更简短）",
    ),
    ("Print help", "显示帮助"),
    ("Print version", "显示版本"),
    (
        "Print this message or the help of the given subcommand(s)",
        "显示本帮助，或某个命令的帮助",
    ),
    ("全局选项:", "全局选项："),
];

fn help(text: String) -> String {
    AROUND
        .iter()
        .fold(text, |text, (en, zh)| text.replace(en, zh))
}

/// An error of usage in Chinese; `None` for a kind that has no own sentence.
fn problem(error: &clap::Error) -> Option<String> {
    use ContextKind as Key;
    let of = |key| error.get(key).map(ToString::to_string);
    let named = |key| of(key).unwrap_or_default();
    let (argument, value) = (named(Key::InvalidArg), named(Key::InvalidValue));
    let message = match error.kind() {
        ErrorKind::UnknownArgument => format!("没有参数 {argument}"),
        ErrorKind::InvalidSubcommand => format!("没有命令 {}", named(Key::InvalidSubcommand)),
        ErrorKind::MissingRequiredArgument => format!("缺少参数 {argument}"),
        ErrorKind::ArgumentConflict => {
            format!("{argument} 不能与 {} 同时使用", named(Key::PriorArg))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if value.is_empty() => {
            format!("{argument} 缺少值")
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            format!("{argument} 的值“{value}”无效")
        }
        ErrorKind::MissingSubcommand => "缺少命令".to_owned(),
        ErrorKind::TooManyValues | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{argument} 的值的个数不对")
        }
        _ => return None,
    };
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let mut out = format!("{red}错误：{red:#}{message}\n");
    let reason =
        std::error::Error::source(error).map(|reason| reason_in_chinese(&reason.to_string()));
    let hints = [
        ("原因：", reason),
        ("可选值：", of(Key::ValidValue)),
        ("是否想用：", of(Key::SuggestedArg)),
        ("是否想用：", of(Key::SuggestedSubcommand)),
        ("是否想用：", of(Key::SuggestedValue)),
    ];
    for (label, hint) in hints {
        if let Some(hint) = hint.filter(|hint| !hint.is_empty()) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {label}{hint}");
        }
    }
    if let Some(usage) = of(Key::Usage) {
        let _ = write!(out, "\n{}\n", help(usage));
    }
    Some(out + "\n用 --help 查看帮助。\n")
}

/// The language that the arguments ask for, else the environment or the system. The command line is not parsed yet: its help depends on it.
pub(crate) fn language_of_call(arguments: impl Iterator<Item = OsString>) -> Language {
    let words: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .take_while(|word| word != "--")
        .collect();
    let flag = words.iter().enumerate().rev().find_map(|(at, word)| {
        let rest = word.strip_prefix("--lang")?;
        match rest.strip_prefix('=') {
            Some(code) => Language::parse(code),
            None if rest.is_empty() => Language::parse(words.get(at + 1)?),
            None => None,
        }
    });
    let variable = || Language::parse(&std::env::var("SCOPEAGENT_LANG").ok()?);
    let system = || {
        let locale = sys_locale::get_locale()?;
        locale.starts_with("zh").then_some(Language::Zh)
    };
    flag.or_else(variable)
        .or_else(system)
        .unwrap_or(Language::En)
}

/// Why a value has the wrong type; the standard library says it in English.
fn reason_in_chinese(reason: &str) -> String {
    let known = match reason {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "须为非负整数"
        }
        "number too large to fit in target type" => "数值过大",
        "invalid float literal" | "cannot parse float from empty string" => "须为数字",
        "invalid socket address syntax" | "expected an address and a port, e.g. 127.0.0.1:8719" => {
            "须为“地址:端口”，如 127.0.0.1:8720"
        }
        _ => reason,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Every text below a command, with the path to it.
    fn texts(command: &Command, path: &str, out: &mut Vec<(String, String)>) {
        let path = format!("{path} {}", command.get_name());
        let mut add = |place: &str, text: Option<String>| {
            out.extend(text.map(|text| (format!("{path} {place}"), text)));
        };
        add("", command.get_about().map(ToString::to_string));
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            if !matches!(id, "help" | "version") {
                add(id, arg.get_help().map(ToString::to_string));
            }
        }
        for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
            texts(sub, &path, out);
        }
    }

    #[test]
    fn every_command_and_argument_is_explained_in_both_languages() {
        let mut all = Vec::new();
        texts(&crate::args::Cli::command(), "", &mut all);
        assert!(all.len() > 100);
        for (place, text) in all {
            let (en, zh) = halves(&text);
            assert_eq!(Language::of(en), Language::En, "{place}: {text}");
            assert_eq!(Language::of(zh), Language::Zh, "{place}: {text}");
        }
    }

    #[test]
    fn the_language_is_known_before_the_arguments_are() {
        for (line, expected) in [
            ("--lang zh --help", Some(Language::Zh)),
            ("analyze --lang=zh job", Some(Language::Zh)),
            ("--lang zh analyze --lang en job", Some(Language::En)),
            ("search -- --lang zh", None),
            ("analyze --language zh", None),
        ] {
            let words = line.split(' ').map(OsString::from);
            let system = language_of_call(std::iter::empty());
            assert_eq!(
                language_of_call(words),
                expected.unwrap_or(system),
                "{line}"
            );
        }
    }
}
