//! The connections and sessions of one shard, and the lists of those with work to do.

use std::collections::VecDeque;

use lapwing_session::{Close, Counters as SessionCounters, DropReason, Fact, Io, Outcome, Session, SessionKey};
use slab::Slab;

use crate::little_spare;
use crate::shard::connections::buffers::Buffers;
use crate::shard::connections::connection::Connection;
use crate::shard::connections::sent::Sent;
use crate::shard::connections::session_row::SessionRow;
use crate::shard::connections::session_table::SessionTable;
use crate::shard::connections::turn_lists::touch;
use crate::shard::durable::commits::CommitTokens;
use crate::shard::durable::keeping::{Keeping, Kept};
use crate::shard::durable::windows::Windows;
use crate::shard::groups::{Membership, Outcomes};
use crate::shard::rights::standing::Standing;
use crate::shard::subscribe::holdings::Holdings;
use crate::slot::ShardId;

/// Everything of a shard that has to do with clients. No other shard touches it.
pub(crate) struct Clients {
    pub(in crate::shard) connections: Slab<Connection>,
    /// How many of them are no clients yet.
    strangers: usize,
    sessions: SessionTable,
    /// What the sessions count.
    pub(crate) counters: SessionCounters,
    /// Connections with bytes to read or handle, each once.
    pub(in crate::shard) ready: VecDeque<usize>,
    /// Connections with bytes to write, each once.
    pub(in crate::shard) touched: Vec<usize>,
    /// Sessions with acknowledgements that wait for a commit, each once.
    pub(in crate::shard) awaiting: Vec<SessionKey>,
    /// Connections to be flushed before the turn ends: see `output_mark_bytes`.
    pub(in crate::shard) large: Vec<usize>,
    /// Output from which a connection that takes its bytes is flushed at once.
    output_mark_bytes: usize,
    pub(in crate::shard) overflowing: Vec<(SessionKey, Close)>,
    /// Sessions that have lost the first acknowledged message since their client was there, and why.
    pub(in crate::shard) losing: Vec<(SessionKey, DropReason)>,
    /// What became of messages of groups, to be told to the owners.
    pub(crate) outcomes: Outcomes,
    /// When what is handled now was read, on the node's clock.
    pub(crate) now_us: u64,
    /// Makes the entries of sessions, groups and retained messages; none where nothing is kept on disk.
    pub(crate) keeping: Option<Box<Keeping>>,
    /// What kept sessions have told in this turn.
    pub(crate) facts: Vec<(Kept, Fact)>,
    told: Vec<Fact>,
    /// What acknowledgements and fenced output wait for.
    pub(crate) commit_tokens: CommitTokens,
    /// Connections whose output waits for the disk.
    pub(in crate::shard) fenced: Vec<usize>,
    /// How much of what waits for kept sessions is in memory; None: all of it.
    pub(in crate::shard) windows: Option<Windows>,
    /// Sessions for which something should be read from the log, each once.
    pub(in crate::shard) asking: Vec<SessionKey>,
    /// Output buffers that no connection holds now.
    pub(crate) buffers: Buffers,
    /// What all of them were sent.
    pub(crate) sent: Sent,
    /// What all of them hold.
    pub(crate) holdings: Holdings,
    /// There is no memory for more messages that wait for their client.
    pub(crate) keeps_no_more: bool,
    /// Messages dropped for that since somebody asked.
    pub(crate) not_kept: u64,
    births: u64,
    epochs: u64,
}

impl Clients {
    pub(crate) fn new(own: ShardId, shards: u32, output_mark_bytes: usize) -> Self {
        Clients {
            connections: Slab::new(),
            strangers: 0,
            sessions: SessionTable::new(own),
            counters: SessionCounters::default(),
            ready: VecDeque::new(),
            touched: Vec::new(),
            awaiting: Vec::new(),
            large: Vec::new(),
            output_mark_bytes,
            overflowing: Vec::new(),
            losing: Vec::new(),
            outcomes: Outcomes::default(),
            now_us: 0,
            keeping: None,
            facts: Vec::new(),
            told: Vec::new(),
            commit_tokens: CommitTokens::new(shards),
            fenced: Vec::new(),
            windows: None,
            asking: Vec::new(),
            buffers: Buffers::default(),
            sent: Sent::default(),
            holdings: Holdings::default(),
            keeps_no_more: false,
            not_kept: 0,
            births: 0,
            epochs: 0,
        }
    }

