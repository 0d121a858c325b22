//! A client with a kept session whom nobody disturbs and who does everything right: it gets all that was acknowledged.

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Disconnect, Packet, PacketId, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf,
    SubscribeProperties, SubscriptionOptions, Version,
};

use crate::action::AckKind;
use crate::books::Books;
use crate::client::Line;

/// What it subscribes to.
pub const FILTER: &str = "w/#";

/// A CONNECT of 5.0 that goes on with a session, or begins one that stays.
pub fn connect(client_id: &str) -> Connect<'_> {
    Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: false,
        keep_alive_s: 0,
        client_id,
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties { session_expiry_s: 3600, ..Default::default() },
    }
}

/// Connects under index `id`, for a session that stays.
///
/// # Errors
/// The node does not listen.
pub fn open(url: &str, id: usize, client_id: &str) -> Result<Line, String> {
    let mut line = Line::open(url, id, Version::V5, Books::new(Version::V5, false, u16::MAX, 0))?;
    line.put(&Packet::Connect(connect(client_id)))?;
    Ok(line)
}

/// Subscribes to [`FILTER`].
///
/// # Errors
/// None in practice: a short filter fits.
pub fn subscribe(line: &mut Line, packet_id: PacketId) -> Result<(), String> {
    let mut filters = SubscribeFiltersBuf::new();
    filters.push(FILTER, SubscriptionOptions::new(QoS::ExactlyOnce)).map_err(|error| error.to_string())?;
    line.books.requests(true, packet_id, 1);
    let properties = SubscribeProperties::default();
    line.put(&Packet::Subscribe(Subscribe { packet_id, properties, filters: filters.as_ref() }))
}

/// Acknowledges all that has come; returns whether something was.
///
/// # Errors
/// The kernel's.
pub fn answer(line: &mut Line) -> Result<bool, String> {
    let mut is_news = false;
    while let Some((kind, packet_id, reason)) = line.books.acknowledge(false) {
        line.put(&ack(kind, packet_id, reason))?;
        is_news = true;
    }
    line.flush()?;
    Ok(is_news)
}

/// Says that it goes.
///
/// # Errors
/// The kernel's.
pub fn leave(line: &mut Line) -> Result<(), String> {
    line.books.causes.left = true;
    line.put(&Packet::Disconnect(Disconnect::new(ReasonCode::Success)))?;
    line.flush()
}

/// An acknowledgement.
pub fn ack(kind: AckKind, packet_id: PacketId, reason: ReasonCode) -> Packet<'static> {
    let ack = Ack::new(packet_id, reason);
    match kind {
        AckKind::PubAck => Packet::PubAck(ack),
        AckKind::PubRec => Packet::PubRec(ack),
        AckKind::PubRel => Packet::PubRel(ack),
        AckKind::PubComp => Packet::PubComp(ack),
    }
}
