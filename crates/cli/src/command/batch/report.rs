//! `scopeagent batch report`: tables and a page with the results of a batch.

use std::fs;
use std::path::{Path, PathBuf};

use batch::page::page_of;
use batch::{Aggregate, AggregateError, Location, Store, Written};
use report::{say, visible_line};
use server::{Error, ErrorKind, Explain, Result, error};

use crate::args::BatchReport;
use crate::config::Config;
use crate::exit::Exit;
use crate::notify::{Message, counts};
use crate::session;
use crate::sources::{explained, sources};
use crate::terminal::Terminal;

pub(super) fn run(args: &BatchReport, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let sources = sources([]);
    let location = sources.access().locate(&args.store).map_err(explained)?;
    let (out, base) = places(args, &location)?;
    let store = Store::open(sources.access(), &args.store).map_err(explained)?;
    // a store that doesn't exist gets no folder
    runtime.block_on(store.planned()).map_err(explained)?;
    let line = terminal.progress(&say!("读取结果", "reading results"));
    let mut aggregate = Aggregate::create(&out, &base).map_err(|e| failed(e.into()))?;
    let progress = |done| line.show("", done, 0);
    runtime
        .block_on(aggregate.add_all(&store, progress))
        .map_err(failed)?;
    let keys = aggregate.page().costliest(args.pages);
    let paged = runtime.block_on(write_pages(&store, &keys, &out))?;
    aggregate.page().link_pages(paged);
    let prices = &config.prices;
    aggregate.page().set_prices(&prices.currency, prices.all());
    let written = aggregate
        .finish(report::interface())
        .map_err(|e| failed(e.into()))?;
    drop(line);
    for reason in &written.unreadable {
        let reason = visible_line(reason);
        let warning = say!("已忽略：{reason}", "left out: {reason}");
        tracing::warn!("{warning}");
    }
    crate::command::show(terminal, args.format, &written, || said(&written))?;
    let message = Message::of_batch(&args.store, &written);
    runtime.block_on(args.notify.send(&message))?;
    Ok(Exit::Success)
}

/// The folder that is written, and where its page finds the results.
fn places(args: &BatchReport, location: &Location) -> Result<(PathBuf, String)> {
    match (location, &args.out) {
        (Location::Local(store), None) => Ok((store.join("report"), "../".to_owned())),
        (Location::Local(store), Some(out)) => {
            let hint = say!("请检查结果库是否存在", "check that the store exists");
            let store = store.canonicalize().explain(ErrorKind::Usage, hint)?;
            let url = url::Url::from_directory_path(&store).map(String::from);
            Ok((out.clone(), url.unwrap_or_default()))
        }
        (Location::Remote(_) | Location::History(_), Some(out)) => {
            let store = args.store.trim_end_matches('/');
            Ok((out.clone(), format!("{store}/")))
        }
        (Location::Remote(_) | Location::History(_), None) => Err(error!(
            Usage: "结果库在对象存储中，没有可写入的目录", "the store is not on this machine, and there is no folder for its report";
            "请用 --out DIR 指定", "give one with --out DIR"
        )),
    }
}

/// Writes the reports with these keys as pages; returns the keys of the written pages.
async fn write_pages(store: &Store, keys: &[String], out: &Path) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for key in keys {
        let Some(result) = store.result(key).await.map_err(explained)? else {
            continue;
        };
        let (Some(report), Some(summary)) = (&result.report, &result.summary) else {
            continue;
        };
        let html = render::html::render(report, summary).explain(
            ErrorKind::Other,
            say!("这是程序的缺陷，请报告", "this is a bug: please report it"),
        )?;
        let path = out.join(page_of(key));
        let folder = path.parent().unwrap_or(out);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, llm::hide(&html).as_bytes()))
            .explain(ErrorKind::Other, writable())?;
        written.push(key.clone());
    }
    Ok(written)
}

fn failed(error: AggregateError) -> Error {
    match error {
        AggregateError::Store(error) => explained(error),
        error => Error::from_source(ErrorKind::Other, &error).hint(writable()),
    }
}

fn writable() -> String {
    say!(
        "请检查输出目录是否可写",
        "check that the folder can be written"
    )
}

fn said(written: &Written) -> String {
    let mut text = counts(written);
    for file in &written.files {
        text += &format!("\n  {}", visible_line(&file.display().to_string()));
    }
    text + "\n"
}
