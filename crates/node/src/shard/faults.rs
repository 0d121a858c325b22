//! Defects that a test asks for. Only in builds with debug assertions, as tests are; no release has them.

use lapwing_codec::Packet;

/// Who publishes here has the shard panic over it.
const PANIC_TOPIC: &str = "$fault/panic";

/// Panics if `packet` asks for it.
pub(super) fn strike(packet: &Packet<'_>) {
    if let Packet::Publish(publish) = packet
        && publish.topic == PANIC_TOPIC
    {
        panic!("a fault of the test: {}", String::from_utf8_lossy(publish.payload));
    }
}
