//! What every payload of the swarm begins with: who sent it, its serial number, and when it was due.

/// Bytes of a stamp, and so the smallest payload of the swarm.
pub const STAMP_BYTES: usize = 16;

/// The first bytes of a payload, little endian: publisher (4), serial (4), due time (8).
///
/// `due_ns` is the instant the schedule wanted the message sent, not the instant it was: a broker that makes
/// the sender wait shows as latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Index of the publisher within the whole run, over all threads and processes.
    pub publisher: u32,
    /// Starts at 0 for each publisher, one more per message.
    pub serial: u32,
    /// Due time on this machine's monotonic clock.
    pub due_ns: u64,
}

impl Stamp {
    /// Writes the stamp over the first `STAMP_BYTES` of `payload`, which must have that many.
    #[inline]
    pub fn write(self, payload: &mut [u8]) {
        payload[0..4].copy_from_slice(&self.publisher.to_le_bytes());
        payload[4..8].copy_from_slice(&self.serial.to_le_bytes());
        payload[8..16].copy_from_slice(&self.due_ns.to_le_bytes());
    }

    /// Reads a stamp; `None` when the payload is too short to be one of ours.
    #[inline]
    pub fn read(payload: &[u8]) -> Option<Self> {
        let bytes: &[u8; STAMP_BYTES] = payload.get(..STAMP_BYTES)?.try_into().ok()?;
        let (publisher, rest) = bytes.split_first_chunk::<4>()?;
        let (serial, rest) = rest.split_first_chunk::<4>()?;
        let (due_ns, _) = rest.split_first_chunk::<8>()?;
        Some(Self {
            publisher: u32::from_le_bytes(*publisher),
            serial: u32::from_le_bytes(*serial),
            due_ns: u64::from_le_bytes(*due_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a stamp survive the payload, and leave the rest of the payload alone?
    #[test]
    fn round_trip() {
        let stamp = Stamp { publisher: 7, serial: u32::MAX, due_ns: 1 << 60 };
        let mut payload = [b'x'; 20];
        stamp.write(&mut payload);
        assert_eq!(Stamp::read(&payload), Some(stamp));
        assert_eq!(&payload[16..], b"xxxx");
    }

    /// Is a payload that cannot be ours refused rather than misread?
    #[test]
    fn too_short() {
        assert_eq!(Stamp::read(&[0; STAMP_BYTES - 1]), None);
    }
}
