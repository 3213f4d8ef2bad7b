//! The calls and cost of all processes that advised on a store, in one object.
//!
//! Only one process advises at a time. It writes a reservation before a call begins, at the call's maximum cost. If the process is killed, the
//! calls under way count with that cost, because their actual cost is unknown.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{Budget, Reserved};
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

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

/// `spent.json`.
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
    /// Of calls that may be under way.
    places: Semaphore,
    spent: Mutex<Spent>,
    /// The object as last written.
    written: tokio::sync::Mutex<Spent>,
    settled: Notify,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Fine,
    /// Calls under way may release a part of what they reserve.
    Wait,
    UsedUp(Spent),
    NoPrices,
}

impl Ledger {
    /// Allows `places` calls at a time.
    pub fn new(store: Store, caps: Caps, places: usize) -> Ledger {
        Ledger {
            store,
            caps,
            places: Semaphore::new(places),
            spent: Mutex::default(),
            written: tokio::sync::Mutex::default(),
            settled: Notify::new(),
        }
    }

    /// Reads what earlier processes spent, and keeps others from asking until [`Ledger::close`].
    ///
    /// # Errors
    /// If the store cannot be read or written, or another process advises on it.
    pub async fn open(&self) -> Result<()> {
        let lock = lock_path();
        let started = to_json(lock.as_ref(), &jiff::Timestamp::now().to_string())?;
        if !self.store.create(&lock, started).await? {
            let lock = self.store.place(lock.as_ref());
            return Err(Error::Advising { lock });
        }
        let Some(bytes) = self.store.try_read(&path()).await? else {
            return Ok(());
        };
        let read: Spent = serde_json::from_slice(&bytes).map_err(|source| Error::Unreadable {
            place: self.store.place(path().as_ref()),
            source,
        })?;
        *self.locked() = Spent {
            calls: read.calls + read.reserved_calls,
            cost: read.cost + read.reserved_cost,
            ..Spent::default()
        };
        Ok(())
    }

    /// Writes the totals and lets other processes ask.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn close(&self) -> Result<()> {
        self.write().await?;
        self.store.delete(&lock_path()).await
    }

    /// Current totals of calls and cost.
    pub fn spent(&self) -> Spent {
        *self.locked()
    }

    fn locked(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self) -> Result<()> {
        let mut written = self.written.lock().await;
        let spent = self.spent();
        if *written != spent {
            let object = to_json(path().as_ref(), &spent)?;
            self.store.replace(&path(), object).await?;
            *written = spent;
        }
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
    /// Reserves a call that may cost `most`, if the caps allow it.
    fn reserve(&mut self, most: Option<f64>, caps: Caps) -> Verdict {
        if most.is_none() && caps.cost.is_some() {
            return Verdict::NoPrices;
        }
        let most = most.unwrap_or(0.0);
        let fits = |calls: u64, cost: f64| {
            caps.calls.is_none_or(|cap| calls < cap)
                && caps.cost.is_none_or(|cap| cost + most <= cap)
        };
        if !fits(self.calls, self.cost) {
            return Verdict::UsedUp(*self);
        }
        if !fits(
            self.calls + self.reserved_calls,
            self.cost + self.reserved_cost,
        ) {
            return Verdict::Wait;
        }
        self.reserved_calls += 1;
        self.reserved_cost += most;
        Verdict::Fine
    }
}

impl Budget for Ledger {
    fn reserve(
        &self,
        most: Option<f64>,
    ) -> BoxFuture<'_, std::result::Result<Box<dyn Reserved + '_>, String>> {
        async move {
            loop {
                let settled = self.settled.notified();
                let verdict = self.locked().reserve(most, self.caps);
                match verdict {
                    Verdict::Fine => break,
                    Verdict::Wait => settled.await,
                    Verdict::NoPrices => {
                        return Err("the cost is capped, but the profile has no prices: set price_per_million_in and price_per_million_out".to_owned());
                    }
                    Verdict::UsedUp(spent) => return Err(self.used_up(spent)),
                }
            }
            let mut reservation = Box::new(Reservation {
                ledger: self,
                most: most.unwrap_or(0.0),
                place: None,
                is_settled: false,
            });
            self.write().await.map_err(|error| error.one_line())?;
            // last, so that only calls occupy a place
            let place = self.places.acquire().await;
            reservation.place = Some(place.map_err(|closed| closed.to_string())?);
            Ok(reservation as Box<dyn Reserved>)
        }
        .boxed()
    }
}

/// A reserved call.
struct Reservation<'a> {
    ledger: &'a Ledger,
    most: f64,
    /// `None` until the call begins.
    place: Option<SemaphorePermit<'a>>,
    is_settled: bool,
}

