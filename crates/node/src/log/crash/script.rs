//! What is given to the log: drawn once from a seed, the same in every run.

use std::collections::{BTreeMap, VecDeque};

use lapwing_ledger::{
    Changed, Cleared, Ended, Entry, Fact, Fault, GroupState, KeeperId, KeepersBuf, List, Opened, Origin, Presence,
    ProgressBuf, Published, Settled, SettledPublisher, Subscribed, Subscription, SubscriptionIds, Terms,
};

use super::picture::Picture;
use super::sim::contents::next_random;

/// Those that have anything.
pub(super) const GROUPS: [u16; 3] = [0, 5, 15];
const SESSIONS_MAX: usize = 5;
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
        let mut states: Vec<GroupState> = GROUPS.iter().map(|_| GroupState::new()).collect();
        let of = |states: &[GroupState]| states.iter().map(Picture::of).collect::<Vec<_>>();
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
}

/// Makes the entries of one group.
struct Writer {
    group: u16,
    index: u64,
    /// Sessions that were opened last.
    sessions: VecDeque<u64>,
    /// Session and entry of messages that are not finished, oldest first.
    waiting: VecDeque<(u64, u64)>,
    uses: u64,
}

impl Writer {
    fn new(group: u16) -> Self {
        Writer { group, index: 0, sessions: VecDeque::new(), waiting: VecDeque::new(), uses: 0 }
    }

    fn next(&mut self, random: &mut u64) -> Scripted {
        self.index += 1;
        let mut body = vec![];
        let encoded = match next_random(random) % 24 {
            _ if self.sessions.is_empty() => self.open(random, &mut body),
            0 => self.open(random, &mut body),
            1 => self.subscribe(random, &mut body),
            2 => self.change(random, &mut body),
            3 => Entry::Cleared(Cleared { topics: List::from_slice(&[&*topic(random)]) }).encode(&mut body),
            4 => self.settle(&mut body),
            5 if next_random(random).is_multiple_of(3) => self.end(random, &mut body),
            6..14 => self.progress(random, &mut body),
            _ => self.publish(random, &mut body),
        };
        encoded.expect("within the bounds");
        Scripted { group: self.group, index: self.index, body }
    }

    fn session(&self, random: &mut u64) -> KeeperId {
        KeeperId(self.sessions[(next_random(random) % self.sessions.len() as u64) as usize])
    }

    fn open(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        self.sessions.push_back(self.index);
        if self.sessions.len() > SESSIONS_MAX {
            self.sessions.pop_front();
        }
        let client_id = format!("client-{}", next_random(random) % 8);
        let opened =
            Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: self.index, will: None };
        Entry::Opened(opened).encode(body)
    }

    fn subscribe(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let (session, filter) = (self.session(random), topic(random));
        let subscriptions = [Subscription { filter: &filter, grant: 1 }];
        Entry::Subscribed(Subscribed { session, subscriptions: List::from_slice(&subscriptions) }).encode(body)
    }

    fn change(&self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let presence = Presence { connected: next_random(random).is_multiple_of(2), at_ms: self.index };
        Entry::Changed(Changed { presence: Some(presence), ..Changed::of(self.session(random)) }).encode(body)
    }

    fn settle(&self, body: &mut Vec<u8>) -> Result<(), Fault> {
        let publishers = [SettledPublisher { group: 3, session: KeeperId(1), below: self.uses }];
        Entry::Settled(Settled { publishers: List::from_slice(&publishers) }).encode(body)
    }

    fn end(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let session = self.session(random);
        self.sessions.retain(|one| *one != session.0);
        Entry::Ended(Ended { sessions: List::from_slice(&[session]) }).encode(body)
    }

    fn publish(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let (mut keepers, terms) = (KeepersBuf::new(), Terms { qos: 2, retain: false, ids: SubscriptionIds::EMPTY });
        let mut chosen: Vec<u64> = (0..next_random(random) % 3).map(|_| self.session(random).0).collect();
        chosen.dedup();
        for session in chosen {
            keepers.push(KeeperId(session), terms)?;
            self.waiting.push_back((session, self.index));
        }
        let origin = next_random(random).is_multiple_of(3).then(|| {
            self.uses += 1;
            let settled = self.uses.saturating_sub(4);
            Origin {
                group: 3,
                session: KeeperId(1),
                packet_id: 1 + (self.uses % 9) as u16,
                use_number: self.uses,
                settled,
            }
        });
        let retained = next_random(random).is_multiple_of(4).then(|| topic(random));
        let frame = vec![self.index as u8; (next_random(random) % FRAME_BYTES_MAX) as usize];
        Entry::Published(Published {
            frame: &frame,
            published_at_ms: self.index,
            expires_at_ms: 0,
            publisher: 7,
            origin,
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: retained.as_deref(),
        })
        .encode(body)
    }

    fn progress(&mut self, random: &mut u64, body: &mut Vec<u8>) -> Result<(), Fault> {
        let mut progress = ProgressBuf::new();
        for _ in 0..1 + next_random(random) % 6 {
            let packet_id = 1 + (next_random(random) % 5) as u16;
            let session = self.session(random);
            // The oldest finish, some stay for long.
            let Some((keeper, entry)) = self.waiting.pop_front() else { break };
            match next_random(random) % 8 {
                0 => self.waiting.push_back((keeper, entry)),
                1 => progress.push(KeeperId(keeper), Fact::Sent { packet_id, entry }),
                2 => {
                    progress.push(KeeperId(keeper), Fact::Sent { packet_id, entry });
                    progress.push(KeeperId(keeper), Fact::Got { packet_id });
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

fn topic(random: &mut u64) -> String {
    format!("t/{}", next_random(random) % 6)
}
