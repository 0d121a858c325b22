//! Wills: asked for, told when a device is lost.

use lapwing_sn::QoS;

use super::{SN, listen, set_up};
use crate::device::Device;
use crate::node;

/// 6.2, 6.12: is a will asked for, told when the device is lost, and not when it goes?
#[test]
fn a_will_is_for_who_is_lost() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let (goes, lost) = (Device::new(&node), Device::new(&node));
    set_up(&goes, "w/goes", 1);
    goes.leave();
    set_up(&lost, "w/lost", 1);
    let will = listener.receive();
    assert_eq!((will.topic.as_str(), &will.payload[..]), ("w/lost", &b"lost"[..]));
    listener.acknowledge(&will);
    listener.expect_silence();
}