    pub(crate) fn insert_connection(&mut self, mut connection: Connection) -> usize {
        self.births += 1;
        connection.born = self.births;
        self.strangers += usize::from(connection.stranger.is_some());
        little_spare::insert(&mut self.connections, connection)
    }

    /// The epoch of a session's new connection: greater than that of any before it, whichever connection was accepted first.
    pub(crate) fn next_epoch(&mut self) -> u64 {
        self.epochs += 1;
        self.epochs
    }

    pub(crate) fn remove_connection(&mut self, index: usize) -> Option<Connection> {
        let connection = self.connections.try_remove(index)?;
        self.holdings.without_connection(&connection);
        self.strangers -= usize::from(connection.stranger.is_some());
        Some(connection)
    }

    pub(crate) fn connection(&mut self, index: usize) -> Option<&mut Connection> {
        self.connections.get_mut(index)
    }

    /// The same, to look at.
    pub(crate) fn look(&self, index: usize) -> Option<&Connection> {
        self.connections.get(index)
    }

    /// A stranger has become a client: what it takes up counts as theirs.
    pub(crate) fn let_in(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index)
            && connection.stranger.take().is_some()
        {
            self.strangers -= 1;
            self.holdings.connection(connection);
        }
    }

    /// Connections that belong to sessions, or did.
    pub(crate) fn settled_count(&self) -> usize {
        self.connections.len() - self.strangers
    }

    /// The indexes of all connections.
    pub(crate) fn connection_indexes(&self) -> Vec<usize> {
        self.connections.iter().map(|(index, _)| index).collect()
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// A key for a new session.
    pub(crate) fn next_key(&mut self) -> SessionKey {
        self.sessions.next_key()
    }

    /// Puts a session into the place that its key names.
    pub(crate) fn insert_session(
        &mut self,
        session: Session,
        connection: Option<usize>,
        timer_ms: u64,
        standing: Standing,
        membership: Membership,
    ) {
        self.sessions.insert(SessionRow::new(session, connection, timer_ms, standing, membership));
    }

    /// The session of a client id.
    pub(crate) fn find(&self, client_id: &str) -> Option<SessionKey> {
        self.sessions.find(client_id)
    }

    /// The same to read it.
    pub(crate) fn peek(&self, key: SessionKey) -> Option<&SessionRow> {
        self.sessions.get(key)
    }

    pub(crate) fn row(&mut self, key: SessionKey) -> Option<&mut SessionRow> {
        self.sessions.get_mut(key)
    }

    /// Takes a session out.
    pub(crate) fn remove_session(&mut self, key: SessionKey) -> Option<SessionRow> {
        let row = self.sessions.remove(key)?;
        self.holdings.without_session(row.counted);
        Some(row)
    }

    /// The keys of all sessions.
    pub(crate) fn session_keys(&self) -> Vec<SessionKey> {
        self.sessions.keys()
    }

    /// Places of the table: each session stands in one of them, and keeps it.
    pub(crate) fn session_places(&self) -> usize {
        self.sessions.places()
    }

    /// The session that stands there, if one does.
    pub(crate) fn session_at(&self, place: usize) -> Option<&SessionRow> {
        self.sessions.at(place)
    }

    pub(crate) fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Connections, sessions, client ids, and all lists of those with work to do.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> [usize; 5] {
        let listed = self.ready.len() + self.touched.len() + self.awaiting.len() + self.large.len() + self.fenced.len();
        let others = self.overflowing.len() + self.losing.len() + self.facts.len() + self.asking.len();
        let [sessions, ids, places] = self.sessions.lengths();
        [self.connections.len(), sessions, ids, listed + others, places]
    }

    /// Runs `work` on a session with its connection's output; the connection is flushed at the end of the turn.
    ///
    /// `None` when there is no such session any more.
    pub(crate) fn with<T>(&mut self, key: SessionKey, work: impl FnOnce(&mut Session, &mut Io<'_>) -> T) -> Option<T> {
        let at_hand_bytes_max = self.at_hand_bytes_max();
        let row = self.sessions.get_mut(key)?;
        let connection = row.connection().and_then(|index| Some((index, self.connections.get_mut(index)?)));
        let now_us = self.now_us;
        let answer = match connection {
            Some((index, connection)) => {
                let before = connection.output.len();
                if connection.output.capacity() == 0 {
                    connection.output = self.buffers.take();
                }
                let io = Io::at(&mut connection.output, &mut self.counters, now_us);
                let answer = work(&mut row.session, &mut Io { at_hand_bytes_max, ..io });
                if row.session.has_facts() && row.tell(&mut self.told, &mut self.facts) {
                    let token = self.commit_tokens.take();
                    connection.fence_output(before, token);
                }
                if connection.output.len() > before {
                    self.sent.count(&connection.output[before..]);
                    touch(connection, index, &mut self.touched);
                    if connection.output.len() >= self.output_mark_bytes && connection.stalled_since_ms == 0 {
                        self.large.push(index);
                    }
                } else if before == 0 {
                    self.buffers.give_back(&mut connection.output);
                }
                self.holdings.connection(connection);
                answer
            }
            None => {
                let mut nowhere = Vec::new();
                let io = Io::at(&mut nowhere, &mut self.counters, now_us);
                let answer = work(&mut row.session, &mut Io { at_hand_bytes_max, ..io });
                if row.session.has_facts() {
                    row.tell(&mut self.told, &mut self.facts);
                }
                answer
            }
        };
        self.holdings.session(&row.session, &mut row.counted);
        if row.session.has_outcomes() {
            self.outcomes.take_from(&mut row.session, row.membership.epoch);
        }
        if row.session.wants_page() && !row.asks_page {
            row.asks_page = true;
            self.asking.push(key);
        }
        if row.session.awaits_commit() && !row.awaiting {
            row.awaiting = true;
            self.awaiting.push(key);
        }
        Some(answer)
    }

    /// Runs `work` with the output of a connection whose session is not in the table yet.
    pub(crate) fn open<T>(&mut self, index: usize, work: impl FnOnce(&mut Io<'_>) -> T) -> Option<T> {
        let connection = self.connections.get_mut(index)?;
        let before = connection.output.len();
        if connection.output.capacity() == 0 {
            connection.output = self.buffers.take();
        }
        let answer = work(&mut Io::new(&mut connection.output, &mut self.counters));
        self.sent.count(&connection.output[before..]);
        Some(answer)
    }

    /// Takes the empty output buffer of a connection back.
    pub(crate) fn release_buffer(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index) {
            self.buffers.give_back(&mut connection.output);
            self.holdings.connection(connection);
        }
    }

    /// Keeps what of a connection's bytes could not be handled yet; true when it is a stranger's, and so counted elsewhere.
    pub(crate) fn keep_input(&mut self, index: usize, input: Vec<u8>) -> bool {
        let Some(connection) = self.connections.get_mut(index) else { return false };
        connection.input = input;
        self.holdings.connection(connection);
        connection.stranger.is_some()
    }

    /// A message of a group has ended here without its session.
    pub(crate) fn add_outcome(&mut self, key: SessionKey, outcome: Outcome) {
        if let Some(epoch) = self.row(key).map(|row| row.membership.epoch) {
            self.outcomes.add(key, epoch, outcome);
        }
    }

    /// Sessions whose queue overflowed and whose policy is to be disconnected for it.
    pub(crate) fn take_overflowing(&mut self) -> Vec<(SessionKey, Close)> {
        std::mem::take(&mut self.overflowing)
    }
}
