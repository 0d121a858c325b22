//! What is given to the log: drawn once from a seed, the same in every run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lapwing_ledger::{
    Changed, Cleared, DataGroupState, DeliveryOptions, Ended, Entry, Fact, Fault, GroupDeclared, GroupEnded,
    GroupOpened, KeeperId, KeepersBuf, List, Opened, Origin, Presence, ProgressBuf, Published, Settled,
    SettledPublisher, Subscribed, Subscription, SubscriptionIds, Unsubscribed, Will,
};

use super::picture::Picture;
use super::sim::contents::next_random;

/// Those that have anything.
pub(super) const GROUPS: [u16; 3] = [0, 5, 15];
const SESSIONS_MAX: usize = 5;
const CONSUMER_GROUPS_MAX: usize = 3;
const FRAME_BYTES_MAX: u64 = 1_500;

/// One entry.
pub(super) struct Scripted {
    pub(super) group: u16,
    pub(super) index: u64,
    pub(super) body: Vec<u8>,
}

/// Commits, and what the states are after each number of them.
pub(super) struct Script {
    pub(super) commits: Vec<Vec<Scripted>>,
    pub(super) pictures: Vec<Vec<Picture>>,
}

impl Script {
    pub(super) fn new(seed: u64, commits: usize) -> Self {
        let mut random = seed;
        let mut writers: Vec<Writer> = GROUPS.into_iter().map(Writer::new).collect();
        let mut states: Vec<DataGroupState> = GROUPS.iter().map(|_| DataGroupState::new()).collect();
        let of = |states: &[DataGroupState]| states.iter().map(Picture::of).collect::<Vec<_>>();
        let mut script = Script { commits: vec![], pictures: vec![of(&states)] };
        for _ in 0..commits {
            let mut commit = vec![];
            for _ in 0..=next_random(&mut random) % 8 {
                let place = (next_random(&mut random) % GROUPS.len() as u64) as usize;
                let entry = writers[place].next(&mut random);
                states[place].apply(entry.index, &entry.body).expect("an entry");
                commit.push(entry);
            }
            script.commits.push(commit);
            script.pictures.push(of(&states));
        }
        script
    }

    /// Every entry's bytes, by group and index.
    pub(super) fn bodies(&self) -> BTreeMap<(u16, u64), &[u8]> {
        self.commits.iter().flatten().map(|entry| ((entry.group, entry.index), &entry.body[..])).collect()
    }

    /// The kinds of entries that are in it, as their first bytes say them.
    pub(super) fn kinds(&self) -> BTreeSet<u8> {
        self.commits.iter().flatten().map(|entry| entry.body[0]).collect()
    }
}

/// Makes the entries of one group.
struct Writer {
    group: u16,
    index: u64,
    /// Sessions that were opened last.
    sessions: VecDeque<u64>,
    /// Session and entry of messages that are not finished, oldest first.
    waiting: VecDeque<(u64, u64)>,
    /// Consumer groups that were opened last.
    consumer_groups: VecDeque<u64>,
    /// As `waiting`, of consumer groups.
    waiting_in_groups: VecDeque<(u64, u64)>,
    uses: u64,
}

impl Writer {
    fn new(group: u16) -> Self {
        Writer {
            group,
            index: 0,
            sessions: VecDeque::new(),
            waiting: VecDeque::new(),
            consumer_groups: VecDeque::new(),
            waiting_in_groups: VecDeque::new(),
            uses: 0,
        }
    }

