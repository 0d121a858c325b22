//! What waits in the log for kept sessions: pages asked for, and taken when they are there.

use std::sync::Arc;

use lapwing_session::{Message, ReadEntry, SessionKey};

use crate::mail::decode_frame;
use crate::queue_pages::{PageAsk, PageFeed, PagedMessage, QueuePage};
use crate::shard::Shard;
use crate::shard::connections::clients::Clients;
use crate::shard::durable::DurableRoom;
use crate::shard::durable::keeping::deadline;
use crate::shard::mail::mailroom::ELSEWHERE;

/// Pages taken in one turn of the loop.
const PAGES_PER_TURN: usize = 16;

impl Shard {
    /// Asks for the pages that sessions have come to want in this turn.
    pub(in crate::shard) fn ask_pages(&mut self) {
        let Shard { durable: DurableRoom { pages: Some(pages), .. }, clients, .. } = self else { return };
        for key in std::mem::take(&mut clients.asking) {
            clients.ask_page(key).into_iter().for_each(|ask| pages.ask(ask));
        }
    }

    /// Gives sessions what was read for them.
    pub(in crate::shard) fn take_pages(&mut self) {
        for _ in 0..PAGES_PER_TURN {
            let Some(page) = self.durable.pages.as_mut().and_then(PageFeed::answered) else { return };
            self.mail.moved = true;
            self.clients.take_page(&page, self.now_ms);
            self.flush_large();
        }
    }

    /// True when pages are to be asked for, or to be taken.
    pub(in crate::shard) fn has_page_work(&self) -> bool {
        !self.clients.asking.is_empty() || self.durable.pages.as_ref().is_some_and(PageFeed::has_answers)
    }
}

impl Clients {
    /// Bytes that a session may have at hand of what waits for it; `None`: all, there is no log to read it from.
    pub(in crate::shard) fn at_hand_bytes_max(&self) -> Option<u64> {
        let windows = self.windows.as_ref()?;
        Some(if self.keeps_no_more { 0 } else { windows.share(self.holdings.queue_bytes()) })
    }

    /// The page that a session wants, if it still does.
    fn ask_page(&mut self, key: SessionKey) -> Option<PageAsk> {
        let bytes_max = self.windows.as_ref()?.share(self.holdings.queue_bytes());
        let row = self.row(key)?;
        row.asks_page = false;
        let kept = row.kept_as.kept.filter(|_| row.session.wants_page())?;
        let entries = row.session.ask_page(bytes_max);
        if let Some(windows) = &mut self.windows {
            windows.asked(bytes_max);
        }
        Some(PageAsk { key, data_group: kept.slot.data_group(), entries, bytes_max })
    }

    fn take_page(&mut self, page: &QueuePage, now_ms: u64) {
        if let Some(windows) = &mut self.windows {
            windows.answered(page.bytes_max);
        }
        let messages = page.messages().map(|paged| read_entry(&paged, now_ms));
        // One whose session is over is nobody's.
        self.with(page.key, |session, io| session.take_page(messages, now_ms, io));
    }

    /// A kept session has lost its connection: what waits for it is in the log, and leaves the memory.
    pub(in crate::shard) fn page_out(&mut self, key: SessionKey) {
        if self.windows.is_some() && self.kept(key).is_some() {
            self.with(key, |session, _| session.page_out());
        }
    }
}

fn read_entry(paged: &PagedMessage<'_>, now_ms: u64) -> ReadEntry {
    ReadEntry { entry: paged.entry, message: message_of(paged), since_ms: paged.published_at_ms.min(now_ms) }
}

/// `None`: it was lost. What was not was decoded when it was read.
fn message_of(paged: &PagedMessage<'_>) -> Option<Arc<Message>> {
    let publish = decode_frame(paged.frame?)?;
    Some(Arc::new(Message::new(&publish, ELSEWHERE, deadline(paged.expires_at_ms))))
}
