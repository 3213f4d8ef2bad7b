//! The time account for every output format: rows by start time, and one line of totals.

use report::format::{Number, STAGE, Seconds, Share};
use report::{Cost, Report, SegmentKind, TimeAccount, TimeSum, TimeUse, text};

use super::layout::{pad, pad_left, shorten, width, wrap, wrap_items};
use super::style::{self, DIM};
use super::words::Words;

/// Rows of a short account; few enough that the findings below it stay visible.
pub const ROWS: usize = 11;
/// Neighbors that together take a smaller share of the time become one row.
const TINY: f64 = 0.01;
/// An account with more than this many times the rows has many small stages.
const MANY: usize = 3;
/// A row with a smaller share of the time is merged with a neighbor of another finding as well.
const DUST: f64 = 0.001;
/// Uses of a row by name, in a narrow and in a wide terminal.
const NAMES: [usize; 2] = [1, 3];
/// Columns of the name of a stage.
const STAGE_COLUMNS: [usize; 2] = [18, 32];
/// From here on a terminal is wide.
const WIDE: usize = 110;
/// Cells of the time axis at least, even where lines then get too long.
const MIN_AXIS: usize = 10;

/// Segments shown as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// With their seconds, most first.
    pub uses: Vec<(TimeUse, f64)>,
    pub stages: Vec<&'a str>,
    pub findings: Vec<&'a str>,
    pub evidence: Vec<&'a str>,
    /// Start and end of each segment, in seconds.
    pub spans: Vec<(f64, f64)>,
    pub seconds: f64,
}

impl<'a> Row<'a> {
    /// Segments of one use, stage and finding.
    fn of(sum: &TimeSum<'a>) -> Row<'a> {
        let mut evidence = Vec::new();
        for segment in sum.segments() {
            let ids = segment.evidence.iter().map(String::as_str);
            add_new(&mut evidence, ids.collect());
        }
        let first = sum.first;
        let span = |s: &report::Segment| (s.start_seconds, s.start_seconds + s.seconds);
        Row {
            uses: vec![(first.time_use(), sum.seconds())],
            stages: first.stage.as_deref().into_iter().collect(),
            findings: first.finding.as_deref().into_iter().collect(),
            evidence,
            spans: sum.segments().map(span).collect(),
            seconds: sum.seconds(),
        }
    }

    /// Seconds from submission to the first of its segments.
    pub fn start_seconds(&self) -> f64 {
        let starts = self.spans.iter().map(|(from, _)| *from);
        starts.fold(f64::INFINITY, f64::min)
    }

    fn absorb(&mut self, next: Row<'a>) {
        for (own, seconds) in next.uses {
            match self.uses.iter_mut().find(|(known, _)| *known == own) {
                Some((_, sum)) => *sum += seconds,
                None => self.uses.push((own, seconds)),
            }
        }
        self.uses.sort_by(|a, b| b.1.total_cmp(&a.1));
        add_new(&mut self.stages, next.stages);
        add_new(&mut self.findings, next.findings);
        add_new(&mut self.evidence, next.evidence);
        self.spans.extend(next.spans);
        self.seconds += next.seconds;
    }

    /// The kind that took most.
    pub fn kind(&self) -> SegmentKind {
        let first = self.uses.first();
        first.map_or(SegmentKind::Unexplained, |(own, _)| own.kind)
    }

    /// Its uses, the first `names` of them by name.
    pub fn title(&self, names: usize, words: Words) -> String {
        let titles = self.uses.iter().map(|(own, _)| words.time_use(*own));
        let titles: Vec<String> = titles.collect();
        let (all, named) = (titles.len(), titles.iter().take(names));
        let named = named.cloned().collect::<Vec<_>>().join(words.comma());
        match all.saturating_sub(names) {
            0 => named,
            more => words.say(text!("{named}等 {all} 项", "{named} +{more}")),
        }
    }

    /// Its time, and the share of the whole.
    pub fn amounts(&self, account: &TimeAccount, words: Words) -> (String, String) {
        let share = Share(self.seconds / account.total_seconds());
        (words.say(Seconds(self.seconds)), words.say(share))
    }

    pub fn place(&self, words: Words) -> String {
        match self.stages.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            many => words.say(STAGE.count(many.len() as f64)),
        }
    }
}

