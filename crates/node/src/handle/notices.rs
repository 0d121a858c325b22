//! What the operator hears, gathered from all who have something to say.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lapwing_store::{LogReader, Notice};

use super::{Handle, Hindrance};
use crate::notices::{Line, NoticeKind};

const FULL: &str = "the disk is full: what has to be on disk is not acknowledged until there is room, and no new message for \
    it is taken; everything else goes on. Free some space, or shorten a stream's retention";
const ROOM_AGAIN: &str = "the disk has room again: what waited is written and acknowledged";

/// What the operator was told last.
#[derive(Default)]
pub(super) struct Told {
    disk_full: AtomicBool,
    disk_stalled: AtomicBool,
    /// Stalls of the disk that were over.
    disk_stalls: AtomicU64,
    /// A shard that does not go on: its number and one; 0: all do.
    shard: AtomicU64,
}

/// A line for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// What it is about, in a word: `memory`, `clients`.
    pub subject: &'static str,
    /// Whether it is of the node itself, and bad.
    pub is_alarm: bool,
    /// One line, escaped.
    pub text: String,
    /// What is in it by name, as a JSON object; None: it is in words alone.
    pub facts: Option<String>,
}

impl Handle {
    /// What the node and its log have to tell an operator since the last call; who came and went is left out.
    pub fn take_notices(&self) -> Vec<String> {
        let lines = self.take_log().into_iter();
        lines.filter(|line| line.subject != NoticeKind::Clients.as_str()).map(|line| line.text).collect()
    }

    /// The same with what each line is about, and with who came and went.
    pub fn take_log(&self) -> Vec<LogLine> {
        self.look_at_room();
        self.look_at_disk();
        self.look_at_shards();
        let streams = self.streams.reader().map(LogReader::take_notices).unwrap_or_default();
        let kept = self.kept().map(|kept| kept.reader.take_notices()).unwrap_or_default();
        for notice in streams.iter().chain(&kept) {
            let kind = if let Notice::Unread(_) = notice { NoticeKind::Retention } else { NoticeKind::Log };
            self.audit_loss(notice);
            self.shared.tell(kind, notice.to_string());
        }
        self.audit_trimmed(false);
        for notice in self.shared.strangers.take_notices() {
            self.shared.notices.tell_with(NoticeKind::Refused, self.shared.now_ms(), || notice);
        }
        for failed in self.hooks.iter().filter_map(|hooks| hooks.take_notice()) {
            self.shared.tell(NoticeKind::Hooks, failed);
        }
        for failed in self.shared.strategies.take_notices() {
            self.shared.tell(NoticeKind::Strategies, failed);
        }
        let lines = self.shared.take_notices().into_iter();
        let told = |(kind, line): (NoticeKind, Line)| LogLine {
            subject: kind.as_str(),
            is_alarm: kind.is_alarm(),
            text: line.text,
            facts: line.facts.map(|facts| facts.to_string()),
        };
        lines.map(told).collect()
    }

    /// Times that the disk was asked to keep what had come, and the microseconds that took in all: of streams and of what is
    /// kept for sessions, since the start.
    pub fn disk_syncs(&self) -> (u64, u64) {
        let streams = self.streams.reader().map(|reader| reader.counters().syncs()).unwrap_or_default();
        let kept = self.kept().map(|kept| kept.reader.counters().syncs()).unwrap_or_default();
        (streams.0 + kept.0, streams.1 + kept.1)
    }

    /// Says when the disk has become full, and when it has room again.
    fn look_at_room(&self) {
        let is_full = self.disk_is_full();
        if self.told.disk_full.swap(is_full, Ordering::Relaxed) != is_full {
            self.shared.tell(NoticeKind::Disk, if is_full { FULL } else { ROOM_AGAIN }.to_owned());
        }
    }

    /// Says when the disk does not answer, and when it does again.
    fn look_at_disk(&self) {
        let Some((log, _)) = &self.log else { return };
        let (stalls, took) = log.pulse.stalls();
        let is_over = self.told.disk_stalls.swap(stalls, Ordering::Relaxed) != stalls;
        let stall = self.disk_stall();
        let was_told = self.told.disk_stalled.swap(stall.is_some(), Ordering::Relaxed);
        if is_over {
            let text =
                format!("the disk answers again, after {}: what waited is written and acknowledged", words(took));
            self.shared.tell(NoticeKind::Disk, text);
        }
        if let Some(stall) = stall.filter(|_| is_over || !was_told) {
            self.shared.tell(NoticeKind::Disk, line_of(&stall));
        }
    }

    /// Says when a shard does not go on, and when all do again.
    fn look_at_shards(&self) {
        let stall = self.shard_stall();
        let number = stall.map_or(0, |(shard, _)| shard as u64 + 1);
        let before = self.told.shard.swap(number, Ordering::Relaxed);
        if before == number {
            return;
        }
        if before != 0 {
            self.shared.tell(NoticeKind::Stalled, format!("shard {} goes on again", before - 1));
        }
        if let Some((shard, age)) = stall {
            self.shared.tell(NoticeKind::Stalled, line_of(&Hindrance::ShardStalled(shard, age)));
        }
    }
}

fn line_of(hindrance: &Hindrance) -> String {
    format!("{hindrance}. {}", hindrance.remedy().trim_end_matches('.'))
}

fn words(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
