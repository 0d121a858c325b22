//! The one thread that reads back what waits in the log for kept sessions, a page at a time.
//!
//! A shard asks for entries and goes on; the page comes back over a lane. What is asked for may not be synced yet, when a client
//! is as fast as what comes for it: such a page waits here until the log has come so far. An entry that a session still
//! waits for and that cannot be read is damage: the node stops and names it.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lapwing_ledger::{Entry, Fault};
use lapwing_session::SessionKey;
use lapwing_store::journal::{DataGroupId, JournalReader};

use crate::data_groups::DataGroups;
use crate::error::NodeError;
use crate::mail::decode_frame;
use crate::mailbox::Bell;
use crate::metrics::Metric;
use crate::shard::Recovered;
use crate::side_thread::{SideDesk, SideFeed, lay_side_lanes};

/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// How often the log is looked at while pages wait for it.
const SYNC_LOOK: Duration = Duration::from_millis(1);
/// What a message takes in memory beside its frame, roughly.
const MESSAGE_BYTES: u64 = 128;

/// A page that a session wants.
#[derive(Debug)]
pub(crate) struct PageAsk {
    pub(crate) key: SessionKey,
    /// Its data group.
    pub(crate) data_group: u16,
    /// Ascending, at least one.
    pub(crate) entries: Vec<u64>,
    /// The page ends with the message that reaches this.
    pub(crate) bytes_max: u64,
}

/// What was read: the first of the entries that were asked for, but those that nobody waits for any more.
#[derive(Debug)]
pub(crate) struct QueuePage {
    pub(crate) key: SessionKey,
    /// As in its [`PageAsk`].
    pub(crate) bytes_max: u64,
    messages: Vec<Place>,
    frames: Vec<u8>,
}

/// One message of a page.
#[derive(Clone, Copy, Debug)]
struct Place {
    entry: NonZeroU64,
    published_at_ms: u64,
    expires_at_ms: u64,
    /// Where its frame ends. No frame is empty: one that is stands for a message that was lost.
    end: usize,
}

/// A message as the log has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PagedMessage<'a> {
    pub(crate) entry: NonZeroU64,
    /// When it was logged, on the node's clock.
    pub(crate) published_at_ms: u64,
    /// On the same; 0: never.
    pub(crate) expires_at_ms: u64,
    /// See [`crate::mail::decode_frame`]; None: it was damaged, and somebody has accepted its loss.
    pub(crate) frame: Option<&'a [u8]>,
}

impl QueuePage {
    /// In the order of their entries.
    pub(crate) fn messages(&self) -> impl Iterator<Item = PagedMessage<'_>> {
        let begins = std::iter::once(0).chain(self.messages.iter().map(|place| place.end));
        self.messages.iter().zip(begins).map(|(place, begin)| PagedMessage {
            entry: place.entry,
            published_at_ms: place.published_at_ms,
            expires_at_ms: place.expires_at_ms,
            frame: Some(&self.frames[begin..place.end]).filter(|frame| !frame.is_empty()),
        })
    }

    /// Takes an entry in; returns whether there is room for more.
    fn add(&mut self, index: u64, body: &[u8]) -> Result<bool, Fault> {
        let what = "it is waited for and is no message";
        let (frame, published_at_ms, expires_at_ms) = match Entry::decode(body)? {
            Entry::Published(published) if decode_frame(published.frame).is_some() => {
                (published.frame, published.published_at_ms, published.expires_at_ms)
            }
            Entry::Lost(_) => (&[][..], 0, 0),
            _ => return Err(Fault::Malformed { at: 0, what }),
        };
        let entry = NonZeroU64::new(index).ok_or(Fault::Malformed { at: 0, what })?;
        self.frames.extend_from_slice(frame);
        self.messages.push(Place { entry, published_at_ms, expires_at_ms, end: self.frames.len() });
        Ok(self.frames.len() as u64 + self.messages.len() as u64 * MESSAGE_BYTES < self.bytes_max)
    }
}

/// A shard's way to the thread; a session asks for one page at a time.
pub(crate) type PageFeed = SideFeed<PageAsk, QueuePage>;

/// What ends the thread, and what it counts.
pub(crate) struct PageControl {
    bell: Bell,
    stop: AtomicBool,
    pages: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl PageControl {
    /// Asks the thread to end; what waits then is not read any more.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
    }

