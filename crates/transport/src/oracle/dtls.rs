//! DTLS: any datagrams, of several addresses, at any point of real handshakes and behind them.
//!
//! Each address has a device that speaks to a server, and what goes to the server is in the hands of the input: harmed, cut, lost,
//! held back, sent again, sent from another address, or made of nothing. Whatever it does, nobody who has not shown where he is
//! gets more bytes than came from there, nothing is heard that no device has said, and nothing twice, and what the server keeps
//! is bounded.

mod device;
mod place;

use std::time::{Duration, Instant};

use device::Device;
use place::{Place, Said};

use super::choices::Choices;
use crate::dtls::DtlsOutput;

/// Addresses.
const PLACES: usize = 3;
/// Datagrams that were seen on the way, for those that send them again.
const SEEN_MAX: usize = 64;
/// Flights of a device that go by themselves.
const ROUNDS_MAX: usize = 6;

/// Reads `input` as a byte of choices (bits 0 and 1: the version that devices speak, or that they have pre-shared keys; bit 2:
/// client certificates are asked for) and what happens then, step by step.
///
/// Returns whether anybody has shaken hands.
pub fn check_dtls(input: &[u8]) -> bool {
    let mut choices = Choices::new(input);
    let Some(kind) = choices.byte() else { return false };
    let mut scene = Scene::new(kind);
    while let Some(step) = choices.byte() {
        scene.step(step, &mut choices);
    }
    scene.has_opened
}

struct Scene {
    kind: u8,
    places: [Place; PLACES],
    devices: [Option<Device>; PLACES],
    said: Said,
    seen: Vec<Vec<u8>>,
    output: DtlsOutput,
    now: Instant,
    has_opened: bool,
}

impl Scene {
    fn new(kind: u8) -> Self {
        Scene {
            kind,
            places: Default::default(),
            devices: Default::default(),
            said: Said::default(),
            seen: Vec::new(),
            output: DtlsOutput::default(),
            now: Instant::now(),
            has_opened: false,
        }
    }

    /// One step: where, and what.
    fn step(&mut self, step: u8, choices: &mut Choices<'_>) {
        let at = usize::from(step & 3) % PLACES;
        match step >> 2 & 15 {
            // Most of all, so that handshakes are done.
            0..=3 => self.run(at),
            4 => self.next(at, |datagram| vec![datagram]),
            5 => {
                let (where_to, bits) = (choices.number(), choices.byte().unwrap_or(1));
                self.next(at, |mut datagram| {
                    let where_to = where_to % datagram.len().max(1);
                    datagram.iter_mut().skip(where_to).take(1).for_each(|byte| *byte ^= bits);
                    vec![datagram]
                });
            }
            6 => {
                // Something of a record's header, or of its first message's.
                let (where_to, value) = (choices.number() % 26, choices.byte().unwrap_or(0));
                self.next(at, |mut datagram| {
                    datagram.iter_mut().skip(where_to).take(1).for_each(|byte| *byte = value);
                    vec![datagram]
                });
            }
            7 => {
                let len = choices.number();
                self.next(at, |datagram| vec![datagram[..len % datagram.len().max(1)].to_vec()]);
            }
            8 => self.next(at, |_| Vec::new()),
            9 => self.next(at, |datagram| vec![datagram.clone(), datagram]),
            10 => self.again(at, choices.number()),
            11 => {
                let len = choices.number() % 64;
                self.give(at, choices.bytes(len));
            }
            12 => {
                let message = piece_of_a_message(choices);
                self.give(at, &message);
            }
            13 => self.pass(Duration::from_millis(20 * u64::from(choices.byte().unwrap_or(0)))),
            14 => self.talk(at, choices.byte().unwrap_or(0)),
            _ => self.end(at, choices.byte().unwrap_or(0)),
        }
    }

    fn device(&mut self, at: usize) -> &mut Device {
        self.devices[at].get_or_insert_with(|| Device::new(self.kind, self.now))
    }

    /// Everything goes its way, until a handshake is done and something was said.
    fn run(&mut self, at: usize) {
        for _ in 0..ROUNDS_MAX {
            let datagrams = self.device(at).take_all();
            datagrams.iter().for_each(|datagram| self.give(at, datagram));
        }
    }

