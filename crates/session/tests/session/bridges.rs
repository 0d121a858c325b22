//! Another broker: what it cannot say in its version, and is treated by all the same.

use lapwing_codec::{Connect, QoS, SubscriptionOptions, Version};
use lapwing_session::Settings;

use crate::rig::{Rig, connect, grant, publish};

fn bridge(version: Version, is_bridge: bool) -> Rig {
    Rig::connected(&Connect { is_bridge, ..connect(version) }, Settings::default())
}

/// Has what a bridge subscribes to no local and retain as published, but for groups, where no local is not allowed?
#[test]
fn a_bridge_subscribes_with_the_options_that_it_cannot_say() {
    for version in [Version::V31, Version::V311] {
        for is_bridge in [false, true] {
            let mut rig = bridge(version, is_bridge);
            let mut granted = Vec::new();
            let wanted = SubscriptionOptions::new(QoS::AtLeastOnce);
            let reply = rig.subscribe(&[("a/#", wanted), ("$share/g/a", wanted)], |subscription| {
                let options = subscription.grant.options;
                granted.push((options.no_local, options.retain_as_published));
                Ok(())
            });
            assert!(reply.is_ok());
            assert_eq!(granted, [(is_bridge, is_bridge), (false, is_bridge)], "{version:?}");
        }
    }
}

/// Are no more messages under way to a bridge than it takes, and as many as ever to others?
#[test]
fn a_bridge_has_a_window() {
    let most = Settings::default().bridge_inflight_messages_max;
    for (is_bridge, expected) in [(true, usize::from(most)), (false, 50)] {
        let mut rig = bridge(Version::V311, is_bridge);
        rig.deliver_times(50, publish("t", QoS::ExactlyOnce, 1), &[grant(QoS::ExactlyOnce)]);
        let sent = rig.sent().into_iter().filter(|packet| packet.starts_with("publish")).count();
        assert_eq!(sent, expected, "bridge: {is_bridge}");
    }
}
