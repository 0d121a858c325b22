//! Datagrams that mean harm: random bytes, messages of every kind with anything in them, the same spoiled, forwarders in
//! forwarders.

use super::dice::Dice;

/// Types of messages, those that only gateways say and one that there is not included.
const KINDS: [u8; 28] = [
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0C, 0x0C, 0x0D, 0x0E, 0x0F, 0x10,
    0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1A, 0x1C, 0x1D,
];
/// So that names meet each other, and few are wildcards.
const LETTERS: &[u8] = b"abababababccc///+#";

/// One of them.
pub fn datagram(dice: &mut Dice) -> Vec<u8> {
    match dice.below(8) {
        0 => noise(dice, 40),
        1 | 2 => {
            let message = message(dice);
            spoiled(message, dice)
        }
        _ => message(dice),
    }
}

/// The same from behind a forwarder, which may be behind another one.
pub fn forwarded(dice: &mut Dice) -> Vec<u8> {
    let mut whole = datagram(dice);
    for _ in 0..=dice.below(10) / 8 {
        whole = [&[4, 0xFE, dice.below(4) as u8, b'n' + dice.below(4) as u8][..], &whole].concat();
    }
    whole
}

/// CONNECT with a clean session.
pub fn connect(client_id: &str) -> Vec<u8> {
    [&[6 + client_id.len() as u8, 0x04, 0x04, 0x01, 0, 60][..], client_id.as_bytes()].concat()
}

fn noise(dice: &mut Dice, below: usize) -> Vec<u8> {
    (0..dice.below(below)).map(|_| dice.roll() as u8).collect()
}

fn name(dice: &mut Dice) -> Vec<u8> {
    let len = if dice.percent(95) { 1 + dice.below(4) } else { 0 };
    (0..len).map(|_| LETTERS[dice.below(LETTERS.len())]).collect()
}

/// 1 to 4, so that ids meet each other, and seldom 0, which is none.
fn id(dice: &mut Dice) -> [u8; 2] {
    [0, if dice.percent(95) { 1 + dice.below(4) as u8 } else { 0 }]
}

fn message(dice: &mut Dice) -> Vec<u8> {
    let kind = KINDS[dice.below(KINDS.len())];
    let flags = if dice.percent(80) { dice.roll() as u8 & 0b1111_1110 } else { dice.roll() as u8 };
    let body = match kind {
        0x04 => [&[flags & 0x0C, 1, 0, 60][..], &name(dice)].concat(),
        0x07 | 0x1A => [&[flags][..], &name(dice)].concat(),
        0x09 | 0x1C => noise(dice, 20),
        0x0A => [&[0, 0, 0, 7][..], &name(dice)].concat(),
        0x0B | 0x0D => [&id(dice)[..], &id(dice), &[dice.below(4) as u8]].concat(),
        0x0C => [&[flags][..], &id(dice), &id(dice), &noise(dice, 20)].concat(),
        0x0E..=0x10 => id(dice).to_vec(),
        0x12 | 0x14 => [&[flags][..], &id(dice), &name(dice)].concat(),
        0x16 => name(dice),
        0x18 => id(dice)[..2 * dice.below(2)].to_vec(),
        _ => noise(dice, 4),
    };
    [&[body.len() as u8 + 2, kind][..], &body].concat()
}

/// Bytes changed, cut off or added.
fn spoiled(mut message: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    match dice.below(3) {
        0 => message.truncate(dice.below(message.len())),
        1 => message.extend(noise(dice, 10)),
        _ => {
            for _ in 0..=dice.below(3) {
                let at = dice.below(message.len());
                message[at] = dice.roll() as u8;
            }
        }
    }
    message
}