    /// The device's next datagram comes as `harm` has it.
    fn next(&mut self, at: usize, harm: impl FnOnce(Vec<u8>) -> Vec<Vec<u8>>) {
        if let Some(datagram) = self.device(at).take() {
            self.note(&datagram);
            harm(datagram).iter().for_each(|datagram| self.give(at, datagram));
        }
    }

    /// Something that was on its way before comes once more, perhaps from elsewhere.
    fn again(&mut self, at: usize, which: usize) {
        if let Some(datagram) = self.seen.get(which % self.seen.len().max(1)).cloned() {
            self.give(at, &datagram);
        }
    }

    fn note(&mut self, datagram: &[u8]) {
        if self.seen.len() < SEEN_MAX {
            self.seen.push(datagram.to_vec());
        }
    }

    /// A datagram comes from there, and its answer goes there.
    fn give(&mut self, at: usize, datagram: &[u8]) {
        self.note(datagram);
        let Scene { places, devices, said, output, now, kind, .. } = self;
        self.has_opened |= places[at].take(*kind, datagram, *now, output, said);
        if let Some(device) = &mut devices[at] {
            device.hear(output, *now);
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        let Scene { places, devices, output, now, .. } = self;
        for (place, device) in places.iter_mut().zip(devices) {
            place.pass(*now, output);
            if let Some(device) = device {
                device.hear(output, *now);
                device.pass(*now);
            }
        }
    }

    /// Somebody says something to the other.
    fn talk(&mut self, at: usize, choice: u8) {
        if choice & 1 == 0 {
            let message = self.said.next(choice);
            self.device(at).say(&message);
        } else {
            let Scene { places, devices, output, now, .. } = self;
            places[at].say(&[choice; 40], *now, output);
            if let Some(device) = &mut devices[at] {
                device.hear(output, *now);
            }
        }
    }

    /// The device is started again, or one side says goodbye.
    fn end(&mut self, at: usize, choice: u8) {
        match choice % 3 {
            0 => self.devices[at] = None,
            1 => self.device(at).close(),
            _ => {
                self.places[at].close(&mut self.output);
                if let Some(device) = &mut self.devices[at] {
                    device.hear(&self.output, self.now);
                }
            }
        }
    }
}

/// A record in the clear with a message of a handshake, or a piece of one, that somebody has made up.
fn piece_of_a_message(choices: &mut Choices<'_>) -> Vec<u8> {
    let [epoch, number, kind, message, offset, length, claimed] = std::array::from_fn(|_| choices.byte().unwrap_or(0));
    let body = choices.bytes(usize::from(length % 48)).to_vec();
    // Lengths and places are small numbers, or as large as can be.
    let wide = |byte: u8| if byte < 200 { [0, 0, byte] } else { [byte, byte, byte] };
    let head = [&[kind % 25][..], &wide(claimed), &[0, message % 8], &wide(offset), &[0, 0, body.len() as u8]].concat();
    let len = ((head.len() + body.len()) as u16).to_be_bytes();
    [&[22, 254, 253, 0, epoch % 4, 0, 0, 0, 0, 0, number][..], &len[..], &head[..], &body[..]].concat()
}

/// Handshakes of each version that are done, with and without trouble, and hellos that never come to anything.
pub fn dtls_seeds() -> Vec<Vec<u8>> {
    // Steps, by what they do; see `Scene::step`.
    const RUN: u8 = 0;
    let [one, harm, lose, twice, again, piece, pass, talk, end] =
        [4, 5, 8, 9, 10, 12, 13, 14, 15].map(|what: u8| what << 2);
    let mut seeds = Vec::new();
    for kind in 0..8 {
        seeds.push(vec![kind, RUN, talk, 0, RUN, talk, 1, RUN, again, 3, again, 9, end, 1, RUN]);
        seeds.push(vec![kind, one, lose, pass, 80, RUN, twice, talk, 2, twice, end, 0, RUN, talk, 4, RUN, end, 2]);
        seeds.push(vec![kind, RUN, RUN + 1, talk + 1, 6, RUN + 1, again + 2, 0, again + 2, 1, RUN + 2, harm, 40, 1]);
        let pieces = (0..12).flat_map(|n| [piece, 0, n, 1, 0, n, 1, 250, n]);
        seeds.push([kind].into_iter().chain(pieces).chain([RUN, piece, 1, 7, 24, 3, 0, 1, 1, 0]).collect());
    }
    seeds
}
