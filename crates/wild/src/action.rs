//! What clients may do, drawn from bytes; what cannot be done when its turn comes is passed over.

use lapwing_codec::{QoS, SubscriptionOptions, Version};

use crate::choices::Choices;

/// Client ids that the wild ones share; each may have several connections at once.
pub const IDS: usize = 4;
/// Each lives in a data group where something else is kept that it has to do with: the retained messages of `r/a` and of `r/b`, the
/// group `$share/x/g/#`, the hold of `h/a`. What is kept of both goes into one entry.
pub const CLIENT_IDS: [&str; IDS] = ["wild-31", "wild-18", "wild-5", "wild-2"];
/// Where messages go. The first letter says what holds for them: `p` a stream and nothing else, `m` memory alone, `w` the
/// witness, `r` retained, `g` consumer groups, `h` held until somebody subscribes.
pub const TOPICS: [&str; 12] = ["p/a", "p/b", "p/c/d", "m/a", "w/a", "w/b", "w/a", "r/a", "r/b", "g/a", "g/b", "h/a"];
/// What clients subscribe to.
pub const FILTERS: [&str; 14] = [
    "p/a",
    "p/+",
    "p/#",
    "+/a",
    "#",
    "m/#",
    "w/+",
    "r/#",
    "h/#",
    "h/a",
    "g/a",
    "$share/x/g/#",
    "$share/y/g/+",
    "$share/x/g/x",
];

/// Messages of these topics come to each client once, unless they are repeated with DUP.
pub fn comes_once(topic: &str) -> bool {
    matches!(topic.as_bytes()[0], b'p' | b'm' | b'w')
}

/// A will.
#[derive(Clone, Debug)]
pub struct WillSpec {
    /// Index into [`TOPICS`].
    pub topic: usize,
    /// Its QoS.
    pub qos: QoS,
    /// How long it waits (5.0).
    pub delay_s: u32,
}

/// A CONNECT on a connection of its own.
#[derive(Clone, Debug)]
pub struct ConnectSpec {
    /// The protocol.
    pub version: Version,
    /// Clean Start, or Clean Session.
    pub clean: bool,
    /// How long the session outlives its connection (5.0).
    pub expiry_s: u32,
    /// The client's Receive Maximum (5.0).
    pub receive_max: u16,
    /// How many topic aliases it takes (5.0).
    pub alias_max: u16,
    /// Its will.
    pub will: Option<WillSpec>,
}

/// One message.
#[derive(Clone, Debug)]
pub struct PublishSpec {
    /// Index into [`TOPICS`].
    pub topic: usize,
    /// Its QoS.
    pub qos: QoS,
    /// Bytes behind the number that every payload begins with; `None`: an empty payload, which deletes what is retained.
    pub padding: Option<usize>,
    /// QoS 2: the PUBLISH goes a second time, with DUP, right behind the first.
    pub twice: bool,
    /// QoS 2: under the packet id of a message that was never acknowledged, as of a client that has forgotten it.
    pub forgetful: bool,
}

/// What becomes of messages that a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// PUBACK, PUBREC, PUBCOMP, whichever is next.
    Right,
    /// PUBREC and PUBACK with an error code (5.0).
    Refused,
}

/// An acknowledgement packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are packets of the specification")]
pub enum AckKind {
    PubAck,
    PubRec,
    PubRel,
    PubComp,
}

/// What a connection does, or all of them.
#[derive(Clone, Debug)]
pub enum Action {
    /// A new connection for the client id.
    Connect(ConnectSpec),
    /// SUBSCRIBE to filters of [`FILTERS`].
    Subscribe(Vec<(usize, SubscriptionOptions)>),
    /// UNSUBSCRIBE from them.
    Unsubscribe(Vec<usize>),
    /// PUBLISH.
    Publish(PublishSpec),
    /// Acknowledges so many messages that were read.
    Acknowledge(usize, Answer),
    /// Sends what was never acknowledged on an earlier connection again, with DUP (QoS 2).
    Resend,
    /// PUBREL for what the node has said PUBREC to.
    Release,
    /// An acknowledgement for a packet id that may mean nothing.
    Stray(AckKind, u16),
    /// PINGREQ.
    Ping,
    /// DISCONNECT, perhaps with another session expiry (5.0), perhaps so that the will is published.
    Disconnect {
        /// Reason 0x04 instead of 0x00 (5.0).
        with_will: bool,
        /// Another session expiry.
        expiry_s: Option<u32>,
    },
    /// The socket is closed, whatever is unread.
    Cut,
    /// The client's half of the stream ends.
    Shut,
    /// Bytes that end the connection.
    Break(usize),
    /// Everybody reads what is there.
    Listen,
    /// Everybody is asked to answer, and waited for.
    Settle,
    /// From now on a sync of the disk takes so long.
    Slow {
        /// Milliseconds.
        sync_ms: u64,
    },
    /// The node stops, drained or at once, and starts again in its folder.
    Restart {
        /// With so many shards.
        shards: u32,
        /// Sends its clients away first.
        drained: bool,
    },
    /// The witness goes, with a word or without, and comes again when all are waited for.
    WitnessLeaves {
        /// Says DISCONNECT.
        politely: bool,
    },
}

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which client id.
    pub id: usize,
    /// Which of its connections: 0 is the newest.
    pub age: usize,
    /// What it does.
    pub action: Action,
    /// What it writes leaves together with what comes next.
    pub together: bool,
}