impl Reservation<'_> {
    fn replace(&mut self, calls: u32, cost: f64) {
        let mut spent = self.ledger.locked();
        spent.reserved_calls = spent.reserved_calls.saturating_sub(1);
        spent.reserved_cost = (spent.reserved_cost - self.most).max(0.0);
        spent.calls += u64::from(calls);
        spent.cost += cost;
        self.is_settled = true;
        self.ledger.settled.notify_waiters();
    }
}

impl Reserved for Reservation<'_> {
    fn settle<'r>(mut self: Box<Self>, calls: u32, cost: f64) -> BoxFuture<'r, ()>
    where
        Self: 'r,
    {
        // the next reservation writes the new totals; until then, the object has the higher ones
        self.replace(calls, cost);
        std::future::ready(()).boxed()
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        // a call that began and has no answer stays reserved
        if !self.is_settled && self.place.is_none() {
            self.replace(0, 0.0);
        }
    }
}

fn path() -> Path {
    Path::from("spent.json")
}

fn lock_path() -> Path {
    Path::from("advising.json")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use object_store::memory::InMemory;

    use super::*;

    const PLACES: usize = 8;

    fn store() -> Store {
        Store::over(Arc::new(InMemory::new()), "memory")
    }

    async fn ledger(store: &Store, caps: Caps) -> Ledger {
        let ledger = Ledger::new(store.clone(), caps, PLACES);
        ledger.open().await.expect("no other process");
        ledger
    }

    /// Makes calls that may cost 1 and cost a quarter until the ledger allows no more; returns how many.
    async fn call(ledger: &Ledger) -> u64 {
        let mut calls = 0;
        while let Ok(reserved) = ledger.reserve(Some(1.0)).await {
            tokio::task::yield_now().await;
            reserved.settle(1, 0.25).await;
            calls += 1;
        }
        calls
    }

    #[tokio::test]
    async fn calls_use_the_budget_to_the_end_and_not_beyond() {
        let capped = |cost, calls| Caps { cost, calls };
        // the last call that fits may still cost 1
        for (caps, expected) in [(capped(None, Some(30)), 30), (capped(Some(5.0), None), 17)] {
            let store = store();
            for most in [
                caps,
                capped(caps.cost.map(|c| c / 2.0), caps.calls.map(|c| c / 2)),
            ] {
                let ledger = ledger(&store, most).await;
                futures::future::join_all((0..8).map(|_| call(&ledger))).await;
                ledger.close().await.expect("written");
            }
            let ledger = ledger(&store, caps).await;
            assert_eq!(ledger.spent().calls, expected, "{caps:?}");
            assert!((ledger.spent().cost - expected as f64 * 0.25).abs() < 1e-9);
        }
    }

    #[tokio::test]
    async fn one_process_asks_at_a_time() {
        let store = store();
        let first = ledger(&store, Caps::default()).await;
        let second = Ledger::new(store.clone(), Caps::default(), PLACES);
        let refused = second.open().await.expect_err("another process");
        assert!(refused.to_string().contains("advising.json"));
        first.close().await.expect("written");
        second.open().await.expect("the other one ended");
    }

    #[tokio::test]
    async fn a_call_without_an_end_is_spent_and_one_that_never_began_is_not() {
        let store = store();
        let caps = Caps {
            cost: None,
            calls: Some(2),
        };
        let killed = ledger(&store, caps).await;
        drop(killed.reserve(None).await.expect("reserved"));
        store.delete(&lock_path()).await.expect("deleted");
        let next = ledger(&store, caps).await;
        assert_eq!(next.spent().calls, 1);
        let reserved = next.reserve(None).await.expect("reserved");
        reserved.settle(0, 0.0).await;
        assert_eq!(call(&next).await, 1);
    }

    #[tokio::test]
    async fn calls_that_are_given_up_free_their_places() {
        let ledger = &ledger(&store(), Caps::default()).await;
        let mut begun = Vec::new();
        for _ in 0..PLACES {
            begun.push(ledger.reserve(None).await.expect("reserved"));
        }
        let soon = Duration::from_millis(20);
        let one_more = tokio::time::timeout(soon, ledger.reserve(None)).await;
        assert!(one_more.is_err(), "all places are taken");
        let reserved = ledger.spent().reserved_calls;
        assert_eq!(reserved, PLACES as u64, "it never began");
        begun.pop();
        let reserved = ledger.reserve(None).await.expect("a place is free");
        reserved.settle(1, 0.0).await;
        let spent = ledger.spent();
        assert_eq!((spent.calls, spent.reserved_calls), (1, PLACES as u64));
    }

    #[tokio::test]
    async fn a_capped_cost_needs_prices() {
        let caps = Caps {
            cost: Some(1.0),
            calls: None,
        };
        let ledger = &ledger(&store(), caps).await;
        let refused = ledger.reserve(None).await.map(drop);
        assert!(refused.is_err_and(|reason| reason.contains("price_per_million_in")));
    }
}
