//! `scopeagent search`: searches the knowledge base.

use std::fmt::Write as _;

use agent::StepId;
use indexer::{Correction, Explanation, Filter, Hit, Kind, Query, Room, Section};
use report::{Language, Match, text};

use crate::args::Search;
use crate::config::Config;
use crate::exit::Exit;
use crate::render::layout::{shorten, stdout_width, wrap};
use crate::session;
use crate::terminal::Terminal;
use server::{Result, error};
use unicode_width::UnicodeWidthStr;

/// Lines of a passage.
const LINES_SHOWN: usize = 5;

/// Columns left of a passage.
const INDENT: usize = 4;

pub(crate) fn run(args: &Search, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let (wanted, explained) = asked(args)?;
    let knowledge = session::knowledge(config)?;
    // The documents are looked at while the index is opened and searched.
    let changed = super::count_changes(&knowledge);
    let open = knowledge.open(false, terminal)?;
    let index = open.current()?;
    let mut query = Query::new(wanted, usize::from(args.k));
    query.filter = filter(args)?;
    let hits = index.search(&query)?;
    super::warn_if_stale(changed, terminal);
    if let Some(page) = explained {
        let found = index.explain(&query, page)?;
        super::show(terminal, args.format, &found, || {
            let language = config.language.unwrap_or(Language::of(&query.text));
            place_of(&found, page, query.k, language)
        })?;
        return Ok(Exit::Success);
    }
    super::show(terminal, args.format, &hits, || {
        let language = config.language.unwrap_or(Language::of(&query.text));
        let corrections = match args.explain.is_some() {
            true => index.corrections(&query),
            false => Vec::new(),
        };
        let corrections = corrections.iter().map(|word| read_as(word, language));
        let excerpt = index.excerpts(&query);
        corrections.collect::<String>() + &text(&hits, &excerpt, args, language)
    })?;
    Ok(Exit::Success)
}

/// The query, and the page to be explained. The only text of a call is the query, also behind `--explain`.
fn asked(args: &Search) -> Result<(String, Option<&str>)> {
    let page = args.explain.as_deref().filter(|page| !page.is_empty());
    let query = args.query.join(" ");
    let (query, page) = match page {
        Some(only) if args.query.is_empty() => (only.to_owned(), None),
        page => (query, page),
    };
    if query.trim().is_empty() {
        return Err(error!(
            Usage: "查询是空的", "the query is empty";
            "请写出要找的内容", "say what to look for"
        ));
    }
    Ok((query, page))
}

fn filter(args: &Search) -> Result<Filter> {
    let mut filter = Filter {
        engine: args.engine,
        ..Filter::default()
    };
    filter.languages.extend(args.language);
    filter.steps.extend(args.step.clone());
    for (facet, value) in &args.filter {
        add(&mut filter, facet, value).map_err(|known| {
            let known = known.join(", ");
            error!(
                Usage: "没有 `--filter {facet}={value}`", "`--filter {facet}={value}` is unknown";
                "可选：{known}", "use one of: {known}"
            )
        })?;
    }
    Ok(filter)
}

/// Adds a facet.
///
/// # Errors
/// Lists the possible facets or values if the given one is unknown.
fn add(
    filter: &mut Filter,
    facet: &str,
    value: &str,
) -> std::result::Result<(), Vec<&'static str>> {
    match facet {
        "kind" => {
            let known = || Kind::ALL.map(Kind::as_str).to_vec();
            filter.kinds.push(Kind::parse(value).ok_or_else(known)?);
        }
        "section" => {
            let known = || Section::ALL.map(Section::as_str).to_vec();
            let section = Section::parse(value).ok_or_else(known)?;
            filter.sections.push(section);
        }
        "language" => {
            let language = Language::parse(value).ok_or_else(|| vec!["zh", "en"])?;
            filter.languages.push(language);
        }
        "step" => {
            let steps = StepId::THINK.map(StepId::id);
            let mut named = steps.iter().filter(|id| id.eq_ignore_ascii_case(value));
            let step = named.next().ok_or_else(|| steps.to_vec())?;
            filter.steps.push((*step).to_owned());
        }
        "problem_type" => filter.problem_types.push(value.to_owned()),
        "cause" if value.contains('.') => filter.causes.push(value.to_owned()),
        "cause" => filter.causes.push(format!("{value}.")),
        _ => {
            let known = "kind problem_type cause section language step";
            return Err(known.split(' ').collect());
        }
    }
    Ok(())
}

