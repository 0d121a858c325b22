//! Clients that are there before the node is: it takes nobody in before all shards know what was kept.

use lapwing_codec::{Packet, QoS, Subscribe, SubscribeFiltersBuf, SubscribeProperties, SubscriptionOptions};

use crate::client::Client;
use crate::packets::{id, lasting};
use crate::{ids_on_both_shards, node};

/// So many, that telling the other shard of them takes a while through the smallest mailbox.
const FILTERS: usize = 4000;
const FILTERS_PER_PACKET: usize = 1000;

fn subscribe_to_many(client: &mut Client) {
    for first in (0..FILTERS).step_by(FILTERS_PER_PACKET) {
        let mut filters = SubscribeFiltersBuf::new();
        for n in first..first + FILTERS_PER_PACKET {
            filters.push(&format!("f/{n}"), SubscriptionOptions::new(QoS::AtLeastOnce)).expect("a short filter");
        }
        let (properties, filters) = (SubscribeProperties::default(), filters.as_ref());
        client.send(&Packet::Subscribe(Subscribe { packet_id: id(1), properties, filters }));
        client.expect("SUBACK", |packet| matches!(packet, Packet::SubAck(_)).then_some(()));
    }
}

/// A session was kept on one shard; a client of another one publishes to it as soon as the node has a socket. Is what was
/// acknowledged for it there, whatever the other shard had heard of its subscriptions by then?
#[test]
fn nobody_is_let_in_before_all_shards_know_what_was_kept() {
    let dir = tempfile::tempdir().unwrap();
    let json = format!(
        r#"{{"shards": 2, "data_dir": {:?}, "durability": "disk",
            "limits": {{"mailbox_batches": 1, "mailbox_batch_messages": 1}}}}"#,
        dir.path()
    );
    let [here, there] = ids_on_both_shards();
    let first = node(&json);
    let (mut keeper, _) = Client::connect_with(&first, &lasting(&here));
    subscribe_to_many(&mut keeper);
    keeper.disconnect();
    first.stop().unwrap();

    let again = node(&json);
    let mut publisher = crate::connect(&again, &there);
    let wanted = [0, FILTERS / 2, FILTERS - 1].map(|n| format!("f/{n}"));
    wanted.iter().for_each(|topic| publisher.publish_acked(topic, b"early"));
    let (mut keeper, was_there) = Client::connect_with(&again, &lasting(&here));
    assert!(was_there);
    for topic in &wanted {
        assert_eq!(keeper.receive().topic, *topic);
    }
}
