//! Whom this node connects to, where, and when it tries again.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use lapwing_peer::NodeId;

/// The first pause behind a try, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long a node waits for one that is to connect to it, before it does so itself: that one may be at another address than it
/// says, or this one be a copy that nobody looks for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Nodes to connect to.
#[derive(Default)]
pub(super) struct Dials {
    nodes: BTreeMap<NodeId, Dial>,
}

/// One node.
#[derive(Default)]
struct Dial {
    addresses: Vec<String>,
    /// That node is the one to connect.
    is_theirs: bool,
    /// Since when there is no connection.
    missing_since: Option<Instant>,
    /// Which address is next.
    next: usize,
    not_before: Option<Instant>,
    pause: Duration,
    /// A name is being looked up, which may take seconds: not on this thread.
    resolving: Option<Receiver<Option<SocketAddr>>>,
}

impl Dials {
    /// These nodes and no others; those below `own` are to connect by themselves.
    pub(super) fn set<'a>(&mut self, own: NodeId, nodes: impl Iterator<Item = (NodeId, &'a [String])>) {
        let mut before = std::mem::take(&mut self.nodes);
        for (node, addresses) in nodes {
            let known = before.remove(&node).filter(|dial| dial.addresses == addresses);
            let (addresses, is_theirs) = (addresses.to_vec(), node < own);
            self.nodes.insert(node, known.unwrap_or(Dial { addresses, is_theirs, ..Dial::default() }));
        }
    }

    /// A connection has come to where both have said who they are.
    pub(super) fn reached(&mut self, node: NodeId) {
        self.nodes.entry(node).and_modify(|dial| dial.pause = Duration::ZERO);
    }

    /// To whom a connection is to be begun now, and where. `is_there`: whether there is one, or one begun.
    pub(super) fn due(&mut self, now: Instant, is_there: impl Fn(NodeId) -> bool) -> Vec<(NodeId, SocketAddr)> {
        let due = |(node, dial): (&NodeId, &mut Dial)| {
            if is_there(*node) {
                dial.missing_since = None;
                return None;
            }
            Some((*node, dial.due(now)?))
        };
        self.nodes.iter_mut().filter_map(due).collect()
    }
}

impl Dial {
    fn due(&mut self, now: Instant) -> Option<SocketAddr> {
        if let Some(resolving) = &self.resolving {
            let found = match resolving.try_recv() {
                Err(TryRecvError::Empty) => return None,
                Ok(found) => found,
                Err(TryRecvError::Disconnected) => None,
            };
            self.resolving = None;
            return found;
        }
        let missing_since = *self.missing_since.get_or_insert(now);
        if self.is_theirs && now.saturating_duration_since(missing_since) < PATIENCE {
            return None;
        }
        if self.not_before.is_some_and(|not_before| now < not_before) || self.addresses.is_empty() {
            return None;
        }
        self.pause = (self.pause * 2).clamp(PAUSE, PAUSE_MAX);
        self.not_before = Some(now + self.pause);
        let address = self.addresses[self.next % self.addresses.len()].clone();
        self.next = self.next.wrapping_add(1);
        if let Ok(address) = address.parse() {
            return Some(address);
        }
        self.resolve(address);
        None
    }

    fn resolve(&mut self, address: String) {
        let (found, resolving) = sync_channel(1);
        let look_up = move || {
            let first = address.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
            // Nobody waits for it any more where the node was removed meanwhile.
            let _ = found.send(first);
        };
        // Without a thread it is tried again later.
        self.resolving = Builder::new().name("lapwing-resolve".into()).spawn(look_up).ok().map(|_| resolving);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// Is each address tried in turn, with pauses that grow up to a bound, and at once behind a connection that was good?
    #[test]
    fn tries_are_spaced() {
        let node = NodeId::new(2).expect("a node");
        let listed = addresses(&["127.0.0.1:1", "127.0.0.1:2"]);
        let mut dials = Dials::default();
        let own = NodeId::new(1).expect("a node");
        dials.set(own, [(node, &*listed)].into_iter());
        let begun = Instant::now();
        let mut tries = vec![];
        for ms in 0..10_000_u64 {
            let due = dials.due(begun + Duration::from_millis(ms), |_| false);
            tries.extend(due.into_iter().map(|(_, address)| (ms, address.port())));
        }
        assert_eq!(&tries[..6], [(0, 1), (100, 2), (300, 1), (700, 2), (1_500, 1), (3_100, 2)]);
        assert_eq!(tries[7].0 - tries[6].0, 2_000);
        dials.reached(node);
        assert!(dials.due(begun + Duration::from_secs(20), |_| true).is_empty(), "it is there");
        assert_eq!(dials.due(begun + Duration::from_secs(20), |_| false).len(), 1);
        dials.set(own, std::iter::empty());
        assert!(dials.due(begun + Duration::from_secs(60), |_| false).is_empty());
    }

    /// Does who is to be connected to wait, and go itself when nobody comes?
    #[test]
    fn who_waits_in_vain_connects() {
        let [first, second] = [1, 2].map(|id| NodeId::new(id).expect("a node"));
        let listed = addresses(&["127.0.0.1:1"]);
        let mut dials = Dials::default();
        dials.set(second, [(first, &*listed)].into_iter());
        let begun = Instant::now();
        let mut is_due = |ms, is_there: bool| !dials.due(begun + Duration::from_millis(ms), |_| is_there).is_empty();
        assert!(!is_due(0, false) && !is_due(2_900, false) && !is_due(2_950, true), "it has come");
        assert!(!is_due(3_000, false) && !is_due(5_900, false) && is_due(6_000, false));
    }
}
