//! The owner's side of a replay: pages of what is retained here, each made from the table as it is then.
//!
//! An owner keeps nothing for a replay but the questions that it cannot answer yet, because mail that the asking shard
//! knows of has not come. There is at most one question per session.

use crate::mail::{Control, Page, PageRequest};
use crate::shard::Shard;
use crate::slot::ShardId;

/// Nodes of the topic tree that one page may look at.
const NODES_PER_PAGE: usize = 4096;

impl Shard {
    /// Answers a question of any shard, now or when what it needs has been applied.
    pub(in crate::shard) fn answer_page(&mut self, from: ShardId, request: Box<PageRequest>) {
        if !self.retained.sequences.has_applied(&request.need) {
            self.retained.questions.push((from, request));
            return;
        }
        let (messages, next) = self.retained.table.page(&request, NODES_PER_PAGE, self.now_ms);
        let page = Box::new(Page {
            to: request.to,
            id: request.id,
            messages,
            next,
            applied: self.retained.sequences.applied(),
            posted: self.retained.sequences.posted(from),
        });
        if from == self.id {
            self.take_page(from, &page);
        } else {
            self.mail.post.control(from, Control::Page(page));
        }
    }

    /// Answers the questions for which everything has come meanwhile.
    pub(in crate::shard) fn answer_questions(&mut self) {
        for (from, request) in std::mem::take(&mut self.retained.questions) {
            self.answer_page(from, request);
        }
    }
}
