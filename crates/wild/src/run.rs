//! A run: steps against a node, and what must be true behind them.

use std::time::{Duration, Instant};

use lapwing_codec::{Packet, PacketId, Publish, PublishProperties, QoS};
use lapwing_oracle::variants::Random;

use crate::action::{IDS, Step, steps};
use crate::books::Heard;
use crate::client::Line;
use crate::folder::SMALL_LOG;
use crate::id_books::{IdBooks, Messages};
use crate::place::{self, Place};
use crate::witness;

/// The longest that anything may take; only a failure takes so long.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How long somebody who hears nothing waits before looking again.
const LOOK: Duration = Duration::from_micros(100);
/// Limits with which mailboxes between shards hold one batch of one message.
pub const SMALLEST_MAILBOXES: &str = r#""mailbox_batches": 1, "mailbox_batch_messages": 1"#;
/// Connections of wild clients at once.
pub(crate) const LINES_MAX: usize = 10;
/// Bytes of choices for one step, on average a few more than it needs.
const BYTES_PER_STEP: usize = 8;
/// Steps that an input of the fuzzer may have.
const STEPS_MAX: usize = 200;
const WITNESS: usize = IDS;
const PROBE: usize = IDS + 1;
/// The topic of the probe, which the witness subscribes to: index into the table of topics.
const PROBED: usize = 4;

/// A node as it is started.
#[derive(Clone, Copy, Debug)]
pub struct Arrangement {
    /// Event loops.
    pub shards: u32,
    /// More limits, as JSON without its braces.
    pub limits: &'static str,
    /// What a sync of the disk takes at first.
    pub sync_ms: u64,
    /// In a process of its own, `lapwing broker`: what is not drained is killed, and syncs take what they take.
    pub is_process: bool,
}

impl Arrangement {
    /// All limits that are not the node's own, as JSON without its braces.
    pub(crate) fn all_limits(&self) -> String {
        if self.limits.is_empty() { SMALL_LOG.to_owned() } else { format!("{SMALL_LOG}, {}", self.limits) }
    }
}

/// What a run was about.
pub type Story = Heard;

/// A run under way.
pub struct Run {
    pub(crate) place: Box<dyn Place>,
    /// Connections of wild clients, the newest last; those that are over are taken out when all are listened to.
    pub(crate) lines: Vec<Line>,
    witness: Option<Line>,
    pub(crate) ids: Vec<IdBooks>,
    pub(crate) messages: Messages,
    /// The last that was given: none is given twice in a run, so that an answer has one question.
    pub(crate) packet_id: u16,
    heard: Heard,
}

/// Runs the steps of `seed`.
///
/// # Errors
/// What could not be right, with the seed and all steps up to it.
pub fn check(arrangement: &Arrangement, seed: u64, count: usize) -> Result<Story, String> {
    let bytes = Random::new(seed).bytes(count * BYTES_PER_STEP);
    check_steps(arrangement, &steps(&bytes, count)).map_err(|what| format!("seed {seed}, {what}"))
}

/// Runs what `bytes` stand for: the first one is the arrangement, the others the steps.
///
/// # Errors
/// What could not be right, with all steps up to it.
pub fn check_bytes(bytes: &[u8]) -> Result<Story, String> {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let limits = if first & 4 == 0 { "" } else { SMALLEST_MAILBOXES };
    let sync_ms = [0, 0, 2, 10][usize::from(first >> 3 & 3)];
    let arrangement = Arrangement { shards: 1 + u32::from(first & 3) % 3, limits, sync_ms, is_process: false };
    check_steps(&arrangement, &steps(rest, STEPS_MAX))
}

fn check_steps(arrangement: &Arrangement, all: &[Step]) -> Result<Story, String> {
    run(arrangement, all).map_err(|(step, what)| {
        let list: String = all.iter().take(step + 1).map(|step| format!("  {step:?}\n")).collect();
        format!("{arrangement:?}, step {step}: {what}\nafter:\n{list}")
    })
}

/// Runs `steps`.
///
/// # Errors
/// The step, and what could not be right behind it.
pub fn run(arrangement: &Arrangement, steps: &[Step]) -> Result<Story, (usize, String)> {
    let mut run = Run::new(arrangement).map_err(|what| (0, what))?;
    for (at, step) in steps.iter().enumerate() {
        run.act(step).and_then(|()| run.place.check()).map_err(|what| (at, run.blame(what)))?;
    }
    run.end().map_err(|what| (steps.len(), run.blame(what)))?;
    Ok(run.heard)
}

impl Run {
    fn new(arrangement: &Arrangement) -> Result<Run, String> {
        let mut run = Run {
            place: place::start(arrangement)?,
            lines: Vec::new(),
            witness: None,
            ids: (0..IDS + 2).map(|_| IdBooks::default()).collect(),
            messages: Messages::default(),
            packet_id: 0,
            heard: Heard::default(),
        };
        run.ids[WITNESS].asked.insert(witness::FILTER);
        run.witness_comes()?;
        let packet_id = run.next_packet_id();
        if let Some(witness) = &mut run.witness {
            witness::subscribe(witness, packet_id)?;
        }
        run.wait("the witness has subscribed", |run| run.heard.answered > 0)?;
        Ok(run)
    }

    pub(crate) fn next_packet_id(&mut self) -> PacketId {
        self.packet_id += 1;
        PacketId::new(self.packet_id).unwrap_or(PacketId::MIN)
    }

