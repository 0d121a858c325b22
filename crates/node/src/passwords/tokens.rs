//! What is counted and told of tokens: which check they failed, and nothing that stands in them.

use std::sync::atomic::{AtomicU64, Ordering};

use lapwing_access::{Identity, Refusal, TokenFault};

use super::source::Source;
use crate::metrics::Metric;

/// Between two lines.
const PAUSE_MS: u64 = 10_000;

/// Written by the threads that check.
#[derive(Default)]
pub(super) struct TokenCounters {
    good: AtomicU64,
    faults: [AtomicU64; TokenFault::COUNT],
}

impl TokenCounters {
    pub(super) fn count(&self, result: &Result<Identity, TokenFault>) {
        let cell = match result {
            Ok(_) => &self.good,
            Err(fault) => &self.faults[*fault as usize],
        };
        cell.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let help = "Tokens (JWT) that were refused, by the check they failed.";
        let good = Metric::counter("lapwing_tokens_accepted_total", "Tokens (JWT) that were good.", get(&self.good));
        let refused = TokenFault::ALL.iter().map(|(fault, label)| {
            let count = get(&self.faults[*fault as usize]);
            Metric::counter("lapwing_tokens_refused_total", help, count).with("reason", *label)
        });
        std::iter::once(good).chain(refused).collect()
    }
}

/// What a client is told: that it is not good, and nothing of why; or that nobody can say now.
pub(super) const fn refusal_of(fault: TokenFault) -> Refusal {
    match fault {
        TokenFault::NoKeys => Refusal::Unavailable,
        _ => Refusal::BadCredentials,
    }
}

/// What the operator hears of bad tokens: the first at once, then one line in ten seconds, however many they are.
#[derive(Debug, Default)]
pub(super) struct TokenWords {
    /// 0: nothing was told yet.
    told_ms: u64,
    counts: [u64; TokenFault::COUNT],
    last: Option<Source>,
}

impl TokenWords {
    pub(super) fn refused(&mut self, source: Source, fault: TokenFault) {
        self.counts[fault as usize] += 1;
        self.last = Some(source);
    }

    /// The line that is due.
    pub(super) fn take(&mut self, now_ms: u64) -> Option<String> {
        if self.told_ms != 0 && now_ms < self.told_ms + PAUSE_MS {
            return None;
        }
        let last = self.last.take()?;
        self.told_ms = now_ms.max(1);
        let counts = std::mem::take(&mut self.counts);
        let kinds = TokenFault::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
        let kinds: Vec<String> = kinds.map(|((_, label), count)| format!("{count} {label}")).collect();
        Some(format!("tokens refused: {}; the last from {last}", kinds.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_token_is_told_at_once_and_the_others_are_counted() {
        let mut words = TokenWords::default();
        assert_eq!(words.take(5), None);
        words.refused(Source::Local, TokenFault::Expired);
        assert_eq!(words.take(5).unwrap(), "tokens refused: 1 expired; the last from local");
        for fault in [TokenFault::Expired, TokenFault::Signature, TokenFault::Expired] {
            words.refused(Source::Local, fault);
        }
        assert_eq!(words.take(10_004), None);
        assert_eq!(words.take(10_005).unwrap(), "tokens refused: 1 signature, 2 expired; the last from local");
        assert_eq!(words.take(90_000), None);
    }

    #[test]
    fn labels_stand_in_the_order_of_the_faults() {
        for (n, (fault, label)) in TokenFault::ALL.iter().enumerate() {
            assert_eq!((*fault as usize, fault.name()), (n, *label));
        }
    }
}
