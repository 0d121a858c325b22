//! Messages from shard to shard.

pub(super) mod mailroom;
pub(super) mod post;

use self::post::{LanesIn, Post};
use super::Shard;
use super::room::Room;
use super::spinning::Spinning;

/// What comes from the other shards, and what goes to them.
pub(super) struct MailRoom {
    pub(super) inlets: Vec<LanesIn>,
    pub(super) post: Post,
    /// Mail came or went in this turn: worth looking again before sleeping.
    pub(super) moved: bool,
    pub(super) spinning: Spinning,
    /// What is due waits for this turn: see [`Shard::must_hear_first`].
    pub(super) timers_wait: bool,
}

impl MailRoom {
    pub(super) fn new(inlets: Vec<LanesIn>, post: Post) -> Self {
        MailRoom { inlets, post, moved: false, spinning: Spinning::default(), timers_wait: false }
    }
}

impl Room for MailRoom {
    fn has_work(shard: &mut Shard) -> bool {
        let mail = &mut shard.mail;
        let has_direct_credit = mail.post.has_all_direct_credit();
        mail.inlets.iter().any(|inlet| {
            let urgent = !inlet.express.is_empty() || !inlet.control.is_empty();
            urgent || !inlet.direct.is_empty() || (has_direct_credit && !inlet.publish.is_empty())
        })
    }

    fn flush(shard: &mut Shard) {
        let mail = &mut shard.mail;
        mail.moved |= !mail.post.is_empty();
        mail.post.flush();
    }

    fn is_settled(shard: &mut Shard) -> bool {
        shard.mail.post.is_empty() && shard.mail.inlets.iter().all(LanesIn::is_empty)
    }
}
