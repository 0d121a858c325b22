//! Where the node's threads hand over what is to be written.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::AuditEvent;
use crate::config::AuditConfig;
use crate::metrics::Metric;
use crate::notices::Window;

/// Time that a rate is counted over.
const WINDOW_MS: u64 = 60_000;

/// What may come as often as strangers, clients or limits like: refusals, and what streams lose. Each has a rate of its own.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A connection.
    Connect,
    /// A message.
    Publish,
    /// A filter.
    Subscribe,
    /// A request over HTTP.
    Http,
    /// None: a loss of a stream.
    Stream,
}

impl Refusal {
    const COUNT: usize = 5;
    const ALL: [Refusal; Self::COUNT] =
        [Refusal::Connect, Refusal::Publish, Refusal::Subscribe, Refusal::Http, Refusal::Stream];

    /// As in metrics and in the trail.
    const fn as_str(self) -> &'static str {
        match self {
            Refusal::Connect => "connect",
            Refusal::Publish => "publish",
            Refusal::Subscribe => "subscribe",
            Refusal::Http => "http",
            Refusal::Stream => "stream",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.as_str() == name)
    }
}

/// What the writing thread hears.
pub(super) enum Word {
    Happened(AuditEvent),
    /// Look whether to end.
    Look,
}

/// One per node: told by any thread, none of which waits.
pub(crate) struct Audit {
    /// Nothing where there is no trail.
    sender: Option<SyncSender<Word>>,
    /// Until the thread takes it.
    receiver: Mutex<Option<Receiver<Word>>>,
    windows: [Mutex<Window>; Refusal::COUNT],
    left_out: [AtomicU64; Refusal::COUNT],
    /// Written by whoever finds the queue full, and by the thread that cannot write.
    lost: AtomicU64,
    /// Written by the thread.
    pub(super) written: AtomicU64,
    pub(super) failures: AtomicU64,
    last: Mutex<Option<AuditEvent>>,
    is_ending: AtomicBool,
}

impl Audit {
    pub(crate) fn new(config: &AuditConfig) -> Self {
        let (sender, receiver) = match &config.file {
            Some(_) => {
                let (sender, receiver) = sync_channel(config.queue as usize);
                (Some(sender), Some(receiver))
            }
            None => (None, None),
        };
        let window = |_| Mutex::new(Window::new(u64::from(config.refusals_per_minute), WINDOW_MS));
        Audit {
            sender,
            receiver: Mutex::new(receiver),
            windows: Refusal::ALL.map(window),
            left_out: Default::default(),
            lost: AtomicU64::new(0),
            written: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            last: Mutex::new(None),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Whether there is a trail.
    pub(crate) const fn is_on(&self) -> bool {
        self.sender.is_some()
    }

    /// Has something written, if there is a trail.
    pub(crate) fn happened(&self, event: impl FnOnce() -> AuditEvent) {
        if let Some(sender) = &self.sender
            && let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = sender.try_send(Word::Happened(event()))
        {
            self.lose(1);
        }
    }

    /// The same for a refusal, unless there are too many of its kind.
    pub(crate) fn refused(&self, what: Refusal, now_ms: u64, event: impl FnOnce() -> AuditEvent) {
        if !self.is_on() {
            return;
        }
        self.end_window(what, now_ms);
        let admitted = self.window(what).admit(now_ms);
        match admitted {
            true => self.happened(event),
            false => _ = self.left_out[what as usize].fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Has it written what was left out of windows that are over.
    pub(super) fn end_windows(&self, now_ms: u64) {
        Refusal::ALL.into_iter().for_each(|what| self.end_window(what, now_ms));
    }

    fn end_window(&self, what: Refusal, now_ms: u64) {
        let ended = self.window(what).end(now_ms);
        if let Some(left) = ended {
            let fields = json!({"of": what.as_str(), "count": left.count, "seconds": left.seconds});
            self.happened(|| AuditEvent::now("left_out", fields));
        }
    }

    fn window(&self, what: Refusal) -> std::sync::MutexGuard<'_, Window> {
        self.windows[what as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last thing that is written; the thread ends behind it.
    pub(crate) fn end(&self, last: AuditEvent) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        self.is_ending.store(true, Ordering::Release);
        if let Some(sender) = &self.sender {
            // Where it is full the thread does not sleep.
            let _ = sender.try_send(Word::Look);
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    pub(super) fn take_last(&self) -> Option<AuditEvent> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn take_receiver(&self) -> Option<Receiver<Word>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn lose(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut metrics = vec![
            Metric::counter("lapwing_audit_events_total", "Events written to the audit trail.", get(&self.written)),
            Metric::counter(
                "lapwing_audit_lost_total",
                "Events that the audit trail lost: audit.queue waited already, or it could not be written.",
                self.lost(),
            ),
            Metric::counter(
                "lapwing_audit_failures_total",
                "Times that the audit trail could not be written, or not be brought to disk.",
                get(&self.failures),
            ),
        ];
        let help = "Refusals left out of the audit trail because there were refusals_per_minute already, by kind.";
        metrics.extend(Refusal::ALL.into_iter().map(|what| {
            let count = get(&self.left_out[what as usize]);
            Metric::counter("lapwing_audit_left_out_total", help, count).with("of", what.as_str())
        }));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(queue: u32, refusals_per_minute: u32) -> Audit {
        let file = Some("audit.jsonl".into());
        Audit::new(&AuditConfig { file, queue, refusals_per_minute, ..AuditConfig::default() })
    }

    fn event() -> AuditEvent {
        AuditEvent::now("refused", json!({}))
    }

    /// Does a flood of refusals leave room for what is not refused, and is what was left out counted and written?
    #[test]
    fn refusals_have_a_rate() {
        let audit = audit(20, 5);
        (0..1_000).for_each(|_| audit.refused(Refusal::Publish, 0, event));
        audit.refused(Refusal::Connect, 0, event);
        audit.happened(event);
        audit.end_windows(60_000);
        let receiver = audit.take_receiver().unwrap();
        let lines: Vec<String> = std::iter::from_fn(|| receiver.try_recv().ok())
            .filter_map(|word| if let Word::Happened(event) = word { Some(event.opened(1)) } else { None })
            .collect();
        assert_eq!(lines.len(), 5 + 1 + 1 + 1);
        assert!(lines[7].ends_with(r#""event":"left_out","count":995,"of":"publish","seconds":60"#), "{}", lines[7]);
        assert_eq!((audit.lost(), audit.left_out[Refusal::Publish as usize].load(Ordering::Relaxed)), (0, 995));
    }

    /// Is what finds no room counted, without anybody waiting; and is nothing gathered where there is no trail?
    #[test]
    fn nobody_waits() {
        let audit = audit(3, 5);
        (0..10).for_each(|_| audit.happened(event));
        assert_eq!(audit.lost(), 7);
        let off = Audit::new(&AuditConfig::default());
        off.happened(|| unreachable!("there is no trail"));
        assert!(!off.is_on() && off.lost() == 0);
    }
}
