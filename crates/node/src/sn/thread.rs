//! The life of the thread: datagrams in, what shards say out, time.

use std::sync::Arc;
use std::time::Duration;

use lapwing_sn::peer::Phase as SnPhase;
use lapwing_transport::{AddressLimiter, Datagrams, DtlsOutput};
use mio::Token;

use super::address::Address;
use super::counters::SnCounters;
use super::goodbyes::Goodbyes;
use super::guest::Then;
use super::io::Io;
use super::kept_wills::KeptWills;
use super::leaving::Leaving;
use super::link::Link;
use super::output::Outlet;
use super::overflow::Overflow;
use super::packets::PACKET_BYTES_MAX;
use super::table::Table;
use super::terms::Terms;
use super::tunnels::{Seal, Tunnels};
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::handshakes::Line;
use crate::life::Phase;
use crate::niceness::come_soon;
use crate::shared::Shared;
use crate::timers::{NEVER, Timers};

/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// How often connections that end are looked at, whose shards take nothing.
const LEAVING_LOOK: Duration = Duration::from_millis(20);
/// Events of connections that carry QoS -1 begin here; below are sockets.
pub(super) const NOBODIES: usize = 1 << 15;
/// Events of clients' connections begin here.
pub(super) const GUESTS: usize = 1 << 16;
/// Room for the largest packet of a shard, and what is read behind it.
const BUFFER_BYTES: usize = 2 * PACKET_BYTES_MAX as usize;

/// All listeners of a node for MQTT-SN; [`SnThread::run`] is its life.
pub(crate) struct SnThread {
    pub(super) shared: Arc<Shared>,
    pub(super) counters: Arc<SnCounters>,
    pub(super) event_loop: EventLoop,
    pub(super) sockets: Vec<Datagrams>,
    /// By socket: the kernel may have datagrams for us.
    pub(super) is_ready: Vec<bool>,
    /// By socket, whose it is.
    pub(super) door_of: Vec<usize>,
    /// The listeners.
    pub(super) doors: Vec<Terms>,
    /// By listener, how fast one address may connect.
    pub(super) limiters: Vec<Option<AddressLimiter>>,
    /// By listener, the connection of all that publish without one.
    pub(super) nobodies: Vec<Option<Link>>,
    /// By listener, wills of clients that are gone.
    pub(super) kept_wills: Vec<KeptWills>,
    /// By shard.
    pub(super) lines: Vec<Line>,
    pub(super) table: Table,
    /// Connections of DTLS, and what the last step of one has brought: of those that came, and of those that go.
    pub(super) tunnels: Tunnels,
    pub(super) opened: DtlsOutput,
    sealed: DtlsOutput,
    /// Clients whose shard has said something, or that have something for it.
    pub(super) touched: Vec<usize>,
    /// Clients that have something for their shards, by place.
    pub(super) unflushed: Vec<usize>,
    pub(super) leaving: Leaving,
    pub(super) goodbyes: Goodbyes,
    /// Of clients, by place. Whoever is in a place then, and waits for that time, is meant.
    timers: Timers<u32>,
    /// By listener, when it says next that it is there; none: never.
    pub(super) advertise_at_ms: Vec<Option<u64>>,
    pub(super) buffer: Vec<u8>,
    pub(super) out: Vec<u8>,
    enclosed: Vec<u8>,
    overflow: Overflow,
    pub(super) turn: u32,
    pub(super) now_ms: u64,
    pub(super) is_listening: bool,
    pub(super) has_left: bool,
}

/// One listener with its sockets.
pub(super) struct Door {
    pub(super) terms: Terms,
    pub(super) sockets: Vec<Datagrams>,
    pub(super) limiter: Option<AddressLimiter>,
    /// None: its datagrams are plain.
    pub(super) seal: Option<Seal>,
}

