//! The packet ids of incoming QoS 2 messages between PUBLISH and PUBREL: what is in here was already shown.

use lapwing_codec::PacketId;

/// A set of packet ids: one bit each, as far as the highest seen.
#[derive(Debug, Default)]
pub(crate) struct Received(Vec<u64>);

impl Received {
    /// True when `id` was not in.
    pub fn insert(&mut self, id: PacketId) -> bool {
        let (word, bit) = place(id);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let was = self.0[word];
        self.0[word] = was | bit;
        was & bit == 0
    }

    /// True when `id` was in.
    pub fn remove(&mut self, id: PacketId) -> bool {
        let (word, bit) = place(id);
        let Some(was) = self.0.get_mut(word) else { return false };
        let had = *was & bit != 0;
        *was &= !bit;
        had
    }
}

fn place(id: PacketId) -> (usize, u64) {
    (usize::from(id.get()) / 64, 1 << (id.get() % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In once, out once, for the ids at both ends.
    #[test]
    fn in_and_out() {
        let mut received = Received::default();
        for id in [PacketId::MIN, PacketId::MAX] {
            assert!(!received.remove(id));
            assert!(received.insert(id));
            assert!(!received.insert(id));
            assert!(received.remove(id));
            assert!(!received.remove(id));
        }
    }
}
