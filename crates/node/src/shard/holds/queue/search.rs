//! New subscriptions, each once through the topics that wait, in shares.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_router::Cursor;

use super::{HoldQueue, Place};

/// Filters whose topics are looked for, and how far the first of them has come.
#[derive(Default)]
pub(super) struct Searches {
    filters: VecDeque<Arc<str>>,
    after: Option<Cursor>,
}

/// Different filters that are looked for one after the other; beyond, one search through everything stands for all.
const SEARCHES_MAX: usize = 1024;

impl<T> HoldQueue<T> {
    /// Somebody has subscribed to `filter`: what waits under it is to be offered.
    pub(in crate::shard::holds) fn wanted(&mut self, filter: &str) {
        let filters = &mut self.searches.filters;
        // Nothing is offered while a search goes on, so what it has passed is ready still: the same filter need not be sought twice.
        if self.waiting.is_empty() || filters.iter().any(|known| **known == *filter) {
            return;
        }
        if filters.len() >= SEARCHES_MAX {
            filters.clear();
            self.searches.after = None;
            filters.push_back("#".into());
            return;
        }
        filters.push_back(filter.into());
    }

    pub(in crate::shard::holds) fn is_searching(&self) -> bool {
        !self.searches.filters.is_empty()
    }

    /// Looks at no more than `nodes_max` nodes of the tree of topics, for the filters that are sought.
    pub(in crate::shard::holds) fn search(&mut self, nodes_max: usize) {
        let Some(filter) = self.searches.filters.front().cloned() else { return };
        let mut found = Vec::new();
        let after = self.lines.page(&filter, self.searches.after.as_ref(), nodes_max, |line, _| {
            if line.place != Place::Ready {
                found.push(line.topic.clone());
            }
            ControlFlow::Continue(())
        });
        for topic in found {
            self.place(&topic, Place::Ready);
        }
        if after.is_none() {
            self.searches.filters.pop_front();
        }
        self.searches.after = after;
    }
}
