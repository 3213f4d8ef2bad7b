//! Help and errors in the language that the call or the system asks for.

use testkit::{contains, lacks};

use crate::support::{Answer, User, case};

#[test]
fn help_is_in_the_language_of_the_flag_or_of_the_system() {
    let user = User::new();
    let help = |line: &str, locale: &str| {
        let mut program = user.program();
        program.env("LANG", locale).args(line.split(' '));
        Answer::of(&mut program).text()
    };
    for (line, locale) in [
        ("--help", "zh_CN.UTF-8"),
        ("analyze --lang zh --help", "en_US.UTF-8"),
        ("--lang=zh help analyze", ""),
    ] {
        let text = help(line, locale);
        contains(&text, ["用法：", "全局选项：", "显示帮助"]);
        lacks(&text, ["Usage", "Options:", "Print help", "‖"]);
    }
    for (line, locale) in [("--help", "C"), ("--lang en --help", "zh_CN.UTF-8")] {
        let text = help(line, locale);
        contains(&text, ["Usage:", "Global options:", "Print help"]);
        lacks(&text, ["选项", "‖"]);
    }
}

#[test]
fn what_the_system_speaks_is_the_language_of_a_report_without_a_question() {
    let user = User::new();
    let headline = |flags: &[&str]| {
        let mut program = user.expert();
        program.env("LANG", "zh_CN.UTF-8").arg("analyze");
        Answer::of(program.arg(case("healthy")).args(flags)).text()
    };
    contains(headline(&[]), ["健康"]);
    contains(headline(&["--question", "why so slow?"]), ["Healthy"]);
    contains(headline(&["--lang", "en"]), ["Healthy"]);
}

#[test]
fn options_of_every_command_are_under_one_heading_and_in_the_manual() {
    let user = User::new();
    let help = user.run_plain("inspect --help").text();
    let (own, global) = help.split_once("Global options:").expect("the heading");
    contains(own, ["--stage"]);
    for option in [
        "--config",
        "--knowledge",
        "--lang",
        "--log-level",
        "--quiet",
    ] {
        lacks(own, [option]);
        contains(global, [option]);
    }
    user.run_plain("man --dir man").text();
    for (page, options) in [
        (
            "scopeagent-analyze.1",
            ["fail\\-on", "lang", "log\\-level", "out"],
        ),
        (
            "scopeagent-runs-show.1",
            ["verbose", "lang", "quiet", "out"],
        ),
        ("scopeagent-fix.1", ["write", "script", "config", "color"]),
    ] {
        let text = user.read(&format!("man/{page}"));
        for option in options {
            contains(&text, [format!("\\-\\-{option}").as_str()]);
        }
    }
}

#[test]
fn errors_come_alone_and_in_the_language_of_the_interface() {
    let user = User::new();
    for (line, status, zh, en) in [
        ("analyze none", 3, "不存在", "does not exist"),
        (
            "analyze --fomat text job",
            2,
            "没有参数 --fomat",
            "unexpected argument",
        ),
        (
            "analyze job -f pdf",
            2,
            "的值“pdf”无效",
            "invalid value 'pdf'",
        ),
        (
            "analize job",
            2,
            "没有命令 analize",
            "unrecognized subcommand",
        ),
        ("analyze", 2, "缺少参数", "required arguments"),
        (
            "runs show none",
            3,
            "没有运行 `none`",
            "there is no run `none`",
        ),
        (
            "rules nothing",
            2,
            "没有以 `nothing` 开头的规则",
            "no rule starts with `nothing`",
        ),
    ] {
        for (language, expected) in [("zh", zh), ("en", en)] {
            let line = format!("{line} --lang {language}");
            let error = user.run(&line).refused(status);
            contains(&error, [expected]);
            let labels = ["错误：", "error:"];
            let labels = if language == "zh" {
                labels
            } else {
                [labels[1], labels[0]]
            };
            assert!(error.starts_with(labels[0]), "{line}: {error}");
            lacks(&error, [labels[1], "offline"]);
        }
    }
}
