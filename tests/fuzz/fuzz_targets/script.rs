//! The script parser: it loses no text, and spans are within the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data).into_owned();
    let script = job::script::Script::parse("fuzz.script", text.clone());
    assert_eq!(script.tree().print(&text), text);
    for statement in &script.statements {
        assert!(text.get(statement.span.clone()).is_some());
    }
});
