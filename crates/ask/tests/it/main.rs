//! Questions about a run: what is understood, what is answered, what is admitted not to be known.

mod question;
#[path = "../../../runs/tests/it/support.rs"]
mod support;
