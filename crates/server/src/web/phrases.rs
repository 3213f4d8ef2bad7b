//! What the pages say around reports, in both languages.

use report::Language;

/// Name, Chinese, English.
const PHRASES: &[(&str, &str, &str)] = &[
    ("runs", "分析记录", "Runs"),
    ("analyze", "新建分析", "Analyze"),
    ("knowledge", "经验库", "Knowledge"),
    ("skip", "跳到正文", "Skip to content"),
    ("dark", "深色", "Dark"),
    ("light", "浅色", "Light"),
    ("filter", "筛选", "Filter"),
    ("reset", "清除", "Reset"),
    ("search_runs", "作业、目录或脚本", "Job, folder or script"),
    ("cause", "原因", "Cause"),
    ("any_cause", "全部原因", "Any cause"),
    ("owner", "提交人", "Owner"),
    ("any_owner", "全部提交人", "Any owner"),
    ("week", "周", "Week"),
    ("any_week", "全部周", "Any week"),
    ("sort", "排序", "Sort by"),
    ("by_avoidable", "可避免时间", "avoidable time"),
    ("by_time", "最新", "newest"),
    ("job", "作业", "Job"),
    ("result", "结论", "Result"),
    ("avoidable", "可避免", "Avoidable"),
    ("elapsed", "总用时", "Total time"),
    ("analyzed_at", "分析时间（UTC）", "Analyzed (UTC)"),
    ("compare", "比较", "Compare"),
    (
        "compare_two",
        "比较所选的两次运行",
        "Compare the two selected runs",
    ),
    ("select", "选择", "Select"),
    ("no_runs", "还没有分析记录。", "No runs yet."),
    ("no_match", "没有符合条件的记录。", "No run matches."),
    ("first_run", "分析一个作业", "Analyze a job"),
    ("previous", "上一页", "Previous"),
    ("next", "下一页", "Next"),
    ("of", "/ 共", "of"),
    ("running", "正在分析", "In progress"),
    ("failed", "未完成", "Did not finish"),
    (
        "path",
        "作业目录或事件日志的路径",
        "Path of a job folder or an event log",
    ),
    ("path_hint", "可以读取的目录：", "Folders that may be read:"),
    ("by_path", "按路径", "By path"),
    ("or_upload", "或上传文件", "Or upload files"),
    ("folder", "作业目录", "Job folder"),
    ("single_files", "文件", "Files"),
    (
        "upload_hint",
        "文件保存在本服务的数据目录中，最多 1 GiB。",
        "Files stay in the data folder of this server; at most 1 GiB.",
    ),
    (
        "drop_here",
        "把文件拖到这里，或者选择",
        "Drop files here, or choose",
    ),
    ("question", "问题（可不填）", "Question (optional)"),
    (
        "question_example",
        "例如：为什么比上周慢？",
        "For example: why is it slower than last week?",
    ),
    ("depth", "深度", "Depth"),
    ("quick", "快速", "quick"),
    ("normal", "标准", "normal"),
    ("deep", "深入", "deep"),
    ("start", "开始分析", "Start analysis"),
    ("upload", "上传并分析", "Upload and analyze"),
    ("uploading", "正在上传", "Uploading"),
    ("cancel", "取消", "Cancel"),
    ("cancelled", "已请求取消", "Cancelling"),
    (
        "reload",
        "刷新页面可查看进度。",
        "Reload the page to see the progress.",
    ),
    ("done", "完成", "Done"),
    (
        "search_knowledge",
        "搜索经验库",
        "Search the knowledge base",
    ),
    (
        "query_example",
        "例如：连接键倾斜",
        "For example: hot key in a join",
    ),
    ("search", "搜索", "Search"),
    (
        "nothing_fits",
        "知识库中没有合适的内容，以下仅是最接近的段落。",
        "Nothing in the knowledge base fits well; these passages are only the nearest.",
    ),
    ("nothing_found", "没有找到任何内容。", "Nothing found."),
    ("weak", "弱匹配", "weak match"),
    ("in_context", "查看上下文", "Show in context"),
    ("covers", "涉及的原因", "Covers"),
    ("source", "来源", "Source"),
    ("this_passage", "被引用的段落", "The cited passage"),
    ("download", "下载", "Download"),
    ("print", "打印", "Print"),
    ("analyze_again", "重新分析", "Analyze again"),
    ("copy", "复制", "Copy"),
    ("copied", "已复制", "Copied"),
    ("zoom_in", "放大", "Zoom in"),
    ("zoom_out", "缩小", "Zoom out"),
    ("zoom_reset", "适应宽度", "Fit"),
    ("back_to_run", "返回报告", "Back to the report"),
    ("line_of", "行，共", "lines of"),
    ("whole_file", "从文件开头显示", "From the start of the file"),
    ("file_place", "位置", "Place"),
    (
        "not_located",
        "文件中没有找到这个位置，以下从开头显示。",
        "The place was not found in the file; this is its start.",
    ),
    ("login", "登录", "Log in"),
    ("token", "访问令牌", "Access token"),
    ("wrong_token", "令牌不正确。", "Wrong token."),
    ("problem", "无法显示", "This did not work"),
    ("not_answered", "没有完成", "Not finished"),
    (
        "keys",
        "快捷键：/ 搜索，j / k 下一个 / 上一个发现",
        "Keys: / search, j / k next / previous finding",
    ),
    ("comparison", "两次运行的比较", "Comparison of two runs"),
];

/// The phrase of that name; `?` if there is none, which a test excludes.
pub(super) fn say(name: &str, language: Language) -> &'static str {
    let found = PHRASES.iter().find(|(known, ..)| *known == name);
    found.map_or("?", |(_, zh, en)| language.select(zh, en))
}

#[cfg(test)]
pub(super) fn is_known(name: &str) -> bool {
    PHRASES.iter().any(|(known, ..)| *known == name)
}
