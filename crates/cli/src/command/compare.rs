//! `scopeagent compare`: what changed between two runs.

use std::path::{Path, PathBuf};

use agent::Silent;
use report::Report;
use runs::compare::{self, Origin, Side};
use runs::shape::JobShape;
use runs::store::Store;

use crate::analysis::{self, Analyst};
use crate::args::{Compare, CompareFormat, Thinking};
use crate::config::Config;
use crate::error::Result;
use crate::exit::Exit;
use crate::keeper;
use crate::reasoners::{Asked, Reasoners};
use crate::render;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Compare, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let mut library = Library {
        config,
        terminal,
        analyst: None,
        store: None,
    };
    let (a, b) = (library.side(&args.a)?, library.side(&args.b)?);
    let configured = args.lang.or(config.language).map(analysis::language);
    let language = configured.unwrap_or(a.report.language);
    let comparison = compare::compare(&a, &b, language);
    let columns = render::layout::stdout_width();
    terminal.print(&match args.format {
        CompareFormat::Json => super::json(&comparison)?,
        CompareFormat::Markdown => render::comparison::markdown(&comparison, args.all),
        CompareFormat::Text => render::comparison::text(&comparison, columns, args.all),
    })?;
    Ok(Exit::Success)
}

/// Where runs come from; each part is opened when it is needed.
struct Library<'a> {
    config: &'a Config,
    terminal: &'a Terminal,
    analyst: Option<Analyst>,
    store: Option<Store>,
}

impl Library<'_> {
    /// A run by its identifier, or the job of a folder.
    fn side(&mut self, what: &str) -> Result<Side> {
        let folder = PathBuf::from(what);
        if folder.is_dir() {
            return self.read(&folder);
        }
        self.kept(what).map_err(|error| {
            error.hint(format!(
                "`{what}` must be a job folder or a run; `scopeagent runs list` shows every run"
            ))
        })
    }

    /// Reads and diagnoses a folder, without experience and without keeping a run.
    fn read(&mut self, folder: &Path) -> Result<Side> {
        let analyst = match &mut self.analyst {
            Some(analyst) => analyst,
            none => none.insert(Analyst::of_facts(self.config)?),
        };
        let thinking = Thinking::of_facts();
        let asked = Asked {
            thinking: &thinking,
            dry_run: false,
            transcript: None,
            replay: None,
        };
        let request = analysis::request(folder, &thinking, self.config);
        let progress = self.terminal.progress(&folder.display().to_string());
        let reasoners = Reasoners::choose(&asked, self.config)?;
        let made = analyst.analyze(&request, reasoners, &mut Silent);
        progress.finish();
        let made = made?;
        Ok(Side {
            report: made.report,
            shape: made.shape,
            script: made.picture.script,
            origin: Origin::Folder,
        })
    }

    /// What was kept of a run. A run of an older program is completed from its folder, if that
    /// still holds the same job.
    fn kept(&mut self, run: &str) -> Result<Side> {
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(keeper::open(self.config)?),
        };
        let row = store.run(run).map_err(keeper::error)?;
        let report = super::runs::stored_report(store, run)?;
        let picture = store
            .picture(run)
            .map_err(keeper::error)?
            .unwrap_or_default();
        if let Some(shape) = store.shape(run).map_err(keeper::error)? {
            return Ok(Side {
                report,
                shape,
                script: picture.script,
                origin: Origin::Kept,
            });
        }
        let folder = PathBuf::from(&row.job);
        let again = folder.is_dir().then(|| self.read(&folder)).transpose();
        match again.ok().flatten() {
            Some(read) if is_same_run(&read.report, &report) => Ok(Side {
                report,
                shape: read.shape,
                script: picture.script,
                origin: Origin::ReadAgain,
            }),
            _ => Ok(Side {
                shape: JobShape::drawn(&picture, &report),
                report,
                script: picture.script,
                origin: Origin::Drawn,
            }),
        }
    }
}

/// Whether a folder still holds the job that was analysed: another job may have taken its place.
fn is_same_run(read: &Report, kept: &Report) -> bool {
    let (a, b) = (&read.job, &kept.job);
    (&a.id, &a.name, a.state, a.elapsed_seconds) == (&b.id, &b.name, b.state, b.elapsed_seconds)
}
