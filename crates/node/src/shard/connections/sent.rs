//! What sessions wrote, counted from the bytes themselves: a packet says its own type and length.

/// Since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) publishes: u64,
    pub(crate) publish_bytes: u64,
}

/// The type of PUBLISH, in the upper half of a packet's first byte.
const PUBLISH: u8 = 3;

impl Sent {
    /// Counts the packets in `bytes`, which were encoded here and are whole.
    #[inline]
    pub(crate) fn count(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let len = packet_len(&bytes[at..]);
            self.packets += 1;
            if bytes[at] >> 4 == PUBLISH {
                self.publishes += 1;
                self.publish_bytes += len as u64;
            }
            at += len;
        }
    }
}

/// The length of the packet that `bytes` begins with, its header included.
fn packet_len(bytes: &[u8]) -> usize {
    let (mut len, mut shift) = (0, 0);
    for (n, byte) in bytes.iter().enumerate().skip(1).take(4) {
        len |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return n + 1 + len;
        }
    }
    debug_assert!(false, "a packet of ours has a length");
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are packets of all lengths counted, and publications apart?
    #[test]
    fn packets_are_counted_from_their_bytes() {
        let mut bytes = vec![0xd0, 0x00, 0x31, 0x03, 0, 1, b't', 0x30, 0x80, 0x01];
        bytes.extend([0; 128]);
        bytes.extend([0x40, 0x02, 0, 1]);
        let mut sent = Sent::default();
        sent.count(&bytes);
        sent.count(&[]);
        assert_eq!(sent, Sent { packets: 4, publishes: 2, publish_bytes: 5 + 131 });
    }
}
