//! What clients may do, drawn from a seed; what cannot be done when its turn comes is passed over.

use lapwing_codec::{QoS, SubscriptionOptions, Version};
use lapwing_oracle::variants::Random;

pub const CLIENTS: usize = 5;
pub const TOPICS: [&str; 5] = ["m/a", "m/b", "m/c/d", "m", "$m/a"];
/// Without shared ones: who of a group gets a message, and where it goes when that one leaves, is the group's own model's
/// (`crates/groups`, and over the wire `tests/groups/test_model.py`).
pub const FILTERS: [&str; 9] = ["m/a", "m/b", "m/+", "m/#", "#", "+/a", "m/+/d", "$m/#", "+"];

#[derive(Clone, Debug)]
pub struct WillSpec {
    pub topic: usize,
    pub qos: QoS,
    pub retain: bool,
    /// Only when the session ends: the delay is longer than any run.
    pub delayed: bool,
}

#[derive(Clone, Debug)]
pub struct ConnectSpec {
    pub client: usize,
    pub version: Version,
    pub clean: bool,
    /// The session outlives the connection.
    pub lasting: bool,
    pub receive_max: u16,
    /// Takes topic aliases.
    pub aliases: bool,
    pub will: Option<WillSpec>,
}

#[derive(Clone, Debug)]
pub struct PublishSpec {
    pub client: usize,
    pub topic: usize,
    pub qos: QoS,
    pub retain: bool,
    /// Bytes of payload beyond the message's number; `None`: an empty payload, which deletes what is retained.
    pub padding: Option<usize>,
    pub alias: Option<u16>,
    /// QoS 2: sends the PUBLISH again with DUP before the PUBREL.
    pub twice: bool,
}

#[derive(Clone, Debug)]
pub enum Action {
    Connect(ConnectSpec),
    /// Says DISCONNECT; perhaps with a new session expiry (5.0).
    Disconnect {
        client: usize,
        with_will: bool,
        lasting: Option<bool>,
    },
    /// The stream just ends.
    Drop {
        client: usize,
    },
    Subscribe {
        client: usize,
        asks: Vec<(usize, SubscriptionOptions)>,
        id: Option<u32>,
    },
    Unsubscribe {
        client: usize,
        filters: Vec<usize>,
    },
    Publish(PublishSpec),
    /// All at once, answered later.
    Burst(Vec<PublishSpec>),
    /// Messages that come are not acknowledged from now on.
    Withhold {
        client: usize,
    },
    /// So many of them are; `half`: PUBREC only, without the PUBCOMP.
    Acknowledge {
        client: usize,
        count: usize,
        half: bool,
    },
    /// Something that ends the connection.
    Illegal {
        client: usize,
        which: usize,
    },
}

/// The actions of a seed.
pub fn actions(seed: u64, count: usize) -> Vec<Action> {
    let mut random = Random::new(seed);
    (0..count).map(|_| action(&mut random)).collect()
}

fn action(random: &mut Random) -> Action {
    let client = random.below(CLIENTS);
    match random.below(32) {
        0..=5 => Action::Connect(connect(client, random)),
        6 | 7 => Action::Disconnect {
            client,
            with_will: random.below(3) == 0,
            lasting: [None, None, Some(true), Some(false)][random.below(4)],
        },
        8 | 9 => Action::Drop { client },
        10..=15 => {
            let asks = (0..1 + random.below(3)).map(|_| (random.below(FILTERS.len()), options(random))).collect();
            Action::Subscribe { client, asks, id: (random.below(2) == 0).then(|| 1 + random.below(300) as u32) }
        }
        16 | 17 => Action::Unsubscribe {
            client,
            filters: (0..1 + random.below(2)).map(|_| random.below(FILTERS.len())).collect(),
        },
        18..=24 => Action::Publish(publish(client, random)),
        25 | 26 => {
            let publishes = (0..2 + random.below(12)).map(|_| publish(random.below(CLIENTS), random)).collect();
            Action::Burst(publishes)
        }
        27 => Action::Withhold { client },
        28..=30 => Action::Acknowledge { client, count: 1 + random.below(4), half: random.below(3) == 0 },
        _ => Action::Illegal { client, which: random.below(64) },
    }
}

fn connect(client: usize, random: &mut Random) -> ConnectSpec {
    let will = (random.below(3) == 0).then(|| WillSpec {
        topic: random.below(TOPICS.len()),
        qos: qos(random),
        retain: random.below(4) == 0,
        delayed: random.below(3) == 0,
    });
    ConnectSpec {
        client,
        version: if random.below(2) == 0 { Version::V311 } else { Version::V5 },
        clean: random.below(3) == 0,
        lasting: random.below(4) != 0,
        receive_max: [1, 2, 5, u16::MAX][random.below(4)],
        aliases: random.below(2) == 0,
        will,
    }
}

fn publish(client: usize, random: &mut Random) -> PublishSpec {
    PublishSpec {
        client,
        topic: random.below(TOPICS.len()),
        qos: qos(random),
        retain: random.below(3) == 0,
        padding: match random.below(8) {
            0 => None,
            1 => Some(random.below(3000)),
            _ => Some(0),
        },
        alias: (random.below(3) == 0).then(|| 1 + random.below(3) as u16),
        twice: random.below(3) == 0,
    }
}

fn qos(random: &mut Random) -> QoS {
    QoS::from_u8(random.below(3) as u8).expect("below 3")
}

fn options(random: &mut Random) -> SubscriptionOptions {
    loop {
        if let Some(options) = SubscriptionOptions::from_byte(random.bits() as u8 & 0b11_1111) {
            return options;
        }
    }
}
