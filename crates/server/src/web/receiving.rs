//! The volume of uploads under way, over all visitors.

use std::sync::atomic::AtomicU64;

/// Bytes of the uploads under way.
#[derive(Default)]
pub(super) struct Receiving(pub(super) AtomicU64);
