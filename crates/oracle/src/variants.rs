//! More inputs of the kept ones, where no fuzzer is at hand: the same for the same seed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// A small generator (xorshift64*): reproducible, and no dependency.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// `seed`: any number.
    pub const fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`, which is at least 1.
    pub const fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 16) as usize % end
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.bits() as u8).collect()
    }
}

/// A variant of `input`: some bytes flipped, set, cut out, repeated, or made longer, and perhaps joined to a part of
/// `other`.
pub fn variant(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        change(&mut bytes, other, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    /// Values at which something tends to change.
    const EDGES: [u8; 10] = [0, 1, 2, 0x7F, 0x80, 0xFF, b'/', b'#', b'+', b'$'];
    let at = random.below(bytes.len() + 1);
    match random.below(7) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = EDGES[random.below(EDGES.len())],
        2 if at < bytes.len() => bytes[at] = random.bits() as u8,
        3 if at < bytes.len() => drop(bytes.drain(at..(at + 1 + random.below(4)).min(bytes.len()))),
        4 => drop(bytes.splice(at..at, random.bytes(3))),
        5 => {
            let from = random.below(other.len() + 1);
            let len = random.below(other.len() - from + 1);
            drop(bytes.splice(at..at, other[from..from + len].iter().copied()));
        }
        _ => bytes.truncate(at.max(1)),
    }
}

/// The kept inputs of a fuzz target, in the order of their names.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder of the repository").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a file of the repository")).collect()
}

/// Runs `check` over the seeds of `target`, `runs` variants of them, and as many inputs of random bytes.
///
/// `LAPWING_ORACLE_RUNS` multiplies `runs`. Panics as `check` does, with the input in hexadecimal before it.
pub fn check_around(target: &str, runs: usize, check: impl FnMut(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "fuzz/seeds/{target} is empty");
    check_near(target, &seeds, runs, check);
}

/// [`check_around`] with seeds that were made by code.
pub fn check_near(target: &str, seeds: &[Vec<u8>], runs: usize, mut check: impl FnMut(&[u8])) {
    let runs = runs * std::env::var("LAPWING_ORACLE_RUNS").map_or(1, |n| n.parse().expect("a number"));
    let mut random = Random::new(seeds.len() as u64);
    let variants: Vec<Vec<u8>> = (0..runs)
        .map(|_| variant(&seeds[random.below(seeds.len())], &seeds[random.below(seeds.len())], &mut random))
        .collect();
    let noise: Vec<Vec<u8>> = (0..runs).map(|n| Random::new(n as u64).bytes(n % 600)).collect();
    for input in seeds.iter().chain(&variants).chain(&noise) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(input))) {
            let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
            eprintln!("the input of fuzz target {target}: {hex}");
            resume_unwind(panic);
        }
    }
}
