//! A plain reader of RFC 6455 that has everything before it: slow, and nothing in common with the one it is held against.

/// How a stream of frames goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Open,
    /// With the code to answer.
    Closed(u16),
    /// A rule was broken: the code to tell.
    Broken(u16),
    /// A text message.
    Text,
}

/// What a stream of frames carries.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) payload: Vec<u8>,
    /// Payloads of pings; of pongs, where the server is read.
    pub(super) pings: Vec<Vec<u8>>,
    pub(super) ending: Ending,
}

const OPEN: Result<(), Ending> = Ok(());

/// Reads what a client says.
pub(super) fn client_frames(bytes: &[u8]) -> Frames {
    let mut reader = Reader::new(bytes, 9);
    let ending = loop {
        match reader.client_frame() {
            Ok(true) => {}
            Ok(false) => break Ending::Open,
            Err(ending) => break ending,
        }
    };
    Frames { ending, ..reader.frames }
}

/// Reads what a server says: whole frames, each as a server may send it, and nothing behind a close frame.
pub(super) fn server_frames(bytes: &[u8]) -> Frames {
    let mut reader = Reader::new(bytes, 10);
    while reader.frames.ending == Ending::Open && !reader.rest.is_empty() {
        reader.server_frame();
    }
    assert!(reader.rest.is_empty(), "nothing follows a close frame");
    reader.frames
}

struct Reader<'a> {
    rest: &'a [u8],
    frames: Frames,
    /// The opcode whose payloads are gathered.
    gathered: u8,
    is_in_message: bool,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8], gathered: u8) -> Self {
        let frames = Frames { payload: Vec::new(), pings: Vec::new(), ending: Ending::Open };
        Reader { rest, frames, gathered, is_in_message: false }
    }

    /// One frame; false when it is not whole. What is there of its payload counts.
    fn client_frame(&mut self) -> Result<bool, Ending> {
        let Some(&first) = self.rest.first() else { return Ok(false) };
        let (is_last, reserved, opcode) = (first >= 0x80, first & 0x70, first & 15);
        if reserved != 0 {
            return Err(Ending::Broken(1002));
        }
        match (opcode, self.is_in_message, is_last) {
            (0, true, _) | (2, false, _) | (8..=10, _, true) => {}
            (1, false, _) => return Err(Ending::Text),
            _ => return Err(Ending::Broken(1002)),
        }
        let Some(&second) = self.rest.get(1) else { return Ok(false) };
        if second < 0x80 || (opcode >= 8 && second > 0x80 + 125) {
            return Err(Ending::Broken(1002));
        }
        let length_bytes = [0, 2, 8][usize::from((second & 0x7f).saturating_sub(125))];
        let Some((head, rest)) = self.rest.split_at_checked(2 + length_bytes + 4) else { return Ok(false) };
        let length = head[2..2 + length_bytes].iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        check_length(second, length)?;
        let length = if length_bytes == 0 { u64::from(second & 0x7f) } else { length };
        if opcode < 8 {
            self.is_in_message = !is_last;
        }
        let there = rest.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        let is_whole = there as u64 == length;
        let masked = rest[..there].iter().zip(head[2 + length_bytes..].iter().cycle());
        let payload = masked.map(|(byte, mask)| byte ^ mask).collect();
        self.rest = &rest[there..];
        if opcode < 8 || is_whole {
            self.take(opcode, payload)?;
        }
        Ok(is_whole)
    }

    fn take(&mut self, opcode: u8, payload: Vec<u8>) -> Result<(), Ending> {
        match opcode {
            0..8 => self.frames.payload.extend(payload),
            8 => return Err(closed(&payload)),
            _ if opcode == self.gathered => self.frames.pings.push(payload),
            _ => {}
        }
        OPEN
    }

    fn server_frame(&mut self) {
        let [first, second, ..] = *self.rest else { panic!("half a frame") };
        let (head_bytes, length) = match second {
            0..126 => (2, usize::from(second)),
            126 => (4, usize::from(self.rest[2]) << 8 | usize::from(self.rest[3])),
            _ => panic!("a masked frame, or one that some clients do not take"),
        };
        let (payload, rest) = self.rest[head_bytes..].split_at(length);
        self.rest = rest;
        assert!(matches!(first, 0x82 | 0x88 | 0x8a), "{first:#x} is no frame of a server for MQTT");
        if let Err(ending) = self.take(first & 15, payload.to_vec()) {
            self.frames.ending = ending;
        }
    }
}

/// The shortest form is required, and the highest bit is none of the length.
fn check_length(second: u8, length: u64) -> Result<(), Ending> {
    let fits = match second & 0x7f {
        126 => length >= 126,
        127 => (0x1_0000..1 << 63).contains(&length),
        _ => true,
    };
    if fits { OPEN } else { Err(Ending::Broken(1002)) }
}

fn closed(payload: &[u8]) -> Ending {
    match payload {
        [] => Ending::Closed(1000),
        [_] => Ending::Broken(1002),
        [high, low, reason @ ..] => match u16::from(*high) << 8 | u16::from(*low) {
            code @ (1000..=1003 | 1007..=1014 | 3000..=4999) if str::from_utf8(reason).is_ok() => Ending::Closed(code),
            1000..=1003 | 1007..=1014 | 3000..=4999 => Ending::Broken(1007),
            _ => Ending::Broken(1002),
        },
    }
}
