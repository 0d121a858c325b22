//! A group of numbered members and numbered messages, to say in few words what happens to it.

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Parameters, Stamps, Strategy};
use lapwing_groups::{Action, AssignmentId, DropReason, Epoch, Facts, Group, MemberOptions, Notice, Settings, Written};

pub const MS: u64 = 1000;
pub const S: u64 = 1000 * MS;

pub const QOS_0: QoS = QoS::AtMostOnce;
pub const QOS_1: QoS = QoS::AtLeastOnce;
pub const QOS_2: QoS = QoS::ExactlyOnce;

/// A message on its way to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub to: u32,
    pub message: u32,
    pub id: Option<AssignmentId>,
    pub epoch: Epoch,
    pub is_repeated: bool,
}

pub struct Rig {
    pub group: Group<u32, u32>,
    pub now_us: u64,
    pub sent: Vec<Sent>,
    pub kicked: Vec<(u32, Epoch)>,
    pub dead: Vec<(u32, DropReason)>,
    pub notices: Vec<Notice<u32>>,
    /// Member, message and time of every miss that was told.
    pub missed: Vec<(Option<u32>, u32, u64)>,
}

impl Rig {
    pub fn new(strategy: Strategy, settings: Settings) -> Rig {
        let group = Group::new(settings, strategy, Parameters::default(), 1);
        Rig { group, now_us: S, sent: vec![], kicked: vec![], dead: vec![], notices: vec![], missed: vec![] }
    }

    /// Members 1, 2, ... in their first epoch, each with a Receive Maximum of `receive_max`, in turn.
    pub fn of(members: u32, receive_max: u16) -> Rig {
        let mut rig = Rig::new(Strategy::RoundRobin, Settings::default());
        (1..=members).for_each(|member| rig.join(member, receive_max));
        rig
    }

    pub fn join(&mut self, member: u32, receive_max: u16) {
        self.join_as(member, Declaration::processed(u64::from(member), receive_max), QOS_2);
    }

    pub fn join_as(&mut self, member: u32, declaration: Declaration, qos_max: QoS) {
        self.group.join(member, Epoch(1), MemberOptions { declaration, qos_max }, self.now_us);
        self.collect();
    }

    pub fn facts(&self, qos: QoS) -> Facts {
        Facts::new(qos, 10, self.now_us)
    }

    pub fn publish(&mut self, message: u32, qos: QoS) {
        self.publish_as(message, self.facts(qos));
    }

    pub fn publish_as(&mut self, message: u32, facts: Facts) {
        self.group.publish(message, facts, self.now_us);
        self.collect();
    }

    /// What went to whom since somebody asked.
    pub fn take_sent(&mut self) -> Vec<(u32, u32)> {
        self.sent.drain(..).map(|sent| (sent.to, sent.message)).collect()
    }

    /// The last one that went to `member`.
    pub fn last(&self, member: u32) -> AssignmentId {
        let last = self.sent.iter().rev().find(|sent| sent.to == member);
        last.and_then(|sent| sent.id).expect("it was sent one")
    }

    pub fn acknowledge(&mut self, member: u32, id: AssignmentId) -> bool {
        let stamps = Stamps { written_us: self.now_us, read_us: self.now_us };
        self.acknowledge_at(member, Epoch(1), id, stamps)
    }

    pub fn acknowledge_at(&mut self, member: u32, epoch: Epoch, id: AssignmentId, stamps: Stamps) -> bool {
        let had_it = self.group.acknowledged(member, epoch, id, stamps, self.now_us);
        self.collect();
        had_it
    }

    pub fn lost(&mut self, member: u32, written: &[AssignmentId]) {
        self.group.lost(member, Epoch(1), Written::These(written), self.now_us);
        self.collect();
    }

    pub fn back(&mut self, member: u32, epoch: u64, receive_max: u16) {
        let declaration = Declaration::processed(u64::from(member), receive_max);
        self.group.back(member, Epoch(epoch), declaration, self.now_us);
        self.collect();
    }

    pub fn end(&mut self, member: u32, epoch: u64, written: &[AssignmentId]) {
        self.group.end(member, Epoch(epoch), Written::These(written), self.now_us);
        self.collect();
    }

    pub fn unsubscribe(&mut self, member: u32) {
        self.group.unsubscribe(member, Epoch(1), self.now_us);
        self.collect();
    }

    /// Lets time pass, and the group wake whenever it wants to.
    pub fn wait(&mut self, us: u64) {
        let end_us = self.now_us + us;
        while let Some(at_us) = self.group.next_wake_us(self.now_us).filter(|&at_us| at_us <= end_us) {
            self.now_us = self.now_us.max(at_us);
            self.group.tick(self.now_us);
            self.collect();
        }
        self.now_us = end_us;
    }

    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.group.counters().dropped(reason)
    }

    pub fn collect(&mut self) {
        for action in self.group.take_actions() {
            match action {
                Action::Send(sent) => self.sent.push(Sent {
                    to: sent.to,
                    message: sent.message,
                    id: sent.assignment,
                    epoch: sent.epoch,
                    is_repeated: sent.is_repeated,
                }),
                Action::Kick { member, epoch } => self.kicked.push((member, epoch)),
                Action::DeadLetter { message, reason, .. } => self.dead.push((message, reason)),
                Action::Missed { member, message, took_us, .. } => self.missed.push((member, message, took_us)),
                Action::Notice(notice) => self.notices.push(notice),
            }
        }
    }
}
