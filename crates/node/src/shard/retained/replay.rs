//! Retained messages for new subscriptions, asked for page by page as the receiver takes them.
//!
//! - A session has at most one replay per filter: subscribing to it again starts it anew, with the new options;
//!   unsubscribing ends it. So replays are bounded by subscriptions, and each costs its filter and a place in the table.
//! - A session has at most one page under way, asked for when its output is below half its mark and its queue short. What
//!   finds no room after all is not kept: it is asked for again, and then has the value of that time.
//! - A replay outlives the connection if its session does, and goes on with the next one. That of a kept session outlives the
//!   node too: the log has it until it is over ([`owed`]), and at the next start it begins anew.
//! - A value that came live and that the page is too old to hold is not followed by the one before, and one that comes live
//!   does not come once more from a page: see [`super::sequence`]. Where the receiver lost some of what came live, it may
//!   get both rather than none. Between publishers on different shards the order is that in which their mail comes, as it is
//!   for live messages.

mod lines;
mod owed;

use std::sync::Arc;

use lapwing_session::{Grant, Routed, SessionKey};

pub(crate) use self::lines::Replays;
use self::lines::{PendingPage, Replay};
use super::RetainedRoom;
use super::sequence::Start;
use crate::mail::{Control, Page, PageItem, PageRequest};
use crate::shard::Shard;
use crate::shard::publish::delivery::DeliveryContext;
use crate::slot::{ShardId, stable_hash};

/// Messages of one page, at most; fewer when the receiver took fewer of the last one.
const PAGE_MESSAGES: usize = 256;
/// Bytes of one page, roughly.
const PAGE_BYTES: usize = 128 << 10;
/// Sessions served in one turn.
const SESSIONS_PER_TURN: usize = 64;
/// Pages of one session in one turn, while the owner is this shard.
const PAGES_PER_TURN: usize = 4;
/// Messages in a session's queue up to which a replay fills it.
const QUEUE_MESSAGES: usize = 256;

/// What there was before a subscription stood in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Messages that had come live, as far as they were noted.
    pub(crate) delivered: u64,
    /// Messages that the session had lost.
    pub(crate) lost: u64,
    /// The log owes them to the session: the number of that.
    pub(crate) owed: Option<u64>,
}

/// What of a page its receiver has otherwise.
struct Live {
    owner: ShardId,
    start: Arc<Start>,
    before: Before,
}

impl Shard {
    /// Begins to send what is retained under `filter`: by its one owner, or by every shard when it has wildcards.
    pub(in crate::shard) fn start_replay(&mut self, filter: &str, before: Before, to: SessionKey) {
        let (owner, last) = match filter.contains(['+', '#']) {
            true => (ShardId(0), ShardId((self.mail.post.shards() - 1) as u8)),
            false => (self.owner_of_topic(filter), self.owner_of_topic(filter)),
        };
        let start = self.retained.sequences.start();
        let is_ripe = self.retained.sequences.is_ripe(&start);
        let (after, messages_max) = (None, PAGE_MESSAGES);
        self.retained.replays.begin(to, filter, Replay { owner, last, after, messages_max, start, before, is_ripe });
    }

    /// One step: answers what can be answered, takes the pages that have come, asks for those that find room.
    pub(in crate::shard) fn run_replays(&mut self) {
        self.answer_questions();
        let RetainedRoom { replays, sequences, .. } = &mut self.retained;
        replays.ripen(|start| sequences.is_ripe(start));
        for (from, page) in std::mem::take(&mut self.retained.replays.early) {
            self.take_page_in_turn(from, page);
        }
        for _ in 0..self.retained.replays.ready.len().min(SESSIONS_PER_TURN) {
            let Some(key) = self.retained.replays.ready.pop_front() else { break };
            if let Some(line) = self.retained.replays.lines.get_mut(&key) {
                line.is_ready = false;
            }
            for _ in 0..PAGES_PER_TURN {
                if !self.ask_next(key) {
                    break;
                }
            }
        }
        self.tell_replayed();
        self.look_away();
    }

    /// What comes live is noted only while somebody may ask for it.
    fn look_away(&mut self) {
        if self.retained.replays.unripe.is_empty() && !self.subscriptions.answers.await_replays() {
            self.retained.sequences.delivered.stop_watching();
            if self.retained.replays.lines.is_empty() {
                self.retained.sequences.delivered.forget();
            }
        }
    }

    /// Messages that a session has lost.
    fn lost_by(&mut self, key: SessionKey) -> u64 {
        self.clients.row(key).map_or(0, |row| row.session.losses().messages)
    }

    /// Asks for the next page of a session that has room; returns whether another one may be asked for at once.
    fn ask_next(&mut self, key: SessionKey) -> bool {
        let Some(line) = self.retained.replays.lines.get(&key).filter(|line| line.pending_page.is_none()) else {
            return false;
        };
        let Some((filter, replay)) = line.replays.first_key_value() else {
            self.retained.replays.lines.remove(&key);
            return false;
        };
        let (filter, owner, after, messages_max, is_ripe) =
            (filter.clone(), replay.owner, replay.after.clone(), replay.messages_max, replay.is_ripe);
        if !is_ripe || !self.has_room(key, 2) {
            return false;
        }
        let Some((grant, client)) = self.receiver(key, &filter) else {
            self.retained.replays.finish(key, &filter);
            return true;
        };
        let id = self.retained.sequences.ask();
        if let Some(line) = self.retained.replays.lines.get_mut(&key) {
            line.pending_page = Some(PendingPage { id, filter: filter.clone(), is_void: false });
        }
        let bytes_max = PAGE_BYTES.min(self.shared.config.limits.output_high_bytes as usize / 2);
        let not_from = grant.options.no_local.then_some(client);
        let need = self.retained.sequences.need(owner);
        let request = Box::new(PageRequest { to: key, id, filter, after, messages_max, bytes_max, not_from, need });
        if owner == self.id {
            self.answer_page(owner, request);
        } else {
            self.mail.post.control(owner, Control::AskPage(request));
        }
        true
    }

