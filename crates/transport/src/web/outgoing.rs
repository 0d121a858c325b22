//! Frames to the client: the caller's bytes behind small headers, control frames between them.

use std::io::{self, ErrorKind, IoSlice, Write};

use super::incoming::{OPCODE_CLOSE, OPCODE_PONG};

/// The longest payload of our frames: some clients take no longer ones, and its length fits two bytes.
const FRAME_BYTES_MAX: usize = 0xffff;
const FINAL_BINARY: u8 = 0x82;
const FINAL: u8 = 0x80;

/// Where the writing of frames stands.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// Goes out between frames: the answer to the upgrade, a pong, a close.
    waiting: Vec<u8>,
    /// So much of it is with the kernel.
    waiting_sent: usize,
    /// Payload of the newest ping that is not answered yet; older ones need no answer (RFC 6455, 5.5.3).
    pong: Option<Vec<u8>>,
    /// The header of the frame begun, and how much of it is with the kernel.
    header: [u8; 4],
    header_bytes: u8,
    header_sent: u8,
    /// Payload that the frame begun still promises.
    frame_left_bytes: usize,
    /// A close frame waits or is sent: nothing may follow it.
    is_closed: bool,
}

impl Outgoing {
    /// Queues bytes that are no frame.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// Queues the answer to a ping.
    pub(super) fn pong(&mut self, payload: Vec<u8>) {
        self.pong = Some(payload);
    }

    /// Queues the last frame.
    pub(super) fn close(&mut self, code: u16) {
        if !self.is_closed {
            self.is_closed = true;
            self.pong = None;
            let frame = control_frame(OPCODE_CLOSE, &code.to_be_bytes());
            self.waiting.extend(frame);
        }
    }

    /// Whether something waits that can go out without the caller's bytes.
    pub(super) fn has_control(&self) -> bool {
        !self.is_in_frame() && (self.waiting_sent < self.waiting.len() || self.pong.is_some())
    }

    fn is_in_frame(&self) -> bool {
        self.header_sent < self.header_bytes || self.frame_left_bytes > 0
    }

    /// Writes what waits between frames; in the middle of a frame nothing.
    pub(super) fn send_control(&mut self, lower: &mut impl Write) -> io::Result<()> {
        while self.has_control() {
            if self.waiting_sent == self.waiting.len()
                && let Some(payload) = self.pong.take()
            {
                (self.waiting, self.waiting_sent) = (control_frame(OPCODE_PONG, &payload), 0);
            }
            match lower.write(&self.waiting[self.waiting_sent..])? {
                0 => return Err(ErrorKind::WriteZero.into()),
                n => self.waiting_sent += n,
            }
            if self.waiting_sent == self.waiting.len() {
                (self.waiting, self.waiting_sent) = (Vec::new(), 0);
            }
        }
        Ok(())
    }

    /// Writes `bytes` as payload; takes as many as go into one frame at most.
    pub(super) fn write(&mut self, lower: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        self.send_control(lower)?;
        if self.is_closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        if !self.is_in_frame() {
            self.begin_frame(bytes.len().min(FRAME_BYTES_MAX));
        }
        // The caller offers what was not taken again, so the frame gets what its header promises.
        let payload = &bytes[..bytes.len().min(self.frame_left_bytes)];
        loop {
            let header = &self.header[usize::from(self.header_sent)..usize::from(self.header_bytes)];
            let written = if header.is_empty() {
                lower.write(payload)?
            } else {
                lower.write_vectored(&[IoSlice::new(header), IoSlice::new(payload)])?
            };
            let of_header = written.min(header.len());
            self.header_sent += of_header as u8;
            let of_payload = written - of_header;
            self.frame_left_bytes -= of_payload;
            if of_payload > 0 {
                return Ok(of_payload);
            }
            if written == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
        }
    }

    fn begin_frame(&mut self, payload_bytes: usize) {
        let [.., high, low] = payload_bytes.to_be_bytes();
        (self.header, self.header_bytes) = match payload_bytes {
            0..=125 => ([FINAL_BINARY, low, 0, 0], 2),
            _ => ([FINAL_BINARY, 126, high, low], 4),
        };
        self.header_sent = 0;
        self.frame_left_bytes = payload_bytes;
    }
}

/// A control frame; its payload is at most 125 bytes, for it came in one.
fn control_frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![FINAL | opcode, payload.len() as u8];
    frame.extend_from_slice(payload);
    frame
}
