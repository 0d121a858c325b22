//! What comes of a step: datagrams to send, messages to read.

/// Kept from step to step, so that nothing is allocated for each.
#[derive(Debug, Default)]
pub struct DtlsOutput {
    pub(super) scratch: Vec<u8>,
    /// To be sent, each as it is.
    pub packets: Pieces,
    /// What the peer has said.
    pub messages: Pieces,
}

impl DtlsOutput {
    /// Forgets what came of the last step.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.messages.clear();
    }
}

/// Pieces of bytes, one behind the other.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Pieces {
    /// Each of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
