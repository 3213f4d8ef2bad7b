//! Help and errors in the language that the call or the system asks for.

use std::fs;

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
        contains(&text, ["用法：", "全局选项：", "显示帮助", "[默认：auto]"]);
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
    let (mut pages, mut options) = (0, 0);
    for page in fs::read_dir(user.path("man")).expect("a folder").flatten() {
        let name = page.file_name().to_string_lossy().into_owned();
        let command = name.trim_start_matches("scopeagent").trim_end_matches(".1");
        let line = format!("{} --help", command.replace('-', " "));
        let help = user.run_plain(&line).text();
        let text = fs::read_to_string(page.path()).expect("a page");
        let text = text.replace("\\-", "-");
        let lines = help.lines().map(str::trim_start);
        let of_options = lines.filter(|line| line.starts_with('-'));
        for option in of_options.flat_map(|line| line.split_whitespace().take(2)) {
            if option.starts_with("--") {
                assert!(text.contains(option), "{name}: {option}");
                options += 1;
            }
        }
        pages += 1;
    }
    assert!(
        pages > 30 && options > 15 * pages / 2,
        "{pages} pages, {options} options"
    );
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
        (
            "analyze job --job-timeout soon",
            2,
            "须为非负整数",
            "invalid digit",
        ),
        (
            "--config none rules",
            2,
            "错误：无法读取配置文件 `none`",
            "error: the configuration file `none` cannot be read",
        ),
        (
            "schema -o no/such/file",
            1,
            "错误：无法写入 `no/such/file`",
            "error: `no/such/file` is not writable",
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
    let wrong = user.run_plain("rules --lang de").refused(2);
    contains(wrong, ["'de'", "zh, en"]);
}

#[test]
fn lists_and_settings_are_in_the_language_of_the_interface() {
    let user = User::new();
    user.report(&case("join-hot-key-skew"), "");
    let list = |language: &str| user.run(&format!("runs list --lang {language}")).text();
    contains(list("en"), ["top cause", "finished", "hot key in a join"]);
    let zh = list("zh");
    contains(&zh, ["首要原因", "完成", "发现问题", "连接键存在热点值"]);
    lacks(&zh, ["when", "finished", "problem"]);
    user.configure("[diagnosis]\nmin_share = 0.1\n");
    let settings = user.run("config show --all --lang zh").text();
    contains(&settings, ["命令行或环境变量", "内置", "无（离线规则）"]);
    lacks(
        &settings,
        ["built-in", "environment", "offline", "user's", "\""],
    );
}