fn add_new<'a>(to: &mut Vec<&'a str>, names: Vec<&'a str>) {
    for name in names {
        if !to.contains(&name) {
            to.push(name);
        }
    }
}

/// The segments that follow each other with the same use, stage and finding as one.
pub fn rows(account: &TimeAccount) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut before = None;
    for first in account.segments.iter().filter(|s| s.seconds > 0.0) {
        let key = (first.time_use(), &first.stage, &first.finding);
        let others = Vec::new();
        let row = Row::of(&TimeSum { first, others });
        match rows.last_mut().filter(|_| before == Some(key)) {
            Some(last) => last.absorb(row),
            None => rows.push(row),
        }
        before = Some(key);
    }
    rows
}

/// At most `most` rows, one for each use, stage and finding: consecutive vertices of a stage repeat
/// the same few uses. Of many small stages, equal uses share a row first. Then the smallest neighbors share a row,
/// preferably within one stage; neighbors with different findings are merged last.
pub fn short_rows(account: &TimeAccount, most: usize) -> Vec<Row<'_>> {
    let total = account.total_seconds();
    let sums = account.sums(|s| (s.time_use(), &s.stage, &s.finding));
    let many = sums.len() > MANY * most;
    let mut rows: Vec<Row> = Vec::new();
    let mut shared: Vec<usize> = Vec::new();
    for row in sums.iter().map(Row::of) {
        let is_small = many && row.seconds < TINY * total;
        let alike = |at: &&usize| {
            let known = &rows[**at];
            known.uses[0].0 == row.uses[0].0 && known.findings == row.findings
        };
        match shared.iter().find(alike).filter(|_| is_small) {
            Some(at) => rows[*at].absorb(row),
            None => {
                shared.extend(is_small.then_some(rows.len()));
                rows.push(row);
            }
        }
    }
    let cost = |[a, b]: &[Row; 2]| {
        let across = if a.stages == b.stages { 1.0 } else { 2.0 };
        let is_dust = a.seconds.min(b.seconds) < DUST * total;
        let torn = if a.findings == b.findings || is_dust {
            0.0
        } else {
            total
        };
        (a.seconds + b.seconds) * across + torn
    };
    loop {
        let pairs = rows.array_windows().map(cost).enumerate();
        let Some((at, cost)) = pairs.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return rows;
        };
        if rows.len() <= most && cost >= TINY * total {
            return rows;
        }
        let next = rows.remove(at + 1);
        rows[at].absorb(next);
    }
}

/// The whole time, its explained and avoidable parts, and the cost of the run.
pub fn totals(report: &Report, words: Words) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(time) = &report.time {
        let total = time.total_seconds();
        let seconds = Seconds(total);
        items.push(words.say(if report.job.total_seconds.is_some() {
            text!(
                "从提交到结束 {seconds}",
                "{seconds} from submission to end",
                seconds = seconds
            )
        } else {
            text!("运行 {seconds}", "run of {seconds}", seconds = seconds)
        }));
        let explained = Share(time.explained_share);
        items.push(words.say(text!(
            "已解释 {share}",
            "{share} explained",
            share = explained
        )));
        if let Some([least, most]) = time.at_best_seconds {
            let best = match most - least < 0.01 * total {
                true => text!("最好 {most}", "at best {most}", most = Seconds(most)),
                false => text!(
                    "最好 {least} 至 {most}",
                    "at best {least} to {most}",
                    least = Seconds(least),
                    most = Seconds(most)
                ),
            };
            items.push(words.say(best));
        }
        if let Some(avoidable) = time.avoidable_seconds.filter(|s| *s > 0.0) {
            items.push(words.say(text!(
                "可避免 {seconds}（{share}）",
                "{seconds} avoidable ({share})",
                seconds = Seconds(avoidable),
                share = Share(avoidable / total)
            )));
        }
    }
    let held = report.time.as_ref().and_then(TimeAccount::held_hours);
    items.extend(
        report
            .cost
            .as_ref()
            .and_then(|cost| hours(cost, held, words)),
    );
    items
}

