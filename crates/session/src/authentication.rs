//! Enhanced authentication (MQTT 5.0, section 4.12): AUTH packets, before the CONNACK and again on an open session.
//!
//! Who the client is decides somebody outside; here is only whose turn it is and what the packets say. One step at a time:
//!
//! ```text
//! begin(connect) -> question -> (outside) -> answer(Continue)  AUTH 0x18 is in out; the client's AUTH -> handle -> question
//!                                         -> answer(Success)   open the session, with the data in its CONNACK
//!                                         -> answer(Failure)   refuse the CONNECT with the code
//! ```
//!
//! On an open session the client begins with AUTH 0x19 ([`crate::Step::Authenticate`]), the end is AUTH 0x00 or DISCONNECT,
//! and other packets go on meanwhile under what was proved before.

use std::fmt;

use lapwing_codec::{Auth, AuthProperties, Connect, ConnectProperties, Packet, ReasonCode, UserProperties, Version};

use crate::{Close, Io, Session, Step};

/// One step of the client, to be judged by whoever knows the method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthQuestion<'p> {
    /// The method that the CONNECT named; the same in every step.
    pub method: &'p str,
    /// What the client sent with this step; secret.
    pub data: Option<&'p [u8]>,
    /// User Properties of the CONNECT or AUTH.
    pub user: UserProperties<'p>,
    /// The first step of an exchange: a CONNECT, or an AUTH with 0x19.
    pub is_first: bool,
}

impl fmt::Debug for AuthQuestion<'_> {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data_bytes = self.data.map(<[u8]>::len);
        let mut debug = f.debug_struct("AuthQuestion");
        debug.field("method", &self.method).field("data_bytes", &data_bytes).field("is_first", &self.is_first).finish()
    }
}

/// What is to be said to a step. Not printable, because the data are secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AuthAnswer<'a> {
    /// The method needs another step.
    Continue {
        /// Authentication Data for the client.
        data: Option<&'a [u8]>,
        /// Words for people; left out when the client wants none or they do not fit.
        reason_string: Option<&'a str>,
    },
    /// The client is who it says.
    Success {
        /// Last Authentication Data: in the CONNACK, or in the AUTH that ends a re-authentication.
        data: Option<&'a [u8]>,
    },
    /// It is not; with the code to refuse it with. One that is no error, or that the packet cannot carry, becomes 0x87.
    Failure(ReasonCode),
}

/// How far an exchange has come after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum AuthProgress {
    /// An AUTH is in the output; the client has the next word.
    Challenged,
    /// It is over and was successful.
    Passed,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// No exchange is going on: the client may begin one, on an open session.
    Nobody,
    /// A question is outside.
    Ours,
    /// An AUTH with 0x18 was sent.
    Clients,
}

/// The exchange of one connection.
#[derive(Debug)]
pub struct Authentication {
    method: Box<str>,
    turn: Turn,
    /// The CONNACK is out: this is, or would be, a re-authentication.
    is_open: bool,
    /// Maximum Packet Size of the client, in bytes.
    packet_bytes_max: u32,
    /// Request Problem Information of the client.
    wants_reasons: bool,
}

