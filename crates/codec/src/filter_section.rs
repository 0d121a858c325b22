//! The payload of SUBSCRIBE and UNSUBSCRIBE: topic filters one behind the other, in SUBSCRIBE with a byte behind each.

use crate::read::Reader;
use crate::topic;
use crate::{EncodeError, Limits, ProtocolError, ReasonCode};

/// A view of validated filters, or of those of them that were not taken yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterSection<'a> {
    raw: &'a [u8],
    count: u32,
}

impl<'a> FilterSection<'a> {
    /// Reads filters to the end of the packet; at least one, else the error says `if_empty`. `behind` reads and checks
    /// what follows a filter; it is given the filter and where it began.
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        limits: &Limits,
        if_empty: &'static str,
        mut behind: impl FnMut(&mut Reader<'a>, &'a str, usize) -> Result<(), ProtocolError>,
    ) -> Result<Self, ProtocolError> {
        let from = reader.at();
        let mut count = 0;
        while !reader.is_empty() {
            let at = reader.at();
            if count >= limits.filters_per_packet_max {
                let what = "more filters in one packet than the limit";
                return Err(ProtocolError::new(ReasonCode::QuotaExceeded, what, at));
            }
            // One that is too long or too deep is well formed: it is refused alone, in the answer, and not the packet with
            // all that is beside it, for a client that is cut off comes back and asks again.
            let filter = topic::filter_from_bytes(reader.binary()?, &Limits::PROTOCOL);
            let filter = filter.map_err(|error| error.at_filter(at))?;
            behind(reader, filter, at)?;
            count += 1;
        }
        if count == 0 {
            return Err(ProtocolError::protocol(if_empty, from));
        }
        Ok(FilterSection { raw: reader.passed(from, reader.at()), count })
    }

    /// How many.
    pub(crate) const fn len(&self) -> usize {
        self.count as usize
    }

    /// The filters as they are encoded.
    pub(crate) const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Takes the first filter and the `BEHIND` bytes behind it.
    pub(crate) fn take<const BEHIND: usize>(&mut self) -> Option<(&'a str, [u8; BEHIND])> {
        let (len, rest) = self.raw.split_first_chunk::<2>()?;
        let (filter, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        let (behind, rest) = rest.split_first_chunk::<BEHIND>()?;
        *self = FilterSection { raw: rest, count: self.count.saturating_sub(1) };
        Some((std::str::from_utf8(filter).ok()?, *behind))
    }
}

/// Owned filters, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterSectionBuf {
    raw: Vec<u8>,
    count: u32,
}

impl FilterSectionBuf {
    /// Appends a filter, `behind` behind it.
    /// # Errors
    /// `FieldTooLong`: more than 65,535 bytes; `PacketTooLarge`: more filters than 32 bits count.
    pub(crate) fn push(&mut self, filter: &str, behind: &[u8]) -> Result<(), EncodeError> {
        let len = filter.len();
        let Ok(prefix) = u16::try_from(len) else {
            return Err(EncodeError::FieldTooLong { field: "topic filter", len });
        };
        let Some(count) = self.count.checked_add(1) else {
            return Err(EncodeError::PacketTooLarge { len: self.raw.len() + len });
        };
        self.raw.extend_from_slice(&prefix.to_be_bytes());
        self.raw.extend_from_slice(filter.as_bytes());
        self.raw.extend_from_slice(behind);
        self.count = count;
        Ok(())
    }

    /// The view of it.
    pub(crate) fn as_ref(&self) -> FilterSection<'_> {
        FilterSection { raw: &self.raw, count: self.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filters come back in order with what stands behind them, and the number left goes down.
    #[test]
    fn filters_are_taken_one_by_one() {
        let mut buf = FilterSectionBuf::default();
        for (filter, behind) in [("a/+", 1), ("", 2), ("ü/#", 0)] {
            buf.push(filter, &[behind]).unwrap();
        }
        let mut section = buf.as_ref();
        assert_eq!((section.len(), section.take::<1>()), (3, Some(("a/+", [1]))));
        assert_eq!((section.len(), section.take::<1>()), (2, Some(("", [2]))));
        assert_eq!((section.len(), section.take::<1>()), (1, Some(("ü/#", [0]))));
        assert_eq!((section.len(), section.take::<1>(), section.raw().len()), (0, None, 0));
    }

    /// What does not fit leaves nothing behind.
    #[test]
    fn what_does_not_fit_is_refused() {
        let mut buf = FilterSectionBuf::default();
        let long = "x".repeat(65_536);
        assert_eq!(buf.push(&long, &[]), Err(EncodeError::FieldTooLong { field: "topic filter", len: 65_536 }));
        assert_eq!(buf.push(&long[1..], &[]), Ok(()));
        buf.count = u32::MAX;
        let before = buf.clone();
        assert_eq!(buf.push("a", &[]), Err(EncodeError::PacketTooLarge { len: 65_538 }));
        assert_eq!(buf, before);
    }
}
