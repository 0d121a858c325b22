//! One connection: its request, its answer at a pace, and its end.

use std::io::{self, Read as _, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::answering::Answering;
use super::counters::{CONNECTIONS_LATE, CONNECTIONS_REFUSED, SLOW_READERS};
use super::error::HttpError;
use super::pace::{Pace, TooSlow};
use super::places::Place;
use super::request::{HEAD_BYTES_MAX, Read, read};
use super::route::Route;
use super::server::too_many;
use super::settings::Settings;
use crate::system;

/// Bytes that one write is given.
const PIECE_BYTES: usize = 256 << 10;
/// Who is answered is heard out for so long and so much, unread, until it closes: it may be in the midst of a body, or have begun
/// another request, and closed at once the kernel would throw away what it was told.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 16 << 20;

/// What became of a wait for a head.
enum Head {
    Read(Box<Read>),
    /// The peer has gone, or said nothing whole in time.
    Gone,
    Late,
}

/// Reads one request, answers it, and ends.
///
/// # Errors
/// The peer has gone, or does not take the answer; nobody is left to be told.
pub(super) fn serve(
    connection: &Arc<TcpStream>,
    place: &Place,
    answering: &Answering,
    settings: &Settings,
) -> io::Result<()> {
    let peer = connection.peer_addr()?;
    let address = peer.ip().to_string();
    system::end_if_unacknowledged(connection, settings.write_timeout)?;
    let read = match head(connection, settings.keep_alive)? {
        Head::Gone => return Ok(()),
        Head::Late => {
            answering.counters.add(CONNECTIONS_LATE, 1);
            answering.refusals.connection(&address, "no whole request within http.keep_alive");
            return Ok(());
        }
        Head::Read(read) => read,
    };
    if !place.asks() {
        return Ok(());
    }
    let (answer, only_head) = match *read {
        Read::Whole(request) => {
            let is_for_health = Route::of(&request.path).is_some_and(Route::is_open);
            let answer = if place.is_kept && !is_for_health {
                answering.counters.add(CONNECTIONS_REFUSED, 1);
                answering.refusals.connection(&address, "http.connections_max are open");
                too_many(settings.connections_max)
            } else {
                answering.answer(&request, peer)
            };
            (answer, request.method == "HEAD")
        }
        _ => {
            answering.no_http(&address);
            let message = "Invalid HTTP request received";
            (HttpError::new(400, "bad_request", message, "send a request of HTTP/1.1").into(), false)
        }
    };
    // A read of a stream has a place and a time of its own. Of the others who takes nothing makes room, the oldest first.
    if answer.held.is_none() && !place.waits(connection) {
        return Ok(());
    }
    if write(connection, &answer, only_head, settings)? == Err(TooSlow) {
        answering.counters.add(SLOW_READERS, 1);
        answering.refusals.connection(&address, "it takes its answer too slowly");
        // What the kernel has yet to send goes with it.
        return system::reset(connection);
    }
    connection.shutdown(Shutdown::Write)?;
    drop(answer);
    if place.waits(connection) { hear_out(connection) } else { Ok(()) }
}

fn head(mut connection: &TcpStream, patience: Duration) -> io::Result<Head> {
    let deadline = Instant::now() + patience;
    let (mut bytes, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Head::Late);
        }
        connection.set_read_timeout(Some(left))?;
        match connection.read(&mut piece) {
            Ok(0) => return Ok(Head::Gone),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if is_no_end(&error) => continue,
            Err(error) => return Err(error),
        }
        match read(&bytes) {
            Read::Partial if bytes.len() < HEAD_BYTES_MAX => {}
            Read::Partial => return Ok(Head::Read(Box::new(Read::Wrong))),
            found => return Ok(Head::Read(Box::new(found))),
        }
    }
}

