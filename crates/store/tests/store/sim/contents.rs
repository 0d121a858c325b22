//! Files and names of the simulated disk: what is live, what is durable, and what a crash makes of the difference.

use std::collections::BTreeMap;
use std::path::PathBuf;

const SECTOR_BYTES: usize = 512;

pub type Names = BTreeMap<PathBuf, usize>;

#[derive(Debug, Clone)]
pub enum NameChange {
    Add(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Debug, Default, Clone)]
pub struct Inode {
    pub live: Vec<u8>,
    pub durable: Vec<u8>,
    pub pending: Vec<Change>,
}

#[derive(Debug, Clone)]
pub enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

/// True once in `of` times.
pub fn chance(random: &mut u64, of: u64) -> bool {
    next_random(random).is_multiple_of(of)
}

/// xorshift64*: small, seeded, good enough to choose what a crash leaves.
pub fn next_random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
}

impl Inode {
    pub fn crashed(&self, random: &mut u64) -> Self {
        let mut durable = self.durable.clone();
        for change in &self.pending {
            match change {
                Change::Length(bytes) if chance(random, 2) => durable.resize(*bytes, 0),
                Change::Length(_) => {}
                Change::Write(at, bytes) => {
                    let mut from = 0;
                    while from < bytes.len() {
                        let until = bytes.len().min(((at + from) / SECTOR_BYTES + 1) * SECTOR_BYTES - at);
                        if chance(random, 2) {
                            write(&mut durable, at + from, &bytes[from..until]);
                        }
                        from = until;
                    }
                }
            }
        }
        Self { live: durable.clone(), durable, pending: vec![] }
    }
}

pub fn write(contents: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if contents.len() < at + bytes.len() {
        contents.resize(at + bytes.len(), 0);
    }
    contents[at..at + bytes.len()].copy_from_slice(bytes);
}

impl NameChange {
    pub fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(path, inode) => drop(names.insert(path.clone(), *inode)),
            Self::Remove(path) => drop(names.remove(path)),
            Self::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
        }
    }
}
