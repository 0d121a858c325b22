//! Which segments are rewritten together: decided here, done elsewhere.

/// A segment that was looked at and has live entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub sequence: u64,
    /// Of the file; of the entries in it when they were kept.
    pub bytes: u64,
    /// Of its live entries.
    pub live_bytes: u64,
    pub is_kept: bool,
}

impl Candidate {
    /// Rewriting frees more than it costs.
    fn is_sparse(&self) -> bool {
        self.live_bytes * 2 < self.bytes
    }
}

/// The sequences to rewrite now, none when that is not worth it yet: sparse segments until their live entries fill half a
/// segment or the round is over. Small segments of kept entries join, each not larger than what it joins: so their number
/// stays at the logarithm of the entries that they took in, and an entry is written again as often at most.
pub(crate) fn choose(candidates: &[Candidate], segment_bytes: u64, round_over: bool) -> Vec<u64> {
    let mut chosen = vec![];
    let mut bytes = 0;
    for candidate in candidates.iter().filter(|candidate| candidate.is_sparse()) {
        if bytes + candidate.live_bytes <= segment_bytes || chosen.is_empty() {
            bytes += candidate.live_bytes;
            chosen.push(candidate.sequence);
        }
    }
    if chosen.is_empty() || bytes * 2 < segment_bytes && !round_over {
        return vec![];
    }
    let is_small = |candidate: &&Candidate| candidate.is_kept && !candidate.is_sparse();
    let mut small: Vec<_> = candidates.iter().filter(is_small).collect();
    small.sort_by_key(|candidate| candidate.live_bytes);
    for candidate in small {
        if candidate.live_bytes > bytes || bytes + candidate.live_bytes > segment_bytes {
            break;
        }
        bytes += candidate.live_bytes;
        chosen.push(candidate.sequence);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn young(sequence: u64, live_bytes: u64) -> Candidate {
        Candidate { sequence, bytes: 1000, live_bytes, is_kept: false }
    }

    fn kept(sequence: u64, bytes: u64) -> Candidate {
        Candidate { sequence, bytes, live_bytes: bytes, is_kept: true }
    }

    #[test]
    fn sparse_segments_are_gathered_until_they_fill_half_a_segment_or_the_round_is_over() {
        assert_eq!(choose(&[young(1, 100), young(2, 900)], 1000, false), [0u64; 0]);
        assert_eq!(choose(&[young(1, 100), young(2, 900)], 1000, true), [1]);
        assert_eq!(choose(&[young(1, 300), young(2, 300), young(3, 500)], 1000, false), [1, 2]);
        assert_eq!(choose(&[young(2, 500), young(3, 999)], 1000, true), [0u64; 0], "half live is enough");
        let many: Vec<_> = (0..9).map(|sequence| young(sequence, 400)).collect();
        assert_eq!(choose(&many, 1000, false), [0, 1], "no more than fill a segment");
    }

    #[test]
    fn small_kept_segments_join_only_what_is_as_large() {
        assert_eq!(choose(&[kept(1, 50), kept(2, 60)], 1000, true), [0u64; 0], "nothing to join");
        assert_eq!(choose(&[kept(1, 300), kept(2, 60), young(3, 100)], 1000, true), [3, 2]);
        assert_eq!(choose(&[kept(1, 150), kept(2, 60), young(3, 100)], 1000, true), [3, 2, 1]);
        assert_eq!(choose(&[kept(1, 600), young(3, 450), young(4, 200)], 1000, true), [3, 4], "it would be too large");
    }
}