    pub(crate) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Metric::counter(
                "lapwing_queue_pages_read_total",
                "Pages of messages read back from the log for kept sessions.",
                get(&self.pages),
            ),
            Metric::counter(
                "lapwing_queue_page_messages_total",
                "Messages read back from the log for kept sessions.",
                get(&self.messages),
            ),
            Metric::counter(
                "lapwing_queue_page_bytes_total",
                "Bytes of messages read back from the log for kept sessions.",
                get(&self.bytes),
            ),
        ]
    }

    fn count(&self, page: &QueuePage) {
        self.pages.fetch_add(1, Ordering::Relaxed);
        self.messages.fetch_add(page.messages.len() as u64, Ordering::Relaxed);
        self.bytes.fetch_add(page.frames.len() as u64, Ordering::Relaxed);
    }
}

/// The thread's state; [`PageThread::run`] is its life.
pub(crate) struct PageThread {
    reader: JournalReader,
    data_groups: DataGroups,
    desk: SideDesk<PageAsk, QueuePage>,
    /// By shard: what is asked for and not synced yet.
    early: Vec<(usize, PageAsk)>,
    last_look: Instant,
    control: Arc<PageControl>,
}

/// For each shard its feed; the thread; and what ends it.
pub(crate) fn lay_pages(recovered: &Recovered, shards: &[Bell]) -> (Vec<PageFeed>, PageThread, Arc<PageControl>) {
    let (feeds, desk) = lay_side_lanes(shards);
    let control = Arc::new(PageControl {
        bell: desk.bell(),
        stop: AtomicBool::new(false),
        pages: AtomicU64::new(0),
        messages: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    });
    let thread = PageThread {
        reader: recovered.reader.clone(),
        data_groups: recovered.data_groups.clone(),
        desk,
        early: Vec::new(),
        last_look: Instant::now(),
        control: control.clone(),
    };
    (feeds, thread, control)
}

impl PageThread {
    /// Works until the node stops it.
    ///
    /// # Errors
    /// `Store`, `Entry`: a message that waits cannot be read; the node stops.
    pub(crate) fn run(mut self) -> Result<(), NodeError> {
        self.desk.begin();
        while !self.control.stop.load(Ordering::Acquire) {
            match self.desk.next() {
                Some((shard, ask)) => self.serve(shard, ask)?,
                None => self.desk.sleep(if self.early.is_empty() { SLEEP_MAX } else { SYNC_LOOK }, &self.control.stop),
            }
            if !self.early.is_empty() && self.last_look.elapsed() >= SYNC_LOOK {
                self.last_look = Instant::now();
                for (shard, ask) in std::mem::take(&mut self.early) {
                    self.serve(shard, ask)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a page and hands it over, or lets it wait for the log.
    fn serve(&mut self, shard: usize, ask: PageAsk) -> Result<(), NodeError> {
        match self.read(&ask)? {
            Some(page) => {
                self.control.count(&page);
                self.desk.answer(shard, page);
            }
            None => self.early.push((shard, ask)),
        }
        Ok(())
    }

    /// `None`: nothing of it is synced yet.
    fn read(&self, ask: &PageAsk) -> Result<Option<QueuePage>, NodeError> {
        let group = DataGroupId(ask.data_group);
        let synced = self.reader.group(group)?.last_index;
        let wanted = &ask.entries[..ask.entries.partition_point(|entry| *entry <= synced)];
        let Some(last) = wanted.last() else { return Ok(None) };
        let mut page = QueuePage { key: ask.key, bytes_max: ask.bytes_max, messages: Vec::new(), frames: Vec::new() };
        let (mut failed, mut through) = (None, *last);
        self.reader.get_many(group, wanted, &mut |entry| match page.add(entry.index, entry.body) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => {
                through = entry.index;
                ControlFlow::Break(())
            }
            Err(fault) => {
                failed = Some(NodeError::Entry { data_group: ask.data_group, index: entry.index, fault });
                ControlFlow::Break(())
            }
        })?;
        match failed {
            Some(failed) => Err(failed),
            None => self.check(ask.data_group, wanted, through, &page).map(|()| Some(page)),
        }
    }

    /// Looks whether an entry up to `through` that is not in the page is still waited for: it may have been dropped, or its
    /// session ended, while the page was on its way.
    fn check(&self, data_group: u16, wanted: &[u64], through: u64, page: &QueuePage) -> Result<(), NodeError> {
        let mut found = page.messages.iter().map(|place| place.entry.get()).peekable();
        for entry in wanted.iter().take_while(|entry| **entry <= through) {
            if found.next_if_eq(entry).is_none() && self.data_groups.get(data_group).is_live(*entry) {
                let fault = Fault::Malformed { at: 0, what: "it is waited for and not in the log" };
                return Err(NodeError::Entry { data_group, index: *entry, fault });
            }
        }
        Ok(())
    }
}
