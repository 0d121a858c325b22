//! What was refused for want of a right; written by the shard's thread alone.

use lapwing_transport::Lapse;

use super::{Counter, Metric};

/// What a client wanted to do and may not.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// To connect: wrong credentials, or none where they are wanted.
    Connect,
    /// To publish a message.
    Publish,
    /// To subscribe to a filter.
    Subscribe,
    /// To leave a will.
    Will,
    /// To have a client id that is another identity's, by its session or by rule.
    ClientId,
    /// To connect under a name that is longer than a session's identity may be.
    Identity,
    /// To be told of publishers.
    Envelope,
    /// To be a bridge of another broker.
    Bridge,
}

impl Refused {
    const COUNT: usize = 8;
    const ALL: [(Refused, &'static str); Self::COUNT] = [
        (Refused::Connect, "connect"),
        (Refused::Publish, "publish"),
        (Refused::Subscribe, "subscribe"),
        (Refused::Will, "will"),
        (Refused::ClientId, "client_id"),
        (Refused::Identity, "identity"),
        (Refused::Envelope, "envelope"),
        (Refused::Bridge, "bridge"),
    ];
}

/// Counters of one shard.
#[derive(Debug, Default)]
pub(crate) struct AccessCounters {
    refused: [Counter; Refused::COUNT],
    lapsed: [Counter; Lapse::COUNT],
    expired: Counter,
    /// Subscriptions, wills, rights to be told of publishers and client ids taken back because rules were changed.
    pub(crate) revoked: Counter,
    /// Patterns of rules that a client id or a user name would have changed.
    pub(crate) void_patterns: Counter,
}

impl AccessCounters {
    pub(crate) fn refused(&self, what: Refused, times: u64) {
        self.refused[what as usize].add(times);
    }

    /// A connection ended, or was not let in, because its certificate is not good any more.
    pub(crate) fn lapsed(&self, lapse: Lapse) {
        self.lapsed[lapse as usize].add(1);
    }

    /// A connection ended because its client's token is over.
    pub(crate) fn expired(&self) {
        self.expired.add(1);
    }

    /// Adds up `shards` and names the sums.
    pub(crate) fn collect<'a>(shards: impl Iterator<Item = &'a AccessCounters> + Clone) -> Vec<Metric> {
        let sum = |of: &dyn Fn(&AccessCounters) -> u64| shards.clone().map(of).sum::<u64>();
        let help = "What clients wanted to do and may not, by what it was.";
        let mut metrics: Vec<Metric> = Refused::ALL
            .iter()
            .map(|(what, label)| {
                let count = sum(&|shard| shard.refused[*what as usize].get());
                Metric::counter("lapwing_not_authorized_total", help, count).with("what", *label)
            })
            .collect();
        metrics.extend(Lapse::ALL.iter().map(|lapse| {
            let help =
                "Connections ended, or refused at CONNECT, because their certificate or key is not good any more, by why.";
            let count = sum(&|shard| shard.lapsed[*lapse as usize].get());
            Metric::counter("lapwing_certificates_lapsed_total", help, count).with("reason", lapse.name())
        }));
        metrics.push(Metric::counter(
            "lapwing_tokens_expired_total",
            "Connections ended because their client's token (JWT) was over.",
            sum(&|shard| shard.expired.get()),
        ));
        metrics.push(Metric::counter(
            "lapwing_rights_revoked_total",
            "Subscriptions, wills, envelopes and client ids taken back because users or rules were changed.",
            sum(&|shard| shard.revoked.get()),
        ));
        metrics.push(Metric::counter(
            "lapwing_rule_patterns_void_total",
            "Patterns of rules left out for a client whose id or user name has +, #, /, * or a leading $.",
            sum(&|shard| shard.void_patterns.get()),
        ));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each refusal find its own counter and label?
    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (n, (what, _)) in Refused::ALL.iter().enumerate() {
            assert_eq!(*what as usize, n);
        }
    }
}
