//! What the entries of the metadata group add up to.

use std::collections::BTreeMap;

use crate::bounds::{MEMBERS_MAX, TOKEN_LIFE_MS, TOKENS_MAX, VOTERS_MAX};
use crate::entry::Entry;
use crate::ids::{Boot, ClusterId, FolderId, NodeId, SecretHash};
use crate::member::{Features, Member, Newcomer, Standing};
use crate::refusal::Refusal;
use crate::tables::Tables;

/// What came of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds.
    Done,
    /// It holds, and is about this member.
    Member(NodeId),
}

/// A cluster as its log has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    pub(crate) applied: u64,
    pub(crate) cluster: Option<(ClusterId, String)>,
    /// By id; those that are gone stay.
    pub(crate) members: BTreeMap<NodeId, Member>,
    /// Tokens that nobody has used, and when each was made.
    pub(crate) tokens: BTreeMap<SecretHash, u64>,
    pub(crate) tables: Tables,
    pub(crate) level: u32,
}

impl ClusterState {
    /// Of a log without entries.
    pub fn new() -> Self {
        ClusterState::default()
    }

    /// Applies the entry at this sequence; they come in order, each once.
    ///
    /// # Errors
    /// It does not hold: nothing has changed but [`ClusterState::applied`].
    pub fn apply(&mut self, sequence: u64, entry: &Entry) -> Result<Answer, Refusal> {
        debug_assert!(sequence > self.applied, "entries come in order");
        self.applied = sequence;
        match entry {
            Entry::Founded { cluster, name, founder } => return self.found(*cluster, name, founder),
            _ if self.cluster.is_none() => return Err(Refusal::NotFounded),
            Entry::TokenMade { secret, made_at_ms } => self.add_token(*secret, *made_at_ms)?,
            Entry::Joined { secret, newcomer, joined_at_ms } => return self.join(*secret, newcomer, *joined_at_ms),
            Entry::Booted { node, folder, boot, addresses, release, features } => {
                let member = self.startable(*node, *folder, *boot, *features)?;
                member.boot = *boot;
                member.said.addresses.clone_from(addresses);
                member.said.release.clone_from(release);
                member.said.features = *features;
            }
            Entry::Promoted { node } => self.promote(*node)?,
            Entry::Removed { node } => self.remove(*node)?,
            Entry::TablesSet { tables } => self.tables.clone_from(tables),
            Entry::LevelRaised { level } => self.raise(*level)?,
        }
        Ok(Answer::Done)
    }

    fn found(&mut self, cluster: ClusterId, name: &str, founder: &Newcomer) -> Result<Answer, Refusal> {
        if self.cluster.is_some() {
            return Err(Refusal::Founded);
        }
        self.cluster = Some((cluster, name.to_owned()));
        self.level = founder.features.most;
        Ok(Answer::Member(self.admit(founder, Standing::Voter)))
    }

    fn add_token(&mut self, secret: SecretHash, made_at_ms: u64) -> Result<(), Refusal> {
        self.tokens.retain(|_, made| made_at_ms.saturating_sub(*made) <= TOKEN_LIFE_MS);
        if self.tokens.len() >= TOKENS_MAX {
            return Err(Refusal::ManyTokens { tokens: self.tokens.len() });
        }
        self.tokens.insert(secret, made_at_ms);
        Ok(())
    }

    /// A token is gone when it was used, for whatever came of it but a refusal of who came.
    fn join(&mut self, secret: SecretHash, newcomer: &Newcomer, joined_at_ms: u64) -> Result<Answer, Refusal> {
        let made_at_ms = *self.tokens.get(&secret).ok_or(Refusal::UnknownToken)?;
        let age_ms = joined_at_ms.saturating_sub(made_at_ms);
        if age_ms > TOKEN_LIFE_MS {
            return Err(Refusal::OldToken { age_s: age_ms / 1000 });
        }
        self.check_newcomer(newcomer)?;
        self.tokens.remove(&secret);
        // It has nothing yet: a vote of it would count for what it lacks.
        Ok(Answer::Member(self.admit(newcomer, Standing::Learner)))
    }

    fn check_newcomer(&self, newcomer: &Newcomer) -> Result<(), Refusal> {
        if self.members.len() >= MEMBERS_MAX {
            return Err(Refusal::Full);
        }
        if let Some(member) = self.members.values().find(|member| member.said.folder == newcomer.folder) {
            return Err(Refusal::FolderTaken { node: member.id });
        }
        if let Some(member) = self.present().find(|member| member.said.name == newcomer.name) {
            return Err(Refusal::NameTaken { node: member.id, name: newcomer.name.clone() });
        }
        check_level(self.next_id(), newcomer.features, self.level)
    }

