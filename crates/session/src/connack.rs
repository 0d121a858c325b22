//! CONNACK: what a client is granted, or why it is refused.

use lapwing_codec::{
    ConnAck, ConnAckProperties, Connect, Packet, ProtocolError, ReasonCode, UserProperties, UserPropertiesBuf, Version,
};

use crate::link::server_keep_alive_s;
use crate::open::granted_expiry_s;
use crate::{Admission, Close, ENVELOPE, Settings};

/// Writes the CONNACK of a granted connection.
pub(crate) fn grant(
    connect: &Connect<'_>,
    admission: &Admission,
    settings: &Settings,
    session_present: bool,
    expiry_s: u32,
    out: &mut Vec<u8>,
) {
    let mut properties = ConnAckProperties::default();
    let response_information = response_information(connect, admission, settings);
    if connect.version.has_properties() {
        properties.session_expiry_s = (expiry_s != connect.properties.session_expiry_s).then_some(expiry_s);
        properties.receive_max = settings.receive_maximum.max(1);
        properties.qos_max = settings.qos_max;
        properties.retain_available = settings.retain_available;
        properties.packet_bytes_max = Some(settings.packet_bytes_max.max(1));
        properties.assigned_client_id = admission.assigned.then_some(&*admission.client_id);
        properties.topic_alias_max = settings.topic_alias_max;
        properties.server_keep_alive_s = server_keep_alive_s(connect, settings);
        properties.response_information = response_information.as_deref();
        // [MQTT-4.12.0-5, MQTT-4.12.0-6]
        properties.auth_method = connect.properties.auth_method;
        properties.auth_data = admission.auth_data.as_deref().filter(|_| properties.auth_method.is_some());
    }
    let start = out.len();
    let write = |user, out: &mut Vec<u8>| {
        let properties = ConnAckProperties { user, ..properties };
        let packet = Packet::ConnAck(ConnAck { session_present, reason: ReasonCode::Success, properties });
        packet.encode(connect.version, out).expect("a CONNACK of bounded fields always fits");
    };
    let answers = answers(connect, admission);
    write(answers.as_ref(), out);
    // User properties are left out where they would make it too long [MQTT-3.2.2-20].
    let max = connect.properties.packet_bytes_max.map_or(usize::MAX, |max| max as usize);
    if !answers.as_ref().is_empty() && out.len() - start > max {
        out.truncate(start);
        write(UserProperties::EMPTY, out);
    }
}

/// What a client is told that has asked for more than MQTT has.
fn answers(connect: &Connect<'_>, admission: &Admission) -> UserPropertiesBuf {
    let mut user = UserPropertiesBuf::new();
    if let Some(granted) = admission.envelope.filter(|_| connect.version.has_properties()) {
        let answer = if granted { "granted" } else { "refused" };
        user.push(ENVELOPE, answer).expect("two short words always fit");
    }
    user
}

/// The part of the topic tree that is this client's own for answers, if it requests one [MQTT-3.1.2-28]. Not for an id that
/// would make more of it than one level, or something that is no topic name.
fn response_information(connect: &Connect<'_>, admission: &Admission, settings: &Settings) -> Option<String> {
    let prefix = settings.response_information_prefix.as_ref()?;
    let is_plain = !admission.client_id.contains(['+', '#', '/']);
    let fits = prefix.len() + admission.client_id.len() <= usize::from(u16::MAX);
    (connect.properties.request_response_information && is_plain && fits)
        .then(|| [&**prefix, &*admission.client_id].concat())
}

/// Whether the CONNACK keeps to the client's Maximum Packet Size [MQTT-3.1.2-24]; if not, nothing of use would.
pub(crate) fn fits(connect: &Connect<'_>, admission: &Admission, settings: &Settings) -> Result<(), Close> {
    let Some(max) = connect.properties.packet_bytes_max else { return Ok(()) };
    let mut longest = Vec::new();
    grant(connect, admission, settings, true, granted_expiry_s(connect, settings), &mut longest);
    if longest.len() <= max as usize {
        return Ok(());
    }
    Err(Close::server(ReasonCode::PacketTooLarge, "the client's Maximum Packet Size is less than a CONNACK needs"))
}

/// Writes the CONNACK that refuses a connection; 3.1.1 has no return code for many reasons and is then just closed.
pub fn refuse(version: Version, reason: ReasonCode, out: &mut Vec<u8>) {
    write_refusal(version, reason, None, out);
}

fn write_refusal(version: Version, reason: ReasonCode, reason_string: Option<&str>, out: &mut Vec<u8>) {
    if !version.has_properties() && reason.return_code_v311().is_none() {
        return;
    }
    let properties = ConnAckProperties { reason_string, ..ConnAckProperties::default() };
    let packet = Packet::ConnAck(ConnAck { session_present: false, reason, properties });
    // A reason that does not exist in CONNACK is not sent; closing without a word is always allowed.
    let _ = packet.encode(version, out);
}

/// Writes the CONNACK that refuses `connect`, with `words` for people as its Reason String if the client's Maximum Packet
/// Size has room for them [MQTT-3.2.2-19]; without a word when even the code does not fit [MQTT-3.1.2-24].
pub fn refuse_connect(connect: &Connect<'_>, reason: ReasonCode, words: Option<&str>, out: &mut Vec<u8>) {
    let start = out.len();
    let max = connect.properties.packet_bytes_max.map_or(usize::MAX, |max| max as usize);
    for reason_string in words.map(Some).into_iter().chain([None]) {
        write_refusal(connect.version, reason, reason_string, out);
        if out.len() > start && out.len() - start <= max {
            return;
        }
        out.truncate(start);
    }
}

/// The same as [`refuse`] for bytes that should have been a CONNECT; silent when they were none.
pub fn refuse_malformed(error: &ProtocolError, out: &mut Vec<u8>) {
    if let Some(version) = error.connect {
        refuse(version, error.reason, out);
    }
}
