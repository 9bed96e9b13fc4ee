//! The lives of NodeClaims.

use std::collections::HashMap;

use super::by_name::ByName;
use super::name::Name;
use super::said::Said;
use crate::entry::Time;
use crate::hashing::Hashing;

/// How many lives are remembered.
const MOST: usize = 20_000;

/// The life of a NodeClaim, as far as it was told.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Its name.
    pub name: Name,
    /// Its place among all lives that were met.
    order: u64,
    /// Its NodePool, where it was told.
    named_pool: Option<Name>,
    /// Which controller made it.
    pub maker: Maker,
    /// Which process made it.
    pub writer: Option<usize>,
    /// When it began: its creation or, where that was not told, its launch.
    pub born: Option<Time>,
    /// The same where only its age is known.
    pub aged: Option<Time>,
    /// `created nodeclaim`.
    pub created: Option<Said>,
    /// `launched nodeclaim`, or the condition.
    pub launched: Option<Said>,
    /// Which process launched it.
    pub launcher: Option<usize>,
    /// The instance.
    pub provider_id: Name,
    /// The zone of the instance.
    pub zone: Name,
    /// The type of the instance.
    pub instance_type: Name,
    /// How the instance is paid for: `spot`, `on-demand` or `reserved`.
    pub capacity_type: Name,
    /// The Node, where it was told.
    pub node: Name,
    /// `registered nodeclaim`, or the condition.
    pub registered: Option<Said>,
    /// `initialized nodeclaim`, or the condition.
    pub initialised: Option<Said>,
    /// That its Node lacks the taint it has to register with; the first line and how many said so.
    pub taint_missing: Option<(Said, u64)>,
    /// Whether that keeps the Node from registering, as the release has it.
    pub taint_needed: bool,
    /// That no Node was found for it: the condition `Registered`.
    pub node_not_found: Option<Said>,
    /// That it could not be launched.
    pub launch_failed: Option<Said>,
    /// That it was removed for not having registered in time.
    pub timed_out: Option<Said>,
    /// That its instance had gone: what was said of it first.
    pub lost: Option<Said>,
    /// Why it was removed, where Karpenter said so: `Cause::Other` for what is no part of normal work.
    pub cause: Option<(Cause, Said)>,
    /// That it drifted, with the reasons, each once.
    pub drifts: Vec<Drift>,
    /// When its deletion was asked for, as its object says.
    pub deleting: Option<Time>,
    /// `deleted nodeclaim`.
    pub deleted: Option<Said>,
}

/// Which controller made a NodeClaim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maker {
    /// It was not told.
    #[default]
    Unknown,
    /// The provisioner, for pods that wait.
    Provisioner,
    /// The disruption controller, as a replacement.
    Disruption,
}

/// Why a NodeClaim was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Consolidation or emptiness.
    Consolidated,
    /// Drift.
    Drifted,
    /// A spot interruption, a scheduled change of EC2, a reservation that ended.
    Interrupted,
    /// Its time was over, or the node was unhealthy.
    Ended,
}

/// That a NodeClaim drifted.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The reason, such as `AMIDrift`; empty where only the replacement was told.
    pub reason: Box<str>,
    /// What said so.
    pub said: Said,
}

impl Life {
    /// The NodePool: as it was told, or as the name of the NodeClaim has it, which is that of the pool and five letters.
    pub fn pool(&self) -> &str {
        let derived = || self.name.rsplit_once('-').map_or(&*self.name, |(pool, _)| pool);
        self.named_pool.as_deref().unwrap_or_else(derived)
    }

    /// Takes note of the NodePool.
    pub fn set_pool(&mut self, pool: &str) {
        if !pool.is_empty() && self.named_pool.is_none() {
            self.named_pool = Some(pool.into());
        }
    }

    /// Takes note of when it began.
    pub fn set_born(&mut self, time: Option<Time>) {
        let Some(time) = time else { return };
        let known = if time.is_age() { &mut self.aged } else { &mut self.born };
        *known = Some(known.map_or(time, |known| known.min(time)));
    }

    /// The first thing said of why it went, or that it did.
    pub fn end(&self) -> Option<&Said> {
        let cause = self.cause.as_ref().map(|(_, said)| said);
        let ends = [self.lost.as_ref(), self.timed_out.as_ref(), cause, self.deleted.as_ref()];
        ends.into_iter().flatten().min_by_key(|said| said.key())
    }

    /// The lines that only the leader writes of it, each with the process that wrote it.
    pub(super) fn written(&self) -> impl Iterator<Item = (Time, usize)> {
        let made = self.created.as_ref().and_then(|said| said.time).zip(self.writer);
        let launched = self.launched.as_ref().and_then(|said| said.time).zip(self.launcher);
        made.into_iter().chain(launched)
    }

    /// What may be forgotten first: what ended well, then what ended, then what lives.
    fn worth(&self) -> (u8, u64) {
        let troubled = self.taint_missing.is_some()
            || self.timed_out.is_some()
            || self.lost.is_some()
            || !self.drifts.is_empty();
        let rank = match (self.deleted.is_some(), troubled) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        (rank, self.order)
    }
}

/// All lives that are remembered.
#[derive(Debug, Default)]
pub struct Lives {
    map: ByName<Life>,
    /// The NodeClaims of Nodes.
    nodes: HashMap<Name, Name, Hashing>,
    met: u64,
}

impl Lives {
    /// The life of a NodeClaim, which begins here if it was not met before.
    pub fn of(&mut self, name: &str) -> &mut Life {
        self.map.of(name, || {
            self.met += 1;
            Life { name: name.into(), order: self.met, ..Life::default() }
        })
    }

    /// The life of a NodeClaim that was met before.
    pub fn get(&self, name: &str) -> Option<&Life> {
        self.map.get(name)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Life> {
        self.map.in_order()
    }

    /// Takes note of which Node a NodeClaim has.
    pub fn set_node(&mut self, claim: &str, node: &str) {
        if !node.is_empty() {
            let life = self.of(claim);
            if *life.node != *node {
                life.node = node.into();
            }
            if self.nodes.get(node.as_bytes()).is_none_or(|known| **known != *claim) {
                self.nodes.insert(node.into(), claim.into());
            }
        }
    }

    /// The NodeClaim of a Node.
    pub fn of_node(&mut self, node: &str) -> Option<&mut Life> {
        let claim = self.nodes.get(node.as_bytes())?;
        self.map.get_mut(claim)
    }

    /// Forgets a quarter where there are too many; how many.
    pub(super) fn forget(&mut self) -> u64 {
        if self.map.len() <= MOST {
            return 0;
        }
        let mut worth: Vec<_> = self.map.all().map(Life::worth).collect();
        worth.sort_unstable();
        let Some(least) = worth.get(worth.len() / 4).copied() else { return 0 };
        let before = self.map.len();
        self.map.retain(|life| life.worth() >= least);
        let map = &self.map;
        self.nodes.retain(|_, claim| map.get(claim).is_some());
        (before - self.map.len()) as u64
    }
}
