//! Who serves: one node at a time, and none while nobody can know.
//!
//! The leader of the metadata group draws the data groups to itself, and serves when it leads them all and has applied all. It
//! serves for as long as a majority has confirmed that it leads: each confirmation holds for the election timeout, less what
//! clocks may differ by, counted from when it was *asked*. A majority that heard the question elects nobody else before that,
//! so there are never two. A leader that is asked to step down ends its serving first, and hands over then.

use crate::ids::NodeId;

/// All of a node's data groups, a bit each.
const ALL: u16 = u16::MAX;

/// Times, in milliseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The shortest time after which a node that hears nothing stands for election.
    pub election_ms: u64,
    /// For so long the metadata group's leader tries to serve before it lets somebody else try.
    pub give_up_ms: u64,
}

/// What a node sees of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// It leads the metadata group.
    pub leads_metadata: bool,
    /// Data groups that it leads, a bit each.
    pub leads: u16,
    /// Data groups of which everything is applied that was there when it began to lead them.
    pub applied: u16,
    /// When the last question was asked that a majority has answered with: you lead the metadata group.
    pub confirmed_at_ms: Option<u64>,
    /// The disk takes what comes; true, too, where no other voter's does: then there is nobody to hand over to.
    pub has_space: bool,
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Follows.
    #[default]
    Standby,
    /// Leads the metadata group and does not serve yet.
    Arriving,
    /// Has clients.
    Active,
}

/// Why serving ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody else leads the metadata group.
    Metadata,
    /// Somebody else leads one of the data groups.
    DataGroup,
    /// No majority has answered for too long.
    Unconfirmed,
    /// It was asked to.
    StepDown,
    /// The disk is full.
    NoSpace,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Stand for election in these data groups: a bit each.
    Draw(u16),
    /// Take clients.
    Serve,
    /// Close all clients at once, and say [`Failover::ended`] when the last thread of theirs is over.
    End(Ending),
    /// Let another node lead the metadata group: that one, if one was named.
    GiveUp(Option<NodeId>),
}

/// The one decision, asked in every tick.
#[derive(Debug)]
pub struct Failover {
    timing: Timing,
    role: Role,
    /// Since when it leads the metadata group, or tries again.
    arrived_at_ms: u64,
    /// Since when it waits for another node to take the metadata group.
    gave_up_at_ms: Option<u64>,
    /// Serving was begun and is not over yet.
    serving: bool,
    wants_down: Option<StepDown>,
}

/// The operator wants another node to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepDown {
    /// That one; `None`: whichever is furthest.
    to: Option<NodeId>,
}

impl Failover {
    /// Of a node that follows.
    pub const fn new(timing: Timing) -> Self {
        Failover {
            timing,
            role: Role::Standby,
            arrived_at_ms: 0,
            gave_up_at_ms: None,
            serving: false,
            wants_down: None,
        }
    }

    /// What the node is.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The operator wants another node to serve: that one, or whichever is furthest.
    pub const fn step_down(&mut self, to: Option<NodeId>) {
        self.wants_down = Some(StepDown { to });
    }

    /// The last thread of a serving that was to end is over.
    pub const fn ended(&mut self) {
        self.serving = false;
    }

    /// Until when it may serve, by what a majority has confirmed: on the monotonic clock that `confirmed_at_ms` is of.
    pub fn may_serve_until_ms(&self, observed: &Observed) -> u64 {
        // Clocks of two machines run apart by less than a tenth.
        let holds_ms = self.timing.election_ms - self.timing.election_ms / 10;
        observed.confirmed_at_ms.map_or(0, |asked_at_ms| asked_at_ms.saturating_add(holds_ms))
    }

    /// What is to be done, by what the node sees at `now_ms`.
    pub fn tick(&mut self, observed: &Observed, now_ms: u64) -> Step {
        if self.role == Role::Active {
            return self.ending(observed, now_ms).map_or(Step::Nothing, |ending| self.end(ending));
        }
        if !observed.leads_metadata {
            (self.role, self.gave_up_at_ms, self.wants_down) = (Role::Standby, None, None);
            return Step::Nothing;
        }
        if self.role == Role::Standby {
            (self.role, self.arrived_at_ms) = (Role::Arriving, now_ms);
        }
        // The life before may not be over: nothing begins beside it.
        if self.serving || self.waits_for_another(now_ms) {
            return Step::Nothing;
        }
        let is_late = now_ms.saturating_sub(self.arrived_at_ms) >= self.timing.give_up_ms;
        let wanted = self.wants_down.take();
        if wanted.is_some() || !observed.has_space || is_late {
            self.gave_up_at_ms = Some(now_ms);
            return Step::GiveUp(wanted.and_then(|wanted| wanted.to));
        }
        self.arrive(observed, now_ms)
    }

    /// Whether another node may still take over. When none has for as long as this one tries, it tries again.
    fn waits_for_another(&mut self, now_ms: u64) -> bool {
        let Some(gave_up_at_ms) = self.gave_up_at_ms else { return false };
        let waits = now_ms.saturating_sub(gave_up_at_ms) < self.timing.give_up_ms;
        if !waits {
            (self.gave_up_at_ms, self.arrived_at_ms) = (None, now_ms);
        }
        waits
    }

    fn arrive(&mut self, observed: &Observed, now_ms: u64) -> Step {
        let missing = ALL & !observed.leads;
        if missing != 0 {
            return Step::Draw(missing);
        }
        if observed.applied != ALL || now_ms >= self.may_serve_until_ms(observed) {
            return Step::Nothing;
        }
        (self.role, self.serving) = (Role::Active, true);
        Step::Serve
    }

    fn ending(&self, observed: &Observed, now_ms: u64) -> Option<Ending> {
        match observed {
            Observed { leads_metadata: false, .. } => Some(Ending::Metadata),
            Observed { leads, .. } if *leads != ALL => Some(Ending::DataGroup),
            _ if now_ms >= self.may_serve_until_ms(observed) => Some(Ending::Unconfirmed),
            _ if self.wants_down.is_some() => Some(Ending::StepDown),
            Observed { has_space: false, .. } => Some(Ending::NoSpace),
            _ => None,
        }
    }

    fn end(&mut self, ending: Ending) -> Step {
        self.role = Role::Standby;
        // Whoever was asked to step down hands over when its serving has ended.
        self.wants_down = self.wants_down.filter(|_| ending == Ending::StepDown);
        Step::End(ending)
    }
}
