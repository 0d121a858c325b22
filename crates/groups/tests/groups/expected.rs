//! What a client's word must do to what the owner knows and the ledger holds.

use lapwing_dispatch::Acknowledges;
use lapwing_groups::{DropReason, Epoch, MemberOptions, Presence};

use crate::client::Word;
use crate::ledger::State;
use crate::world::World;

impl World {
    /// What the word must do.
    pub fn expect(&mut self, key: u32, epoch: Epoch, word: &Word) {
        if let Word::Join(MemberOptions { declaration, .. }) | Word::Back(declaration) = word {
            self.declared[key as usize] = *declaration;
        }
        match word {
            Word::Redeclare(declaration) => self.declared[key as usize] = *declaration,
            Word::Join(_) if self.kicked.contains(&(key, epoch)) => self.known[key as usize] = Some(Presence::Kicked),
            Word::Join(_) => self.known[key as usize] = Some(Presence::Here),
            Word::Lost(written) => {
                self.ledger.lost(key, written);
                self.change(key, |presence| if presence == Presence::Leaving { presence } else { Presence::Away });
            }
            Word::Back(_) => {
                self.change(key, |presence| if presence == Presence::Leaving { presence } else { Presence::Here });
            }
            Word::Unsubscribe => self.change(key, |_| Presence::Leaving),
            Word::End(written) => {
                self.ledger.lost(key, written);
                for nth in 0..self.ledger.lines.len() {
                    if self.ledger.lines[nth].is_with(key) {
                        self.ledger.end(nth, Some(DropReason::SessionEnded));
                    }
                }
                self.known[key as usize] = None;
            }
            Word::Acknowledged(id, stamps) => match self.ledger.open(key, epoch, *id) {
                Some(nth) => {
                    let is_processed = self.declared[key as usize].acknowledges == Acknowledges::Processed;
                    let done_us = if is_processed { stamps.read_us } else { stamps.written_us };
                    self.ledger.sums.acknowledged += 1;
                    if self.ledger.lines[nth].is_missed(done_us) {
                        self.ledger.miss(nth);
                    }
                    self.ledger.end(nth, None);
                    self.end_overtaken(nth);
                }
                None => self.ledger.sums.late += 1,
            },
            Word::Refused(id) => match self.ledger.open(key, epoch, *id) {
                Some(nth) => {
                    self.ledger.sums.refused += 1;
                    self.ledger.end(nth, None);
                }
                None => self.ledger.sums.late += 1,
            },
            Word::Undeliverable(id) => match self.ledger.open(key, epoch, *id) {
                Some(nth) => self.cannot_have(key, nth),
                None => self.ledger.sums.late += 1,
            },
            Word::HandedBack(id) => match self.ledger.open(key, epoch, *id) {
                Some(nth) => {
                    self.ledger.lines[nth].state = State::Waiting;
                    self.ledger.sums.moved += 1;
                }
                None => self.ledger.sums.late += 1,
            },
        }
        self.rise();
        self.end_for_nobody();
        self.forget_who_left();
    }

    fn change(&mut self, key: u32, to: impl Fn(Presence) -> Presence) {
        let known = &mut self.known[key as usize];
        *known = known.map(to);
    }

    pub fn forget_who_left(&mut self) {
        for (key, known) in self.known.iter_mut().enumerate() {
            let has_any = self.ledger.lines.iter().any(|line| line.is_with(key as u32));
            if *known == Some(Presence::Leaving) && !has_any {
                // With all that was known of it, that it was kicked too.
                *known = None;
                self.kicked.retain(|(kicked, _)| *kicked != key as u32);
            }
        }
    }
}
