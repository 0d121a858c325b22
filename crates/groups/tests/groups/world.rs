//! A group, its clients, and the ledger that the group is held against after every step.

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Parameters, Report, Stamps, Strategy};
use lapwing_groups::{
    Action, AssignmentId, Delivery, DropReason, Epoch, Expired, Facts, Group, MemberOptions, Presence, Settings,
};

use crate::client::{Client, Order, Word};
use crate::ledger::{Ledger, Line, Message, State};
use crate::logged::{Logged, number};
use crate::told::Told;

pub struct World {
    pub group: Group<u32, Message>,
    pub clients: Vec<Client>,
    pub ledger: Ledger,
    pub logged: Logged,
    /// Of the log, how many entries are committed.
    pub committed: u64,
    pub settings: Settings,
    pub now_us: u64,
    /// Keys have had an order at some time: then others may pass.
    pub was_ordered: bool,
    /// Nothing but QoS 1 under `key-ordered`: a key is with one member at a time.
    pub is_strict: bool,
    /// What the owner knows: who is a member, and how.
    pub known: Vec<Option<Presence>>,
    pub kicked: Vec<(u32, Epoch)>,
    /// What each has declared, as far as the owner has heard.
    pub declared: Vec<Declaration>,
    /// Misses that were compared with what was told of them.
    pub misses_seen: u64,
    next_key: u32,
    /// What was heard already, to be said again.
    pub heard: Vec<(u32, Epoch, Word)>,
}

impl World {
    pub fn new(settings: Settings, strategy: Strategy) -> World {
        World {
            group: Group::new(settings, strategy, Parameters::default(), 7),
            clients: Vec::new(),
            ledger: Ledger::default(),
            logged: Logged::default(),
            committed: 0,
            settings,
            now_us: 1_000_000,
            was_ordered: strategy == Strategy::KeyOrdered,
            is_strict: false,
            known: Vec::new(),
            kicked: Vec::new(),
            declared: Vec::new(),
            misses_seen: 0,
            next_key: 0,
            heard: Vec::new(),
        }
    }

    pub fn add_client(&mut self, options: MemberOptions) {
        self.clients.push(Client::new(self.next_key, options));
        self.known.push(None);
        self.declared.push(options.declaration);
        self.next_key += 1;
    }

    pub fn publish(&mut self, facts: Facts) {
        let nth = self.ledger.lines.len();
        let facts = Facts { entry: number(nth, facts.qos), ..facts };
        let before = self.group.view(self.now_us);
        self.ledger.lines.push(Line::new(nth, facts));
        self.ledger.sums.published += 1;
        if self.group.publish(self.ledger.lines[nth].handle.clone(), facts, self.now_us) {
            self.logged.begins(facts.entry);
        }
        let after = self.group.view(self.now_us);
        let waited = before.critical + before.bulk;
        assert!(after.critical + after.bulk <= self.settings.queue_messages_max.max(waited));
        let is_alone = after.critical + after.bulk <= 1;
        assert!(is_alone || after.bytes <= self.settings.queue_bytes_max.max(before.bytes));
        self.collect(Some(nth), true);
    }

    /// The owner hears the next word of a client.
    pub fn hear(&mut self, at: usize) {
        let Some((epoch, word)) = self.clients[at].words.pop_front() else { return };
        let key = self.clients[at].key;
        if matches!(word, Word::Join(_)) && !self.may_join(key) {
            return;
        }
        self.heard.push((key, epoch, word.clone()));
        self.expect(key, epoch, &word);
        self.tell(key, epoch, &word);
        self.collect(None, false);
    }

    /// The owner hears again what it has heard; nothing may come of it.
    pub fn hear_again(&mut self, which: usize) {
        if self.heard.is_empty() {
            return;
        }
        let (key, epoch, word) = self.heard[which % self.heard.len()].clone();
        let is_done = self.known[key as usize].is_none_or(|presence| presence == Presence::Away);
        match word {
            // These would be news, if they came.
            Word::Join(_) | Word::Redeclare(_) | Word::Unsubscribe => return,
            Word::Lost(_) if !is_done => return,
            Word::Acknowledged(..) | Word::Refused(_) | Word::Undeliverable(_) | Word::HandedBack(_) => {
                self.ledger.sums.late += 1;
            }
            _ => {}
        }
        self.tell(key, epoch, &word);
        self.collect(None, false);
    }

