//! What can be said about a CONNECT before its session is looked up.

use lapwing_codec::{Connect, ReasonCode, Version};

use crate::{Close, Settings, connack};

/// A CONNECT that may have a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The client's own id, or the one assigned to it.
    pub client_id: Box<str>,
    /// Whether the client sent none, and is told this one [MQTT-3.1.3-6].
    pub assigned: bool,
}

/// Checks `connect` and gives it a client id; `assign` makes one that nobody has.
///
/// Authentication by name and password belongs between this and [`crate::Session::open`], and so does enhanced
/// authentication: as long as nobody answers for a method, it is refused here.
/// # Errors
/// The reason to hand to [`crate::refuse`]; then the connection is closed.
pub fn admit(connect: &Connect<'_>, settings: &Settings, assign: impl FnOnce() -> String) -> Result<Admission, Close> {
    if connect.properties.auth_method.is_some() {
        return Err(Close::server(ReasonCode::BadAuthenticationMethod, "no authentication method is known here"));
    }
    check_will(connect, settings)?;
    if connect.client_id.len() > usize::from(settings.client_id_bytes_max) {
        return Err(Close::server(ReasonCode::ClientIdentifierNotValid, "the client id is too long"));
    }
    if !connect.client_id.is_empty() {
        let admission = Admission { client_id: connect.client_id.into(), assigned: false };
        return connack::fits(connect, &admission, settings).map(|()| admission);
    }
    if connect.version == Version::V311 && !connect.clean_start {
        // [MQTT-3.1.3-8] of 3.1.1: nobody could come back to such a session.
        return Err(Close::server(ReasonCode::ClientIdentifierNotValid, "an empty client id needs Clean Session 1"));
    }
    let admission = Admission { client_id: assign().into_boxed_str(), assigned: true };
    connack::fits(connect, &admission, settings).map(|()| admission)
}

fn check_will(connect: &Connect<'_>, settings: &Settings) -> Result<(), Close> {
    let Some(will) = &connect.will else { return Ok(()) };
    if will.qos > settings.qos_max {
        return Err(Close::server(ReasonCode::QoSNotSupported, "the will's QoS is not supported"));
    }
    if will.retain && !settings.retain_available {
        return Err(Close::server(ReasonCode::RetainNotSupported, "retained wills are not supported"));
    }
    Ok(())
}
