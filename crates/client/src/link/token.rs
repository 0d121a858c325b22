//! What comes back with the answer to a publication: its number and its cost, in the one word that the protocol keeps.

/// The upper half is the lower half of the number: no link has four billion publications on their way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub u64);

impl Token {
    /// Of the publication `number` that costs `cost`: less than 2^32 if it can be sent at all (a packet has 2^28 bytes).
    pub fn of(number: u64, cost: usize) -> Self {
        Self(number << 32 | u64::from(cost as u32))
    }

    /// Its cost.
    pub fn cost(self) -> usize {
        self.0 as u32 as usize
    }

    /// Its number; `latest` is that of the publication handed over last.
    pub fn number(self, latest: u64) -> u64 {
        let since = (latest as u32).wrapping_sub((self.0 >> 32) as u32);
        latest.saturating_sub(u64::from(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do both come back, also where the lower half of the number has begun anew?
    #[test]
    fn both_come_back() {
        let round = 1 << 32;
        for (number, latest) in
            [(1, 1), (1, 10_000), (round - 1, round + 5), (round, round), (3 * round + 7, 4 * round)]
        {
            for cost in [0, 64, 300 << 20, u32::MAX as usize] {
                let token = Token::of(number, cost);
                assert_eq!((token.number(latest), token.cost()), (number, cost));
            }
        }
    }
}
