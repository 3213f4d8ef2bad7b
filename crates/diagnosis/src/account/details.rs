//! Uses of the time within a kind: reasons for waiting, and work of the driver.
//!
//! They are found after all parts are booked, one use after the other, so that a long log takes little memory.

use report::SegmentKind;

use super::driver::DriverTime;
use super::slots::Slots;
use super::{Part, shown};
use crate::view::View;

/// In a longer account, a part of the driver's time is not divided: it has its longest use.
const MOST_DIVIDED: usize = 20_000;

/// The parts of an account with the details that an application has.
pub(super) fn detailed(view: &View<'_>, mut parts: Vec<Part>) -> Vec<Part> {
    let Some(app) = view.job.spark.as_deref() else {
        return parts;
    };
    let is_wait = |p: &Part| p.kind == SegmentKind::CapacityWait && p.stage.is_some();
    if parts.iter().any(is_wait) {
        let slots = Slots::of(view, app);
        for part in parts.iter_mut().filter(|p| is_wait(p)) {
            part.detail = part.stage.map(|stage| slots.reason(stage, part.span));
        }
    }
    let driver = DriverTime::of(app, view.job.info.submitted_ms.unwrap_or(0));
    if parts.len() <= MOST_DIVIDED {
        return parts
            .into_iter()
            .flat_map(|p| divided(view, &driver, p))
            .collect();
    }
    for part in parts.iter_mut().filter(|p| p.kind == SegmentKind::Driver) {
        let uses = driver.divide(part.span);
        let longest = uses
            .into_iter()
            .max_by(|a, b| a.1.seconds().total_cmp(&b.1.seconds()));
        part.detail = longest.and_then(|(detail, _)| detail);
    }
    parts
}

/// A part of the driver's time by its uses; any other part as it is.
fn divided(view: &View<'_>, driver: &DriverTime, part: Part) -> Vec<Part> {
    if part.kind != SegmentKind::Driver {
        return vec![part];
    }
    let mut uses = driver.divide(part.span);
    // neighbors of one use are one part
    uses.dedup_by(|next, before| {
        let alike = next.0 == before.0;
        if alike {
            before.1.to = next.1.to;
        }
        alike
    });
    if let [(detail, _)] = uses[..] {
        return vec![Part { detail, ..part }];
    }
    let is_shown = !part.evidence.is_empty();
    let one = |(detail, span)| Part {
        detail,
        span,
        evidence: (shown::stated(view, part.kind, span).into_iter())
            .filter(|_| is_shown)
            .collect(),
        ..part.clone()
    };
    uses.into_iter().map(one).collect()
}
