//! The network interfaces of instance types.

use std::collections::BTreeMap;

/// Network interfaces of an instance type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NetworkLimits {
    /// Interfaces of the default network card.
    pub(crate) interfaces: u32,
    /// IPv4 addresses of an interface.
    pub(crate) addresses: u32,
    /// Branch interfaces; 0 if the type supports no trunk interface.
    pub(crate) branches: u32,
}

/// Entry of the table while it is read.
#[derive(Default)]
struct Entry {
    limits: NetworkLimits,
    default_card: u32,
    cards: Vec<(u32, u32)>,
    trunking: bool,
    all: u32,
}

impl Entry {
    fn set(&mut self, key: &str, value: &str) {
        let number = value.parse().unwrap_or_default();
        match key {
            "Interface" => self.all = number,
            "IPv4PerInterface" => self.limits.addresses = number,
            "BranchInterface" => self.limits.branches = number,
            "IsTrunkingCompatible" => self.trunking = value == "true",
            "DefaultNetworkCardIndex" => self.default_card = number,
            "MaximumNetworkInterfaces" => self.cards.push((number, 0)),
            "NetworkCardIndex" => {
                if let Some(card) = self.cards.last_mut() {
                    card.1 = number;
                }
            }
            _ => {}
        }
    }

    fn finish(self) -> NetworkLimits {
        let card = self.cards.iter().find(|(_, index)| *index == self.default_card);
        NetworkLimits {
            interfaces: card.map_or(self.all, |(interfaces, _)| *interfaces),
            branches: if self.trunking { self.limits.branches } else { 0 },
            ..self.limits
        }
    }
}

/// Parses `zz_generated.vpclimits.go`.
pub(crate) fn parse(text: &str) -> BTreeMap<String, NetworkLimits> {
    let mut all = BTreeMap::new();
    let mut open: Option<(String, Entry)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("\t\"").and_then(|rest| rest.strip_suffix("\": {")) {
            open = Some((name.to_owned(), Entry::default()));
        } else if line == "\t}," {
            if let Some((name, entry)) = open.take() {
                all.insert(name, entry.finish());
            }
        } else if let (Some((_, entry)), Some((key, value))) = (&mut open, line.trim().split_once(':')) {
            entry.set(key, value.trim().trim_end_matches(','));
        }
    }
    all
}
