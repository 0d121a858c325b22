//! How connections end below MQTT, or before it, and what an operator is told of it.

use lapwing_transport::Refusal;

/// Why a connection was not taken, or ended before it was a client's; of clients only what carries MQTT was misused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// What carries MQTT was misused.
    Refused(Refusal),
    /// It was no client when its time was over.
    Late,
    /// All connections of the node are clients'.
    NodeIsFull,
    /// All connections of the listener are.
    ListenerIsFull,
}

impl Ending {
    pub(super) const COUNT: usize = Refusal::COUNT + 3;

    /// Each has its own line.
    pub(super) fn index(self) -> usize {
        match self {
            Ending::Refused(refusal) => refusal as usize,
            Ending::Late => Refusal::COUNT,
            Ending::NodeIsFull => Refusal::COUNT + 1,
            Ending::ListenerIsFull => Refusal::COUNT + 2,
        }
    }

    /// A short, stable name, for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Ending::Refused(refusal) => refusal.name(),
            Ending::Late => "connect_timeout",
            Ending::NodeIsFull => "connections_max",
            Ending::ListenerIsFull => "listener_connections_max",
        }
    }

    /// What whoever comes from `address` did at the listener `url`.
    pub(super) fn line(self, address: &str, url: &str) -> String {
        let what = match self {
            Ending::Refused(Refusal::NoTls) => {
                return format!("{address} speaks without TLS at {url}: another port or scheme is meant");
            }
            Ending::Refused(Refusal::AddressRate) => "opens connections faster than connects_per_address_per_s",
            Ending::Refused(Refusal::ProxyHeader) => "is in proxy_protocol_from and has sent no PROXY header in order",
            Ending::Refused(Refusal::Tls) => "has failed in TLS",
            Ending::Refused(Refusal::WebSocketUpgrade) => "has sent no upgrade to a WebSocket that is taken",
            Ending::Refused(Refusal::WebSocketOrigin) => "asks for a page of another origin (origins, hosts)",
            Ending::Refused(Refusal::WebSocketFrame) => "has broken a WebSocket frame",
            Ending::Refused(Refusal::WebSocketText) => "sends text over a WebSocket, where MQTT is binary",
            Ending::Late => "was no client within limits.connect_timeout",
            Ending::NodeIsFull => "finds limits.connections_max clients",
            Ending::ListenerIsFull => "finds connections_max clients",
        };
        format!("{address} {what} at {url}: closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has each its own place and its own words?
    #[test]
    fn each_is_told_by_itself() {
        let refusals = Refusal::ALL.into_iter().map(Ending::Refused);
        let all: Vec<Ending> = refusals.chain([Ending::Late, Ending::NodeIsFull, Ending::ListenerIsFull]).collect();
        assert_eq!(all.len(), Ending::COUNT);
        let mut lines: Vec<String> = all.iter().map(|ending| ending.line("192.0.2.1:1", "ws://h:2")).collect();
        assert!(all.iter().enumerate().all(|(n, ending)| ending.index() == n));
        assert!(lines.iter().all(|line| line.starts_with("192.0.2.1:1 ") && line.contains(" at ws://h:2: ")));
        let mut names: Vec<&str> = all.iter().map(|ending| ending.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Ending::COUNT);
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), Ending::COUNT);
    }
}
