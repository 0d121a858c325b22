//! Frames from the client: headers checked bit by bit, payloads unmasked in place.

use crate::refusal::Refusal;

/// Normal closure.
pub(super) const CODE_NORMAL: u16 = 1000;
const CODE_PROTOCOL_ERROR: u16 = 1002;
const CODE_UNSUPPORTED_DATA: u16 = 1003;
const CODE_NO_UTF8: u16 = 1007;

/// Two bytes, eight of length, four of mask.
const HEADER_BYTES_MAX: usize = 14;
/// The longest payload of a control frame.
const CONTROL_BYTES_MAX: u64 = 125;

const OPCODE_CONTINUATION: u8 = 0;
const OPCODE_TEXT: u8 = 1;
const OPCODE_BINARY: u8 = 2;
pub(super) const OPCODE_CLOSE: u8 = 8;
pub(super) const OPCODE_PING: u8 = 9;
pub(super) const OPCODE_PONG: u8 = 10;

/// What a frame said beside data.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// To be answered with the same payload.
    Ping(Vec<u8>),
    /// To be answered with the same code.
    Close(u16),
}

/// The peer broke the rules; it is told this code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) code: u16,
    pub(super) refusal: Refusal,
}

const BROKEN: Violation = Violation { code: CODE_PROTOCOL_ERROR, refusal: Refusal::WebSocketFrame };

/// Where the reading of frames stands.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    header: [u8; HEADER_BYTES_MAX],
    header_bytes: u8,
    /// Its header is read, its payload not yet.
    frame: Option<Frame>,
    /// A message has begun, and its last frame has not come.
    in_message: bool,
    /// What came of a control frame's payload.
    control: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: u8,
    left_bytes: u64,
    /// Begins with the byte for the next byte of payload.
    mask: [u8; 4],
}

impl Incoming {
    /// Goes on in `raw` from `at`, to the next frame's end at most; data is moved behind the `kept` bytes at its beginning.
    pub(super) fn advance(&mut self, raw: &mut [u8], at: &mut usize, kept: &mut usize) -> Result<Told, Violation> {
        let mut frame = match self.frame.take() {
            Some(frame) => frame,
            None => match self.take_header(raw, at)? {
                Some(frame) => frame,
                None => return Ok(Told::Nothing),
            },
        };
        let rest_bytes = (raw.len() - *at) as u64;
        // No more than is there, so it fits.
        let taken = frame.left_bytes.min(rest_bytes) as usize;
        unmask(&mut raw[*at..*at + taken], frame.mask);
        if is_control(frame.opcode) {
            self.control.extend_from_slice(&raw[*at..*at + taken]);
        } else {
            raw.copy_within(*at..*at + taken, *kept);
            *kept += taken;
        }
        *at += taken;
        frame.left_bytes -= taken as u64;
        frame.mask.rotate_left(taken % 4);
        if frame.left_bytes > 0 {
            self.frame = Some(frame);
            return Ok(Told::Nothing);
        }
        self.end_frame(frame.opcode)
    }

    /// Takes bytes of a header; `None` while it is not whole. What is wrong is said at the first byte that shows it.
    fn take_header(&mut self, raw: &[u8], at: &mut usize) -> Result<Option<Frame>, Violation> {
        while *at < raw.len() {
            self.header[usize::from(self.header_bytes)] = raw[*at];
            self.header_bytes += 1;
            *at += 1;
            if self.header_bytes == 1 {
                self.check_first()?;
            } else if self.header_bytes >= 2 && usize::from(self.header_bytes) == self.header_length()? {
                return self.frame_of_header().map(Some);
            }
        }
        Ok(None)
    }

    /// Flags and opcode. No extension was agreed on, so the reserved bits are 0.
    fn check_first(&self) -> Result<(), Violation> {
        let (is_last, reserved, opcode) = (self.header[0] & 0x80 != 0, self.header[0] & 0x70, self.header[0] & 0x0f);
        let fits = match opcode {
            OPCODE_CONTINUATION => self.in_message,
            OPCODE_TEXT | OPCODE_BINARY => !self.in_message,
            OPCODE_CLOSE | OPCODE_PING | OPCODE_PONG => is_last,
            _ => false,
        };
        if reserved != 0 || !fits {
            return Err(BROKEN);
        }
        if opcode == OPCODE_TEXT {
            return Err(Violation { code: CODE_UNSUPPORTED_DATA, refusal: Refusal::WebSocketText });
        }
        Ok(())
    }

    /// How long the header is, by its second byte: a client always masks.
    fn header_length(&self) -> Result<usize, Violation> {
        let (is_masked, length) = (self.header[1] & 0x80 != 0, self.header[1] & 0x7f);
        if !is_masked || (is_control(self.header[0] & 0x0f) && u64::from(length) > CONTROL_BYTES_MAX) {
            return Err(BROKEN);
        }
        Ok(match length {
            126 => 8,
            127 => HEADER_BYTES_MAX,
            _ => 6,
        })
    }

    fn frame_of_header(&mut self) -> Result<Frame, Violation> {
        let [first, second, a, b, c, d, e, f, g, h, ..] = self.header;
        let left_bytes = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes([a, b])),
            127 => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            length => u64::from(length),
        };
        // The shortest form is required, and the highest bit is none of the length.
        let is_minimal = match second & 0x7f {
            126 => left_bytes > 125,
            127 => left_bytes > 0xffff && left_bytes >> 63 == 0,
            _ => true,
        };
        if !is_minimal {
            return Err(BROKEN);
        }
        let end = usize::from(self.header_bytes);
        let mut mask = [0; 4];
        mask.copy_from_slice(&self.header[end - 4..end]);
        self.header_bytes = 0;
        let opcode = first & 0x0f;
        if !is_control(opcode) {
            self.in_message = first & 0x80 == 0;
        }
        Ok(Frame { opcode, left_bytes, mask })
    }

    fn end_frame(&mut self, opcode: u8) -> Result<Told, Violation> {
        let payload = std::mem::take(&mut self.control);
        match opcode {
            OPCODE_PING => Ok(Told::Ping(payload)),
            OPCODE_CLOSE => close_code(&payload).map(Told::Close),
            _ => Ok(Told::Nothing),
        }
    }
}

fn is_control(opcode: u8) -> bool {
    opcode >= OPCODE_CLOSE
}

/// The code to answer a close frame with: its own, if it has one that may be sent.
fn close_code(payload: &[u8]) -> Result<u16, Violation> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(CODE_NORMAL) } else { Err(BROKEN) };
    };
    match u16::from_be_bytes(*code) {
        1000..=1003 | 1007..=1014 | 3000..=4999 if std::str::from_utf8(reason).is_err() => {
            Err(Violation { code: CODE_NO_UTF8, refusal: Refusal::WebSocketFrame })
        }
        code @ (1000..=1003 | 1007..=1014 | 3000..=4999) => Ok(code),
        _ => Err(BROKEN),
    }
}

fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let word = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for chunk in words {
        *chunk = (u64::from_ne_bytes(*chunk) ^ word).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}
