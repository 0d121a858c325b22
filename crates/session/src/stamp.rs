//! Who has published a message: inside the broker the first of its user properties, for a client that is told of it five.
//!
//! A stamp travels as a user property because a message does not lose those anywhere: in the mail between shards, in the log, in
//! queues, as a retained message. Whoever takes a message in takes every stamp away that its publisher wrote
//! ([`unstamped`]) and puts its own before all other properties ([`StampBuf`]); whoever hands a message to a client
//! takes the stamp out again. So no client sees one, and none can forge one.

use std::fmt::Write;

use lapwing_codec::{EncodeError, QoS, UserProperties, UserPropertiesBuf};

/// The user property of CONNECT with which a client asks to be told of publishers, and of the CONNACK that answers.
pub const ENVELOPE: &str = "lapwing-envelope";

/// The user property that carries a stamp inside the broker.
const STAMP: &str = "lapwing-stamp";
const CLIENT: &str = "lapwing-client";
const SESSION: &str = "lapwing-session";
const QOS: &str = "lapwing-qos";
const MESSAGE_ID: &str = "lapwing-message-id";
const INGRESS_US: &str = "lapwing-ingress-us";
/// What a client that is told of publishers must be able to believe: as the broker says it, or not there.
const TOLD: [&str; 5] = [CLIENT, SESSION, QOS, MESSAGE_ID, INGRESS_US];

/// What the broker knows about the publisher of a message, when it took it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The publisher's client id.
    pub client_id: &'a str,
    /// Names its session, for all its connections; another session of the same client id has another name. No blanks.
    pub session: &'a str,
    /// The QoS of its PUBLISH.
    pub qos: QoS,
    /// Names the message: no other one has the same, and this one has it for whoever gets it and however often. No blanks.
    pub message_id: &'a str,
    /// When it was taken in: microseconds since the epoch.
    pub ingress_us: i64,
}

/// A message's user properties with a stamp before them; used again for the next message.
#[derive(Debug, Default)]
pub struct StampBuf {
    text: String,
    user: UserPropertiesBuf,
}

impl StampBuf {
    /// Puts `stamp` before `user`, which has none.
    /// # Errors
    /// There is no room for it in a packet.
    pub fn stamp(&mut self, stamp: &Stamp<'_>, user: UserProperties<'_>) -> Result<(), EncodeError> {
        let Stamp { client_id, session, qos, message_id, ingress_us } = *stamp;
        self.text.clear();
        // Writing into a string does not fail.
        let _ = write!(self.text, "{} {session} {message_id} {ingress_us} {client_id}", qos as u8);
        self.user.clear();
        self.user.push(STAMP, &self.text)?;
        user.iter().try_for_each(|(name, value)| self.user.push(name, value))
    }

    /// What it has put together.
    pub fn user(&self) -> UserProperties<'_> {
        self.user.as_ref()
    }
}

impl<'a> Stamp<'a> {
    /// Reads what [`StampBuf::stamp`] wrote.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(5, ' ');
        let qos = match parts.next()? {
            "0" => QoS::AtMostOnce,
            "1" => QoS::AtLeastOnce,
            "2" => QoS::ExactlyOnce,
            _ => return None,
        };
        let (session, message_id) = (parts.next()?, parts.next()?);
        let ingress_us = parts.next()?.parse().ok()?;
        Some(Stamp { client_id: parts.next()?, session, qos, message_id, ingress_us })
    }

    fn tell(&self, into: &mut UserPropertiesBuf) -> Result<(), EncodeError> {
        into.push(CLIENT, self.client_id)?;
        into.push(SESSION, self.session)?;
        into.push(QOS, ["0", "1", "2"][self.qos as usize])?;
        into.push(MESSAGE_ID, self.message_id)?;
        into.push(INGRESS_US, &self.ingress_us.to_string())
    }
}

/// Bytes that a stamp adds to a message of this client, at most.
pub const fn stamp_bytes(client_id: &str) -> usize {
    // Identifier and lengths, the name, the QoS, four blanks, two names of at most 64 bytes, the time.
    5 + STAMP.len() + 1 + 4 + 2 * 64 + 20 + client_id.len()
}

/// Whether there is a stamp before these user properties.
#[inline]
pub fn is_stamped(user: &UserProperties<'_>) -> bool {
    !user.is_empty() && take(*user).0.is_some()
}

