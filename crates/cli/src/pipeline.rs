//! The checks of a budget, as a pipeline reads them.

use report::{Report, say, visible_line};
use runs::budget::{Check, Outcome, baseline, outcome};
use runs::history::JobHistory;
use server::{ErrorKind, Explain, Result};

use crate::args::Budget;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// The checks of each run, under the name of its job.
#[derive(Default)]
pub(crate) struct Gate {
    runs: Vec<(String, Vec<Check>)>,
}

impl Gate {
    /// Checks a run against the limits and its history.
    pub(crate) fn check(&mut self, budget: &Budget, report: &Report, history: Option<&JobHistory>) {
        let limits = budget.budget.unwrap_or_default();
        let mut checks = limits.checks(report);
        if budget.baseline.is_some() {
            checks.extend(history.map(baseline));
        }
        self.runs.push((report.job.label().to_owned(), checks));
    }

    /// Reports the checks in the ways asked for; the exit status that follows from them.
    pub(crate) fn finish(&self, budget: &Budget, terminal: &Terminal) -> Result<Exit> {
        if !budget.is_given() {
            return Ok(Exit::Success);
        }
        if let Some(file) = &budget.junit {
            let hint = say!("请检查该文件是否可写", "check that the file can be written");
            std::fs::write(file, llm::hide(&self.junit()).as_bytes())
                .explain(ErrorKind::Other, hint)?;
        }
        for (job, check) in self.all() {
            let said = format!("{job}: {}: {}", check.name, says(check));
            match budget.github {
                true => terminal.print(&annotation(job, check))?,
                false => {
                    terminal.remark(&format!("{} {}", word(check.outcome), visible_line(&said)))
                }
            }
        }
        Ok(match outcome(self.all().map(|(_, check)| check)) {
            Outcome::Kept => Exit::Success,
            Outcome::Inconclusive => Exit::Inconclusive,
            Outcome::Broken => Exit::Found,
        })
    }

    fn all(&self) -> impl Iterator<Item = (&String, &Check)> {
        self.runs
            .iter()
            .flat_map(|(job, checks)| checks.iter().map(move |check| (job, check)))
    }

    fn junit(&self) -> String {
        let count = |wanted| self.all().filter(|(_, c)| c.outcome == wanted).count();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"scopeagent\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
            self.all().count(),
            count(Outcome::Broken),
            count(Outcome::Inconclusive)
        );
        for (job, check) in self.all() {
            let message = xml(&says(check));
            let (job, name) = (xml(job), check.name);
            let body = match check.outcome {
                Outcome::Kept => format!("<system-out>{message}</system-out>"),
                Outcome::Inconclusive => format!("<skipped message=\"{message}\"/>"),
                Outcome::Broken => format!("<failure message=\"{message}\"/>"),
            };
            out += &format!("  <testcase classname=\"{job}\" name=\"{name}\">{body}</testcase>\n");
        }
        out + "</testsuite>\n"
    }
}

fn says(check: &Check) -> String {
    check.text.pick(report::interface()).to_owned()
}

fn word(outcome: Outcome) -> String {
    match outcome {
        Outcome::Kept => say!("在预算内：", "within budget:"),
        Outcome::Inconclusive => say!("无法判断：", "undecided:"),
        Outcome::Broken => say!("超出预算：", "over budget:"),
    }
}

/// `::error title=…::…`, with the escapes of GitHub's workflow commands.
fn annotation(job: &str, check: &Check) -> String {
    let level = match check.outcome {
        Outcome::Kept => "notice",
        Outcome::Inconclusive => "warning",
        Outcome::Broken => "error",
    };
    // no line ends are left
    let data = |text: &str| visible_line(text).replace('%', "%25");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let title = property(&format!("{job}: {}", check.name));
    format!("::{level} title={title}::{}\n", data(&says(check)))
}

/// Text of an attribute or element, with control characters made visible: XML has no form for them.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_line(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
