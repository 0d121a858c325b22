//! One question to one member: a connection, the question behind its handshake, the answer.

use std::io::{self, ErrorKind};
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use lapwing_cluster::Token;
use lapwing_peer::bounds::JOIN_ANSWER_BYTES_MAX;
use lapwing_peer::{Frame, JoinCode, Parsed, Stage, parse};
use lapwing_transport::{PeerRefusal, PeerStream};

use super::error::JoinError;
use super::welcomed::Welcomed;
use crate::event_loop::EventLoop;
use crate::member::error::MemberError;

const STREAM: mio::Token = mio::Token(0);
const READ_BYTES: usize = 64 << 10;
/// How long the kernel is waited for in one go.
const POLL: Duration = Duration::from_millis(100);

/// What a member has said.
pub(super) enum Answer {
    /// It is a node now.
    Welcome(Box<Welcomed>),
    /// Ask there.
    Elsewhere(String),
    /// Ask again, in a moment.
    Again,
}

/// Asks the member at `address`. `ask`: the frame.
///
/// # Errors
/// Why there is no answer, or what it refuses.
pub(super) fn question(address: &str, token: &Token, ask: &[u8], deadline: Instant) -> Result<Answer, MemberError> {
    let stream = connect(address, token.authority)?;
    let mut question = Question { address, stream, input: Vec::new(), rest: ask, cluster: None };
    let mut event_loop = EventLoop::open()?;
    let system = |source| MemberError::System { doing: "watch a connection", source };
    question.stream.register(event_loop.registry(), STREAM).map_err(system)?;
    loop {
        if let Some(answer) = question.go_on()? {
            return Ok(answer);
        }
        if Instant::now() >= deadline {
            return Err(JoinError::Silent { address: address.to_owned() }.into());
        }
        event_loop.poll(POLL)?;
    }
}

fn connect(address: &str, authority: [u8; 32]) -> Result<PeerStream, JoinError> {
    let unreachable = |source| JoinError::Unreachable { address: address.to_owned(), source };
    let mut resolved = address.to_socket_addrs().map_err(unreachable)?;
    let first = resolved.next().ok_or_else(|| unreachable(ErrorKind::NotFound.into()))?;
    PeerStream::join(first, authority).map_err(unreachable)
}

/// Where it stands.
struct Question<'a> {
    address: &'a str,
    stream: PeerStream,
    input: Vec<u8>,
    /// Of the question, what was not sent.
    rest: &'a [u8],
    /// Whose the member is, by its certificate.
    cluster: Option<[u8; 16]>,
}

impl Question<'_> {
    /// Takes and sends what there is.
    fn go_on(&mut self) -> Result<Option<Answer>, MemberError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(self.over(ErrorKind::UnexpectedEof.into()).into()),
                Ok(count) => {
                    self.input.extend_from_slice(&buffer[..count]);
                    if let Some(answer) = self.answer()? {
                        return Ok(Some(answer));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !self.stream.may_hold_more() {
                        break;
                    }
                }
                Err(error) => return Err(self.over(error).into()),
            }
        }
        self.send()?;
        Ok(None)
    }

    /// The secret goes only to who has shown a certificate of the authority that the token names.
    fn send(&mut self) -> Result<(), JoinError> {
        if self.stream.is_shaking() {
            return Ok(());
        }
        self.cluster = self.stream.peer().map(|name| name.cluster());
        while !self.rest.is_empty() {
            match self.stream.write(self.rest) {
                Ok(count) => self.rest = &self.rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(self.over(error)),
            }
        }
        match self.stream.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(self.over(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn answer(&mut self) -> Result<Option<Answer>, JoinError> {
        let address = self.address.to_owned();
        let parsed = parse(&self.input, Stage::Answered, JOIN_ANSWER_BYTES_MAX);
        match parsed.map_err(|fault| JoinError::Unfit { address: address.clone(), what: fault.to_string() })? {
            Parsed::Need(_) => Ok(None),
            Parsed::Frame(Frame::JoinWelcome(welcome), _) => {
                let welcomed = Welcomed::of(&welcome, self.cluster);
                let welcomed = welcomed.map_err(|what| JoinError::Unfit { address, what })?;
                Ok(Some(Answer::Welcome(Box::new(welcomed))))
            }
            Parsed::Frame(Frame::JoinRefused(refused), _) => match JoinCode::from_u8(refused.code) {
                Some(JoinCode::NotLeader) if !refused.leader.is_empty() => {
                    Ok(Some(Answer::Elsewhere(refused.leader.to_owned())))
                }
                Some(JoinCode::NotLeader | JoinCode::Again) => Ok(Some(Answer::Again)),
                _ => Err(JoinError::Refused { code: refused.code, words: refused.words.to_owned() }),
            },
            Parsed::Frame(frame, _) => {
                Err(JoinError::Unfit { address, what: format!("an answer of kind {:?}", frame.kind()) })
            }
        }
    }

    /// Why it is over before there was an answer.
    fn over(&self, error: io::Error) -> JoinError {
        let address = self.address.to_owned();
        match PeerRefusal::of(&error) {
            Some(PeerRefusal::ByPeer | PeerRefusal::NoProtocol) => JoinError::Closed { address },
            Some(refusal) => JoinError::Stranger { address, what: refusal.to_string() },
            None if self.rest.is_empty() => JoinError::Cut { address },
            None => JoinError::Unreachable { address, source: error },
        }
    }
}
