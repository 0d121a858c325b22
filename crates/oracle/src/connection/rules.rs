//! What may be said to a client whose CONNECT is refused.

use lapwing_codec::{Limits, Packet, ReasonCode, Version, decode};

/// `out` is empty, or one CONNACK with this reason and no session.
pub(super) fn judge_refusal(out: &[u8], version: Version, reason: ReasonCode) {
    if out.is_empty() {
        return;
    }
    let (packet, len) = decode(out, version, &Limits::PROTOCOL).expect("legal bytes").expect("a whole packet");
    assert_eq!(len, out.len(), "something follows a refusal");
    let Packet::ConnAck(connack) = packet else { panic!("{packet:?} instead of a CONNACK") };
    assert!(!connack.session_present, "[MQTT-3.2.2-6] a refusal with a session");
    assert!(connack.reason.is_error(), "a refusal that grants");
    if version.has_properties() {
        assert_eq!(connack.reason, reason);
    }
}
