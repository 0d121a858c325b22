//! Putting the thread together, where a node has a listener for it.

use std::sync::Arc;

use lapwing_transport::{AddressLimiter, Datagrams};

use super::terms::Terms;
use super::thread::{Door, SnThread};
use super::tunnels::Seal;
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::handshakes::{Line, Shaken};
use crate::listeners::ListenerId;
use crate::mailbox::{Bell, lane};
use crate::shared::Shared;

/// Batches in the lane to a shard.
const LANE_BATCHES: usize = 64;

/// The thread of `event_loop`, with the sockets of each listener for MQTT-SN; and for each shard what it gets from there.
///
/// # Errors
/// `Config`: a listener's settings.
pub(crate) fn lay_sn(
    shared: &Arc<Shared>,
    event_loop: EventLoop,
    bound: Vec<(ListenerId, Vec<Datagrams>)>,
    shards: &[Bell],
) -> Result<(SnThread, Vec<Shaken>), NodeError> {
    let configs = shared.config.all_listeners();
    let door = |(id, sockets): (ListenerId, Vec<Datagrams>)| {
        let own = &configs[usize::from(id.0)];
        let terms = Terms::new(&shared.config, own, id, &shared.listener(id).url)?;
        let per_s = own.connects_per_address_per_s;
        let certificates = shared.listener(id).certificates();
        let seal = certificates.map(|certificates| Seal { certificates: certificates.clone(), listener: id });
        Ok(Door { terms, sockets, limiter: (per_s > 0).then(|| AddressLimiter::new(per_s)), seal })
    };
    let doors = bound.into_iter().map(door).collect::<Result<Vec<_>, NodeError>>()?;
    let lay = |shard: &Bell| {
        let (line, inlet) = lane(LANE_BATCHES, event_loop.bell(), shard.clone());
        (Line::new(line), inlet)
    };
    let (lines, inlets) = shards.iter().map(lay).unzip();
    Ok((SnThread::new(shared.clone(), event_loop, doors, lines), inlets))
}
