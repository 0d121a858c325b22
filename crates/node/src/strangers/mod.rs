//! Strangers: connections that have not become clients yet. What they take up is apart from what clients live on.
//!
//! Rules:
//! - A connection is a stranger from the moment it is accepted until its session is open, or it is gone; a refused one that is
//!   read on for its last words is one still. It says so by holding a [`Stranger`].
//! - Strangers have a budget for the whole node: how many, how many of one address, how many bytes. Their bytes are not in the
//!   account of [`crate::memory`], so they never bring clients to a mark. Who goes when the budget is used up, the [`table`] says.
//! - Where all connections of the node or of a listener are taken, a stranger goes for each newcomer; no client ever does.
//! - The table has a lock. It is taken when a connection comes, when a read has left a part of a CONNECT behind, and when the
//!   connection is a client: never for a message.

mod ending;
mod table;
mod told;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lapwing_codec::{ProtocolError, ReasonCode};
use lapwing_transport::{PeerAddress, Socket};
use serde_json::{Value, json};

use crate::config::Limits;
use crate::desk::Desk;
use crate::listeners::ListenerId;
use crate::mailbox::Bell;
use crate::metrics::Metric;
use crate::notices::Line;
pub(crate) use ending::Ending;
pub(crate) use table::{Bound, Budget, Ended, Place, Source, Table};
use told::Told;

/// What one costs without its buffers: its places in the tables of a shard and of the node, its timer.
pub(crate) const STRANGER_BYTES: u64 = 1024;
/// The mark of memory is so many times what strangers may hold, at least: on a small machine they get less than configured.
const PARTS_OF_MARK: u64 = 4;

/// Lines kept until somebody asks for them.
const NOTICES_MAX: usize = 32;

/// Why strangers are sent away that the budget has room for.
const UNFIT: [&str; 3] = ["no_connect", "connect_bytes", "protocol"];
const BOUNDS: [(Bound, &str); 4] = [
    (Bound::PerAddress, "per_address"),
    (Bound::Count, "count"),
    (Bound::Bytes, "bytes"),
    (Bound::Connections, "connections_max"),
];

/// All strangers of a node; shared by its shards and by the threads that shake hands.
pub(crate) struct Strangers {
    state: Mutex<State>,
    /// By place, first the shards and then the threads that shake hands: who has to go there.
    ended: Vec<(Desk<Place>, Bell)>,
}

struct State {
    table: Table,
    by_bound: [u64; BOUNDS.len()],
    unfit: [u64; UNFIT.len()],
    told_bounds: [Told; BOUNDS.len()],
    told_unfit: [Told; UNFIT.len()],
    /// By the URL of the listener.
    told_endings: HashMap<String, [Told; Ending::COUNT]>,
    notices: Vec<Line>,
}

impl Budget {
    /// As configured, or less on a small machine: in all no more than there are connections, of one address three quarters
    /// of that.
    fn new(limits: &Limits, connections_max: u32, memory_high_bytes: u64) -> Self {
        let count_max = limits.strangers_max.min(connections_max).max(1) as usize;
        let per_address_max = (limits.strangers_per_address_max as usize).min((count_max * 3 / 4).max(1));
        let one_connect = u64::from(limits.connect_bytes_max) + STRANGER_BYTES;
        let bytes_max = limits.strangers_bytes_max.min(memory_high_bytes / PARTS_OF_MARK).max(one_connect);
        Budget { count_max, per_address_max, bytes_max }
    }
}

impl Strangers {
    /// `connections_max`, `memory_high_bytes`: those in force.
    pub(crate) fn new(limits: &Limits, connections_max: u32, memory_high_bytes: u64, bells: &[&Bell]) -> Arc<Self> {
        let state = State {
            table: Table::new(Budget::new(limits, connections_max, memory_high_bytes)),
            by_bound: Default::default(),
            unfit: Default::default(),
            told_bounds: Default::default(),
            told_unfit: Default::default(),
            told_endings: HashMap::new(),
            notices: Vec::new(),
        };
        let ended = bells.iter().map(|&bell| (Desk::default(), bell.clone())).collect();
        Arc::new(Strangers { state: Mutex::new(state), ended })
    }