    fn next_id(&self) -> NodeId {
        NodeId(self.members.len() as u8 + 1)
    }

    fn admit(&mut self, newcomer: &Newcomer, standing: Standing) -> NodeId {
        let id = self.next_id();
        self.members.insert(id, Member { id, said: newcomer.clone(), boot: Boot(0), standing });
        id
    }

    /// The member that this start is of.
    fn startable(
        &mut self,
        node: NodeId,
        folder: FolderId,
        boot: Boot,
        features: Features,
    ) -> Result<&mut Member, Refusal> {
        let level = self.level;
        let member = self.members.get_mut(&node).ok_or(Refusal::NoMember { node })?;
        if member.standing == Standing::Gone {
            return Err(Refusal::Gone { node });
        }
        if member.said.folder != folder {
            return Err(Refusal::OtherFolder { node });
        }
        if boot <= member.boot {
            return Err(Refusal::OldBoot { node, known: member.boot, found: boot });
        }
        check_level(node, features, level)?;
        Ok(member)
    }

    fn promote(&mut self, node: NodeId) -> Result<(), Refusal> {
        let voters = self.voters().count();
        let member = self.there(node)?;
        if member.standing == Standing::Learner {
            if voters >= VOTERS_MAX {
                return Err(Refusal::ManyVoters { voters });
            }
            member.standing = Standing::Voter;
        }
        Ok(())
    }

    fn remove(&mut self, node: NodeId) -> Result<(), Refusal> {
        let voters = self.voters().count();
        let member = self.there(node)?;
        if member.standing == Standing::Voter && voters == 1 {
            return Err(Refusal::LastVoter { node });
        }
        member.standing = Standing::Gone;
        Ok(())
    }

    fn raise(&mut self, level: u32) -> Result<(), Refusal> {
        if level < self.level {
            return Err(Refusal::LevelFell { level: self.level });
        }
        self.present().try_for_each(|member| check_level(member.id, member.said.features, level))?;
        self.level = level;
        Ok(())
    }

    fn there(&mut self, node: NodeId) -> Result<&mut Member, Refusal> {
        let member = self.members.get_mut(&node).ok_or(Refusal::NoMember { node })?;
        if member.standing == Standing::Gone { Err(Refusal::Gone { node }) } else { Ok(member) }
    }

    /// The sequence of the last entry that was applied; 0 at first.
    pub const fn applied(&self) -> u64 {
        self.applied
    }

    /// Its id and its name, once it is founded.
    pub fn cluster(&self) -> Option<(ClusterId, &str)> {
        self.cluster.as_ref().map(|(id, name)| (*id, &**name))
    }

    /// Everybody who ever was a member, by id.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    /// A member, or who was one.
    pub fn member(&self, node: NodeId) -> Option<&Member> {
        self.members.get(&node)
    }

    /// Those that were not removed.
    fn present(&self) -> impl Iterator<Item = &Member> {
        self.members.values().filter(|member| member.standing != Standing::Gone)
    }

    /// Those that vote.
    pub fn voters(&self) -> impl Iterator<Item = NodeId> {
        self.members.values().filter(|member| member.standing == Standing::Voter).map(|member| member.id)
    }

    /// Those that have a copy without voting.
    pub fn learners(&self) -> impl Iterator<Item = NodeId> {
        self.members.values().filter(|member| member.standing == Standing::Learner).map(|member| member.id)
    }

    /// The tables that must be the same at every node, as they were set last.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What is written may need so much.
    pub const fn level(&self) -> u32 {
        self.level
    }

    /// Whether somebody may join by a token that is good at `now_ms`, on the wall clock.
    pub fn has_token(&self, now_ms: u64) -> bool {
        self.tokens.values().any(|made_at_ms| now_ms.saturating_sub(*made_at_ms) <= TOKEN_LIFE_MS)
    }

    /// Whether one more may vote.
    pub fn has_room_for_a_voter(&self) -> bool {
        self.voters().count() < VOTERS_MAX
    }

    /// Tokens that nobody has used; some of them may be too old.
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }
}

fn check_level(node: NodeId, features: Features, level: u32) -> Result<(), Refusal> {
    let Features { least, most } = features;
    match (least..=most).contains(&level) {
        true => Ok(()),
        false => Err(Refusal::Level { node, least, most, level }),
    }
}
