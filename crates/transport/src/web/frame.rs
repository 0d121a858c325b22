//! One binary frame to the client: as much of one MQTT packet as it takes.
//!
//! A frame may hold several packets or a part of one, and a receiver must not mind \[MQTT-6.0.0-2\]. Some do: Paho's C
//! client leaves a packet that follows another in its frame lying until the socket has something new. So each packet
//! gets a frame of its own, for two to four bytes more.

/// The longest payload: some clients take no longer ones, and its length fits two bytes.
const PAYLOAD_BYTES_MAX: usize = 0xffff;
const FINAL_BINARY: u8 = 0x82;
/// A packet's length is one to four bytes behind its first.
const LENGTH_BYTES_MAX: usize = 4;

/// A frame, and how far it was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    header: [u8; 4],
    header_bytes: u8,
    header_sent: u8,
    /// Payload that the header promises and that is not written yet.
    payload_left_bytes: usize,
    /// What is left of the packet for the frames behind this one.
    packet_left_bytes: usize,
}

impl Frame {
    /// The frame behind this one, for `bytes`, which are what is to be written behind this one's payload; not empty.
    pub(super) fn following(&self, bytes: &[u8]) -> Frame {
        let packet_bytes = match self.packet_left_bytes {
            0 => packet_bytes(bytes),
            left => left,
        };
        let payload_bytes = packet_bytes.min(PAYLOAD_BYTES_MAX).min(bytes.len());
        let [.., high, low] = payload_bytes.to_be_bytes();
        let (header, header_bytes) = match payload_bytes {
            0..=125 => ([FINAL_BINARY, low, 0, 0], 2),
            _ => ([FINAL_BINARY, 126, high, low], 4),
        };
        let packet_left_bytes = packet_bytes - payload_bytes;
        Frame { header, header_bytes, header_sent: 0, payload_left_bytes: payload_bytes, packet_left_bytes }
    }

    /// Whether nothing may come between what was written and what is written next.
    pub(super) fn is_unfinished(&self) -> bool {
        self.header_sent < self.header_bytes || self.payload_left_bytes > 0
    }

    /// What of the header is to be written.
    pub(super) fn header(&self) -> &[u8] {
        &self.header[usize::from(self.header_sent)..usize::from(self.header_bytes)]
    }

    /// How much of `bytes`, which begin with what is left of its payload, goes into it.
    pub(super) fn payload_bytes(&self, bytes: &[u8]) -> usize {
        self.payload_left_bytes.min(bytes.len())
    }

    /// Counts `written` bytes, header first; returns how many of them were payload, and how many are the next frame's.
    pub(super) fn advance(&mut self, written: usize) -> (usize, usize) {
        let of_header = written.min(self.header().len());
        self.header_sent += of_header as u8;
        let of_payload = (written - of_header).min(self.payload_left_bytes);
        self.payload_left_bytes -= of_payload;
        (of_payload, written - of_header - of_payload)
    }
}

/// The length of the packet that `bytes` begin with; all of them where its length cannot be seen.
fn packet_bytes(bytes: &[u8]) -> usize {
    let mut remaining = 0;
    for (place, byte) in bytes.iter().skip(1).take(LENGTH_BYTES_MAX).enumerate() {
        remaining |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return 2 + place + remaining;
        }
    }
    bytes.len()
}
