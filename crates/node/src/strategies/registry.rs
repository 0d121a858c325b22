//! The strategies of a node, by what groups call them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::desk::{self, StrategyDesk};
use super::thread::{Control, StrategyThread};
use super::{ClientNames, Strategist};
use crate::assemble::Unpark;
use crate::error::NodeError;
use crate::mailbox::Bell;
use crate::metrics::Metric;

/// How often the end of a thread is looked for.
const END_LOOK: Duration = Duration::from_millis(2);

/// All strategies that groups may use, by the `use` of their tables. Each has a thread.
#[derive(Default)]
pub struct Strategies(Mutex<BTreeMap<String, (StrategyHandle, JoinHandle<()>)>>);

/// One strategy: groups get their desks here.
#[derive(Clone)]
pub struct StrategyHandle(Arc<Control>);

impl StrategyHandle {
    /// A desk for the chooser of one group, and where the client ids of its members are to be put.
    ///
    /// `shard`: rings when answers have come. `timeout`: as for the chooser.
    pub(crate) fn desk(&self, group: &str, timeout: Duration, shard: Bell) -> (StrategyDesk, Arc<ClientNames>) {
        let (desk, seat) = desk::lay(Arc::from(group), timeout, shard, self.0.bell.clone());
        let names = Arc::clone(&seat.names);
        self.0.admit(seat);
        (desk, names)
    }
}

impl Strategies {
    /// Starts the thread of a strategy. If one of this name is there already, that one goes on and this one is dropped.
    ///
    /// # Errors
    /// `System`: no thread can be started.
    pub fn start(&self, name: &str, strategist: Box<dyn Strategist>) -> Result<StrategyHandle, NodeError> {
        let mut all = self.lock();
        if let Some((handle, _)) = all.get(name) {
            return Ok(handle.clone());
        }
        let unpark = Unpark::default();
        let control = Arc::new(Control::new(Bell::new(unpark.clone())));
        let strategy = StrategyThread::new(strategist, unpark, Arc::clone(&control));
        let builder = thread::Builder::new().name("lapwing-strategy".into());
        let thread = builder.spawn(|| strategy.run());
        let thread = thread.map_err(|source| NodeError::System { doing: "start a thread", source })?;
        let handle = StrategyHandle(control);
        all.insert(name.to_owned(), (handle.clone(), thread));
        Ok(handle)
    }

    /// The strategy of this name.
    pub fn get(&self, name: &str) -> Option<StrategyHandle> {
        self.lock().get(name).map(|(handle, _)| handle.clone())
    }

    /// Ends all threads. One that has not ended in `within` is left behind, and its name returned.
    pub fn end(&self, within: Duration) -> Vec<String> {
        let all = std::mem::take(&mut *self.lock());
        all.values().for_each(|(handle, _)| handle.0.stop());
        let begun = Instant::now();
        let has_ended = |thread: &JoinHandle<()>| {
            while !thread.is_finished() && begun.elapsed() < within {
                thread::sleep(END_LOOK);
            }
            thread.is_finished()
        };
        all.into_iter().filter(|(_, (_, thread))| !has_ended(thread)).map(|(name, _)| name).collect()
    }

    /// What operators should hear since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        let failed = |(name, (handle, _)): (&String, &(StrategyHandle, JoinHandle<()>))| {
            let what = handle.0.take_failure()?;
            Some(format!("the strategy {name} failed and its groups' fallback decided in its place: {what}"))
        };
        self.lock().iter().filter_map(failed).collect()
    }

    /// The threads' own numbers.
    pub fn metrics(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let of = |(name, (handle, _)): (&String, &(StrategyHandle, JoinHandle<()>))| {
            let counter = |metric, help, value| Metric::counter(metric, help, value).with("strategy", name);
            [
                counter("lapwing_strategy_batches_total", "Batches given to a strategy.", get(&handle.0.batches)),
                counter(
                    "lapwing_strategy_questions_total",
                    "Messages a strategy was asked about.",
                    get(&handle.0.asks),
                ),
                counter("lapwing_strategy_unseen_total", "Questions too old to be asked.", get(&handle.0.unseen)),
                counter("lapwing_strategy_busy_microseconds_total", "Time in a strategy.", get(&handle.0.busy_us)),
            ]
        };
        self.lock().iter().flat_map(of).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (StrategyHandle, JoinHandle<()>)>> {
        // Nothing that is done under the lock leaves a half of it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