    /// A newcomer; none when there is no place for it, for all others wait for the broker.
    pub(crate) fn arrive(self: &Arc<Self>, source: Source, listener: ListenerId, now_ms: u64) -> Option<Stranger> {
        let mut state = self.state();
        match state.table.arrive(source, listener) {
            Ok((id, ended)) => {
                self.send_away(state, ended, now_ms);
                let strangers = self.clone();
                let (held, input_bytes_max) = ((0, false), usize::MAX);
                Some(Stranger { strangers, id, source, held, awaits_name: false, input_bytes_max })
            }
            Err(bound) => {
                state.note(bound, source, now_ms);
                None
            }
        }
    }

    /// The same, for a connection of `peer` as its listener gives it.
    pub(crate) fn accepted(
        self: &Arc<Self>,
        listener: ListenerId,
        socket: &Socket,
        peer: PeerAddress,
        now_ms: u64,
    ) -> Option<Stranger> {
        let awaits_name = socket.awaits_header();
        let source = if awaits_name || socket.is_proxied() { Source::Shared } else { Source::of(peer) };
        let mut stranger = self.arrive(source, listener, now_ms)?;
        stranger.awaits_name = awaits_name;
        Some(stranger)
    }

    /// Has somebody go so that a newcomer finds a connection, in all or at one listener; false when there is nobody who could.
    pub(crate) fn give_way(&self, listener: Option<ListenerId>, now_ms: u64) -> bool {
        let mut state = self.state();
        let ended = state.table.give_way(listener);
        self.send_away(state, ended, now_ms);
        ended.is_some()
    }

    /// A stranger of `address` at the listener `url` is sent away for what it sent.
    pub(crate) fn unfit(&self, error: &ProtocolError, address: impl fmt::Display, url: &str, now_ms: u64) {
        let mut state = self.state();
        let kind = match error.reason {
            ReasonCode::PacketTooLarge => 1,
            ReasonCode::UnsupportedProtocolVersion => 2,
            _ => 0,
        };
        state.unfit[kind] += 1;
        if let Some(times) = state.told_unfit[kind].happened(now_ms) {
            let (address, since) = (address.to_string(), since_last(times));
            let text = format!("a connection of {address} did not begin with a CONNECT ({error}): closed{since}");
            let mut facts = refused(&address, url, error.reason.name(), times);
            facts["reason_code"] = error.reason.value().into();
            state.tell((text, facts).into());
        }
    }

    /// A connection of `address` at the listener `url` is not taken, or is ended below MQTT; whoever ends it counts it.
    pub(crate) fn ends(&self, ending: Ending, address: impl fmt::Display, url: &str, now_ms: u64) {
        let mut state = self.state();
        if !state.told_endings.contains_key(url) {
            state.told_endings.insert(url.to_owned(), Default::default());
        }
        let told = state.told_endings.get_mut(url).and_then(|told| told[ending.index()].happened(now_ms));
        if let Some(times) = told {
            let address = address.to_string();
            let text = format!("{}{}", ending.line(&address, url), since_last(times));
            state.tell((text, refused(&address, url, ending.name(), times)).into());
        }
    }

    /// Who has to go at this shard since the last call; costs one load when nobody has.
    pub(crate) fn take_ended(&self, shard: usize) -> Vec<Place> {
        self.ended[shard].0.take()
    }

    /// Whether somebody has to go at this shard.
    pub(crate) fn has_ended(&self, shard: usize) -> bool {
        self.ended[shard].0.is_asked()
    }

