//! A kept session and what its node does for it: logs, commit tokens, output that waits for the disk, recovery.

use std::collections::{BTreeMap, VecDeque};

use lapwing_codec::{Packet, PacketId, Publish, QoS, Version};
use lapwing_session::{Accepted, CommitToken, Fact, Inbound, Origin, Settings, Step};

use super::book::{Book, message};
use super::ledger;
use super::log::{Log, Record};
use crate::rig::{Rig, connect_persistent, entry, grant, publish};

/// What a broker may get wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    MessageBeforePubrec,
    ReleasedBeforePubcomp,
    SentBeforePublish,
    GotBeforePubrel,
    /// A message that is durable in one log and not in another goes only to that one when it is sent again.
    CompleteWhatWasCut,
    /// That a message is in doubt is remembered over a second crash.
    DoubtsAreTold,
    HereBeforeConnack,
}

/// The session's own log is number 0. Messages from the client go to logs 1 and 2.
pub struct Broker {
    pub rig: Rig,
    pub logs: [Log; 3],
    broken: Option<Rule>,
    /// Tokens, and the length that each log must have for them.
    waiting: VecDeque<(u64, [usize; 3])>,
    token: u64,
    /// What is written may leave when so much of log 0 is durable.
    hold: usize,
    output: VecDeque<(usize, Vec<u8>)>,
    /// Entries of log 0 that are being read for the session.
    page: Option<Vec<u64>>,
    /// Doubts that are in no log, where that rule is broken.
    untold: Vec<(PacketId, u64)>,
}

/// In which of the logs 1 and 2 message `n` of the client belongs.
pub fn targets(n: u32) -> impl Iterator<Item = usize> {
    [1, 2].into_iter().filter(move |target| [&[][..], &[1, 2], &[1], &[2]][(n as usize + 1) % 4].contains(target))
}

impl Broker {
    pub fn new(version: Version, broken: Option<Rule>) -> Self {
        let mut rig =
            Rig::connected(&connect_persistent(version), Settings { inflight_messages_max: 3, ..Settings::default() });
        rig.session().keep(entry(1));
        let own = Log { records: vec![Record::Opened], durable: 1 };
        Broker {
            rig,
            logs: [own, Log::default(), Log::default()],
            broken,
            waiting: VecDeque::new(),
            token: 0,
            hold: 0,
            output: VecDeque::new(),
            page: None,
            untold: Vec::new(),
        }
    }

    /// After every call of the session: facts into the log, bytes behind those that wait.
    fn told(&mut self) {
        let facts = self.rig.facts();
        let holds = facts.iter().any(|fact| fact.fences_output() && !self.is_careless(fact));
        self.logs[0].records.extend(facts.into_iter().map(Record::Fact));
        if holds {
            self.hold = self.logs[0].records.len();
        }
        let bytes = std::mem::take(&mut self.rig.out);
        if !bytes.is_empty() {
            self.output.push_back((self.hold, bytes));
        }
        if self.rig.session().wants_page() {
            assert!(self.page.is_none(), "one page at a time");
            self.page = Some(self.rig.session().ask_page(300));
        }
    }

    /// The page that is being read comes, as far as it is durable.
    fn page(&mut self) {
        let Some(asked) = self.page.take() else { return };
        let durable = asked.partition_point(|entry| *entry <= self.logs[0].durable as u64);
        if durable == 0 {
            self.page = Some(asked);
            return;
        }
        let entries = asked[..durable].to_vec();
        let read = |index: u64| match self.logs[0].records[index as usize - 1] {
            Record::Published { n, qos, .. } => (entry(index), Some(message(n, qos))),
            other => panic!("the session asks for {other:?}"),
        };
        let page = entries.into_iter().map(read).collect();
        self.rig.take_page(page);
        self.told();
    }

    fn is_careless(&self, fact: &Fact) -> bool {
        match fact {
            Fact::PublishSent { .. } => self.broken == Some(Rule::SentBeforePublish),
            Fact::PubRecReceived { .. } => self.broken == Some(Rule::GotBeforePubrel),
            Fact::Released { .. } => self.broken == Some(Rule::ReleasedBeforePubcomp),
            Fact::Finished { .. } | Fact::Received { .. } | Fact::Doubted { .. } => false,
        }
    }

    /// A message for the client; returns the index of its entry in log 0.
    pub fn publish(&mut self, n: u32, qos: QoS) -> Option<u64> {
        let index = self.logs[0].records.len() as u64 + 1;
        let message = Publish { payload: &n.to_be_bytes(), ..publish("t", qos, 1) };
        let _ = self.rig.deliver_entry(message, &[grant(qos)], index);
        let is_kept = self.rig.session().kept_options(entry(index)).is_some();
        if is_kept {
            // Before the facts of its own delivery.
            self.logs[0].push(Record::Published { n, qos, origin: None });
        }
        self.told();
        is_kept.then_some(index)
    }

    /// A packet from the client.
    pub fn arrive(&mut self, packet: &Packet<'_>) -> Result<(), String> {
        match self.rig.handle(packet) {
            Ok(Step::Publish(inbound)) => self.route(&inbound),
            Ok(Step::Done) => {}
            other => return Err(format!("{packet:?} -> {other:?}")),
        }
        self.told();
        Ok(())
    }

