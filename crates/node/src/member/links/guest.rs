//! The connection of somebody who has come to join: one question, one answer.

use lapwing_peer::bounds::JOIN_ASK_BYTES_MAX;
use lapwing_peer::{Fault, FaultKind, Frame, Parsed, Stage, parse};

use super::link::Link;
use super::{Cut, Hear};

/// Where it stands.
#[derive(Debug, Default)]
pub(super) struct Guest {
    /// Under which number its question is known, once it has come.
    pub(super) number: Option<u64>,
    is_answered: bool,
    has_ended: bool,
}

impl Link {
    /// Takes its question.
    ///
    /// # Errors
    /// It is none, or the second one, or too many ask.
    pub(super) fn take_ask(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        let Some(guest) = &mut self.guest else { return Ok(()) };
        let again = Fault { kind: FaultKind::OutOfPlace, what: "it has asked already", at: 0, found: None };
        if guest.number.is_some() && !self.input.is_empty() {
            return Err(Cut::Frame(again));
        }
        match parse(&self.input, Stage::Asking, JOIN_ASK_BYTES_MAX).map_err(Cut::Frame)? {
            Parsed::Need(_) => return Ok(()),
            Parsed::Frame(Frame::JoinAsk(ask), bytes) if bytes == self.input.len() => {
                guest.number = Some(hear.asks(&ask).ok_or(Cut::Strangers)?);
            }
            Parsed::Frame(Frame::JoinAsk(_), _) => return Err(Cut::Frame(again)),
            Parsed::Frame(_, _) => return Err(Cut::Protocol),
        }
        self.input.clear();
        Ok(())
    }

    /// Gives it its answer, once there is one; who is answered is to end the connection.
    ///
    /// # Errors
    /// Why the connection is over.
    pub(super) fn answer_guest(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        if let Some(guest) = &mut self.guest
            && let Some(answer) = guest.number.and_then(|number| hear.take_answer(number))
        {
            guest.is_answered = true;
            self.output.extend_from_slice(&answer);
        }
        self.write()?;
        let is_written = self.output.is_empty() && !self.stream.wants_write();
        if let Some(guest) = self.guest.as_mut().filter(|guest| guest.is_answered && !guest.has_ended && is_written) {
            guest.has_ended = true;
            self.stream.shutdown();
        }
        Ok(())
    }
}