    /// What the operator should hear since the last call.
    pub(crate) fn take_notices(&self) -> Vec<Line> {
        std::mem::take(&mut self.state().notices)
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let state = self.state();
        let help = "Connections that are no clients yet: without a CONNECT, or with one that is not decided.";
        let mut metrics = vec![Metric::gauge("lapwing_strangers", help, state.table.count() as u64)];
        let help = "Memory held for them: of strangers_bytes_max, and apart from lapwing_memory_bytes.";
        metrics.push(Metric::gauge("lapwing_strangers_bytes", help, state.table.bytes()));
        let bounds = BOUNDS.iter().map(|(bound, label)| (*label, state.by_bound[*bound as usize]));
        for (label, times) in bounds.chain(UNFIT.into_iter().zip(state.unfit)) {
            let help = "Connections ended before they were clients, by what they were too many of, or what was wrong.";
            metrics.push(Metric::counter("lapwing_strangers_refused_total", help, times).with("reason", label));
        }
        metrics
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the shards of those who have to go.
    fn send_away(&self, mut state: MutexGuard<'_, State>, ended: impl IntoIterator<Item = Ended>, now_ms: u64) {
        let ended: Vec<Ended> = ended.into_iter().collect();
        ended.iter().for_each(|one| state.note(one.bound, one.source, now_ms));
        drop(state);
        ended.iter().for_each(|one| self.end_at(one.place));
    }

    /// Has whoever is at `place` go, as one too many there too.
    pub(crate) fn end_at(&self, place: Place) {
        let (desk, bell) = &self.ended[place.shard];
        desk.put(place);
        bell.ring();
    }
}

impl State {
    /// Counts one that goes for `bound`, and tells of it now and then.
    fn note(&mut self, bound: Bound, source: Source, now_ms: u64) {
        self.by_bound[bound as usize] += 1;
        let Some(times) = self.told_bounds[bound as usize].happened(now_ms) else { return };
        let Budget { count_max, per_address_max, bytes_max } = self.table.budget();
        let over = match bound {
            Bound::PerAddress => format!("strangers_per_address_max, {per_address_max} here"),
            Bound::Count => format!("strangers_max, {count_max} here"),
            Bound::Bytes => format!("strangers_bytes_max, {bytes_max} here"),
            Bound::Connections => "connections_max".to_owned(),
        };
        let since = since_last(times);
        let text = format!("connections without CONNECT are at limits.{over}: the oldest of {source} is ended{since}");
        let reason = BOUNDS.iter().find(|(other, _)| *other == bound).map(|(_, label)| *label);
        let facts = json!({"event": "refused", "address": source.to_string(), "reason": reason, "count": times});
        self.tell((text, facts).into());
    }

    /// Keeps a line until somebody asks; where nobody does, the first ones.
    fn tell(&mut self, notice: Line) {
        if self.notices.len() < NOTICES_MAX {
            self.notices.push(notice);
        }
    }
}

/// Who was sent away for `reason`, and how often that was since the last such line.
fn refused(address: &str, url: &str, reason: &str, count: u64) -> Value {
    json!({"event": "refused", "address": address, "listener": url, "reason": reason, "count": count})
}

/// How often, behind what has happened.
fn since_last(times: u64) -> String {
    if times == 1 { String::new() } else { format!(" ({times} since the last such line)") }
}

impl Source {
    /// Where a connection comes from, for the limit by address.
    pub(crate) fn of(peer: PeerAddress) -> Self {
        peer.source().map_or(Source::Shared, Source::Address)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Address(address) if address.is_ipv6() => write!(f, "{address}/64"),
            Source::Address(address) => address.fmt(f),
            Source::Shared => f.write_str("those that no address tells apart"),
        }
    }
}

/// One stranger; when it is dropped, there is one less.
pub(crate) struct Stranger {
    strangers: Arc<Strangers>,
    id: usize,
    /// Where it comes from, as far as that is known.
    pub(crate) source: Source,
    /// Bytes and whether it waits for the broker, as the table has them.
    held: (u64, bool),
    /// A PROXY header is to name where it comes from.
    pub(crate) awaits_name: bool,
    /// Nothing is read beyond that before it is a client: its CONNECT is no longer.
    pub(crate) input_bytes_max: usize,
}

impl Stranger {
    /// Where it is now.
    pub(crate) fn settle(&mut self, place: Place) {
        self.strangers.state().table.settle(self.id, place);
    }

    /// It goes to another shard; false: it has to go altogether, and its connection is to be closed.
    #[must_use]
    pub(crate) fn lift(&mut self) -> bool {
        self.strangers.state().table.lift(self.id)
    }

    /// It holds so many bytes beside [`STRANGER_BYTES`], and waits for the broker or not. Costs nothing when that is known.
    pub(crate) fn hold(&mut self, bytes: u64, is_busy: bool, now_ms: u64) {
        let held = (bytes + STRANGER_BYTES, is_busy);
        if held != self.held {
            self.held = held;
            let mut state = self.strangers.state();
            let ended = state.table.hold(self.id, held.0, is_busy);
            self.strangers.send_away(state, ended, now_ms);
        }
    }

    /// How many bytes more may be read of one that has sent `held`. Never none, which would look like its end.
    pub(crate) fn read_allowance(&self, held: usize) -> usize {
        self.input_bytes_max.saturating_sub(held).max(1)
    }

    /// It comes from `source`, as a PROXY header says.
    pub(crate) fn name(&mut self, source: Source, now_ms: u64) {
        (self.awaits_name, self.source) = (false, source);
        let mut state = self.strangers.state();
        let ended = state.table.name(self.id, source);
        self.strangers.send_away(state, ended, now_ms);
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.strangers.state().table.leave(self.id);
    }
}

impl fmt::Debug for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stranger").field("id", &self.id).field("held", &self.held).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