/// The place of a page in the answer, with the numbers of its best passage and of the first page.
fn place_of(found: &Explanation, page: &str, shown: usize, language: Language) -> String {
    let Some(path) = &found.page else {
        return text!(
            "知识库中没有文档“{page}”\n",
            "the knowledge base has no page `{page}`\n"
        )
        .into(language);
    };
    let (Some(rank), Some(passage)) = (found.rank, &found.passage) else {
        return text!(
            "没有找到“{path}”：查询与它没有共同的词语，或者筛选条件排除了它\n",
            "`{path}` was not found: the query shares no word with it, or a filter leaves it out\n"
        )
        .into(language);
    };
    let fit = match passage.fit {
        Match::Strong => text!("匹配", "fits"),
        Match::Weak => text!("弱匹配：证据不足", "fits weakly: too little evidence"),
    };
    let fit: String = fit.into(language);
    let mut out: String = text!(
        "“{path}”排在第 {rank} 位（默认显示前 {shown} 个片段），{fit}\n",
        "`{path}` is page {rank} (a search shows {shown} passages) and {fit}\n"
    )
    .into(language);
    let first = found.first.iter().filter(|_| rank > 1);
    for hit in first.chain([passage]) {
        let _ = writeln!(out, "  {}\n    {}", hit.chunk.id, explanation(hit));
    }
    if !found.lacks.is_empty() {
        let lacks = found.lacks.join(", ");
        let line: String = text!(
            "片段中没有：{lacks}\n",
            "words that the passage lacks: {lacks}\n"
        )
        .into(language);
        out.push_str(&line);
    }
    out
}

/// How a word of the query was understood.
fn read_as(Correction { from, to }: &Correction, language: Language) -> String {
    text!("“{from}”按“{to}…”检索\n", "`{from}` is read as `{to}…`\n").into(language)
}

/// `excerpt` returns the lines of a hit that are shown.
fn text(
    hits: &[Hit],
    excerpt: &dyn Fn(&Hit, Room) -> String,
    args: &Search,
    language: Language,
) -> String {
    if hits.is_empty() {
        return text!("没有找到任何内容\n", "nothing found\n").into(language);
    }
    if !args.all && hits.iter().all(|hit| hit.fit == Match::Weak) {
        return text!(
            "知识库中没有合适的内容；加上 --all 可以列出最接近的段落\n",
            "nothing in the knowledge base fits well; --all lists the nearest passages\n"
        )
        .into(language);
    }
    let columns = stdout_width();
    let mut out = String::new();
    for hit in hits {
        let chunk = &hit.chunk;
        let room = Room {
            lines: LINES_SHOWN,
            columns: columns.saturating_sub(INDENT),
        };
        let excerpt = excerpt(hit, room);
        let place = place(&chunk.title, &chunk.heading_path, room.columns);
        let bold = anstyle::Style::new().bold();
        let dim = anstyle::Style::new().dimmed();
        let fit = match hit.fit {
            Match::Strong => "",
            Match::Weak => language.select(" · 弱匹配", " · weak match"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:>2}. {bold}{place}{bold:#}", hit.rank);
        let _ = writeln!(out, "    {dim}{} · {:.3}{fit}{dim:#}", chunk.id, hit.score);
        if args.explain.is_some() {
            let _ = writeln!(out, "    {dim}{}{dim:#}", explanation(hit));
        }
        let lines = wrap(&excerpt, columns, "    ", "    ").into_iter();
        for line in lines.filter(|l| !l.trim().is_empty()).take(LINES_SHOWN) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// The headings of a passage below the title of its page, which is cut first.
fn place(title: &str, headings: &[String], columns: usize) -> String {
    let below: String = headings
        .iter()
        .map(|heading| format!(" › {heading}"))
        .collect();
    let left = columns.saturating_sub(below.width()).max(columns / 3);
    shorten(&(shorten(title, left) + &below), columns)
}

fn explanation(hit: &Hit) -> String {
    let branch = |rank: Option<usize>, score: Option<f32>| match (rank, score) {
        (Some(rank), Some(score)) => format!("#{rank} ({score:.3})"),
        (None, Some(score)) => format!("unranked ({score:.3})"),
        _ => "–".to_owned(),
    };
    let reranked = hit
        .rerank_score
        .map(|score| format!(" · reranked {score:.3}"));
    let reranked = reranked.unwrap_or_default();
    let question = hit
        .question_score
        .map(|score| format!(" · question {score:.3}"));
    let question = question.unwrap_or_default();
    format!(
        "bm25 {} · vector {}{question} · fused {:.3} · boost {:+.3} · prior {:+.3}{reranked}",
        branch(hit.bm25_rank, hit.bm25_score),
        branch(hit.vector_rank, hit.vector_score),
        hit.fused,
        hit.boost,
        hit.prior
    )
}
