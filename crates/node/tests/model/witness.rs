//! One client per shard that nobody sees: when it has seen all that every other one published, the mail is empty.

use lapwing_codec::{
    Connect, ConnectProperties, Packet, PacketId, Publish, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf,
    SubscribeProperties, SubscriptionOptions, Version,
};
use lapwing_node::{Placement, Slot};

use crate::peer::{Heard, Peer};

/// A client on one shard, and filters whose groups live on each shard.
pub struct Witness {
    pub peer: Peer,
    filters: Vec<String>,
}

/// A name made of `stem` and a number that lives on `shard`.
fn name_on(shard: usize, shards: u32, stem: &str, slot: impl Fn(&str) -> Slot) -> String {
    let mut names = (0..).map(|n| format!("{stem}{n}"));
    names.find(|name| Placement::of_shards(shards).owner_of(slot(name)).shard.index() == shard).expect("endless")
}

impl Witness {
    /// Connects on `shard`; the caller waits for the CONNACK.
    pub fn open(url: &str, shard: usize, shards: u32) -> Result<Witness, String> {
        let mut peer = Peer::open(url, Version::V5)?;
        let id = name_on(shard, shards, "witness-", |name| Slot::of(name.as_bytes()));
        let connect = Connect {
            version: Version::V5,
            is_bridge: false,
            clean_start: true,
            keep_alive_s: 0,
            client_id: &id,
            will: None,
            username: None,
            password: None,
            properties: ConnectProperties::default(),
        };
        peer.send(&Packet::Connect(connect))?;
        let group = |owner: usize| {
            let stem = format!("w{shard}-{owner}-");
            name_on(owner, shards, &stem, |name| Slot::of_group(name, "$fence"))
        };
        let groups = (0..shards as usize).map(|owner| format!("$share/{}/$fence", group(owner)));
        Ok(Witness { peer, filters: groups.chain(["$fence".to_owned()]).collect() })
    }

    /// Subscribes (again): its requests go to every shard, behind what was sent there before.
    pub fn subscribe(&mut self) -> Result<(), String> {
        let mut filters = SubscribeFiltersBuf::new();
        for filter in &self.filters {
            filters.push(filter, SubscriptionOptions::new(QoS::AtMostOnce)).map_err(|error| error.to_string())?;
        }
        let properties = SubscribeProperties::default();
        self.peer.send(&Packet::Subscribe(Subscribe {
            packet_id: PacketId::MIN,
            properties,
            filters: filters.as_ref(),
        }))
    }

    /// Publishes to all witnesses: once plainly, and once by way of each shard as the owner of a group.
    pub fn publish(&mut self) -> Result<(), String> {
        self.peer.send(&Packet::Publish(Publish::qos0("$fence", b"")))
    }

    /// How many messages of a round of `shards` witnesses each one gets.
    pub const fn messages_of_round(shards: usize) -> usize {
        shards * (shards + 1)
    }

    /// What was heard, sorted: messages, and whether a SUBACK was among it.
    pub fn count(&mut self) -> Result<(usize, usize), String> {
        let (mut messages, mut answers) = (0, 0);
        for heard in self.peer.heard.drain(..) {
            match heard {
                Heard::Message(_) => messages += 1,
                Heard::SubAck(_, reasons) if reasons.iter().all(|reason| *reason == ReasonCode::Success) => {
                    answers += 1
                }
                Heard::ConnAck(ReasonCode::Success, false) => answers += 1,
                other => return Err(format!("a witness heard {other:?}")),
            }
        }
        Ok((messages, answers))
    }
}
