//! Following one partition through a segment: from commit to commit, over the runs of other partitions.

use crate::record::CommitBody;

/// Where a walk of one partition stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    /// The record to look at next.
    pub at: u64,
    /// Records left in the current run of the partition and where the next commit begins; unknown when the walk was
    /// dropped into the middle of a commit.
    run: Option<(u32, u64)>,
}

impl Hop {
    /// A walk from `at`, where a record starts.
    pub(crate) fn new(at: u64) -> Self {
        Self { at, run: None }
    }

    /// A commit record lies at `at` and ends at `behind`: on to the partition's run, or behind the commit when it has
    /// none.
    pub(crate) fn enter(&mut self, commit: &CommitBody, behind: u64, partition: u32) {
        let commit_end = behind.saturating_add(commit.runs_bytes());
        let before = commit.runs.iter().take_while(|run| run.partition != partition);
        let skipped = before.fold(0u64, |sum, run| sum.saturating_add(run.bytes));
        match commit.runs.iter().find(|run| run.partition == partition) {
            Some(run) => (self.at, self.run) = (behind.saturating_add(skipped), Some((run.records, commit_end))),
            None => (self.at, self.run) = (commit_end, None),
        }
    }

    /// The record at `at` was passed; it ends at `behind`: on to the next, or behind the commit when it was the run's
    /// last.
    pub(crate) fn pass(&mut self, behind: u64) {
        (self.at, self.run) = match self.run {
            Some((1, commit_end)) => (commit_end, None),
            Some((records, commit_end)) => (behind, Some((records - 1, commit_end))),
            None => (behind, None),
        };
    }
}
