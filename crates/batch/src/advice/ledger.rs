//! The calls and cost of all processes: a chain of objects. Object n holds the totals after n changes.
//!
//! A change is written under the next number, and only if that object does not exist yet. So no change is lost, and no two processes
//! reserve the same rest. Changes that arrive during a write are written together. A started call without a written end stays reserved,
//! because its cost is unknown.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{Budget, Reserved};
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot};

use super::object::to_json;
use crate::error::{Error, Result};
use crate::store::Store;

/// Limits for all calls together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caps {
    /// In the currency of the prices.
    pub cost: Option<f64>,
    pub calls: Option<u64>,
}

/// `ledger/<n>.json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub calls: u64,
    pub cost: f64,
    /// Calls under way, and their maximum cost.
    pub reserved_calls: u64,
    pub reserved_cost: f64,
}

#[derive(Debug)]
pub struct Ledger {
    store: Store,
    caps: Caps,
    /// How long to wait while only other processes hold reservations and no total changes.
    patience: Duration,
    /// Of calls that this process may have under way.
    places: Semaphore,
    last: tokio::sync::Mutex<Last>,
    waiting: Mutex<Vec<Change>>,
    /// Calls that this process has set aside, most of them under way.
    set_aside: AtomicU64,
    settled: Notify,
}

#[derive(Debug, Clone, Copy, Default)]
struct Last {
    n: u64,
    spent: Spent,
}

#[derive(Debug)]
struct Change {
    operation: Operation,
    answer: oneshot::Sender<std::result::Result<Verdict, String>>,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Reserve { most: Option<f64> },
    Settle { most: f64, calls: u64, cost: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Fine,
    /// The caps are reserved, not used up: a reservation may be released.
    Wait(u64),
    UsedUp(Spent),
    NoPrices,
}

impl Ledger {
    /// Allows this process `places` calls at a time.
    pub fn new(store: Store, caps: Caps, patience: Duration, places: usize) -> Ledger {
        Ledger {
            store,
            caps,
            patience,
            places: Semaphore::new(places),
            last: tokio::sync::Mutex::default(),
            waiting: Mutex::default(),
            set_aside: AtomicU64::new(0),
            settled: Notify::new(),
        }
    }

    /// Current totals of calls and cost.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn spent(&self) -> Result<Spent> {
        self.write().await;
        let mut last = self.last.lock().await;
        self.catch_up(&mut last).await?;
        Ok(last.spent)
    }

    /// Decides on a change and writes it, together with all that wait.
    async fn apply(&self, operation: Operation) -> std::result::Result<Verdict, String> {
        let decided = self.note(operation);
        self.write().await;
        let interrupted = || Err("interrupted".to_owned());
        decided.await.unwrap_or_else(|_| interrupted())
    }

