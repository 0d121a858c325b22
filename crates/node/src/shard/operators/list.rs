//! A list of sessions: every place of the table is looked at once, a share in a turn, and the first that fit are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use lapwing_session::SessionKey;

use super::Shard;
use crate::desk::Reply;
use crate::session_pages::{PageRoom, Rank, SessionPage, SessionQuery};
use crate::shard::connections::session_row::SessionRow;

/// Places of the table looked at in one turn: about 50 microseconds.
const PLACES_PER_SHARE: usize = 512;
/// Rows made in one turn: each may ask the kernel for an address.
const ROWS_PER_SHARE: usize = 64;

/// One list, as far as it has come.
pub(super) struct Listing {
    query: Arc<SessionQuery>,
    reply: Reply<SessionPage>,
    /// The next place to look at.
    place: usize,
    /// The first that fit among those looked at, the last of them on top; as many as a page has.
    first: BinaryHeap<(Rank, SessionKey)>,
    /// Found, and without a row as yet; the next one is on top.
    rowless: BinaryHeap<Reverse<(Rank, SessionKey)>>,
    room: PageRoom,
    page: SessionPage,
}

impl Listing {
    pub(super) fn new(query: Arc<SessionQuery>, reply: Reply<SessionPage>) -> Self {
        let (first, rowless, room) = (BinaryHeap::new(), BinaryHeap::new(), PageRoom::default());
        Listing { query, reply, place: 0, first, rowless, room, page: SessionPage::default() }
    }

    fn look_at(&mut self, row: &SessionRow) {
        let (messages, bytes) = (row.session.queued_messages(), row.session.queued_bytes());
        let inflight = row.session.inflight_messages();
        if !self.query.fits(row.session.client_id(), row.connection().is_some(), messages, inflight) {
            return;
        }
        self.page.matching += 1;
        self.page.waiting_messages += messages as u64;
        self.page.waiting_bytes += bytes;
        if !self.query.is_next(row.session.client_id()) {
            return;
        }
        self.page.left += 1;
        let rank = (self.query.weight(messages, bytes), row.session.shared_client_id().clone());
        if self.first.len() < self.query.limit {
            self.first.push((rank, row.session.key()));
        } else if let Some(mut last) = self.first.peek_mut()
            && rank < last.0
        {
            *last = (rank, row.session.key());
        }
    }
}

impl Shard {
    /// Does a share of a list; returns it if there is more to do, and sends its page otherwise.
    pub(super) fn list_on(&mut self, mut listing: Box<Listing>) -> Option<Box<Listing>> {
        if !listing.reply.is_awaited() {
            return None;
        }
        let places = self.clients.session_places();
        if listing.place < places {
            let share = listing.place..places.min(listing.place + PLACES_PER_SHARE);
            listing.place = share.end;
            share.filter_map(|place| self.clients.session_at(place)).for_each(|row| listing.look_at(row));
            return Some(listing);
        }
        if !listing.first.is_empty() {
            // Put in order as they are taken: all at once would take milliseconds.
            let found = std::mem::take(&mut listing.first).into_vec();
            listing.rowless = found.into_iter().map(Reverse).collect();
        }
        for _ in 0..ROWS_PER_SHARE {
            let Some(Reverse((_, key))) = listing.rowless.pop() else { break };
            // One that has ended since is left out.
            let Some(row) = self.session_report(key) else { continue };
            if !listing.room.take(row.name_bytes()) {
                listing.rowless.clear();
                break;
            }
            listing.page.sessions.push(row);
        }
        if !listing.rowless.is_empty() {
            return Some(listing);
        }
        let Listing { reply, page, .. } = *listing;
        reply.send(page);
        None
    }
}