    fn next(&mut self, random: &mut u64) -> Scripted {
        self.index += 1;
        let mut body = vec![];
        let encoded = match next_random(random) % 30 {
            _ if self.sessions.is_empty() => self.open(random, &mut body),
            0 => self.open(random, &mut body),
            1 => self.subscribe(random, &mut body),
            2 => self.change(random, &mut body),
            3 => Entry::Cleared(Cleared { topics: List::from_slice(&[&*topic(random)]) }).encode(&mut body),
            4 => self.settle(&mut body),
            5 if next_random(random).is_multiple_of(3) => self.end(random, &mut body),
            6..15 => self.progress(random, &mut body),
            15 => self.unsubscribe(random, &mut body),
            16 => self.open_group(random, &mut body),
            17 if !self.consumer_groups.is_empty() => self.declare_group(random, &mut body),
            18 if self.consumer_groups.len() == CONSUMER_GROUPS_MAX => self.end_group(&mut body),
            _ => self.publish(random, &mut body),
        };
        encoded.expect("within the bounds");
        Scripted { group: self.group, index: self.index, body }
    }

    fn session(&self, random: &mut u64) -> KeeperId {
        KeeperId(self.sessions[(next_random(random) % self.sessions.len() as u64) as usize])
    }

    fn consumer_group(&self, random: &mut u64) -> KeeperId {
        KeeperId(self.consumer_groups[(next_random(random) % self.consumer_groups.len() as u64) as usize])
    }

    fn frame(&self, random: &mut u64) -> Vec<u8> {
        vec![self.index as u8; (next_random(random) % FRAME_BYTES_MAX) as usize]
    }

