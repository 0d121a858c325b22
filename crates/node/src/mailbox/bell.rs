//! Waking a sleeping thread, and only a sleeping one: a wake-up costs tens of microseconds on the other core.
//!
//! The handshake: a sleeper announces itself (`prepare`), looks once more at all its queues, and sleeps only when they
//! are empty. A sender first makes its change visible, then rings. With a full fence on both sides, either the sleeper
//! sees the change or the sender sees the sleeper; never neither.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// What really wakes the thread: an event in its poll, or an unpark.
pub(crate) trait Wake: Send + Sync {
    fn wake(&self);
}

impl Wake for mio::Waker {
    fn wake(&self) {
        // The only failure is a full event counter, and then the wake-up is already under way.
        let _ = mio::Waker::wake(self);
    }
}

/// One thread's bell; everyone who sends to it holds a clone.
#[derive(Clone)]
pub(crate) struct Bell {
    shared: Arc<Shared>,
}

struct Shared {
    sleeps: AtomicBool,
    wake: Arc<dyn Wake>,
}

impl Bell {
    pub(crate) fn new(wake: impl Wake + 'static) -> Self {
        Bell::waking(Arc::new(wake))
    }

    /// A second bell of the same thread: the owner may sleep without being woken by it.
    pub(crate) fn another(&self) -> Self {
        Bell::waking(self.shared.wake.clone())
    }

    fn waking(wake: Arc<dyn Wake>) -> Self {
        Bell { shared: Arc::new(Shared { sleeps: AtomicBool::new(false), wake }) }
    }

    /// Called by senders after their change is visible.
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.shared.sleeps.load(Ordering::Relaxed) && self.shared.sleeps.swap(false, Ordering::AcqRel) {
            self.shared.wake.wake();
        }
    }

    /// Called by the owner before it looks at its queues for the last time.
    pub(crate) fn prepare(&self) {
        self.shared.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Called by the owner when it is awake, whatever woke it.
    pub(crate) fn awake(&self) {
        self.shared.sleeps.store(false, Ordering::Relaxed);
    }
}
