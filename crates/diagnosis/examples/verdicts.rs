//! Prints verdict, findings and suggestions of jobs.
use diagnosis::{Settings, diagnose};
use job::Catalogue;
use report::Language;
fn main() {
    let catalogue = Catalogue::builtin();
    for path in std::env::args().skip(1) {
        let job = match job::load(std::path::Path::new(&path)) {
            Ok(job) => job,
            Err(e) => {
                println!("== {path}: {e}");
                continue;
            }
        };
        let d = diagnose(&job, &catalogue, &Settings::default(), Language::En);
        println!("== {path}: {:?} state {:?}", d.verdict, job.info.state);
        for f in &d.findings {
            println!("   F {} {} {}", f.cause, f.confidence, f.summary);
        }
        for s in d.suggestions.iter().take(3) {
            println!("   S {}", s.suggestion.title);
            for t in &s.suggestion.steps {
                println!("      - {t}");
            }
        }
        for m in d.missing.iter().take(3) {
            println!(
                "   M {} {} {:?}",
                m.information.file, m.information.reason, m.information.from
            );
        }
        for g in job.diagnostics.iter().take(5) {
            println!(
                "   D {} {:?} {}",
                g.file.clone().unwrap_or_default(),
                g.locator,
                g.message.en
            );
        }
    }
}
