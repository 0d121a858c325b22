//! How large a number or a list may be: what is above comes from nobody who works as he should, and is refused.

/// The highest term. Elections count up by one: nobody comes here, and no sum with a term overflows.
pub const TERM_MAX: u64 = u64::MAX >> 8;
/// The highest Raft index.
pub const INDEX_MAX: u64 = u64::MAX >> 8;
/// The highest sequence, as the ledger has it.
pub const SEQUENCE_MAX: u64 = u64::MAX >> 1;
/// Nodes of one group: voters, learners and who is leaving, together.
pub const MEMBERS_MAX: usize = 32;
/// Changes of one membership entry.
pub const CHANGES_MAX: usize = 16;
/// Entries of one message.
pub const MESSAGE_ENTRIES_MAX: usize = 4096;
/// Questions ([`read_index`](crate::Engine::read_index)) that wait for an answer at one time.
pub const READS_MAX: usize = 1024;
