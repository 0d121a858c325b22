//! Accepts connections, as many as there are places, a thread each.

use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lapwing_node::Handle;
use lapwing_transport::bind_every;
use serde_json::json;

use super::answer::Answer;
use super::answering::Answering;
use super::connection;
use super::counters::{ACCEPT_FAILURES, CONNECTIONS_REFUSED, Counters};
use super::error::HttpError;
use super::identify::Gate;
use super::names::HostNames;
use super::places::{Displaced, Found, Places};
use super::read_places::ReadPlaces;
use super::refusals::Refusals;
use super::settings::{Settings, url_of};
use super::streams::Streams;
use crate::fault::Fault;

/// How long nobody is accepted where that has failed for want of something.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// An HTTP listener; its threads end with the process.
#[derive(Debug)]
pub(crate) struct Server {
    url: String,
    gate: Arc<Gate>,
    refusals: Arc<Refusals>,
}

struct Room {
    answering: Answering,
    settings: Settings,
    places: Arc<Places>,
    /// Connections so far: each has its number.
    accepted: AtomicU64,
}

impl Server {
    /// `guards`: what guards MQTT beside users and rules, in words; empty: nothing.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub(crate) fn start(
        settings: Settings,
        node: &Arc<Handle>,
        has_rules: bool,
        guards: &'static str,
    ) -> Result<Self, Fault> {
        let failed = |error: io::Error| {
            let remedy =
                "stop the program that uses it, or choose another with --http (port 0: any free one, \"off\": none)";
            Fault::failed(format!("broker.http cannot be listened on: {error}"), words(&settings.addresses), remedy)
        };
        let (listeners, first) = bind_every(&settings.addresses, bind).map_err(failed)?;
        let url = url_of(&settings.host, first, listeners.len() > 1);
        let guards = if settings.is_open { "" } else { guards };
        let gate = Arc::new(Gate::new(has_rules, guards, settings.failures_max));
        let refusals = Arc::default();
        let answering = Answering {
            node: Arc::clone(node),
            gate: Arc::clone(&gate),
            names: HostNames { configured: settings.host.clone(), further: settings.hosts.clone() },
            streams: Streams {
                node: Arc::clone(node),
                places: ReadPlaces::new(settings.reads_max, settings.reads_per_identity_max),
            },
            counters: Counters::new(),
            refusals: Arc::clone(&refusals),
            url: url.clone(),
        };
        let places = Places::new(settings.connections_max);
        let room = Arc::new(Room { answering, settings, places, accepted: AtomicU64::new(0) });
        for listener in listeners {
            let room = Arc::clone(&room);
            let spawned =
                std::thread::Builder::new().name("lapwing-http".into()).spawn(move || accept(&listener, &room));
            spawned.map_err(|error| Fault::failed(format!("cannot start a thread: {error}"), "", "raise ulimit -u"))?;
        }
        Ok(Server { url, gate, refusals })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Other rules are in force.
    pub(crate) fn reloaded(&self, has_rules: bool) {
        self.gate.has_rules.store(has_rules, Ordering::Relaxed);
    }

    /// What an operator may not expect of who may do what here; empty: nothing.
    pub(crate) fn notice(&self, node: &Handle) -> String {
        self.gate.notice(node)
    }

    /// Lines for the log about who was refused.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        self.refusals.take_lines()
    }
}

fn words(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)?;
    let local = listener.local_addr()?;
    Ok((listener, local))
}

fn accept(listener: &TcpListener, room: &Arc<Room>) {
    for connection in listener.incoming() {
        let connection = match connection {
            Ok(connection) => connection,
            Err(error) => {
                let Answering { counters, refusals, .. } = &room.answering;
                std::thread::sleep(not_accepted(&error, counters, refusals));
                continue;
            }
        };
        let connection = Arc::new(connection);
        let number = room.accepted.fetch_add(1, Ordering::Relaxed);
        let Found { place, displaced } = room.places.take(number, &connection);
        if let Some(displaced) = displaced {
            room.displace(&displaced);
        }
        let Some(place) = place else {
            room.refuse(&connection);
            continue;
        };
        let of_thread = Arc::clone(room);
        let serve = move || {
            // Who does not take the answer, or sends none, is not told why.
            let _ = connection::serve(&connection, &place, &of_thread.answering, &of_thread.settings);
        };
        // Where there is no thread for it, it ends here, and so does its place.
        if std::thread::Builder::new().name(thread_name(number)).spawn(serve).is_err() {
            room.answering.counters.add(CONNECTIONS_REFUSED, 1);
        }
    }
}

