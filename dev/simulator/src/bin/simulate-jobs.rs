//! `simulate-jobs`: writes sets of simulated jobs, the cases of the tests, or a large profile.
//!
//! ```text
//! simulate-jobs --out DIR [--count N] [--seed S] [--cause CODE | --near CODE] [--scale small|usual|huge]
//!               [--mechanisms tuned|held-out|all|NAME,NAME…]
//! simulate-jobs --list                 # all mechanisms
//! simulate-jobs --cases DIR            # all cases
//! simulate-jobs --committed DIR        # the cases of tests/cases
//! simulate-jobs --profile FILE --bytes N
//! ```

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its output is its result"
)]

use simulator::{
    COMMITTED, Cause, Mechanisms, Scale, Set, SimulatedJob, cases, ways, write_cases,
    write_large_profile,
};
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Default)]
struct Args {
    out: Option<PathBuf>,
    profile: Option<PathBuf>,
    cases: Option<PathBuf>,
    committed: Option<PathBuf>,
    bytes: u64,
    count: usize,
    seed: u64,
    cause: Option<Cause>,
    near: Option<Cause>,
    scale: Option<Scale>,
    mechanisms: Mechanisms,
    list: bool,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|args| run(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            eprintln!(
                "hint: simulate-jobs --out DIR --count N --seed S [--cause CODE | --near CODE] [--scale small|usual|huge] [--mechanisms tuned|held-out|all|NAME,…]"
            );
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args {
        count: 1,
        seed: 1,
        bytes: 1 << 30,
        ..Args::default()
    };
    while let Some(word) = words.next() {
        if word == "--list" {
            args.list = true;
            continue;
        }
        let value = words
            .next()
            .ok_or_else(|| format!("`{word}` needs a value"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|e| format!("`{word} {value}`: {e}"))
        };
        match word.as_str() {
            "--out" => args.out = Some(value.into()),
            "--cases" => args.cases = Some(value.into()),
            "--committed" => args.committed = Some(value.into()),
            "--profile" => args.profile = Some(value.into()),
            "--bytes" => args.bytes = number()?,
            "--count" => args.count = number()? as usize,
            "--seed" => args.seed = number()?,
            "--cause" => {
                args.cause =
                    Some(Cause::parse(&value).ok_or_else(|| format!("unknown cause `{value}`"))?)
            }
            "--near" => {
                args.near =
                    Some(Cause::parse(&value).ok_or_else(|| format!("unknown cause `{value}`"))?);
            }
            "--mechanisms" => args.mechanisms = mechanisms(&value)?,
            "--scale" => {
                args.scale = Some(match value.as_str() {
                    "small" => Scale::Small,
                    "usual" => Scale::Usual,
                    "huge" => Scale::Huge,
                    _ => return Err(format!("unknown scale `{value}`")),
                });
            }
            _ => return Err(format!("unknown option `{word}`")),
        }
    }
    Ok(args)
}

fn mechanisms(value: &str) -> Result<Mechanisms, String> {
    Ok(match value {
        "tuned" => Mechanisms::Tuned,
        "held-out" => Mechanisms::HeldOut,
        "all" => Mechanisms::All,
        names => {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            let known = ways();
            let unknown = names.iter().find(|n| !known.iter().any(|w| w.name == **n));
            if let Some(name) = unknown {
                return Err(format!("unknown mechanism `{name}`; --list shows them"));
            }
            Mechanisms::Only(names)
        }
    })
}

fn list() {
    for way in ways() {
        let kind = if way.near_miss { "near " } else { "" };
        let held = if way.tuned { "tuned" } else { "held out" };
        println!("{kind}{}: {} ({held})", way.cause.code(), way.name);
    }
}

fn run(args: &Args) -> Result<(), String> {
    if args.list {
        list();
        return Ok(());
    }
    if let Some(path) = &args.profile {
        let file = fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let written = write_large_profile(&mut BufWriter::new(file), args.bytes, 12, args.seed)
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{written} bytes");
        return Ok(());
    }
    let said = |folder: &Path, e: std::io::Error| format!("{}: {e}", folder.display());
    if let Some(folder) = &args.cases {
        return write_cases(folder).map_err(|e| said(folder, e));
    }
    if let Some(folder) = &args.committed {
        return cases()
            .iter()
            .filter(|case| COMMITTED.contains(&case.name))
            .try_for_each(|case| case.write(folder))
            .map_err(|e| said(folder, e));
    }
    let out = args.out.as_ref().ok_or("no `--out`")?;
    let set = Set {
        seed: args.seed,
        scale: args.scale.unwrap_or(Scale::Usual),
        mechanisms: args.mechanisms.clone(),
    };
    for index in 0..args.count {
        let job = match args.near {
            Some(cause) => set.near_miss(index, cause),
            None => set.job(index, args.cause),
        }
        .ok_or_else(|| format!("job {index}: no seed shows the cause"))?;
        save(out, index, &job)?;
    }
    Ok(())
}

fn save(out: &Path, index: usize, job: &SimulatedJob) -> Result<(), String> {
    let name = format!("job-{index:03}");
    let truth = out.join("truth");
    let text = serde_json::to_string_pretty(&job.truth).map_err(|e| e.to_string())?;
    fs::create_dir_all(&truth)
        .and_then(|()| job.write(&out.join(&name)))
        .and_then(|()| fs::write(truth.join(format!("{name}.json")), text + "\n"))
        .map_err(|e| format!("{}: {e}", out.display()))
}
