//! What a shard counts of the hooks' verdicts; the hook thread counts its calls itself.

use super::{Counter, Metric, ShardCounters};
use crate::hooks::{HookControl, HookName, Missing};

/// Counters by hook. Written by one shard.
#[derive(Debug, Default)]
pub(crate) struct HookCounters {
    refused: [Counter; HookName::COUNT],
    late: [Counter; HookName::COUNT],
    queue_full: [Counter; HookName::COUNT],
}

impl HookCounters {
    /// A hook said no.
    pub(crate) fn refused(&self, hook: HookName) {
        self.refused[hook as usize].add(1);
    }

    /// So many calls have no answer. What failed is counted where it failed.
    pub(crate) fn missing(&self, hook: HookName, why: Missing, calls: usize) {
        match why {
            Missing::Failed => {}
            Missing::Late => self.late[hook as usize].add(calls as u64),
            Missing::QueueFull => self.queue_full[hook as usize].add(calls as u64),
        }
    }

    /// Adds up what `shards` and the hook thread have counted.
    pub(crate) fn collect(shards: &[&ShardCounters], control: &HookControl) -> Vec<Metric> {
        let sum = |field: fn(&HookCounters) -> &[Counter; HookName::COUNT], hook: HookName| {
            shards.iter().map(|shard| field(&shard.hooks)[hook as usize].get()).sum::<u64>()
        };
        let mut metrics = control.collect();
        for hook in HookName::ALL.into_iter().filter(|hook| hook.decides()) {
            let help = "Work that a hook has refused.";
            let refused = sum(|counters| &counters.refused, hook);
            metrics.push(Metric::counter("lapwing_hook_refusals_total", help, refused).with("hook", hook.as_str()));
        }
        for hook in HookName::ALL {
            let reasons = [
                ("failed", control.failed(hook)),
                ("late", sum(|counters| &counters.late, hook)),
                ("queue_full", sum(|counters| &counters.queue_full, hook)),
            ];
            for (reason, calls) in reasons {
                let help = "Calls without an answer, by reason: on_failure decides; an observation is lost.";
                let metric = Metric::counter("lapwing_hook_failures_total", help, calls);
                metrics.push(metric.with("hook", hook.as_str()).with("reason", reason));
            }
        }
        metrics
    }
}