    /// Somebody acknowledges what it does not have, or what another one has.
    pub fn forge(&mut self, at: usize, epoch: Epoch, id: AssignmentId) {
        let key = self.clients[at].key;
        if self.ledger.open(key, epoch, id).is_none() {
            self.ledger.sums.late += 1;
            let stamps = Stamps { written_us: 0, read_us: u64::MAX };
            self.tell(key, epoch, &Word::Acknowledged(id, stamps));
            self.collect(None, false);
        }
    }

    /// A client says how it is; who is no member is not believed.
    pub fn report(&mut self, at: usize, report: &Report) {
        let (key, epoch) = (self.clients[at].key, self.clients[at].epoch);
        let is_believed = self.group.report(key, epoch, report, self.now_us).is_ok();
        assert!(!is_believed || self.known[key as usize] == Some(Presence::Here));
        self.collect(None, false);
    }

    fn tell(&mut self, key: u32, epoch: Epoch, word: &Word) {
        use lapwing_groups::Written::These;
        let (group, now_us) = (&mut self.group, self.now_us);
        let late = group.counters().late_acknowledgements;
        let had_it = match word {
            Word::Join(options) => return group.join(key, epoch, *options, now_us),
            Word::Lost(written) => return group.lost(key, epoch, These(written), now_us),
            Word::Back(declaration) => return group.back(key, epoch, *declaration, now_us),
            Word::Redeclare(declaration) => return group.redeclare(key, epoch, *declaration, now_us),
            Word::Unsubscribe => return group.unsubscribe(key, epoch, now_us),
            Word::End(written) => return group.end(key, epoch, These(written), now_us),
            Word::Acknowledged(id, stamps) => group.acknowledged(key, epoch, *id, *stamps, now_us),
            Word::Refused(id) => group.refused(key, epoch, *id, now_us),
            Word::Undeliverable(id) => group.undeliverable(key, epoch, *id, now_us),
            Word::HandedBack(id) => group.handed_back(key, epoch, *id, now_us),
        };
        assert_eq!(group.counters().late_acknowledgements, late + u64::from(!had_it));
    }

    pub fn tick(&mut self) {
        self.group.tick(self.now_us);
        assert!(self.group.next_wake_us(self.now_us).is_none_or(|at_us| at_us > self.now_us), "it would never sleep");
        self.collect(None, false);
    }

