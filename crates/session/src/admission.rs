//! What can be said about a CONNECT before its session is looked up.

use std::sync::Arc;

use lapwing_codec::{Connect, ReasonCode, Version};

use crate::{Close, Settings, connack};

/// Longest client id of MQTT 3.1, in characters.
const CLIENT_ID_CHARS_V31_MAX: usize = 23;

/// A CONNECT that may have a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The client's own id, or the one assigned to it. Its session keeps this one.
    pub client_id: Arc<str>,
    /// Whether the client sent none, and is told this one [MQTT-3.1.3-6].
    pub assigned: bool,
    /// Authentication Data for the CONNACK that ends an enhanced authentication.
    pub(crate) auth_data: Option<Box<[u8]>>,
    /// It has asked to be told of publishers, and is (true) or is not.
    pub(crate) envelope: Option<bool>,
}

impl Admission {
    /// An admission under this client id; `assigned`: by us.
    pub fn new(client_id: &str, assigned: bool) -> Self {
        Admission { client_id: client_id.into(), assigned, auth_data: None, envelope: None }
    }

    /// The same for a client that has asked to be told of the publishers of its messages (see [`crate::Stamp`]): `granted` says
    /// whether it is, and the CONNACK tells.
    #[must_use]
    pub fn with_envelope(self, granted: bool) -> Self {
        Admission { envelope: Some(granted), ..self }
    }

    pub(crate) fn is_told(&self) -> bool {
        self.envelope == Some(true)
    }

    /// The same, with what the last step of an enhanced authentication has for the client.
    /// # Errors
    /// The data are longer than a field can be, or the CONNACK would exceed the client's Maximum Packet Size.
    pub fn with_auth_data(
        self,
        data: Option<&[u8]>,
        connect: &Connect<'_>,
        settings: &Settings,
    ) -> Result<Self, Close> {
        if data.is_some_and(|data| data.len() > usize::from(u16::MAX)) {
            return Err(Close::server(
                ReasonCode::ImplementationSpecificError,
                "authentication data of over 65535 bytes",
            ));
        }
        let admission = Admission { auth_data: data.map(Into::into), ..self };
        connack::fits(connect, &admission, settings).map(|()| admission)
    }
}

/// Checks `connect` and gives it a client id; `assign` makes one that nobody has.
///
/// Authentication by name and password belongs between this and [`crate::Session::open`], and so does enhanced
/// authentication ([`crate::Authentication`]): where nobody answers for a method, it is refused here [MQTT-4.12.0-1].
/// # Errors
/// The reason to hand to [`crate::refuse`]; then the connection is closed.
pub fn admit(connect: &Connect<'_>, settings: &Settings, assign: impl FnOnce() -> String) -> Result<Admission, Close> {
    if connect.properties.auth_method.is_some() && !settings.authentication {
        return Err(Close::server(ReasonCode::BadAuthenticationMethod, "no authentication method is known here"));
    }
    check_version(connect, settings)?;
    check_will(connect, settings)?;
    if connect.client_id.len() > usize::from(settings.client_id_bytes_max) {
        return Err(Close::server(ReasonCode::ClientIdentifierNotValid, "the client id is too long"));
    }
    if !connect.client_id.is_empty() {
        let admission = Admission::new(connect.client_id, false);
        return connack::fits(connect, &admission, settings).map(|()| admission);
    }
    if connect.version == Version::V311 && !connect.clean_start {
        // [MQTT-3.1.3-8] of 3.1.1: nobody could come back to such a session.
        return Err(Close::server(ReasonCode::ClientIdentifierNotValid, "an empty client id needs Clean Session 1"));
    }
    let admission = Admission::new(&assign(), true);
    connack::fits(connect, &admission, settings).map(|()| admission)
}

/// 3.1 is served unless it is switched off, with client ids of 1 to 23 characters as it asks for.
fn check_version(connect: &Connect<'_>, settings: &Settings) -> Result<(), Close> {
    if connect.version != Version::V31 {
        return Ok(());
    }
    if !settings.mqtt31 {
        return Err(Close::server(ReasonCode::UnsupportedProtocolVersion, "MQTT 3.1 is switched off here"));
    }
    // Bridges make theirs of the names of two machines, and are longer everywhere.
    let chars_max = if connect.is_bridge { usize::MAX } else { CLIENT_ID_CHARS_V31_MAX };
    if !(1..=chars_max).contains(&connect.client_id.chars().count()) {
        return Err(Close::server(
            ReasonCode::ClientIdentifierNotValid,
            "a client id of MQTT 3.1 has 1 to 23 characters",
        ));
    }
    Ok(())
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
