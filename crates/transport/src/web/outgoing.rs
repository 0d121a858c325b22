//! Frames to the client: the caller's packets behind small headers, control frames between them.

use std::io::{self, ErrorKind, IoSlice, Write};

use super::frame::Frame;
use super::incoming::{OPCODE_CLOSE, OPCODE_PONG};

/// Frames that are handed down in one write.
const FRAMES_MAX: usize = 32;
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
    /// The frame begun last.
    frame: Frame,
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
        !self.frame.is_unfinished() && self.control_waits()
    }

    fn control_waits(&self) -> bool {
        self.waiting_sent < self.waiting.len() || self.pong.is_some()
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

    /// Writes `bytes`, which are packets, as payload; takes as many as go into FRAMES_MAX frames at most.
    pub(super) fn write(&mut self, lower: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        self.send_control(lower)?;
        if self.is_closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let (mut frames, count) = self.frames(bytes);
            let written = write_frames(&frames[..count], lower, bytes)?;
            if written == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            // The caller offers what was not taken again, so a frame gets what its header promises.
            let (mut rest, mut taken) = (written, 0);
            for frame in &mut frames[..count] {
                let (of_payload, behind) = frame.advance(rest);
                (taken, rest) = (taken + of_payload, behind);
                self.frame = *frame;
                if rest == 0 {
                    break;
                }
            }
            if taken > 0 {
                return Ok(taken);
            }
        }
    }

    /// What is left of the frame begun, if anything is, and the frames behind it, unless something waits to go between
    /// them; how many they are.
    fn frames(&self, bytes: &[u8]) -> ([Frame; FRAMES_MAX], usize) {
        let mut frames = [Frame::default(); FRAMES_MAX];
        let (mut count, mut at, mut last) = (0, 0, self.frame);
        if last.is_unfinished() {
            frames[0] = last;
            (count, at) = (1, last.payload_bytes(bytes));
            if self.control_waits() {
                return (frames, count);
            }
        }
        while count < FRAMES_MAX && at < bytes.len() {
            last = last.following(&bytes[at..]);
            frames[count] = last;
            (count, at) = (count + 1, at + last.payload_bytes(&bytes[at..]));
        }
        (frames, count)
    }
}

/// One write of the frames' headers and payloads, in turn; returns how many bytes of both were taken.
fn write_frames(frames: &[Frame], lower: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); 2 * FRAMES_MAX];
    let mut rest = bytes;
    for (pair, frame) in slices.chunks_exact_mut(2).zip(frames) {
        let (payload, behind) = rest.split_at(frame.payload_bytes(rest));
        pair.copy_from_slice(&[IoSlice::new(frame.header()), IoSlice::new(payload)]);
        rest = behind;
    }
    lower.write_vectored(&slices[..2 * frames.len()])
}

/// A control frame; its payload is at most 125 bytes, for it came in one.
fn control_frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![FINAL | opcode, payload.len() as u8];
    frame.extend_from_slice(payload);
    frame
}