impl Authentication {
    /// Begins with a CONNECT that names a method; `None` for one that does not.
    pub fn begin<'p>(connect: &Connect<'p>) -> Option<(Self, AuthQuestion<'p>)> {
        let exchange = Authentication { turn: Turn::Ours, is_open: false, ..Self::established(connect)? };
        let ConnectProperties { auth_method, auth_data: data, user, .. } = connect.properties;
        Some((exchange, AuthQuestion { method: auth_method?, data, user, is_first: true }))
    }

    /// What an open session keeps of the exchange that its CONNECT began.
    pub(crate) fn established(connect: &Connect<'_>) -> Option<Self> {
        Some(Authentication {
            method: connect.properties.auth_method?.into(),
            turn: Turn::Nobody,
            is_open: true,
            packet_bytes_max: connect.properties.packet_bytes_max.unwrap_or(u32::MAX),
            wants_reasons: connect.properties.request_problem_information,
        })
    }

    /// The method that the CONNECT named.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Takes the next packet of a client that has no CONNACK yet: AUTH, or DISCONNECT [MQTT-3.1.2-30].
    /// # Errors
    /// The client left, or broke the protocol: refuse the CONNECT with the code.
    pub fn handle<'p>(&mut self, packet: &Packet<'p>) -> Result<AuthQuestion<'p>, Close> {
        match packet {
            Packet::Auth(auth) => self.on_auth(auth),
            Packet::Disconnect(disconnect) => Err(Close::client(disconnect.reason)),
            _ => Err(violation("a packet other than AUTH or DISCONNECT before CONNACK")),
        }
    }

    /// An AUTH from the client, whose turn it must be, with the method of its CONNECT [MQTT-4.12.0-5, MQTT-4.12.1-1].
    pub(crate) fn on_auth<'p>(&mut self, auth: &Auth<'p>) -> Result<AuthQuestion<'p>, Close> {
        let Some(method) = auth.properties.auth_method.filter(|method| **method == *self.method) else {
            return Err(violation("an AUTH with another method than the CONNECT's"));
        };
        let expected = match self.turn {
            // [MQTT-4.12.0-3]
            Turn::Clients => ReasonCode::ContinueAuthentication,
            Turn::Nobody if self.is_open => ReasonCode::ReAuthenticate,
            Turn::Nobody | Turn::Ours => return Err(violation("an AUTH while it is not the client's turn")),
        };
        if auth.reason != expected {
            return Err(violation("an AUTH with another reason code than this step has"));
        }
        let is_first = self.turn == Turn::Nobody;
        self.turn = Turn::Ours;
        let AuthProperties { auth_data: data, user, .. } = auth.properties;
        Ok(AuthQuestion { method, data, user, is_first })
    }

    /// Says the answer to the question that is outside; AUTH is appended to `out`.
    ///
    /// Without CONNACK, success writes nothing: its data go into [`crate::Admission::with_auth_data`].
    /// # Errors
    /// Refuse the CONNECT, or end the open connection, with the code.
    pub fn answer(&mut self, answer: &AuthAnswer<'_>, out: &mut Vec<u8>) -> Result<AuthProgress, Close> {
        if self.turn != Turn::Ours {
            return Err(Close::server(ReasonCode::ImplementationSpecificError, "an answer that nobody asked for"));
        }
        match *answer {
            AuthAnswer::Continue { data, reason_string } => {
                self.turn = Turn::Clients;
                self.say(ReasonCode::ContinueAuthentication, data, reason_string, out)?;
                Ok(AuthProgress::Challenged)
            }
            AuthAnswer::Success { data } => {
                self.turn = Turn::Nobody;
                if self.is_open {
                    self.say(ReasonCode::Success, data, None, out)?;
                }
                Ok(AuthProgress::Passed)
            }
            AuthAnswer::Failure(reason) => Err(self.failure(reason)),
        }
    }

    fn failure(&self, reason: ReasonCode) -> Close {
        let can_be_said = if self.is_open { reason.is_legal_in_disconnect() } else { reason.is_legal_in_connack() };
        let reason = if reason.is_error() && can_be_said { reason } else { ReasonCode::NotAuthorized };
        Close::server(reason, "the authentication failed")
    }

    /// Writes an AUTH. Its words stay away when the client wants none [MQTT-3.1.2-29] or they would not fit
    /// [MQTT-3.15.2-2]; the packet itself cannot.
    fn say(
        &self,
        reason: ReasonCode,
        auth_data: Option<&[u8]>,
        words: Option<&str>,
        out: &mut Vec<u8>,
    ) -> Result<(), Close> {
        let start = out.len();
        let words = words.filter(|_| self.wants_reasons);
        for reason_string in words.map(Some).into_iter().chain([None]) {
            let auth_method = Some(&*self.method);
            let properties = AuthProperties { auth_method, auth_data, reason_string, user: UserProperties::EMPTY };
            let written = Packet::Auth(Auth { reason, properties }).encode(Version::V5, out);
            if written.is_ok() && out.len() - start <= self.packet_bytes_max as usize {
                return Ok(());
            }
            out.truncate(start);
        }
        Err(Close::server(ReasonCode::PacketTooLarge, "an AUTH that exceeds the client's Maximum Packet Size"))
    }
}

impl Session {
    /// AUTH on an open session: the client proves anew who it is, or goes on to [MQTT-4.12.1-1].
    pub(crate) fn on_auth<'p>(&mut self, auth: &Auth<'p>) -> Result<Step<'p>, Close> {
        let exchange = self.link.as_mut().and_then(|link| link.authentication.as_mut());
        let Some(exchange) = exchange else {
            return Err(violation("AUTH without an authentication method in CONNECT"));
        };
        exchange.on_auth(auth).map(Step::Authenticate)
    }

    /// Says the answer to a [`Step::Authenticate`] of the connection that the session has now: the caller must know that
    /// it still is the one that asked. `None`: this one has asked nothing.
    /// # Errors
    /// As with [`Session::handle`].
    pub fn authenticated(&mut self, answer: &AuthAnswer<'_>, io: &mut Io<'_>) -> Result<Option<AuthProgress>, Close> {
        let exchange = self.link.as_mut().and_then(|link| link.authentication.as_mut());
        let Some(exchange) = exchange.filter(|exchange| exchange.turn == Turn::Ours) else { return Ok(None) };
        // [MQTT-4.12.1-2]
        exchange.answer(answer, io.out).map(Some).map_err(|close| self.announce(close, io))
    }
}

#[cold]
const fn violation(what: &'static str) -> Close {
    Close::server(ReasonCode::ProtocolError, what)
}
