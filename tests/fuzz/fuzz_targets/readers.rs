//! Every reader on its own: the first byte chooses it, the rest is the file.

#![no_main]

#[path = "../kinds.rs"]
mod kinds;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static OPTIONS: LazyLock<job::Options> = LazyLock::new(job::Options::default);

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let kind = kinds::choose(*choice);
    let job = job::read_memory(&[("file", kind, bytes)], &OPTIONS);
    for diagnostic in &job.diagnostics {
        assert!(!diagnostic.message.en.is_empty());
    }
});