    pub fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.group.set_settings(settings, self.now_us);
        self.collect(None, true);
    }

    /// Not to `key-ordered` while a key is with two members: dispatch then loses count of it, and holds it for ever.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.was_ordered |= strategy == Strategy::KeyOrdered;
        self.group.set_strategy(strategy, self.now_us);
        self.collect(None, false);
    }

    /// Carries out what the group wants, and holds it against the ledger.
    ///
    /// `published`: the message of this step. `may_overflow`: the queue may have got too full in this step.
    pub(crate) fn collect(&mut self, published: Option<usize>, may_overflow: bool) {
        let all = self.group.take_actions();
        // What is told of a miss is no hold on the message.
        let (told, actions): (Vec<_>, Vec<_>) = all.partition(|action| matches!(action, Action::Missed { .. }));
        let told: Vec<_> = told.into_iter().filter_map(Told::of).collect();
        self.note_dropped(published, may_overflow);
        for action in actions {
            match action {
                Action::Send(delivery) => self.send(delivery),
                Action::DeadLetter { message, facts, reason } => {
                    facts.entry.into_iter().for_each(|entry| self.logged.ends(entry));
                    assert_eq!(self.settings.expired, Expired::DeadLetter);
                    assert_eq!(self.too_late(*message), Some(reason));
                    self.ledger.too_late(*message, reason, true);
                }
                Action::Kick { member, epoch } => self.kick(member, epoch),
                Action::Missed { .. } | Action::Notice(_) => {}
            }
        }
        self.check_told(&told);
        self.check_logged();
        assert!(!self.group.is_over() || self.is_empty(), "somebody or something is thrown away");
        self.compare();
    }

    fn too_late(&self, nth: usize) -> Option<DropReason> {
        self.ledger.lines[nth].is_too_late(self.settings.expired, self.now_us)
    }

    /// Whoever waited and is let go of was dropped; why, the rules say.
    fn note_dropped(&mut self, published: Option<usize>, may_overflow: bool) {
        let has_members = self.known.iter().flatten().any(|presence| *presence != Presence::Leaving);
        let is_over = !has_members && !self.settings.is_durable;
        let is_here = self.known.contains(&Some(Presence::Here));
        for nth in 0..self.ledger.lines.len() {
            let line = &self.ledger.lines[nth];
            assert!(line.state == State::Ended || line.state == State::Waiting || !line.is_let_go(), "lost: {nth}");
            if line.state != State::Waiting || !line.is_let_go() {
                continue;
            }
            let is_new = published == Some(nth);
            match self.too_late(nth) {
                Some(reason) => self.ledger.too_late(nth, reason, false),
                None if is_new && !line.facts.qos.is_acknowledged() => {
                    let reason = if is_here { DropReason::GroupBusy } else { DropReason::GroupEmpty };
                    self.ledger.end(nth, Some(reason));
                }
                None if is_new && is_over => self.ledger.end(nth, Some(DropReason::GroupEmpty)),
                None if is_over => self.ledger.end(nth, Some(DropReason::GroupEnded)),
                None => {
                    assert!(may_overflow, "message {nth} is lost");
                    self.ledger.end(nth, Some(DropReason::QueueFull));
                }
            }
        }
    }

    fn send(&mut self, delivery: Delivery<u32, Message>) {
        let nth = *delivery.message;
        let facts = self.ledger.lines[nth].facts;
        self.ledger.sent(&delivery, self.now_us);
        let Delivery { to, epoch, assignment, qos, .. } = delivery;
        assert_eq!(self.known[to as usize], Some(Presence::Here), "sent to who is not there");
        assert!(!self.ledger.lines[nth].unable.contains(&to), "sent to who cannot have it");
        assert!(!self.waits_for_commit(nth), "{nth} is sent before its entry is committed");
        assert_eq!(qos, facts.qos.min(delivery.qos));
        let has_it = |client: &Client| client.key != to && client.has_or_will(nth);
        assert!(!self.clients.iter().any(has_it), "two have {nth}");
        let overtaken = |other: &Line| {
            let is_before = other.facts.lane == facts.lane && *other.handle < nth && other.state == State::Waiting;
            // What not everybody can have lets others pass.
            let is_before = is_before && other.unable.is_empty();
            let is_held_up = facts.key.is_none_or(|_| facts.key != other.facts.key) && self.is_held_up(*other.handle);
            let is_before = is_before && !is_held_up;
            is_before && other.facts.qos.is_acknowledged() && (!self.was_ordered || other.facts.key == facts.key)
        };
        if facts.qos.is_acknowledged() && (!self.was_ordered || facts.key.is_some()) {
            assert_eq!(self.ledger.count(overtaken), 0, "{nth} has overtaken");
        }
        let is_elsewhere = |other: &Line| {
            other.facts.key == facts.key && matches!(other.state, State::With { .. }) && !other.is_with(to)
        };
        if self.is_strict && facts.key.is_some() {
            assert_eq!(self.ledger.count(is_elsewhere), 0, "the key of {nth} is with two members");
        }
        self.clients[to as usize].orders.push_back(Order::Send { epoch, assignment, nth, qos });
    }

    fn kick(&mut self, member: u32, epoch: Epoch) {
        assert!(!self.kicked.contains(&(member, epoch)), "kicked twice");
        self.kicked.push((member, epoch));
        self.ledger.sums.kicks += 1;
        self.known[member as usize] = Some(Presence::Kicked);
        self.rise();
        self.clients[member as usize].orders.push_back(Order::Kick(epoch));
    }

    /// A client writes its next message to its socket.
    pub fn write(&mut self, at: usize) {
        let Some(held) = self.clients[at].write(self.now_us) else { return };
        let line = &mut self.ledger.lines[held.nth];
        let key = self.clients[at].key;
        assert!(line.owner_of_qos_2.is_none_or(|owner| owner == key), "QoS 2 was written to two: {}", held.nth);
        if held.qos == QoS::ExactlyOnce {
            line.owner_of_qos_2 = Some(key);
        }
    }
}
