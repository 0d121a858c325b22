//! What a peer may make us keep until it has shaken hands.
//!
//! `dimpl` keeps what it cannot read yet, and for each record, however small, several kilobytes beside it. So hellos are counted
//! before the cookie is back, when nobody knows who sends them, and records behind it.

/// Datagrams of one address until its cookie is back: hellos that go again, and one that comes in pieces.
const HELLOS_MAX: u32 = 8;
/// Pieces among them: what is there of a message costs the most.
const PIECES_MAX: u32 = 4;
/// The largest of them: a hello with a long cookie and keys of several kinds.
const HELLO_BYTES_MAX: usize = 2048;
/// Records from the cookie to the end of the handshake: a flight of a client has three to five, and goes again some times.
const RECORDS_MAX: usize = 32;
/// Their bytes: a long chain of certificates, some times.
const HANDSHAKE_BYTES_MAX: usize = 64 << 10;

/// The header of a record in the clear, and of DTLS 1.2: type, version, epoch, number, length.
const HEADER_BYTES: usize = 13;
/// The header of a message in it: type, length, number, and the place and length of the piece.
const MESSAGE_BYTES: usize = 12;

/// What becomes of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is read.
    Read,
    /// It is nothing that could come now.
    Ignored,
    /// Its peer has sent enough.
    Enough,
}

/// What one peer has spent.
#[derive(Debug, Default)]
pub(super) struct Budget {
    hellos: u32,
    pieces: u32,
    records: usize,
    bytes: usize,
}

impl Budget {
    /// One that comes before the cookie: it is read if it has one record, with one message or a piece of one.
    pub(super) fn hello(&mut self, datagram: &[u8]) -> Taken {
        self.hellos += 1;
        let is_whole = one_hello(datagram).filter(|_| datagram.len() <= HELLO_BYTES_MAX);
        self.pieces += u32::from(is_whole == Some(false));
        match is_whole {
            _ if self.hellos > HELLOS_MAX || self.pieces > PIECES_MAX => Taken::Enough,
            None => Taken::Ignored,
            Some(_) => Taken::Read,
        }
    }

    /// One that comes between the cookie and the end of the handshake.
    pub(super) fn step(&mut self, datagram: &[u8]) -> Taken {
        self.records += records(datagram);
        self.bytes += datagram.len();
        let is_within = self.records <= RECORDS_MAX && self.bytes <= HANDSHAKE_BYTES_MAX;
        if is_within { Taken::Read } else { Taken::Enough }
    }
}

/// Whether there is a whole message in the one record of a datagram, or a piece; `None`: there is something else, or it is not the
/// first or the second message, as hellos are.
fn one_hello(datagram: &[u8]) -> Option<bool> {
    let at = |from: usize, to: usize| number(datagram.get(from..to));
    let (record, message, order, piece) = (at(11, 13), at(14, 17), at(17, 19), at(22, 25));
    let is_one = record + HEADER_BYTES == datagram.len() && piece + MESSAGE_BYTES == record && order <= 1;
    is_one.then_some(piece == message)
}

/// How many records there are; what is cut off counts as one.
fn records(mut datagram: &[u8]) -> usize {
    let mut count = 0;
    while let Some(&first) = datagram.first() {
        count += 1;
        let end = record_end(first, datagram);
        datagram = datagram.get(end..).unwrap_or_default();
    }
    count
}

fn record_end(first: u8, datagram: &[u8]) -> usize {
    // RFC 9147, 4: 001CSLEE, where S says how long the number is, and L whether there is a length.
    if first & 0xE0 != 0x20 {
        return HEADER_BYTES + number(datagram.get(HEADER_BYTES - 2..HEADER_BYTES));
    }
    let length_at = if first & 0x08 == 0 { 2 } else { 3 };
    match first & 0x04 {
        0 => datagram.len(),
        _ => length_at + 2 + number(datagram.get(length_at..length_at + 2)),
    }
}

fn number(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(0, |bytes| bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ClientHello with so many bytes.
    fn hello(len: u8) -> Vec<u8> {
        let head = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12 + len, 1, 0, 0, len, 0, 0, 0, 0, 0, 0, 0, len];
        [&head[..], &vec![7; usize::from(len)][..]].concat()
    }

    /// Are hellos counted, and their pieces, and is one looked at that is anything but one message or a piece of one?
    #[test]
    fn hellos_are_single_and_few() {
        let mut budget = Budget::default();
        assert!((0..HELLOS_MAX).all(|_| budget.hello(&hello(30)) == Taken::Read));
        assert_eq!(budget.hello(&hello(30)), Taken::Enough);
        let mut piece = hello(30);
        piece[14] = 1;
        let mut budget = Budget::default();
        assert!((0..PIECES_MAX).all(|_| budget.hello(&piece) == Taken::Read));
        assert_eq!(budget.hello(&piece), Taken::Enough);
        let takes = |datagram: &[u8]| Budget::default().hello(datagram) == Taken::Read;
        assert!(!takes(&[hello(30), hello(30)].concat()), "two records");
        assert!((0..hello(30).len()).all(|len| !takes(&hello(30)[..len])), "cut");
        let mut two = hello(30);
        two[24] = 3;
        assert!(!takes(&two), "two messages in a record");
        let mut third = hello(30);
        third[18] = 2;
        assert!(!takes(&third), "no hello is the third message");
    }

    /// Is a record a record in both versions, and each counted?
    #[test]
    fn records_are_counted() {
        let sealed = |first: u8, body: &[u8]| [&[first][..], body].concat();
        for (datagram, count) in [
            (Vec::new(), 0),
            (hello(5), 1),
            ([hello(5), hello(0), vec![20]].concat(), 3),
            (sealed(0x2E, &[0, 1, 0, 2, 9, 9]), 1),
            ([sealed(0x2E, &[0, 1, 0, 2, 9, 9]), sealed(0x26, &[1, 0, 1, 9]), sealed(0x2A, &[0, 1, 9, 9])].concat(), 3),
            (hello(5)[..20].to_vec(), 1),
        ] {
            assert_eq!(records(&datagram), count, "{datagram:?}");
        }
        let mut budget = Budget::default();
        assert!(
            (0..RECORDS_MAX).all(|_| budget.step(&hello(1)) == Taken::Read) && budget.step(&hello(1)) == Taken::Enough
        );
        let mut budget = Budget::default();
        assert!((0..4).all(|_| budget.step(&[22; 16 << 10]) == Taken::Read) && budget.step(&[22]) == Taken::Enough);
    }
}
