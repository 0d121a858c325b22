//! How a node comes to a cluster, at the side that is asked: who came with a token is judged by the leader of the metadata group,
//! is entered there, and is given its certificate when that is committed.

mod answer;
mod asked;
mod desk;
mod judge;

pub(super) use asked::Asked;
pub(super) use desk::{Desk, Next};
pub(super) use judge::judge;
