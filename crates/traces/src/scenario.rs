//! The disturbances of the design: slowdowns, pauses, moving members, bursts, blackholes.

/// What kind of day it is. All times in milliseconds.
#[derive(Clone)]
pub struct Scenario {
    /// How many are in the group.
    pub members: usize,
    /// Messages per second that a member finishes, slowest and fastest.
    pub speed_per_s: (f64, f64),
    /// The way there and back, nearest and farthest.
    pub rtt_ms: (f64, f64),
    /// How long messages come.
    pub duration_ms: f64,
    /// Offered load as a share of what all members finish together.
    pub load: f64,
    /// Two and a half times as many messages for about 200 ms, less for about 800 ms, in turn.
    pub bursts: bool,
    /// Mean time between 10x slowdowns of 5 s on average.
    pub slow_every_ms: f64,
    /// Mean time between pauses of 50 to 500 ms.
    pub pause_every_ms: f64,
    /// Mean time between stalls of 30 s; 0: none.
    pub stall_every_ms: f64,
    /// Mean time until a member moves to another distance; 0: never.
    pub move_every_ms: f64,
    /// How many messages a member works on at a time.
    pub workers: usize,
    /// How many keys messages have.
    pub keys: usize,
    /// These acknowledge at once, whatever they declare.
    pub liars: Vec<usize>,
    /// The kernel sees a proxy beside the broker.
    pub proxied: bool,
}

impl Scenario {
    /// Members of very different speed and distance.
    pub fn hetero(load: f64) -> Scenario {
        Scenario {
            members: 20,
            speed_per_s: (20.0, 200.0),
            rtt_ms: (1.0, 200.0),
            duration_ms: 70e3,
            load,
            bursts: false,
            slow_every_ms: 60e3,
            pause_every_ms: 15e3,
            stall_every_ms: 0.0,
            move_every_ms: 120e3,
            workers: 1,
            keys: 1000,
            liars: Vec::new(),
            proxied: false,
        }
    }

    /// Of moderately different ones.
    pub fn mild(load: f64) -> Scenario {
        Scenario { speed_per_s: (50.0, 100.0), rtt_ms: (1.0, 50.0), ..Scenario::hetero(load) }
    }

    /// Of the same speed, all near.
    pub fn equal(load: f64) -> Scenario {
        Scenario { speed_per_s: (80.0, 80.0), rtt_ms: (1.0, 5.0), ..Scenario::hetero(load) }
    }

    /// `hetero`, with bursts.
    pub fn bursts(load: f64) -> Scenario {
        Scenario { bursts: true, ..Scenario::hetero(load) }
    }

    /// `hetero`, with members that are silent for half a minute.
    pub fn blackholes(load: f64) -> Scenario {
        Scenario { stall_every_ms: 150e3, duration_ms: 130e3, ..Scenario::hetero(load) }
    }
}