    /// Notes a change that is written with the next one.
    fn note(
        &self,
        operation: Operation,
    ) -> oneshot::Receiver<std::result::Result<Verdict, String>> {
        let (answer, decided) = oneshot::channel();
        self.waiting().push(Change { operation, answer });
        decided
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Change>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the pending changes. A change that cannot be written has no effect.
    async fn write(&self) {
        let mut last = self.last.lock().await;
        let changes = std::mem::take(&mut *self.waiting());
        let operations: Vec<Operation> = changes.iter().map(|change| change.operation).collect();
        let written = self.append(&mut last, &operations).await;
        drop(last);
        let verdicts = written.map_err(|error| error.one_line());
        for (n, change) in changes.into_iter().enumerate() {
            let verdict = verdicts.as_ref().map(|verdicts| verdicts[n]);
            // one that was given up needs no answer
            let _ = change.answer.send(verdict.map_err(String::clone));
        }
    }

    async fn append(&self, last: &mut Last, changes: &[Operation]) -> Result<Vec<Verdict>> {
        let mut is_current = false;
        // the previous holder of the lock may have written them
        while !changes.is_empty() {
            let mut spent = last.spent;
            let verdicts = changes
                .iter()
                .map(|operation| spent.decide(*operation, self.caps, last.n));
            let verdicts: Vec<Verdict> = verdicts.collect();
            let is_fine = verdicts.iter().all(|v| *v == Verdict::Fine);
            // old totals must not refuse a reservation
            if !is_fine && !is_current {
                self.catch_up(last).await?;
                is_current = true;
                continue;
            }
            if spent == last.spent {
                return Ok(verdicts);
            }
            let path = path(last.n + 1);
            if self.store.create(&path, to_json("ledger", &spent)?).await? {
                let n = last.n + 1;
                *last = Last { n, spent };
                return Ok(verdicts);
            }
            self.catch_up(last).await?;
        }
        Ok(Vec::new())
    }

    /// Reads the changes of other processes.
    async fn catch_up(&self, last: &mut Last) -> Result<()> {
        let listed = self.store.below("ledger", Some(&path(last.n))).await?;
        let Some(newest) = listed.into_iter().map(|meta| meta.location).max() else {
            return Ok(());
        };
        let name = newest.filename().and_then(|n| n.strip_suffix(".json"));
        let Some(n) = name.and_then(|n| n.parse().ok()) else {
            return Ok(());
        };
        let read = serde_json::from_slice(&self.store.read(&newest).await?);
        let spent = read.map_err(|source| Error::Unreadable {
            place: self.store.place(newest.as_ref()),
            source,
        })?;
        *last = Last { n, spent };
        Ok(())
    }

    fn used_up(&self, spent: Spent) -> String {
        let calls = self
            .caps
            .calls
            .map(|most| format!("{} of {most} calls", spent.calls));
        let cost = self
            .caps
            .cost
            .map(|most| format!("{:.4} of {most:.4} in cost", spent.cost));
        let taken: Vec<String> = calls.into_iter().chain(cost).collect();
        format!("the batch has used {}", taken.join(", "))
    }
}

impl Spent {
    fn decide(&mut self, operation: Operation, caps: Caps, n: u64) -> Verdict {
        match operation {
            Operation::Settle { most, calls, cost } => {
                self.reserved_calls = self.reserved_calls.saturating_sub(1);
                self.reserved_cost = (self.reserved_cost - most).max(0.0);
                self.calls += calls;
                self.cost += cost;
                Verdict::Fine
            }
            Operation::Reserve { most: None } if caps.cost.is_some() => Verdict::NoPrices,
            Operation::Reserve { most } => {
                let most = most.unwrap_or(0.0);
                let fits = |calls: u64, cost: f64| {
                    caps.calls.is_none_or(|cap| calls < cap)
                        && caps.cost.is_none_or(|cap| cost + most <= cap)
                };
                if !fits(self.calls, self.cost) {
                    return Verdict::UsedUp(*self);
                }
                let reserved = self.cost + self.reserved_cost;
                if !fits(self.calls + self.reserved_calls, reserved) {
                    return Verdict::Wait(n);
                }
                self.reserved_calls += 1;
                self.reserved_cost += most;
                Verdict::Fine
            }
        }
    }
}

impl Ledger {
    /// Writes that a call may be made, once the budget allows one.
    async fn write_reservation(&self, most: Option<f64>) -> std::result::Result<(), String> {
        let mut unchanged: Option<(u64, Instant)> = None;
        loop {
            let settled = self.settled.notified();
            match self.apply(Operation::Reserve { most }).await? {
                Verdict::Fine => return Ok(()),
                Verdict::NoPrices => {
                    return Err("the cost is capped, but the profile has no prices: set price_per_million_in and price_per_million_out".to_owned());
                }
                Verdict::UsedUp(spent) => return Err(self.used_up(spent)),
                Verdict::Wait(n) => {
                    let since = match unchanged {
                        Some((known, since)) if known == n => since,
                        _ => unchanged.insert((n, Instant::now())).1,
                    };
                    let is_alone = self.set_aside.load(Ordering::Relaxed) == 0;
                    if is_alone && since.elapsed() >= self.patience {
                        return Err("the rest of the budget is reserved for calls of processes that no longer answer".to_owned());
                    }
                    // another process sends no notice when it settles
                    let _ = tokio::time::timeout(Duration::from_secs(1), settled).await;
                }
            }
        }
    }
}

impl Budget for Ledger {
    fn reserve(
        &self,
        most: Option<f64>,
    ) -> BoxFuture<'_, std::result::Result<Box<dyn Reserved + '_>, String>> {
        async move {
            self.write_reservation(most).await?;
            self.set_aside.fetch_add(1, Ordering::Relaxed);
            let mut reservation = Box::new(Reservation {
                ledger: self,
                most: most.unwrap_or(0.0),
                place: None,
                is_settled: false,
            });
            // last, so that only calls occupy a place
            let place = self.places.acquire().await;
            reservation.place = Some(place.map_err(|closed| closed.to_string())?);
            Ok(reservation as Box<dyn Reserved>)
        }
        .boxed()
    }
}

/// A call that this process has set aside.
struct Reservation<'a> {
    ledger: &'a Ledger,
    most: f64,
    /// `None` until the call begins.
    place: Option<SemaphorePermit<'a>>,
    is_settled: bool,
}

