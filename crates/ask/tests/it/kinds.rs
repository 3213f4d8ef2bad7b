//! Kinds of questions, each in both languages: texts that an answer has, and texts that it leaves out.

use crate::question::check;

fn check_all(questions: &[(&str, &[&str], &[&str])]) {
    for (question, said, unsaid) in questions {
        check(&[], question, said, unsaid);
    }
}

#[test]
fn numbers_of_single_vertices_are_told_from_those_of_stages() {
    check_all(&[
        (
            "how long do SV1_Extract vertices run on avg?",
            &["vertices of SV1_Extract run 2.6 s on average"],
            &["on the critical path"],
        ),
        (
            "SV1_Extract 的 vertex 平均跑多久？",
            &["SV1_Extract 的顶点平均运行 2.6 秒"],
            &["关键路径"],
        ),
        (
            "What is the median run time of a vertex in SV1_Extract?",
            &["median vertex of SV1_Extract runs 2.2 s"],
            &["F1"],
        ),
        (
            "SV1_Extract 的顶点时间中位数是多少？",
            &["中位数为 2.2 秒"],
            &["F1"],
        ),
        (
            "how much does each vertex of SV1_Extract read?",
            &["vertices of SV1_Extract read 71.5 MiB each on average"],
            &["2.8 GiB"],
        ),
        (
            "SV1_Extract 单个顶点平均处理多少数据、跑多长时间？",
            &["平均读取 71.5 MiB", "平均运行 2.6 秒"],
            &["2.8 GiB"],
        ),
    ]);
}

#[test]
fn each_part_of_a_question_is_answered() {
    check_all(&[
        (
            "how many vertices does SV2_Combine have and how long did the slowest one run?",
            &["42 vertices", "slowest vertex of SV2_Combine ran 1 min 3 s"],
            &["The main cause"],
        ),
        (
            "SV2_Combine 一共几个顶点，最慢的那个跑了多久？",
            &["42 个顶点", "最慢的顶点运行了 1 分 3 秒"],
            &["主要原因"],
        ),
        (
            "SV2_Combine 最慢的 vertex 跑了多久，中位数是多少？",
            &["1 分 3 秒", "中位数为 7.7 秒"],
            &[],
        ),
        (
            "SV1_Extract 读写各多少？",
            &[
                "读入 400 万行",
                "输出 100 万行",
                "读取 2.8 GiB",
                "写出 762.9 MiB",
            ],
            &["没有发现"],
        ),
        (
            "哪个阶段最耗时，占总时间百分之几？",
            &["SV2_Combine（1 分 20 秒，占全程的 80 %）"],
            &["作业运行"],
        ),
    ]);
}

#[test]
fn amounts_have_the_direction_that_is_asked_for() {
    check_all(&[
        (
            "how many rows does SV1_Extract write?",
            &["writes 1.0 M rows"],
            &["reads"],
        ),
        (
            "SV1_Extract 读入多少行？",
            &["读入 400 万行"],
            &["输出", "读取"],
        ),
        (
            "SV1_Extract 的数据量有多大？",
            &["读入 400 万行", "读取 2.8 GiB"],
            &["几倍"],
        ),
        (
            "SV1_Extract 有数据倾斜吗？",
            &["SV1_Extract 最慢的顶点的运行时间是平均的 1.1 倍"],
            &["几倍"],
        ),
    ]);
}

#[test]
fn lost_attempts_are_counted() {
    check_all(&[
        (
            "how many SV2_Combine vertices failed?",
            &["Failed attempts of SV2_Combine: 3"],
            &["The main cause", "21"],
        ),
        (
            "SV2_Combine 失败了几个 vertex？",
            &["失败的尝试：3"],
            &["主要原因"],
        ),
    ]);
}

#[test]
fn counts_of_resources_are_no_changes_of_them() {
    check_all(&[
        (
            "how many tokens did this run with?",
            &["may use 50 tokens"],
            &["would take", "SV1"],
        ),
        ("用了多少 token？", &["可用 50 个令牌"], &["运行约"]),
    ]);
    // "it" is the job where the job has the number
    check(
        &["How long did SV1_Extract take?"],
        "how many tokens does it have",
        &["may use 50 tokens"],
        &["SV1_Extract"],
    );
}

#[test]
fn later_runs_are_not_foretold() {
    check_all(&[
        ("will it queue tomorrow?", &["can't be answered"], &["12 s"]),
        ("下次运行要排队多久？", &["无法回答"], &["12 秒"]),
    ]);
}

#[test]
fn a_time_in_a_question_about_a_reason_is_no_goal() {
    check_all(&[
        (
            "why does the slowest vertex in SV2_Combine take 63s when the others are done in 7?",
            &["F1"],
            &["reaches"],
        ),
        (
            "SV2_Combine 的最慢顶点为什么跑了 63 秒？",
            &["F1"],
            &["可以达到"],
        ),
    ]);
}

