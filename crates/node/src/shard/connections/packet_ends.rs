//! Where packets end in an output buffer: so that one that is larger than the buffer may be does not make its reader a slow
//! one.
//!
//! A packet was taken from its publisher whole, so its reader may have it whole. What makes a reader slow is what comes on
//! top of that and is not taken.

use lapwing_codec::announced_len;

/// How far the packets of one output buffer have been passed. Looked at only where the kernel has not taken all.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::shard) struct PacketEnds {
    /// A packet begins here: the first one of which nothing is written, or the end of the buffer.
    next: usize,
}

impl PacketEnds {
    /// The first `written` bytes are with the kernel.
    pub(in crate::shard) fn pass(&mut self, output: &[u8], written: usize) {
        while self.next < written {
            self.next = end_of(output, self.next);
        }
    }

    /// The first `bytes` bytes have been taken out of the buffer; all of them had been passed.
    pub(in crate::shard) fn shift(&mut self, bytes: usize) {
        self.next -= bytes;
    }

    /// What is left of the largest packet of which some is not written.
    pub(in crate::shard) fn largest_rest(mut self, output: &[u8], written: usize) -> usize {
        self.pass(output, written);
        let mut largest = self.next - written;
        while self.next < output.len() {
            let begins = self.next;
            self.next = end_of(output, begins);
            largest = largest.max(self.next - begins);
        }
        largest
    }
}

/// Where the packet ends that begins at `at`.
fn end_of(output: &[u8], at: usize) -> usize {
    let end = announced_len(&output[at..]).map(|len| at + len);
    debug_assert!(end.is_some_and(|end| end <= output.len()), "an output buffer with half a packet");
    end.map_or(output.len(), |end| end.min(output.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PINGRESP, a packet of 200 bytes and a PINGRESP: is the rest of the largest found wherever writing stopped, also when
    /// what is written has been taken out of the buffer?
    #[test]
    fn the_rest_of_the_largest_packet() {
        let mut output = vec![0xd0, 0];
        output.extend([0x30, 0xc5, 0x01]);
        output.extend([7; 197]);
        output.extend([0xd0, 0]);
        for (written, largest) in [(0, 200), (1, 200), (2, 200), (3, 199), (201, 2), (202, 2), (203, 1), (204, 0)] {
            let mut ends = PacketEnds::default();
            assert_eq!(ends.largest_rest(&output, written), largest, "{written}");
            ends.pass(&output, written);
            assert_eq!(ends.largest_rest(&output, written), largest, "{written}");
            ends.shift(written);
            assert_eq!(ends.largest_rest(&output[written..], 0), largest, "{written}");
        }
    }
}