impl Reservation<'_> {
    fn note(&self, calls: u32, cost: f64) {
        // the result of the write is not needed
        drop(self.ledger.note(Operation::Settle {
            most: self.most,
            calls: u64::from(calls),
            cost,
        }));
    }
}

impl Reserved for Reservation<'_> {
    fn settle<'r>(mut self: Box<Self>, calls: u32, cost: f64) -> BoxFuture<'r, ()>
    where
        Self: 'r,
    {
        async move {
            self.note(calls, cost);
            self.is_settled = true;
            // the next call may begin before this one is written
            drop(self.place.take());
            let ledger = self.ledger;
            drop(self);
            ledger.write().await;
            ledger.settled.notify_waiters();
        }
        .boxed()
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.ledger.set_aside.fetch_sub(1, Ordering::Relaxed);
        if !self.is_settled && self.place.is_none() {
            self.note(0, 0.0);
        }
    }
}

/// In the order of numbers, as a list sorts them.
fn path(n: u64) -> Path {
    Path::from(format!("ledger/{n:010}.json"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::*;

    const PLACES: usize = 8;

    fn ledgers(caps: Caps, count: usize) -> Vec<Arc<Ledger>> {
        let store = Store::over(Arc::new(InMemory::new()), "memory");
        let ledger = || Ledger::new(store.clone(), caps, Duration::from_millis(50), PLACES);
        (0..count).map(|_| Arc::new(ledger())).collect()
    }

    /// Makes calls that may cost 1 and cost a quarter until the ledger allows no more; returns how many.
    async fn call(ledger: Arc<Ledger>) -> u64 {
        let mut calls = 0;
        while let Ok(reserved) = ledger.reserve(Some(1.0)).await {
            tokio::task::yield_now().await;
            reserved.settle(1, 0.25).await;
            calls += 1;
        }
        calls
    }

    #[tokio::test]
    async fn processes_share_one_budget_to_the_end_and_not_beyond() {
        for (caps, expected) in [
            (
                Caps {
                    cost: None,
                    calls: Some(30),
                },
                30,
            ),
            // the last call that fits may still cost 1
            (
                Caps {
                    cost: Some(5.0),
                    calls: None,
                },
                17,
            ),
        ] {
            let ledgers = ledgers(caps, 4);
            let calling = ledgers.iter().flat_map(|ledger| [ledger, ledger]);
            let calling = calling.map(|ledger| call(Arc::clone(ledger)));
            let calls: u64 = futures::future::join_all(calling).await.into_iter().sum();
            assert_eq!(calls, expected, "{caps:?}");
            let spent = ledgers[0].spent().await.expect("totals");
            assert_eq!((spent.calls, spent.reserved_calls), (expected, 0));
            assert!((spent.cost - expected as f64 * 0.25).abs() < 1e-9);
        }
    }

    #[tokio::test]
    async fn a_call_without_an_end_stays_reserved_and_one_without_an_answer_does_not() {
        let caps = Caps {
            cost: None,
            calls: Some(2),
        };
        let ledgers = ledgers(caps, 2);
        drop(ledgers[0].reserve(None).await.expect("reserved"));
        let other = &ledgers[1];
        let reserved = other.reserve(None).await.expect("reserved");
        reserved.settle(0, 0.0).await;
        assert_eq!(call(Arc::clone(other)).await, 1);
    }

    #[tokio::test]
    async fn calls_that_are_given_up_free_their_places() {
        let ledger = &ledgers(Caps::default(), 1)[0];
        let mut begun = Vec::new();
        for _ in 0..PLACES {
            begun.push(ledger.reserve(None).await.expect("reserved"));
        }
        let soon = Duration::from_millis(20);
        let one_more = tokio::time::timeout(soon, ledger.reserve(None)).await;
        assert!(one_more.is_err(), "all places are taken");
        let reserved = ledger.spent().await.expect("totals").reserved_calls;
        assert_eq!(reserved, PLACES as u64, "it never began");
        begun.pop();
        let reserved = ledger.reserve(None).await.expect("a place is free");
        reserved.settle(1, 0.0).await;
        let spent = ledger.spent().await.expect("totals");
        assert_eq!((spent.calls, spent.reserved_calls), (1, PLACES as u64));
    }

    #[tokio::test]
    async fn a_capped_cost_needs_prices() {
        let caps = Caps {
            cost: Some(1.0),
            calls: None,
        };
        let ledger = &ledgers(caps, 1)[0];
        let refused = ledger.reserve(None).await.map(drop);
        assert!(refused.is_err_and(|reason| reason.contains("price_per_million_in")));
    }
}