impl SnThread {
    pub(super) fn new(shared: Arc<Shared>, event_loop: EventLoop, doors: Vec<Door>, lines: Vec<Line>) -> Self {
        let (mut sockets, mut door_of, mut all, mut limiters) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut seals = Vec::new();
        for (number, door) in doors.into_iter().enumerate() {
            door_of.resize(door_of.len() + door.sockets.len(), number);
            sockets.extend(door.sockets);
            seals.resize(sockets.len(), door.seal);
            all.push(door.terms);
            limiters.push(door.limiter);
        }
        let tunnels = Tunnels::new(seals, &shared.config.limits, shared.now_ms());
        SnThread {
            shared,
            counters: Arc::default(),
            event_loop,
            is_ready: vec![false; sockets.len()],
            sockets,
            door_of,
            nobodies: all.iter().map(|_| None).collect(),
            kept_wills: all.iter().map(|_| KeptWills::default()).collect(),
            advertise_at_ms: all.iter().map(|terms| terms.config.advertise_to.map(|_| 0)).collect(),
            doors: all,
            limiters,
            lines,
            table: Table::default(),
            tunnels,
            opened: DtlsOutput::default(),
            sealed: DtlsOutput::default(),
            touched: Vec::new(),
            unflushed: Vec::new(),
            leaving: Leaving::default(),
            goodbyes: Goodbyes::default(),
            timers: Timers::new(),
            buffer: vec![0; BUFFER_BYTES],
            out: Vec::new(),
            enclosed: Vec::new(),
            overflow: Overflow::default(),
            turn: 0,
            now_ms: 0,
            is_listening: false,
            has_left: false,
        }
    }

    pub(crate) fn counters(&self) -> Arc<SnCounters> {
        self.counters.clone()
    }

    /// Works until the node stops.
    ///
    /// # Errors
    /// The kernel refuses to watch a socket or to report events.
    pub(crate) fn run(&mut self) -> Result<(), NodeError> {
        come_soon();
        loop {
            match self.shared.phase() {
                Phase::Running => self.begin_to_listen()?,
                // Shards send their clients away, and these are told so; nobody new is taken.
                Phase::Draining => self.has_left = true,
                Phase::Stopping => {
                    self.close_tunnels();
                    return Ok(());
                }
            }
            self.wait()?;
            self.note_events();
            self.now_ms = self.shared.now_ms();
            self.receive();
            self.flush_all();
            self.counters.overflowed.add(self.overflow.look(&self.sockets, self.now_ms));
            self.serve_touched();
            self.look_at_nobodies();
            self.run_timers();
            self.kept_wills.iter_mut().for_each(|wills| wills.sweep(self.now_ms));
            self.tick_tunnels();
            self.advertise();
            self.serve_touched();
            self.flush_all();
            self.leaving.look(self.now_ms);
            self.lines.iter_mut().for_each(Line::flush);
        }
    }

