//! Packet ids of QoS 2 in a session that an earlier process began.
//!
//! It may have left messages that it never released (PUBREL). The broker knows their ids and nobody here does: a new message under
//! such an id would be taken for the old one, acknowledged and dropped. So before an id is used for the first time it is *cleared*:
//! PUBREL goes, which ends what may be there (3.1.1, 5.0: 4.3.3), and the message goes when PUBCOMP has come. Not at once behind PUBREL:
//! after a broken connection nobody could tell whether the new message or the old one would be released.

use lapwing_codec::PacketId;

/// What is known of the ids.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    /// By packet id, less one.
    cleared: Vec<bool>,
    /// Messages whose ids are being cleared.
    waiting: usize,
}

impl Inherited {
    /// Whether a message under this id has to wait: for the id, or for messages that go before it.
    pub fn must_wait(&self, id: PacketId) -> bool {
        self.waiting > 0 || !self.cleared.get(usize::from(id.get()) - 1).copied().unwrap_or(false)
    }

    /// A message waits for its id.
    pub fn begin(&mut self) {
        self.waiting += 1;
    }

    /// One waits no more: it is refused, and nothing is known of its id.
    pub fn give_up(&mut self) {
        self.waiting -= 1;
    }

    /// One waits no more: its id is cleared.
    pub fn end(&mut self, id: PacketId) {
        self.waiting -= 1;
        let place = usize::from(id.get()) - 1;
        if self.cleared.len() <= place {
            self.cleared.resize(place + 1, false);
        }
        self.cleared[place] = true;
    }
}