    /// A page has come: handled now, or when the mail that was posted before it is.
    pub(in crate::shard) fn take_page_in_turn(&mut self, from: ShardId, page: Box<Page>) {
        if self.retained.sequences.has_taken(from, page.posted) {
            self.take_page(from, &page);
        } else {
            self.retained.replays.early.push((from, page));
        }
    }

    /// Sends a page as far as there is room.
    pub(in crate::shard) fn take_page(&mut self, from: ShardId, page: &Page) {
        if let Some((filter, replay)) = self.retained.replays.arrived(page.to, page.id) {
            let live = Live { owner: replay.owner, start: replay.start.clone(), before: replay.before };
            debug_assert_eq!(live.owner, from);
            if !self.retained.sequences.is_void(page.id)
                && let Some((grant, _)) = self.receiver(page.to, &filter)
            {
                let sent = self.send_page(page, &live, &grant);
                self.advance(page, &filter, sent);
            }
            self.retained.replays.wake(page.to);
        } else {
            // Cancelled or begun anew meanwhile: what comes next may be asked for.
            self.retained.replays.wake(page.to);
        }
        self.retained.sequences.handled();
    }

    /// Sends messages of a page while there is room; returns how many are done with.
    fn send_page(&mut self, page: &Page, live: &Live, grant: &Grant) -> usize {
        let has_lost = self.lost_by(page.to) != live.before.lost;
        for (n, item) in page.messages.iter().enumerate() {
            if !self.has_room(page.to, 1) {
                return n;
            }
            let message = &item.message;
            if self.retained.sequences.is_outdated(message.topic(), &page.applied) {
                continue;
            }
            if !has_lost && self.comes_live(item, live) {
                continue;
            }
            self.counters.deliveries.add(1);
            let routed = Routed::retained(message);
            let mut context = DeliveryContext::new(&routed);
            context.in_memory = self.is_in_memory(routed.publish());
            self.clients.deliver(page.to, &mut context, std::iter::once(grant), self.now_ms);
            // What a kept session has been given is its own: it outlives the retained message, and the node.
            self.keep(&mut context, None);
        }
        page.messages.len()
    }

    /// Whether the receiver of a page has had a message of it live, or gets it so.
    fn comes_live(&self, item: &PageItem, live: &Live) -> bool {
        let (origin, seq) = (item.source.origin, item.source.seq);
        live.start.is_live(live.owner, origin, seq)
            || self.retained.sequences.delivered.has(item.message.topic(), origin, seq, live.before.delivered)
    }

    /// Notes how far a replay has come.
    fn advance(&mut self, page: &Page, filter: &Arc<str>, sent: usize) {
        let Some(replay) =
            self.retained.replays.lines.get_mut(&page.to).and_then(|line| line.replays.get_mut(&**filter))
        else {
            return;
        };
        if sent < page.messages.len() {
            replay.messages_max = sent.max(1);
            if let Some(item) = sent.checked_sub(1).and_then(|last| page.messages.get(last)) {
                replay.after = Some(item.place.clone());
            }
            return;
        }
        replay.messages_max = (replay.messages_max * 2).min(PAGE_MESSAGES);
        replay.after = page.next.clone();
        if replay.after.is_some() {
            return;
        }
        if replay.owner == replay.last {
            self.retained.replays.finish(page.to, filter);
        } else {
            replay.owner = ShardId(replay.owner.0 + 1);
        }
    }

    /// The options of a subscription that still exists, and the hash of its client's id.
    fn receiver(&mut self, key: SessionKey, filter: &str) -> Option<(Grant, u64)> {
        let row = self.clients.row(key)?;
        Some((row.session.grant(filter)?, stable_hash(row.session.client_id().as_bytes())))
    }

    /// Whether a session can take a message, with its output and queue below the `part`-th part of their marks.
    pub(in crate::shard) fn has_room(&mut self, key: SessionKey, part: usize) -> bool {
        let limits = &self.shared.config.limits;
        let output_max = limits.output_high_bytes as usize / part;
        let messages_max = (limits.queue_messages_max as usize / 2).clamp(1, QUEUE_MESSAGES).div_ceil(part);
        let bytes_max = limits.queue_bytes_max / 2 / part as u64;
        let Some(row) = self.clients.row(key) else { return false };
        let (queued, bytes) = (row.session.queued_messages(), row.session.queued_bytes());
        let queue_has_room = queued == 0 || (queued < messages_max && bytes < bytes_max);
        let Some(index) = row.connection().filter(|_| queue_has_room) else { return false };
        self.clients.connection(index).is_some_and(|connection| connection.output.len() < output_max)
    }
}
