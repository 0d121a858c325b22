//! Whole clusters in memory: nodes whose disks lag and lose what was not synced, connections that break, splits, nodes that
//! stand still, clocks of different rate. What must hold is looked at after every step.

mod book;
mod disk;
mod members;
mod mutants;
mod node;
mod owner;
mod runs;
mod state;
mod transfers;
mod trouble;
mod wire;
mod world;