/// The steps that `bytes` stand for, at most `count`.
pub fn steps(bytes: &[u8], count: usize) -> Vec<Step> {
    let mut choices = Choices::new(bytes);
    let mut steps = Vec::new();
    while !choices.is_over() && steps.len() < count {
        steps.push(step(&mut choices));
    }
    steps
}

fn step(choices: &mut Choices<'_>) -> Step {
    let whose = choices.byte();
    // The first ids more often: connections of one id are to meet.
    let id = [0, 0, 0, 0, 1, 1, 2, 3][usize::from(whose & 7)] % IDS;
    let age = usize::from(whose >> 3 & 7).saturating_sub(5);
    Step { id, age, together: whose & 0x40 != 0, action: action(choices) }
}

fn action(choices: &mut Choices<'_>) -> Action {
    match choices.below(64) {
        0..=11 => Action::Connect(connect(choices)),
        12..=19 => {
            let asks = 1 + choices.below(3);
            Action::Subscribe((0..asks).map(|_| (choices.below(FILTERS.len()), options(choices))).collect())
        }
        20..=22 => Action::Unsubscribe((0..1 + choices.below(2)).map(|_| choices.below(FILTERS.len())).collect()),
        23..=34 => Action::Publish(publish(choices)),
        35..=40 => {
            let answer = if choices.one_in(4) { Answer::Refused } else { Answer::Right };
            Action::Acknowledge(1 + choices.below(6), answer)
        }
        41 => Action::Release,
        42 | 43 => {
            let kind = choices.of(&[AckKind::PubAck, AckKind::PubRec, AckKind::PubRel, AckKind::PubComp]);
            Action::Stray(kind, 1 + choices.below(40) as u16)
        }
        44..=47 => Action::Ping,
        48 => Action::Resend,
        49 | 50 => Action::Disconnect {
            with_will: choices.one_in(2),
            expiry_s: choices.of(&[None, None, Some(0), Some(1), Some(3600)]),
        },
        51 | 52 => Action::Cut,
        53 => Action::Shut,
        54 => Action::Break(choices.below(ILLEGAL.len())),
        55..=58 => Action::Listen,
        59 | 60 => Action::Settle,
        61 => Action::Slow { sync_ms: choices.of(&[0, 1, 4, 15]) },
        62 => Action::WitnessLeaves { politely: choices.one_in(2) },
        // A restart costs as much as all the rest.
        _ if choices.one_in(2) => Action::Restart { shards: 1 + choices.below(3) as u32, drained: choices.one_in(2) },
        _ => Action::Settle,
    }
}

fn connect(choices: &mut Choices<'_>) -> ConnectSpec {
    let will = choices.one_in(3).then(|| WillSpec {
        topic: choices.below(TOPICS.len()),
        qos: qos(choices),
        delay_s: choices.of(&[0, 0, 1, 3600]),
    });
    ConnectSpec {
        version: choices.of(&[Version::V5, Version::V311]),
        clean: choices.one_in(4),
        expiry_s: choices.of(&[3600, 3600, 3600, 0, 1, u32::MAX]),
        receive_max: choices.of(&[u16::MAX, 1, 2, 20]),
        alias_max: choices.of(&[0, 2]),
        will,
    }
}

fn publish(choices: &mut Choices<'_>) -> PublishSpec {
    PublishSpec {
        topic: choices.below(TOPICS.len()),
        qos: qos(choices),
        padding: match choices.below(8) {
            0 => None,
            1 => Some(16 * choices.below(256)),
            _ => Some(choices.below(8)),
        },
        twice: choices.one_in(4),
        forgetful: choices.one_in(4),
    }
}

fn qos(choices: &mut Choices<'_>) -> QoS {
    choices.of(&[QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce, QoS::ExactlyOnce])
}

/// No Local on a shared subscription is an error: it stays away from all.
fn options(choices: &mut Choices<'_>) -> SubscriptionOptions {
    SubscriptionOptions::from_byte(choices.byte() & 0b11_1011).unwrap_or(SubscriptionOptions::new(QoS::ExactlyOnce))
}

/// Each ends its connection, in both versions: no packet, one of a server, a second CONNECT, too short ones, a length
/// without an end.
pub const ILLEGAL: [&[u8]; 6] = [
    b"\x00\x00",
    b"\xd0\x00",
    b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01x",
    b"\x30\x01\x00",
    b"\x42\x02\x00\x01",
    b"\x30\xff\xff\xff\xff\x01",
];