    /// As on the shards: clients may come once all that was kept is back.
    fn begin_to_listen(&mut self) -> Result<(), NodeError> {
        if self.is_listening || !self.shared.is_restored() {
            return Ok(());
        }
        self.is_listening = true;
        for (number, socket) in self.sockets.iter_mut().enumerate() {
            let registered = socket.register(self.event_loop.registry(), Token(number));
            registered.map_err(|source| NodeError::System { doing: "watch a listener", source })?;
            self.is_ready[number] = true;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), NodeError> {
        if self.has_work() {
            return self.event_loop.poll(Duration::ZERO);
        }
        self.event_loop.prepare();
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.lines.iter_mut().for_each(Line::flush);
        let timeout = if self.has_work() { Duration::ZERO } else { self.until_next() };
        self.event_loop.sleep(timeout)
    }

    fn has_work(&self) -> bool {
        let phase_is_new = match self.shared.phase() {
            Phase::Running => !self.is_listening && self.shared.is_restored(),
            Phase::Draining => !self.has_left,
            Phase::Stopping => true,
        };
        phase_is_new || !self.touched.is_empty() || self.is_ready.contains(&true)
    }

    fn until_next(&self) -> Duration {
        let longest = if self.leaving.is_empty() { SLEEP_MAX } else { LEAVING_LOOK };
        let now_ms = self.shared.now_ms();
        let next =
            self.timers.next_at().into_iter().chain(self.tunnels.next_at()).chain(self.next_advertise_ms()).min();
        let next = next.map(|at_ms| Duration::from_millis(at_ms.saturating_sub(now_ms)));
        next.map_or(longest, |next| next.min(longest))
    }

    /// Marks what the kernel reported.
    fn note_events(&mut self) {
        for event in self.event_loop.events() {
            let is_readable = event.is_readable() || event.is_read_closed() || event.is_error();
            let link = match event.token().0 {
                socket if socket < NOBODIES => {
                    self.is_ready[socket] = true;
                    continue;
                }
                door if door < GUESTS => self.nobodies[door - NOBODIES].as_mut(),
                guest => {
                    self.touched.push(guest - GUESTS);
                    self.table.get(guest - GUESTS).and_then(|guest| guest.link.as_mut())
                }
            };
            if let Some(link) = link {
                link.is_readable |= is_readable;
                link.is_read_closed |= event.is_read_closed() || event.is_error();
            }
        }
    }

    /// Takes what shards have said to clients, and gives them what waits for them.
    fn serve_touched(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for index in std::mem::take(&mut self.touched) {
            self.serve(index, &mut buffer);
        }
        self.buffer = buffer;
    }

    fn serve(&mut self, index: usize, buffer: &mut [u8]) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door()];
        let io = &mut Io { terms, counters, now_ms: *now_ms, out };
        let Some(link) = &mut guest.link else { return };
        let then = match link.read(buffer) {
            None => guest.unlinked(io),
            Some(read) => {
                let (handled, then) = guest.take_packets(&buffer[read.clone()], io);
                if let Some(link) = &mut guest.link {
                    link.keep_input(&buffer[handled..read.end]);
                    if link.is_readable {
                        // There was more than the buffer holds.
                        self.touched.push(index);
                    }
                }
                then
            }
        };
        self.finish(index, then);
    }

    fn run_timers(&mut self) {
        for _ in 0..self.timers.len() {
            let Some((at_ms, place)) = self.timers.due(self.now_ms) else { break };
            let SnThread { table, doors, counters, out, now_ms, .. } = self;
            let index = place as usize;
            let Some(guest) = table.get(index).filter(|guest| guest.timer_ms == at_ms) else { continue };
            guest.timer_ms = NEVER;
            let terms = &doors[guest.door()];
            let then = guest.tick(&mut Io { terms, counters, now_ms: *now_ms, out });
            self.finish(index, then);
        }
        if self.timers.is_full() {
            let table = &self.table;
            let is_live = |at_ms, place: &u32| table.look(*place as usize).is_some_and(|guest| guest.timer_ms == at_ms);
            self.timers.retain(is_live);
        }
    }

    /// After something was done for a client: its answers go, its shard gets what waits, its timer is set.
    pub(super) fn finish(&mut self, index: usize, then: Then) {
        let SnThread { table, sockets, tunnels, sealed, out, enclosed, counters, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let is_asleep = matches!(guest.client.phase(), SnPhase::Asleep | SnPhase::Awake);
        match (std::mem::replace(&mut guest.counts_as_asleep, is_asleep), is_asleep) {
            (false, true) => counters.asleep.add(1),
            (true, false) => counters.asleep.sub(1),
            _ => {}
        }
        // What is counted is so before its answer can be seen.
        let mut outlet = Outlet { sockets, tunnels, sealed, counters, now_ms: *now_ms };
        outlet.send_all(&guest.address.get(), out, enclosed);
        match then {
            Then::Open(opening) => self.open(index, opening),
            Then::Leave => return self.remove(index),
            Then::Part => return self.part(index),
            Then::Stay => self.settle(index),
        }
        self.flush_soon(index);
        self.set_timer(index);
    }

    fn set_timer(&mut self, index: usize) {
        let Some(guest) = self.table.get(index) else { return };
        let Some(at_ms) = guest.next_wake_ms() else { return };
        if at_ms < guest.timer_ms {
            guest.timer_ms = at_ms;
            self.timers.add(at_ms, index as u32);
        }
    }

    /// Sends what gathered to `address`.
    pub(super) fn send(&mut self, address: &Address<'_>) {
        let SnThread { sockets, tunnels, sealed, out, enclosed, counters, now_ms, .. } = self;
        Outlet { sockets, tunnels, sealed, counters, now_ms: *now_ms }.send_all(address, out, enclosed);
    }
}
