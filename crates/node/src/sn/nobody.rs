//! The client that a listener has for messages without a connection (QoS -1), by its id.

use crate::listeners::ListenerId;

const BEGIN: &str = "sn-nobody-";

/// The client id of that listener's.
pub(crate) fn id_of(listener: ListenerId) -> String {
    format!("{BEGIN}{}", listener.0)
}

/// The listener whose this client id is; `None`: it is none of these.
pub(crate) fn listener_of(client_id: &str) -> Option<ListenerId> {
    let listener = client_id.strip_prefix(BEGIN)?.parse().ok().map(ListenerId)?;
    (id_of(listener) == client_id).then_some(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_again_as_it_is_written_only() {
        for listener in [ListenerId(0), ListenerId(u16::MAX)] {
            assert_eq!(listener_of(&id_of(listener)), Some(listener));
        }
        for other in ["", "sn-nobody", "sn-nobody-", "sn-nobody-+1", "sn-nobody-01", "sn-nobody-65536", "SN-nobody-1"] {
            assert_eq!(listener_of(other), None, "{other}");
        }
    }
}
