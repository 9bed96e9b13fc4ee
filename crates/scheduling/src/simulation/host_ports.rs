//! Ports that pods take on the host.
//!
//! Source: pkg/scheduling/hostportusage.go of kubernetes-sigs/karpenter at v1.14.1.

use core::fmt;

/// Port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HostPort<'d> {
    /// The address; empty for every address.
    pub(crate) ip: &'d str,
    /// The number.
    pub(crate) port: i64,
    /// The protocol.
    pub(crate) protocol: &'d str,
}

impl HostPort<'_> {
    fn is_on_every_address(&self) -> bool {
        matches!(self.ip, "" | "0.0.0.0" | "::")
    }

    fn conflicts(&self, other: &Self) -> bool {
        let same_address = self.ip == other.ip || self.is_on_every_address() || other.is_on_every_address();
        same_address && self.port == other.port && self.protocol == other.protocol
    }
}

/// `IP=0.0.0.0 Port=8080 Proto=TCP`, as in Karpenter's messages.
impl fmt::Display for HostPort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ip = if self.ip.is_empty() { "0.0.0.0" } else { self.ip };
        write!(f, "IP={ip} Port={} Proto={}", self.port, self.protocol)
    }
}

/// The host ports in use on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostPortUsage<'d>(Vec<HostPort<'d>>);

impl<'d> HostPortUsage<'d> {
    /// The first pair of ports that conflict.
    pub(crate) fn conflict(&self, asked: &[HostPort<'d>]) -> Option<(HostPort<'d>, HostPort<'d>)> {
        let taken = |port: &HostPort<'d>| self.0.iter().find(|taken| taken.conflicts(port)).copied();
        asked.iter().find_map(|port| Some((*port, taken(port)?)))
    }

    /// Takes ports.
    pub(crate) fn add(&mut self, ports: &[HostPort<'d>]) {
        self.0.extend_from_slice(ports);
    }
}