/// Of a thread for a connection: the kernel shows fifteen characters of it, and its number is among them.
fn thread_name(number: u64) -> String {
    format!("http-{number}")
}

/// Counted, and told at a rate; how long to wait before the next.
fn not_accepted(error: &io::Error, counters: &Counters, refusals: &Refusals) -> Duration {
    counters.add(ACCEPT_FAILURES, 1);
    match error.kind() {
        // It has gone before it was taken, which is its own affair.
        io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => Duration::ZERO,
        // Out of descriptors, say: those there are end within their time.
        _ => {
            refusals.accepting(error);
            EXHAUSTED_PAUSE
        }
    }
}

impl Room {
    /// Ends one whose place is needed; told why unless it has had some of an answer.
    fn displace(&self, displaced: &Displaced) {
        let Displaced { connection, is_answered } = displaced;
        if *is_answered {
            self.count_refused(connection);
        } else {
            self.refuse(connection);
        }
        // Its thread waits for it, and ends with it; who has gone already is none to be ended.
        let _ = connection.shutdown(Shutdown::Both);
    }

    fn count_refused(&self, connection: &TcpStream) {
        self.answering.counters.add(CONNECTIONS_REFUSED, 1);
        let address = connection.peer_addr().map_or_else(|_| "somebody".into(), |peer| peer.ip().to_string());
        self.answering.refusals.connection(&address, "http.connections_max are open");
    }

    /// Says so, and goes: nobody waits here for one who takes nothing, and what is said finds room in the kernel.
    fn refuse(&self, connection: &TcpStream) {
        self.count_refused(connection);
        let answer = too_many(self.settings.connections_max);
        let said = connection.set_nonblocking(true);
        let mut connection = connection;
        // Who has gone already misses nothing.
        let _ = said.and_then(|()| connection.write_all(&[answer.head().as_bytes(), &answer.body].concat()));
    }
}

/// What somebody is told for whom there is no place.
pub(super) fn too_many(most: usize) -> Answer {
    let remedy = "try again after Retry-After, or raise http.connections_max";
    let refusal = HttpError::new(503, "too_many_connections", format!("{most} connections are open"), remedy);
    refusal.retry_after_s(1).with("connections_max", json!(most)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what could not be accepted counted each time, told once, and waited for only where waiting helps?
    #[test]
    fn what_cannot_be_accepted() {
        let (counters, refusals) = (Counters::new(), Refusals::default());
        let failed = |error: io::Error| not_accepted(&error, &counters, &refusals);
        assert_eq!(failed(io::ErrorKind::ConnectionAborted.into()), Duration::ZERO);
        let exhausted = || io::Error::from_raw_os_error(libc::EMFILE);
        for _ in 0..2 {
            assert_eq!(failed(exhausted()), EXHAUSTED_PAUSE);
        }
        assert!(counters.text().contains("\nlapwing_http_accept_failures_total 3\n"), "{}", counters.text());
        let told = refusals.take_lines();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&format!("HTTP cannot accept a connection: {}", exhausted())), "{told:?}");
    }

    /// Is every address of a host listened on, at one port, and is nobody called by the name of one that somebody else has?
    #[test]
    fn every_address_is_bound() {
        let any = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let (bound, first) = bind_every(&[any("127.0.0.1:0"), any("127.0.0.2:0")], bind).expect("free ports");
        let ports: Vec<u16> = bound.iter().map(|one| one.local_addr().expect("it has one").port()).collect();
        assert_eq!(ports, [first.port(); 2]);
        let other = SocketAddr::new(any("127.0.0.3:0").ip(), first.port());
        let taken = bind_every(&[other, first], bind).expect_err("the second is taken");
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }

    /// Can threads be told apart by what the kernel shows of their names, as long as a broker may run?
    #[test]
    fn names_of_threads() {
        assert_eq!(thread_name(7), "http-7");
        assert!(thread_name(9_999_999_999).len() <= 15);
    }
}
