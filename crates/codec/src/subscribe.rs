//! SUBSCRIBE: a client asks for messages.

use crate::owner::SUBSCRIBE;
use crate::property::{Properties, SUBSCRIPTION_IDENTIFIER, Value};
use crate::read::Reader;
use crate::subscribe_filters::SubscribeFilters;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, SubscriptionId, UserProperties, Version};

/// A SUBSCRIBE packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// The exchange.
    pub packet_id: PacketId,
    /// Properties (5.0).
    pub properties: SubscribeProperties<'a>,
    /// What is asked for; at least one.
    pub filters: SubscribeFilters<'a>,
}

/// Properties of a SUBSCRIBE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscribeProperties<'a> {
    /// Subscription Identifier of all filters in the packet.
    pub subscription_id: Option<SubscriptionId>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

impl<'a> Subscribe<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let packet_id = reader.packet_id()?;
        let mut properties = SubscribeProperties::default();
        if version.has_properties() {
            properties = SubscribeProperties::decode(&mut reader, limits)?;
        }
        let filters = SubscribeFilters::decode(&mut reader, version, limits)?;
        Ok(Subscribe { packet_id, properties, filters })
    }

    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if self.filters.is_empty() {
            return Err(EncodeError::NotRepresentable { what: "a SUBSCRIBE without filters", version });
        }
        if !version.has_properties() && self.filters.iter().any(|filter| filter.options.to_byte() > 2) {
            return Err(EncodeError::NotRepresentable { what: "a subscription option other than QoS", version });
        }
        Ok(())
    }
}

impl Body for Subscribe<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u16(self.packet_id.get());
        if version.has_properties() {
            sink.section(&self.properties);
        }
        sink.raw(self.filters.raw());
    }
}

impl<'a> SubscribeProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, SUBSCRIBE, limits)?;
        let mut properties = SubscribeProperties::default();
        while let Some(property) = section.next()? {
            if let Value::SubscriptionId(id) = property.value {
                properties.subscription_id = Some(id);
            }
        }
        properties.user = section.user();
        Ok(properties)
    }
}

impl Section for SubscribeProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        if let Some(id) = self.subscription_id {
            sink.u8(SUBSCRIPTION_IDENTIFIER);
            sink.varint(id.get());
        }
        sink.user_properties(&self.user);
    }
}