    fn route(&mut self, inbound: &Inbound<'_>) {
        let publish = inbound.publish();
        let n = u32::from_be_bytes(publish.payload.try_into().expect("four bytes"));
        let mut accepted = Accepted::Now;
        let has_it = |log: &Log| {
            let name =
                inbound.origin().filter(|_| inbound.is_resent() && self.broken != Some(Rule::CompleteWhatWasCut));
            name.is_some_and(|origin| log.knows(origin.use_number))
        };
        for target in targets(n) {
            if !has_it(&self.logs[target]) {
                self.logs[target].push(Record::Published { n, qos: publish.qos, origin: inbound.origin() });
                accepted = Accepted::Later(CommitToken(self.token + 1));
            }
        }
        if accepted != Accepted::Now {
            self.token += 1;
            let lengths = [0, self.logs[1].records.len(), self.logs[2].records.len()];
            let is_careless = self.broken == Some(Rule::MessageBeforePubrec);
            self.waiting.push_back((self.token, if is_careless { [0; 3] } else { lengths }));
        }
        self.rig.accept(inbound.receipt, accepted);
        self.take_committed();
    }

    /// So many more records of a log are durable.
    pub fn commit(&mut self, log: usize, records: usize) {
        self.logs[log].sync(records);
        self.told();
        self.take_committed();
        self.told();
        self.page();
    }

    fn take_committed(&mut self) {
        let durable = [0, 1, 2].map(|log| self.logs[log].durable);
        let is_kept = |lengths: &[usize; 3]| lengths.iter().zip(&durable).all(|(length, durable)| length <= durable);
        while let Some((token, _)) = self.waiting.front().copied().filter(|(_, lengths)| is_kept(lengths)) {
            self.waiting.pop_front();
            self.rig.committed(token);
        }
    }

    /// Nothing is being read, and nothing held.
    pub fn is_quiet(&self) -> bool {
        self.page.is_none() && self.output.is_empty()
    }

    /// What may leave now.
    pub fn flush(&mut self) -> Vec<u8> {
        let durable = self.logs[0].durable;
        let mut flushed = Vec::new();
        while self.output.front().is_some_and(|(hold, _)| *hold <= durable) {
            flushed.extend(self.output.pop_front().map(|(_, bytes)| bytes).unwrap_or_default());
        }
        flushed
    }

    /// The connection is gone, with all that had not left.
    pub fn disconnected(&mut self) {
        assert!(!self.rig.disconnected().ended);
        self.output.clear();
        self.logs[0].push(Record::Presence { connected: false });
    }

    /// The client is back.
    pub fn connected(&mut self) {
        let version = self.rig.version;
        assert!(self.rig.connect(&connect_persistent(version)).0, "the session is there");
        self.logs[0].push(Record::Presence { connected: true });
        self.hold = if self.broken == Some(Rule::HereBeforeConnack) { 0 } else { self.logs[0].records.len() };
        self.told();
    }

    /// The broker is gone and comes again: only its logs are left, each with so much of what was not synced.
    pub fn crash(&mut self, left: [usize; 3]) {
        self.logs.iter_mut().zip(left).for_each(|(log, left)| log.cut(left));
        self.waiting.clear();
        self.output.clear();
        self.doubt();
        self.hold = 0;
        self.page = None;
        self.rig.out.clear();
        let mut book = Book::of(&self.logs[0]);
        ledger::assert_book(&book, &self.logs[0]);
        for (packet_id, number) in std::mem::take(&mut self.untold) {
            book.apply(&Fact::Doubted { packet_id, use_number: number });
        }
        let is_paged = self.rig.at_hand_bytes_max.is_some();
        self.rig.session = Some(book.restore(entry(1), &self.rig.settings, self.rig.now_ms, is_paged));
        if book.away_since.is_none() {
            self.logs[0].push(Record::Presence { connected: false });
        }
    }

    /// Messages that a log has, and that were not durably taken: their client sends them again, or has had PUBREC. What any log
    /// knows to be settled is so for all: one may have forgotten a message that another still remembers.
    fn doubt(&mut self) {
        self.logs[1..].iter().for_each(ledger::assert_unsettled);
        let settled = self.logs[1].settled().max(self.logs[2].settled());
        let next_use = Book::of(&self.logs[0]).next_use.max(settled);
        let mut cut = BTreeMap::new();
        for target in [1, 2] {
            cut.extend(self.logs[target].unsettled().split_off(&next_use));
        }
        let doubted = |(use_number, (_, origin)): (u64, (u32, Origin))| {
            Record::Fact(Fact::Doubted { packet_id: origin.packet_id, use_number })
        };
        if self.broken == Some(Rule::DoubtsAreTold) {
            self.untold = cut.iter().map(|(use_number, (_, origin))| (origin.packet_id, *use_number)).collect();
            return;
        }
        self.logs[0].records.extend(cut.into_iter().map(doubted));
    }
}
