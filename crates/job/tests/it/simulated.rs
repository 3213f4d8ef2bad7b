//! Simulated cluster folders.

use super::shared;

#[test]
fn every_folder_is_read() {
    let Some(root) = shared("jobs-dev") else {
        return;
    };
    let mut folders: Vec<_> = std::fs::read_dir(root)
        .expect("listed")
        .flatten()
        .map(|e| e.path())
        .collect();
    folders.retain(|p| p.is_dir() && p.join("ScopeVertexDef.xml").is_file());
    folders.sort();
    for folder in folders {
        let job = job::load(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let unknown: Vec<_> = job
            .files
            .iter()
            .filter(|f| !f.read)
            .map(|f| (&f.name, f.kind))
            .collect();
        eprintln!(
            "{} stages {} edges {} tables {} state {:?} tokens {:?} elapsed {:?} unread {unknown:?} diags {:?}",
            folder.display(),
            job.stages.len(),
            job.edges.len(),
            job.tables.len(),
            job.info.state,
            job.info.tokens,
            job.info.elapsed_seconds,
            job.diagnostics
                .iter()
                .map(|d| format!("{:?} {:?} {}", d.file, d.locator, d.message))
                .collect::<Vec<_>>()
        );
    }
}