/// `50.3 token-hours held, 41.2 vertex-hours used, 12.9 of the used ones wasted`.
fn hours(cost: &Cost, held: Option<f64>, words: Words) -> Option<String> {
    let all = cost.used(held)?;
    let wasted = cost.wasted_vertex_hours.filter(|hours| *hours > 0.0);
    Some(match wasted {
        Some(hours) => words.say(text!(
            "{all}，其中浪费 {wasted}",
            "{all}, {wasted} of the used ones wasted",
            all = all,
            wasted = Number(hours)
        )),
        None => words.say(all),
    })
}

/// The account as a waterfall for a terminal of this width.
pub fn waterfall(report: &Report, words: Words, columns: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let mut lines = wrap_items(&totals(report, words), columns, INDENT);
    let Some(time) = &report.time else {
        return lines;
    };
    let total = time.total_seconds();
    let rows = short_rows(time, ROWS);
    let wide = usize::from(columns >= WIDE);
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let (time, share) = row.amounts(time, words);
            let place = shorten(&row.place(words), STAGE_COLUMNS[wide]);
            [
                row.title(NAMES[wide], words),
                place,
                time,
                share,
                row.findings.join(" "),
            ]
        })
        .collect();
    let widths: [usize; 5] =
        std::array::from_fn(|i| cells.iter().map(|row| width(&row[i])).max().unwrap_or(0));
    let taken: usize = widths.iter().sum::<usize>() + 6 * INDENT.len();
    let axis = columns.saturating_sub(taken).max(MIN_AXIS);
    for (row, [title, place, time, share, findings]) in rows.iter().zip(cells) {
        let style = style_of(row, report);
        let spans = row
            .spans
            .iter()
            .map(|(from, to)| (from / total, to / total));
        let [before, bar, after] = bar(spans, axis);
        let line = [
            pad(&title, widths[0]),
            pad(&place, widths[1]),
            format!("{DIM}{before}{DIM:#}{style}{bar}{style:#}{DIM}{after}{DIM:#}"),
            pad_left(&time, widths[2]),
            pad_left(&share, widths[3]),
            match findings.as_str() {
                "" => findings,
                ids => format!("{style}{ids}{style:#}"),
            },
        ];
        lines.push(format!("{INDENT}{}", line.join(INDENT).trim_end()));
    }
    for remark in &time.remarks {
        lines.extend(wrap(remark, columns, "  · ", "    "));
    }
    lines
}

/// The color of the finding that claims most of a row; unclaimed rows are work or waiting.
fn style_of(row: &Row, report: &Report) -> anstyle::Style {
    let claimed = report
        .findings
        .iter()
        .find(|f| row.findings.contains(&f.id.as_str()));
    match claimed {
        Some(finding) => style::severity(finding.severity),
        None if row.kind().is_wait() || row.kind() == SegmentKind::Unexplained => DIM,
        None => anstyle::AnsiColor::Cyan.on_default(),
    }
}

/// The parts before, in and after a bar with these spans (0..1), in halves of a cell. Every bar is
/// wide enough to be visible.
fn bar(spans: impl Iterator<Item = (f64, f64)>, cells: usize) -> [String; 3] {
    let mut halves = vec![false; cells * 2];
    for (from, to) in spans {
        let at = |share: f64| (share.clamp(0.0, 1.0) * halves.len() as f64).round() as usize;
        let first = at(from).min(halves.len() - 1);
        let end = at(to).max(first + 1);
        halves[first..end].fill(true);
    }
    let drawn = |cell: &[bool]| match cell {
        [true, true] => '█',
        [true, false] => '▌',
        [false, true] => '▐',
        _ => '·',
    };
    let line: String = halves.chunks(2).map(drawn).collect();
    let bar = line.trim_matches('·');
    let before = line.len() - line.trim_start_matches('·').len();
    [
        line[..before].to_owned(),
        bar.to_owned(),
        line[before + bar.len()..].to_owned(),
    ]
}

#[cfg(test)]
mod tests;