    fn open(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        self.sessions.push_back(self.index);
        if self.sessions.len() > SESSIONS_MAX {
            self.sessions.pop_front();
        }
        let client_id = format!("client-{}", next_random(random) % 8);
        let frame = self.frame(random);
        let will = next_random(random).is_multiple_of(3).then_some(will(&frame));
        let opened = Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: self.index, will };
        Entry::Opened(opened).encode(body)
    }

    fn subscribe(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let (session, filter) = (self.session(random), topic(random));
        let subscriptions = [Subscription { filter: &filter, grant: 1 }];
        Entry::Subscribed(Subscribed { session, subscriptions: List::from_slice(&subscriptions) }).encode(body)
    }

    fn unsubscribe(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let (session, filters) = (self.session(random), [topic(random), topic(random), topic(random)]);
        let filters: Vec<&str> = filters.iter().map(|filter| &**filter).collect();
        Entry::Unsubscribed(Unsubscribed { session, filters: List::from_slice(&filters) }).encode(body)
    }

    /// Its client comes or goes; with a will, without one, or with the one it had.
    fn change(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let presence = Presence { connected: next_random(random).is_multiple_of(2), at_ms: self.index };
        let (mut changed, frame) = (Changed::of(self.session(random)), self.frame(random));
        changed.presence = Some(presence);
        changed.will = match next_random(random) % 3 {
            0 => None,
            1 => Some(None),
            _ => Some(Some(will(&frame))),
        };
        Entry::Changed(changed).encode(body)
    }

    fn open_group(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        self.consumer_groups.push_back(self.index);
        if self.consumer_groups.len() > CONSUMER_GROUPS_MAX {
            self.consumer_groups.pop_front();
        }
        let name = format!("group-{}", next_random(random) % 4);
        Entry::GroupOpened(GroupOpened { name: &name, filter: &topic(random) }).encode(body)
    }

    fn declare_group(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let group = self.consumer_group(random);
        let settings = self.index.to_be_bytes();
        let settings = (!next_random(random).is_multiple_of(4)).then_some(&settings[..]);
        Entry::GroupDeclared(GroupDeclared { group, settings }).encode(body)
    }

    /// The oldest, with what it keeps.
    fn end_group(&mut self, body: &mut Vec<u8>) -> Result<(), Fault> {
        let groups: Vec<KeeperId> = self.consumer_groups.pop_front().map(KeeperId).into_iter().collect();
        Entry::GroupEnded(GroupEnded { groups: List::from_slice(&groups) }).encode(body)
    }

    fn settle(&self, body: &mut Vec<u8>) -> Result<(), Fault> {
        let publishers = [SettledPublisher { data_group: 3, session: KeeperId(1), below: self.uses }];
        Entry::Settled(Settled { publishers: List::from_slice(&publishers) }).encode(body)
    }

    fn end(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let session = self.session(random);
        self.sessions.retain(|one| *one != session.0);
        Entry::Ended(Ended { sessions: List::from_slice(&[session]) }).encode(body)
    }

    fn publish(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let (mut keepers, options) =
            (KeepersBuf::new(), DeliveryOptions { qos: 2, retain: false, ids: SubscriptionIds::EMPTY });
        let mut chosen: Vec<u64> = (0..next_random(random) % 3).map(|_| self.session(random).0).collect();
        chosen.dedup();
        for session in chosen {
            keepers.push(KeeperId(session), options)?;
            self.waiting.push_back((session, self.index));
        }
        let origin = next_random(random).is_multiple_of(3).then(|| {
            self.uses += 1;
            let settled = self.uses.saturating_sub(4);
            Origin {
                data_group: 3,
                session: KeeperId(1),
                packet_id: 1 + (self.uses % 9) as u16,
                use_number: self.uses,
                settled,
            }
        });
        let groups = self.groups_that_keep(random);
        let retained = next_random(random).is_multiple_of(4).then(|| topic(random));
        let frame = self.frame(random);
        Entry::Published(Published {
            frame: &frame,
            published_at_ms: self.index,
            expires_at_ms: 0,
            publisher: 7,
            holder: None,
            origin,
            keepers: keepers.as_list(),
            groups: List::from_slice(&groups),
            retained: retained.as_deref(),
        })
        .encode(body)
    }

    /// Those that the next message goes to: one, in half of all cases.
    fn groups_that_keep(&mut self, random: &mut u64) -> Vec<KeeperId> {
        if self.consumer_groups.is_empty() || next_random(random).is_multiple_of(2) {
            return vec![];
        }
        let group = self.consumer_group(random);
        self.waiting_in_groups.push_back((group.0, self.index));
        vec![group]
    }

    fn progress(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let mut progress = ProgressBuf::new();
        let done = self.waiting_in_groups.len().min((next_random(random) % 4) as usize);
        for (group, entry) in self.waiting_in_groups.drain(..done) {
            progress.push(KeeperId(group), Fact::Finished { entry });
        }
        for _ in 0..1 + next_random(random) % 6 {
            let packet_id = 1 + (next_random(random) % 5) as u16;
            let session = self.session(random);
            // The oldest finish, some stay for long.
            let Some((keeper, entry)) = self.waiting.pop_front() else { break };
            match next_random(random) % 8 {
                0 => self.waiting.push_back((keeper, entry)),
                1 => progress.push(KeeperId(keeper), Fact::PublishSent { packet_id, entry }),
                2 => {
                    progress.push(KeeperId(keeper), Fact::PublishSent { packet_id, entry });
                    progress.push(KeeperId(keeper), Fact::PubRecReceived { packet_id });
                }
                3 => {
                    progress.push(session, Fact::Received { packet_id, use_number: self.index });
                    progress.push(KeeperId(keeper), Fact::Finished { entry });
                }
                4 => {
                    progress.push(session, Fact::Doubted { packet_id, use_number: self.index });
                    progress.push(session, Fact::Released { packet_id });
                    progress.push(session, Fact::Doubted { packet_id: packet_id + 1, use_number: self.index });
                    progress.push(KeeperId(keeper), Fact::Finished { entry });
                }
                _ => progress.push(KeeperId(keeper), Fact::Finished { entry }),
            }
        }
        Entry::Progress(progress.as_progress()).encode(body)
    }
}

fn will(frame: &[u8]) -> Will<'_> {
    Will { frame, delay_s: 5, message_expiry_s: frame.len().is_multiple_of(2).then_some(60) }
}

fn topic(random: &mut u64) -> String {
    format!("t/{}", next_random(random) % 6)
}
