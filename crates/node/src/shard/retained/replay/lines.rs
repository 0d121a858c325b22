//! Who waits for retained messages: a line of replays for each session, one after the other.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use lapwing_router::Cursor;
use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;

use super::Before;
use super::owed::Owed;
use crate::mail::Page;
use crate::shard::retained::sequence::Start;
use crate::slot::ShardId;

/// One filter's replay: how far it has come.
pub(super) struct Replay {
    /// The shard that is asked, and the last one to ask.
    pub(super) owner: ShardId,
    pub(super) last: ShardId,
    pub(super) after: Option<Cursor>,
    /// Size of the next page.
    pub(super) messages_max: usize,
    /// What comes live, by number.
    pub(super) start: Arc<Start>,
    pub(super) before: Before,
    /// Everything has come that was on its way at the start: pages may be asked for.
    pub(super) is_ripe: bool,
}

/// The page that a session waits for.
pub(super) struct PendingPage {
    pub(super) id: u64,
    pub(super) filter: Arc<str>,
    /// Nobody wants it any more.
    pub(super) is_void: bool,
}

/// The replays of one session, served one after the other, each to its end, in the order of their filters.
///
/// The controller counts on that (`python/lapwing/controller/registrations.py`): what its second filter brings tells it that
/// all of the first has come.
#[derive(Default)]
pub(super) struct Line {
    pub(super) replays: BTreeMap<Arc<str>, Replay>,
    pub(super) pending_page: Option<PendingPage>,
    pub(super) is_ready: bool,
}

impl Line {
    fn disown(&mut self, filter: &str) {
        if let Some(page) = self.pending_page.as_mut().filter(|page| *page.filter == *filter) {
            page.is_void = true;
        }
    }
}

/// All replays to the sessions of one shard.
#[derive(Default)]
pub(crate) struct Replays {
    pub(super) lines: HashMap<SessionKey, Line, FxBuildHasher>,
    /// Sessions that may have room, each once.
    pub(super) ready: VecDeque<SessionKey>,
    /// Pages that are older than the mail that must come before them.
    pub(super) early: Vec<(ShardId, Box<Page>)>,
    /// Replays that are not ripe.
    pub(super) unripe: Vec<(SessionKey, Box<str>)>,
    /// What of them, and of those that wait for their SUBACK, the log owes to kept sessions.
    pub(crate) owed: Owed,
}

impl Replays {
    /// True when a turn would get something done.
    pub(crate) fn can_move(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The session may have room again.
    #[inline]
    pub(crate) fn wake(&mut self, key: SessionKey) {
        if self.lines.is_empty() {
            return;
        }
        if let Some(line) = self.lines.get_mut(&key).filter(|line| !line.is_ready) {
            line.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// The session is over.
    pub(crate) fn forget(&mut self, key: SessionKey) {
        self.lines.remove(&key);
        self.owed.forget(key);
    }

    /// The session has unsubscribed.
    pub(crate) fn cancel(&mut self, key: SessionKey, filter: &str) {
        self.owed.cancel(key, filter);
        if let Some(line) = self.lines.get_mut(&key) {
            line.replays.remove(filter);
            line.disown(filter);
        }
    }

    pub(super) fn begin(&mut self, key: SessionKey, filter: &str, replay: Replay) {
        if !replay.is_ripe {
            self.unripe.push((key, filter.into()));
        }
        let line = self.lines.entry(key).or_default();
        line.disown(filter);
        line.replays.insert(filter.into(), replay);
        self.wake(key);
    }

    /// The page that session `key` waits for has come; returns its replay, if it is still wanted.
    pub(super) fn arrived(&mut self, key: SessionKey, id: u64) -> Option<(Arc<str>, &mut Replay)> {
        let line = self.lines.get_mut(&key)?;
        let page = line.pending_page.take_if(|page| page.id == id)?;
        let replay = line.replays.get_mut(&page.filter).filter(|_| !page.is_void)?;
        Some((page.filter, replay))
    }

    /// Lets those go on that are ripe now.
    pub(super) fn ripen(&mut self, is_ripe: impl Fn(&Start) -> bool) {
        let mut unripe = std::mem::take(&mut self.unripe);
        unripe.retain(|(key, filter)| {
            let replay = self.lines.get_mut(key).and_then(|line| line.replays.get_mut(&**filter));
            // It may have been cancelled, or begun anew.
            let Some(replay) = replay.filter(|replay| !replay.is_ripe) else { return false };
            replay.is_ripe = is_ripe(&replay.start);
            if replay.is_ripe {
                self.wake(*key);
            }
            !self.lines[key].replays[&**filter].is_ripe
        });
        self.unripe.append(&mut unripe);
    }

    /// The session has got everything, or wants no more of it.
    pub(super) fn finish(&mut self, key: SessionKey, filter: &Arc<str>) {
        let replay = self.lines.get_mut(&key).and_then(|line| line.replays.remove(filter));
        if let Some(number) = replay.and_then(|replay| replay.before.owed) {
            self.owed.replayed(key, filter, number);
        }
    }
}
