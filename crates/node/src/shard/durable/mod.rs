//! What is on disk and comes back after a crash, and who waits until it is there.

pub(super) mod acknowledge;
pub(super) mod awaited_entries;
pub(super) mod commits;
pub(super) mod keeping;
pub(super) mod kept;
pub(super) mod owed_wills;
pub(super) mod paging;
pub(super) mod restored;
pub(super) mod settlement;
pub(super) mod waiting;
pub(super) mod windows;

use self::awaited_entries::AwaitedEntries;
use self::commits::Confirmations;
use self::keeping::Recovered;
use self::owed_wills::OwedWills;
use self::settlement::Settlement;
use super::Shard;
use super::room::Room;
use crate::log::LogFeed;
use crate::queue_pages::PageFeed;

/// The way to the log and back, and who waits for it.
pub(super) struct DurableRoom {
    pub(super) log: Option<LogFeed>,
    /// What the log had when the node started.
    pub(super) recovered: Option<Recovered>,
    /// All that was restored is known to every shard; only then clients may come.
    pub(super) is_restored: bool,
    /// The way to the thread that reads back, page by page, what waits in the log for kept sessions.
    pub(super) pages: Option<PageFeed>,
    /// How far this shard has settled QoS 2 messages for publishers that are silent.
    pub(super) settlement: Settlement,
    /// Messages of other shards that are logged here: how many, and when those shards may be told.
    pub(super) confirmations: Confirmations,
    /// What waits for entries of this shard's own to be committed.
    pub(super) awaited_entries: AwaitedEntries,
    pub(super) owed_wills: OwedWills,
}

impl DurableRoom {
    pub(super) fn new(
        log: Option<LogFeed>,
        recovered: Option<Recovered>,
        pages: Option<PageFeed>,
        shards: u32,
    ) -> Self {
        DurableRoom {
            log,
            recovered,
            is_restored: false,
            pages,
            settlement: Settlement::default(),
            confirmations: Confirmations::new(shards),
            awaited_entries: AwaitedEntries::default(),
            owed_wills: OwedWills::default(),
        }
    }
}

impl Room for DurableRoom {
    fn has_work(shard: &mut Shard) -> bool {
        shard.has_committed() || shard.has_news_for_log() || shard.has_page_work() || shard.may_begin_to_listen()
    }

    fn flush(shard: &mut Shard) {
        if let Some(log) = &mut shard.durable.log {
            log.flush();
        }
        if let Some(pages) = &mut shard.durable.pages {
            pages.flush();
        }
    }

    fn is_settled(shard: &mut Shard) -> bool {
        shard.durable.log.as_mut().is_none_or(LogFeed::is_settled) && shard.is_all_committed()
    }
}