    /// Writes what was put together.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        self.lines.iter_mut().try_for_each(Line::flush)
    }

    /// Everybody takes what is there; returns whether something was.
    pub(crate) fn listen(&mut self) -> Result<bool, String> {
        let Run { lines, witness, ids, messages, heard, .. } = self;
        let mut is_news = false;
        for line in lines.iter_mut().chain(witness.as_mut()) {
            is_news |= line.listen(&mut ids[line.id], messages, heard)?;
        }
        lines.retain(|line| !line.is_over());
        if let Some(witness) = witness {
            is_news |= witness::answer(witness)?;
        }
        Ok(is_news)
    }

    /// Listens until `done`.
    fn wait(&mut self, what: &str, done: impl Fn(&Run) -> bool) -> Result<(), String> {
        self.flush()?;
        let begun = Instant::now();
        loop {
            let is_news = self.listen()?;
            if done(self) {
                return Ok(());
            }
            self.place.check()?;
            if begun.elapsed() > PATIENCE {
                return Err(format!("in vain: {what}"));
            }
            if !is_news {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Everybody is asked to answer, who was not yet. Each does, or its connection ends; of each client id one is left at most.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        self.witness_comes()?;
        let is_unasked = |line: &&mut Line| !line.is_over() && line.books.pings == 0;
        for line in self.lines.iter_mut().chain(&mut self.witness).filter(is_unasked) {
            line.books.pings += 1;
            line.put(&Packet::PingReq)?;
        }
        self.wait("every connection answers or ends, and one of each client id is left", |run| {
            let is_single = |id| run.lines.iter().filter(|line| line.id == id && !line.is_over()).count() <= 1;
            run.lines.iter().chain(&run.witness).all(Line::is_settled) && (0..IDS).all(is_single)
        })
    }

    fn witness_comes(&mut self) -> Result<(), String> {
        if self.witness.as_ref().is_some_and(|witness| !witness.is_over()) {
            return Ok(());
        }
        let witness = self.witness.insert(witness::open(&self.place.url(), WITNESS, "witness")?);
        witness.flush()?;
        self.wait("the witness is greeted", |run| {
            run.witness.as_ref().is_some_and(|witness| witness.books.greeted.is_some())
        })?;
        let goes_on = self.witness.as_ref().and_then(|witness| witness.books.greeted);
        if goes_on != Some(self.ids[WITNESS].may_have_session) {
            return Err("the session of the witness is gone".into());
        }
        self.ids[WITNESS].may_have_session = true;
        Ok(())
    }

    pub(crate) fn witness_leaves(&mut self, politely: bool) -> Result<(), String> {
        let Some(mut witness) = self.witness.take() else { return Ok(()) };
        if !politely {
            return Ok(());
        }
        witness::leave(&mut witness)?;
        self.witness = Some(witness);
        self.wait("the witness may go", |run| run.witness.as_ref().is_some_and(Line::is_over))
    }

    /// Stops the node, hears its last words, and starts it again in its folder.
    pub(crate) fn restart(&mut self, shards: u32, drained: bool) -> Result<(), String> {
        self.flush()?;
        for line in self.lines.iter_mut().chain(&mut self.witness) {
            line.books.causes.stopped = true;
        }
        self.place.stop(drained)?;
        if !drained && self.place.is_killed() {
            self.messages.killed();
        }
        self.wait("every connection ends with its node", |run| {
            run.lines.is_empty() && run.witness.as_ref().is_none_or(Line::is_over)
        })?;
        self.ids.iter_mut().for_each(IdBooks::restarted);
        self.place.start(shards)?;
        self.heard.restarts += 1;
        self.probe()
    }

    /// Somebody publishes, and the witness gets that and all else that it must have.
    fn probe(&mut self) -> Result<(), String> {
        self.witness_comes()?;
        let n = self.messages.add(PROBED, QoS::AtLeastOnce, Some(0));
        let packet_id = self.next_packet_id();
        let mut probe = witness::open(&self.place.url(), PROBE, "probe")?;
        probe.books.publishes(QoS::AtLeastOnce, packet_id, n, 1, true);
        probe.put(&Packet::Publish(Publish {
            dup: false,
            qos: QoS::AtLeastOnce,
            retain: false,
            topic: crate::action::TOPICS[PROBED],
            packet_id: Some(packet_id),
            properties: PublishProperties::default(),
            payload: self.messages.get(n).map(|sent| &sent.payload[..]).unwrap_or_default(),
        }))?;
        self.ids[PROBE].may_have_session = true;
        self.lines.push(probe);
        self.wait("the probe is acknowledged", |run| run.messages.get(n).is_some_and(|sent| sent.is_acknowledged))?;
        self.wait("the witness gets all that was acknowledged", |run| run.missing().is_empty())?;
        for probe in self.lines.iter_mut().filter(|line| line.id == PROBE) {
            witness::leave(probe)?;
        }
        self.wait("the probe may go", |run| run.lines.iter().all(|line| line.id != PROBE))
    }

    /// Messages that were acknowledged and that the witness has not got.
    fn missing(&self) -> Vec<u32> {
        let taken = self.messages.taken(|topic| topic.starts_with('w'));
        taken.difference(&self.ids[WITNESS].arrived).copied().collect()
    }

    /// The end of a run: nobody is stuck, and nothing is lost.
    fn end(&mut self) -> Result<(), String> {
        self.settle()?;
        self.probe()?;
        self.place.stop(false)
    }

    /// Why the node has failed, where it has: what else was seen follows from that.
    fn blame(&mut self, what: String) -> String {
        let missing = self.missing();
        let lost = if missing.is_empty() { String::new() } else { format!(" (the witness lacks {missing:?})") };
        match self.place.check() {
            Err(failure) if failure != what => format!("{failure}; {what}"),
            _ => format!("{what}{lost}"),
        }
    }
}