/// The user properties of a message as its publisher wrote them.
#[inline]
pub fn unstamped(user: UserProperties<'_>) -> UserProperties<'_> {
    take(user).1
}

/// The name that the broker gave a message, where there is a stamp before its user properties.
pub fn message_id(user: UserProperties<'_>) -> Option<&str> {
    take(user).0.and_then(Stamp::parse).map(|stamp| stamp.message_id)
}

/// The text of the stamp, and the others.
#[inline]
pub(crate) fn take(user: UserProperties<'_>) -> (Option<&str>, UserProperties<'_>) {
    match user.split_first() {
        Some(((STAMP, text), others)) => (Some(text), others),
        _ => (None, user),
    }
}

/// What a client gets that is told of publishers: what the stamp says, and of the publisher's own `user` properties those of
/// other names. Without a stamp there is nothing to say.
/// # Errors
/// There is no room for it in a packet.
pub(crate) fn tell(
    stamp: Option<&str>,
    user: UserProperties<'_>,
    into: &mut UserPropertiesBuf,
) -> Result<(), EncodeError> {
    into.clear();
    if let Some(stamp) = stamp.and_then(Stamp::parse) {
        stamp.tell(into)?;
    }
    let mut others = user.iter().filter(|(name, _)| !TOLD.contains(name));
    others.try_for_each(|(name, value)| into.push(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Stamp<'_> = Stamp {
        client_id: "a client, with blanks",
        session: "1f.2",
        qos: QoS::AtLeastOnce,
        message_id: "1f.0.7",
        ingress_us: 1_700_000_000_000_000,
    };

    fn user(pairs: &[(&str, &str)]) -> UserPropertiesBuf {
        let mut user = UserPropertiesBuf::new();
        pairs.iter().for_each(|(name, value)| user.push(name, value).unwrap());
        user
    }

    /// Does the stamp stand before all others, and come off again without a trace?
    #[test]
    fn there_and_back() {
        for pairs in [&[][..], &[("k", "v"), ("k", "w")]] {
            let (own, mut buf) = (user(pairs), StampBuf::default());
            for _ in 0..2 {
                buf.stamp(&EXAMPLE, own.as_ref()).unwrap();
                assert!(is_stamped(&buf.user()) && !is_stamped(&own.as_ref()));
                assert_eq!(unstamped(buf.user()), own.as_ref());
                assert_eq!(take(buf.user()).0.and_then(Stamp::parse), Some(EXAMPLE));
                let added = buf.user().iter().map(|(name, value)| name.len() + value.len() + 5).sum::<usize>();
                let before = pairs.iter().map(|(name, value)| name.len() + value.len() + 5).sum::<usize>();
                assert!(added - before <= stamp_bytes(EXAMPLE.client_id));
            }
        }
    }

    /// Does a client that is told get what the broker says, and nothing of the same name from the publisher?
    #[test]
    fn what_the_publisher_says_of_itself_is_not_told() {
        let forged: Vec<(&str, &str)> = TOLD.iter().map(|name| (*name, "forged")).chain([("k", "v")]).collect();
        let (own, mut buf, mut told) = (user(&forged), StampBuf::default(), UserPropertiesBuf::new());
        buf.stamp(&EXAMPLE, own.as_ref()).unwrap();
        let (stamp, others) = take(buf.user());
        tell(stamp, others, &mut told).unwrap();
        let expected = [
            (CLIENT, "a client, with blanks"),
            (SESSION, "1f.2"),
            (QOS, "1"),
            (MESSAGE_ID, "1f.0.7"),
            (INGRESS_US, "1700000000000000"),
            ("k", "v"),
        ];
        assert_eq!(told.as_ref().iter().collect::<Vec<_>>(), expected);
        tell(None, own.as_ref(), &mut told).unwrap();
        assert_eq!(told.as_ref().iter().collect::<Vec<_>>(), [("k", "v")]);
    }

    /// Is text that no broker wrote nothing, rather than half of something?
    #[test]
    fn other_text_is_no_stamp() {
        for text in ["", "1", "3 s m 1 c", "1 s m", "1 s m soon c", "1 s m 1"] {
            assert_eq!(Stamp::parse(text), None, "{text:?}");
        }
        assert_eq!(Stamp::parse("0 s m -1 ").map(|stamp| (stamp.client_id, stamp.ingress_us)), Some(("", -1)));
    }
}
