//! The hash of a publisher's client id.

use crate::slot::stable_hash;

/// Worked out when somebody asks: of most messages at QoS 0 nobody does, and it costs as much as finding who wants them.
#[derive(Clone, Copy, Debug)]
pub(in crate::shard) enum PublisherHash<'a> {
    /// Of the client with this id.
    Of(&'a str),
    /// It came with the message; 0: nobody asks.
    Known(u64),
}

impl PublisherHash<'_> {
    /// The hash.
    pub(in crate::shard) fn get(self) -> u64 {
        match self {
            PublisherHash::Of(client_id) => stable_hash(client_id.as_bytes()),
            PublisherHash::Known(hash) => hash,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is it the same, wherever it comes from?
    #[test]
    fn both_say_the_same() {
        let hash = PublisherHash::Of("device-7").get();
        assert_eq!((hash, PublisherHash::Known(hash).get()), (stable_hash(b"device-7"), hash));
    }
}
