//! UNSUBSCRIBE: a client gives subscriptions back.

use crate::owner::UNSUBSCRIBE;
use crate::property::Properties;
use crate::read::Reader;
use crate::unsubscribe_filters::UnsubscribeFilters;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, UserProperties, Version};

/// An UNSUBSCRIBE packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// The exchange.
    pub packet_id: PacketId,
    /// User Properties (5.0), the only properties of this packet.
    pub user: UserProperties<'a>,
    /// What is given back; at least one.
    pub filters: UnsubscribeFilters<'a>,
}

impl<'a> Unsubscribe<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let packet_id = reader.packet_id()?;
        let mut user = UserProperties::EMPTY;
        if version.has_properties() {
            let mut section = Properties::open(&mut reader, UNSUBSCRIBE, limits)?;
            while section.next()?.is_some() {}
            user = section.user();
        }
        let filters = UnsubscribeFilters::decode(&mut reader, limits)?;
        Ok(Unsubscribe { packet_id, user, filters })
    }

    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if self.filters.is_empty() {
            return Err(EncodeError::NotRepresentable { what: "an UNSUBSCRIBE without filters", version });
        }
        Ok(())
    }
}

impl Body for Unsubscribe<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u16(self.packet_id.get());
        if version.has_properties() {
            sink.section(&self.user);
        }
        sink.raw(self.filters.raw());
    }
}

impl Section for UserProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.user_properties(self);
    }
}