/// Whether a read or write was only too early.
fn is_no_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Until the kernel has all of it.
fn write(
    mut connection: &TcpStream,
    answer: &Answer,
    only_head: bool,
    settings: &Settings,
) -> io::Result<Result<(), TooSlow>> {
    let (head, body) = (answer.head(), if only_head { &[][..] } else { &answer.body[..] });
    let mut unsent = (head.len() + body.len()) as u64;
    let whole_within = answer.held.as_ref().map(|_| settings.read_timeout);
    let mut pace = Pace::begin(Instant::now(), unsent, settings.write_timeout, whole_within);
    for part in [head.as_bytes(), body] {
        let mut rest = part;
        while !rest.is_empty() {
            let now = Instant::now();
            if pace.look(now, || unsent + system::unacknowledged_bytes(connection)).is_err() {
                return Ok(Err(TooSlow));
            }
            connection.set_write_timeout(Some(pace.wait(now)))?;
            match connection.write(&rest[..rest.len().min(PIECE_BYTES)]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    rest = &rest[count..];
                    unsent -= count as u64;
                }
                Err(error) if is_no_end(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Ok(()))
}

fn hear_out(mut connection: &TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + LINGER;
    let (mut heard, mut piece) = (0, [0; 16 << 10]);
    while heard < LINGER_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        connection.set_read_timeout(Some(left))?;
        match connection.read(&mut piece)? {
            0 => break,
            count => heard += count,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener};

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    /// Two ends of a connection.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let peer = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        (listener.accept().expect("a peer").0, peer)
    }

    fn settings(write_timeout: Duration) -> Settings {
        Settings {
            addresses: Vec::new(),
            host: String::new(),
            hosts: Vec::new(),
            is_open: false,
            failures_max: 1,
            connections_max: 1,
            reads_max: 1,
            reads_per_identity_max: 1,
            read_timeout: LONG,
            write_timeout,
            keep_alive: LONG,
        }
    }

    /// Is a head waited for only so long, and is one of a peer that has left nobody's?
    #[test]
    fn a_head_comes_in_time() {
        let (connection, mut peer) = pair();
        peer.write_all(b"GET / HTTP/1.1\r\nHost:").expect("sent");
        assert!(matches!(head(&connection, Duration::from_millis(20)), Ok(Head::Late)));
        peer.shutdown(Shutdown::Write).expect("it is open");
        assert!(matches!(head(&connection, LONG), Ok(Head::Gone)));
        let (connection, mut peer) = pair();
        peer.write_all(&[b'G'; HEAD_BYTES_MAX]).expect("sent");
        let read = head(&connection, LONG).expect("it is there");
        assert!(matches!(read, Head::Read(read) if *read == Read::Wrong));
    }

    /// Is a peer that takes nothing given up, and does one that takes all get it whole, or the head alone?
    #[test]
    fn an_answer_is_taken_at_a_pace() {
        let answer = Answer::json(&"x".repeat(24 << 20));
        let (connection, _peer) = pair();
        let told = write(&connection, &answer, false, &settings(Duration::from_millis(100)));
        assert_eq!(told.expect("it is open"), Err(TooSlow));
        for (only_head, length) in [(false, answer.head().len() + answer.body.len()), (true, answer.head().len())] {
            let (connection, mut peer) = pair();
            let taken = std::thread::spawn(move || {
                let mut taken = Vec::new();
                peer.read_to_end(&mut taken).map(|_| taken.len())
            });
            assert_eq!(write(&connection, &answer, only_head, &settings(LONG)).expect("it is open"), Ok(()));
            drop(connection);
            assert_eq!(taken.join().expect("it has read").expect("to its end"), length);
        }
    }

    /// Is who sends more than a head heard out, so that the answer is not thrown away with what was not read?
    #[test]
    fn a_body_that_is_refused_is_heard_out() {
        let (mut connection, mut peer) = pair();
        peer.write_all(&[b'x'; 1 << 16]).expect("sent");
        connection.write_all(b"no").expect("sent");
        connection.shutdown(Shutdown::Write).expect("it is open");
        peer.shutdown(Shutdown::Write).expect("it is open");
        hear_out(&connection).expect("it is heard");
        drop(connection);
        let mut answer = String::new();
        peer.read_to_string(&mut answer).expect("no reset");
        assert_eq!(answer, "no");
    }
}
