//! Which segment files count. The checkpoint at the head of the active segment lists them; records behind it say what
//! changed. So a file that is missing is noticed, and one that was given up is known to be rubbish.

use std::collections::BTreeMap;

use crate::record::{Fault, check_numbers, has_parts, u32_at, u64_at};

/// A sealed segment as the journal lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Behind its last record.
    pub end: u64,
    /// `LIFETIME_JOURNAL` or `LIFETIME_KEPT`.
    pub lifetime: u8,
}

/// Segments that gave way to one that holds what was live in them, or to none because nothing was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub sources: Vec<u64>,
    /// The sequence of the segment of kept entries, and where it ends.
    pub output: Option<(u64, u64)>,
}

impl Replaced {
    const FIXED_BYTES: usize = 24;

    /// The body of its record. A sequence is never 0.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (sequence, end) = self.output.unwrap_or_default();
        let mut body = sequence.to_le_bytes().to_vec();
        body.extend_from_slice(&end.to_le_bytes());
        body.extend_from_slice(&(self.sources.len() as u32).to_le_bytes());
        body.extend_from_slice(&[0; 4]);
        self.sources.iter().for_each(|source| body.extend_from_slice(&source.to_le_bytes()));
        body
    }

    /// Reads the body of a verified record.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, Fault> {
        if body.len() < Self::FIXED_BYTES || !has_parts(body, Self::FIXED_BYTES, u32_at(body, 16), 8) {
            return Err(Fault::Misplaced("a record of replaced segments of the wrong length"));
        }
        let output = Some((u64_at(body, 0), u64_at(body, 8))).filter(|output| output.0 != 0);
        let sources: Vec<u64> = body[Self::FIXED_BYTES..].chunks_exact(8).map(|bytes| u64_at(bytes, 0)).collect();
        check_numbers(output.iter().flat_map(|(sequence, end)| [*sequence, *end]))?;
        Ok(Self { sources, output })
    }

    /// Follows the record.
    pub(crate) fn apply(&self, segments: &mut BTreeMap<u64, Listed>) {
        for source in &self.sources {
            segments.remove(source);
        }
        if let Some((sequence, end)) = self.output {
            segments.insert(sequence, Listed { end, lifetime: crate::record::LIFETIME_KEPT });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_every_truncation_is_noticed() {
        for output in [None, Some((9, 4096))] {
            let replaced = Replaced { sources: vec![3, 5], output };
            let body = replaced.encode();
            assert_eq!(Replaced::decode(&body), Ok(replaced));
            for length in 0..body.len() {
                assert!(Replaced::decode(&body[..length]).is_err());
            }
        }
    }
}