#[test]
fn only_a_comparison_with_a_run_asks_for_the_run_before() {
    check_all(&[
        (
            "can the filter be moved before the join?",
            &[],
            &["No earlier run"],
        ),
        ("能把 WHERE 提前到 join 之前吗？", &[], &["更早的一次运行"]),
        ("跟之前的运行比变慢了吗？", &["更早的一次运行"], &[]),
    ]);
}

#[test]
fn terms_and_their_differences_are_defined() {
    check_all(&[
        (
            "whats the difference between revoked and failed?",
            &["taken back by the scheduler", "ended with an error"],
            &["F1"],
        ),
        (
            "stage 和 task 有什么区别？",
            &["阶段：", "顶点（Spark 称 Task）："],
            &["F1"],
        ),
        (
            "what does revoked mean?",
            &["taken back by the scheduler"],
            &["F1"],
        ),
    ]);
}

#[test]
fn the_slower_of_two_stages_is_named() {
    check_all(&[
        (
            "which one is slower, SV1_Extract or SV2_Combine?",
            &["SV2_Combine is slower: it takes 1 min 10 s, SV1_Extract 20 s"],
            &[],
        ),
        (
            "SV1_Extract 和 SV2_Combine 哪个更慢？",
            &["SV2_Combine 更慢：用时 1 分 10 秒"],
            &[],
        ),
    ]);
}

#[test]
fn an_apostrophe_names_no_stage() {
    check_all(&[("Why's stage 1 slow?", &["SV1_Extract"], &["no stage"])]);
}

#[test]
fn questions_about_something_else_are_refused() {
    let refused = ["did not understand", "没有理解"];
    for question in [
        "why is the sky blue",
        "why does the moon shine on SV2_Combine",
        "which stages did not read any rows",
        "is the output encrypted?",
        "作业用什么语言写的",
        "哪些阶段没有失败",
    ] {
        let text = crate::question::answered(&[], question);
        assert!(
            refused.iter().any(|r| text.contains(r)),
            "{question}: {text}"
        );
        assert!(!text.contains("F1"), "{question}: {text}");
    }
}

#[test]
fn a_question_leaves_out_what_it_names_besides() {
    check_all(&[
        (
            "besides skew, what else can I change?",
            &["Nothing else was found"],
            &["S1"],
        ),
        (
            "除了倾斜还有什么能改的？",
            &["除此之外没有发现别的问题"],
            &["S1"],
        ),
        ("besides the queue, what should I change?", &["S1"], &[]),
    ]);
}

#[test]
fn lines_are_quoted() {
    check_all(&[
        (
            "what is on line 1?",
            &["`A = SELECT * FROM ClickLog;`", "SELECT"],
            &[],
        ),
        (
            "第 2 行是干嘛的",
            &["脚本第 2 行的语句（B）：`B = SELECT * FROM A;`"],
            &[],
        ),
        (
            "what does line 9 do?",
            &["The script has just 3 lines"],
            &["F1"],
        ),
        (
            "where is the output written to?",
            &["`OUTPUT B TO \"/b\";`"],
            &["F1"],
        ),
    ]);
}

#[test]
fn a_job_without_a_failure_is_not_explained() {
    check_all(&[
        (
            "did anything fail?",
            &["The job did not fail", "Failed attempts of SV1_Extract: 3"],
            &["The main cause"],
        ),
        ("SV2_Combine 失败过吗", &["失败的尝试：3"], &["主要原因"]),
    ]);
}

#[test]
fn a_follow_up_takes_over_a_subject_only_without_its_own() {
    let about = ["How many vertices has SV1_Extract?"];
    check(
        &about,
        "and SV2_Combine?",
        &["SV2_Combine has 42 vertices"],
        &["SV1"],
    );
    check(&about, "what about the queue?", &["12 s"], &["SV1_Extract"]);
    check(
        &about,
        "how many tokens did it get?",
        &["50 tokens"],
        &["SV1_Extract"],
    );
    let two = [
        "How many rows reads SV1_Extract?",
        "how long did the job run?",
    ];
    check(
        &two,
        "and how many vertices?",
        &["20 vertices"],
        &["SV1_Extract has"],
    );
}

#[test]
fn yes_or_no_comes_first_where_the_records_decide_it() {
    check_all(&[
        (
            "is SV1_Extract slower than SV2_Combine?",
            &["No. SV2_Combine is slower"],
            &[],
        ),
        (
            "is SV2_Combine slower than SV1_Extract?",
            &["Yes. SV2_Combine is slower"],
            &[],
        ),
        ("SV2_Combine 有没有失败的顶点？", &["是。"], &[]),
        ("is garbage collection a problem?", &["No. "], &["Yes"]),
        ("would more memory help?", &[], &["Yes", "No. "]),
    ]);
}

#[test]
fn words_that_an_answer_leaves_out_are_named_first() {
    check_all(&[(
        "how many rows of ClickLog have no UserId?",
        &["No record answers \"UserId\""],
        &["F1", "\"no\""],
    )]);
}
