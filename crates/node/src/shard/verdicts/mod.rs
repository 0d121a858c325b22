//! Packets that a hook judges: where they wait, and what becomes of them.

pub(super) mod gate;
pub(super) mod judged;

use super::Shard;
use super::room::Room;
use crate::hooks::HookFeed;
use crate::passwords::PasswordFeed;

/// The ways to who judges clients and their packets.
pub(super) struct VerdictRoom {
    pub(super) hooks: Option<HookFeed>,
    pub(super) passwords: PasswordFeed,
}

impl Room for VerdictRoom {
    fn has_work(shard: &mut Shard) -> bool {
        let VerdictRoom { hooks, passwords } = &mut shard.verdicts;
        hooks.as_ref().is_some_and(HookFeed::has_answers) || passwords.has_answers()
    }

    fn next_at_ms(shard: &Shard) -> Option<u64> {
        shard.verdicts.hooks.as_ref().and_then(HookFeed::next_due_ms)
    }

    fn flush(shard: &mut Shard) {
        if let Some(hooks) = &mut shard.verdicts.hooks {
            hooks.flush();
        }
        shard.verdicts.passwords.flush();
    }

    fn is_settled(shard: &mut Shard) -> bool {
        shard.verdicts.hooks.as_ref().is_none_or(HookFeed::is_settled)
    }
}
