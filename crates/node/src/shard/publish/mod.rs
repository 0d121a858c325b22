//! Messages that come in: bounds, room, where they go.

pub(super) mod beyond;
pub(super) mod delivery;
pub(super) mod log_room;
pub(super) mod losses;
pub(super) mod message_expiry;
pub(super) mod publisher_hash;
pub(super) mod room;
pub(super) mod route;
pub(super) mod stamp;
pub(super) mod topic_rules;

use self::stamp::Stamper;
use self::topic_rules::TopicRules;
use super::Shard;
use super::room::Room;

/// What a message gets where it comes in.
pub(super) struct PublishRoom {
    pub(super) stamper: Stamper,
    /// Messages that were given a name.
    pub(super) stamped: u64,
    /// Which messages are kept in memory alone.
    pub(super) topic_rules: TopicRules,
}

impl PublishRoom {
    pub(super) fn new() -> Self {
        PublishRoom { stamper: Stamper::default(), stamped: 0, topic_rules: TopicRules::unread() }
    }
}

impl Room for PublishRoom {
    fn has_work(shard: &mut Shard) -> bool {
        shard.has_new_topic_rules()
    }
}
