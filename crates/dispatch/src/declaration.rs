//! What a member says about itself when it joins.

/// What a member's acknowledgement means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acknowledges {
    /// Nothing was declared: any standard client.
    #[default]
    Undeclared,
    /// `lapwing-ack=received`: the message has arrived; when it is finished only reports can tell.
    Received,
    /// `lapwing-ack=processed`, or the group is set so: the handler has finished.
    Processed,
}

/// What a member says about itself when it joins, from CONNECT and from the settings of its group and listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// A stable hash of the client id. Hash strategies and the memory of stalls know a returning client by it.
    pub identity: u64,
    /// Most messages that may be unacknowledged: the client's Receive Maximum, or less. 0 counts as 1.
    pub receive_max: u16,
    /// What its acknowledgement means.
    pub acknowledges: Acknowledges,
    /// `lapwing-workers`: how many messages it works on at a time. Kept within 1..=[`WORKERS_MAX`].
    pub workers: u16,
    /// `lapwing-batch`: it wants many messages at once, up to `receive_max`.
    pub is_batch: bool,
    /// The kernel sees a proxy, not the client: what it measures as round trip is the near leg.
    pub is_proxied: bool,
}

/// Most workers of one member that are told apart; who declares more is taken to have so many.
pub const WORKERS_MAX: u16 = 1024;

impl Declaration {
    /// A standard client that declares nothing.
    ///
    /// `identity`: hash of the client id. `receive_max`: messages that may be unacknowledged.
    pub const fn standard(identity: u64, receive_max: u16) -> Declaration {
        Declaration {
            identity,
            receive_max,
            acknowledges: Acknowledges::Undeclared,
            workers: 1,
            is_batch: false,
            is_proxied: false,
        }
    }

    /// The same for a client that acknowledges when its handler has finished.
    pub const fn processed(identity: u64, receive_max: u16) -> Declaration {
        Declaration { acknowledges: Acknowledges::Processed, ..Declaration::standard(identity, receive_max) }
    }

    /// The same with every number within its range.
    pub(crate) fn in_range(self) -> Declaration {
        let workers = self.workers.clamp(1, WORKERS_MAX);
        Declaration { receive_max: self.receive_max.max(1), workers, ..self }
    }
}
