//! How one subscription wants its messages.

use lapwing_codec::{SubscriptionId, SubscriptionOptions};

/// What a subscription was granted: the options a filter tree keeps per subscriber. Eight bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Granted QoS, No Local, Retain As Published.
    pub options: SubscriptionOptions,
    /// The Subscription Identifier that its messages carry.
    pub subscription_id: Option<SubscriptionId>,
}
