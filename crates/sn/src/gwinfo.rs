//! GWINFO (5.4.3): who is there, by a gateway of itself or by a client that knows one.

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Reason};

/// A GWINFO message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GwInfo<'a> {
    /// Which gateway.
    pub gateway_id: u8,
    /// Its address, 1 to 255 bytes, of a form that the network has; `None` when the gateway speaks itself.
    pub address: Option<&'a [u8]>,
}

impl<'a> GwInfo<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let gateway_id = reader.u8()?;
        let address = if reader.is_empty() { None } else { Some(decode_address(&mut reader)?) };
        Ok(GwInfo { gateway_id, address })
    }
}

/// GwAdd (5.3.5): its first byte is its length, the others are the address.
fn decode_address<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let at = reader.at();
    let len = usize::from(reader.u8()?);
    let address = reader.rest();
    if len == address.len() && len > 0 {
        return Ok(address);
    }
    Err(DecodeError::new(Reason::WrongLength, "a gateway address of another length than it says", at))
}

impl Body for GwInfo<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        match self.address {
            Some([]) => Err(EncodeError::NotRepresentable("an empty gateway address")),
            Some(address) if address.len() > usize::from(u8::MAX) => {
                Err(EncodeError::NotRepresentable("a gateway address of more than 255 bytes"))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.u8(self.gateway_id);
        if let Some(address) = self.address {
            sink.u8(address.len() as u8);
            sink.raw(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::check::{both_ways, not_representable, refused};

    #[test]
    fn section_5_4_3_gwinfo_of_a_gateway() {
        both_ways("03 02 07", Message::GwInfo(GwInfo { gateway_id: 7, address: None }));
        assert_eq!(refused("02 02").reason, Reason::CutShort);
    }

    #[test]
    fn section_5_4_3_gwinfo_of_a_client_has_the_address() {
        both_ways("06 02 07 02 BEEF", Message::GwInfo(GwInfo { gateway_id: 7, address: Some(&[0xBE, 0xEF]) }));
    }

    #[test]
    fn section_5_3_5_the_first_byte_of_an_address_is_its_length() {
        for hex in ["04 02 07 00", "05 02 07 02 BE", "07 02 07 02 BEEF 00"] {
            let error = refused(hex);
            assert_eq!((error.reason, error.at), (Reason::WrongLength, 3), "{hex}");
        }
        not_representable(Message::GwInfo(GwInfo { gateway_id: 7, address: Some(&[]) }));
        not_representable(Message::GwInfo(GwInfo { gateway_id: 7, address: Some(&[0; 256]) }));
    }
}
