//! What the operator hears, gathered from all who have something to say.

use std::sync::atomic::Ordering;

use lapwing_store::{LogReader, Notice};

use super::Handle;
use crate::notices::{Line, NoticeKind};

const FULL: &str = "the disk is full: what has to be on disk is not acknowledged until there is room, and no new message for \
    it is taken; everything else goes on. Free some space, or shorten a stream's retention";
const ROOM_AGAIN: &str = "the disk has room again: what waited is written and acknowledged";

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
        self.look_at_disk();
        let streams = self.streams.reader().map(LogReader::take_notices).unwrap_or_default();
        let kept = self.kept.as_ref().map(|kept| kept.reader.take_notices()).unwrap_or_default();
        for notice in streams.iter().chain(&kept) {
            let kind = if let Notice::Unread(_) = notice { NoticeKind::Retention } else { NoticeKind::Log };
            self.shared.tell(kind, notice.to_string());
        }
        for notice in self.shared.strangers.take_notices() {
            self.shared.tell(NoticeKind::Refused, notice);
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

    /// Whether what has to be on disk cannot be acknowledged for want of space.
    pub fn disk_is_full(&self) -> bool {
        self.log.as_ref().is_some_and(|(log, _)| log.is_full() || log.is_low())
    }

    /// Says when the disk has become full, and when it has room again.
    fn look_at_disk(&self) {
        let is_full = self.disk_is_full();
        if self.disk_was_full.swap(is_full, Ordering::Relaxed) != is_full {
            self.shared.tell(NoticeKind::Disk, if is_full { FULL } else { ROOM_AGAIN }.to_owned());
        }
    }
}
