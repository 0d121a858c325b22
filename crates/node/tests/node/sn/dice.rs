//! Numbers that look random, the same for the same seed.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Anything (SplitMix64).
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `below` - 1.
    pub fn below(&mut self, below: usize) -> usize {
        (self.roll() % below as u64) as usize
    }

    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
