//! IP networks.
//!
//! Reference: apparentlymart/go-cidr `cidr/cidr.go` and hashicorp/terraform `internal/lang/funcs/cidr.go`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Answer, Call};
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// Network of an address and the length of its prefix.
#[derive(Clone, Copy)]
struct Network {
    /// The address, without the bits of the host.
    address: u128,
    prefix: u32,
    /// 32 or 128.
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a network such as 10.0.0.0/16.");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let is_plain = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u32 = prefix.parse().ok().filter(|_| is_plain).ok_or_else(wrong)?;
        let (address, bits) = match parse_address(address).ok_or_else(wrong)? {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        if prefix > bits {
            return Err(wrong());
        }
        let host = mask(bits - prefix);
        Ok(Self { address: address & !host, prefix, bits })
    }

    /// A network within this one.
    fn subnet(self, new_bits: u32, number: u128) -> Result<Self, String> {
        let prefix = self.prefix.checked_add(new_bits).filter(|prefix| *prefix <= self.bits);
        let prefix = prefix.ok_or("The network has too few bits.")?;
        if number > mask(new_bits) {
            return Err(format!("A prefix of {new_bits} more bits has no network {number}."));
        }
        let shift = self.bits - prefix;
        let offset = number.checked_shl(shift).unwrap_or(0);
        Ok(Self { address: self.address | offset, prefix, bits: self.bits })
    }

    fn show(self, address: u128) -> String {
        if self.bits == 32 {
            Ipv4Addr::from(u32::try_from(address).unwrap_or(u32::MAX)).to_string()
        } else {
            show_v6(Ipv6Addr::from(address))
        }
    }
}

/// An address of version 6 as Go writes it: one within version 4 without its prefix.
fn show_v6(address: Ipv6Addr) -> String {
    address.to_ipv4_mapped().map_or_else(|| address.to_string(), |address| address.to_string())
}

/// Parses an address; Terraform still reads zeros at the start of its parts.
fn parse_address(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let parts: Vec<&str> = text.split('.').collect();
    let part = |part: &&str| {
        let is_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| is_digits)
    };
    let numbers: Option<Vec<u8>> = parts.iter().map(part).collect();
    <[u8; 4]>::try_from(numbers?).ok().map(|octets| IpAddr::V4(octets.into()))
}

/// A number whose lower bits are set.
fn mask(bits: u32) -> u128 {
    1_u128.checked_shl(bits).map_or(u128::MAX, |bit| bit - 1)
}

fn bits(call: &Call<'_>, index: usize) -> Result<u32, String> {
    u32::try_from(call.int(index)?).map_err(|_| "The number of bits is negative.".to_owned())
}

pub(super) fn cidrsubnet(call: &Call<'_>) -> Answer {
    let network = Network::parse(call.str(0)?)?;
    // Terraform has networks for negative numbers too, none that anyone means.
    let (Ok(new_bits), Ok(number)) = (u32::try_from(call.int(1)?), u128::try_from(call.int(2)?)) else {
        return call.unknown(Type::String);
    };
    show(call, network.subnet(new_bits, number)?)
}

fn show(call: &Call<'_>, network: Network) -> Answer {
    if network.bits == 128 && Ipv6Addr::from(network.address).to_ipv4_mapped().is_some() {
        return call.unknown(Type::String);
    }
    call.string(format!("{}/{}", network.show(network.address), network.prefix))
}

pub(super) fn cidrhost(call: &Call<'_>) -> Answer {
    let network = Network::parse(call.str(0)?)?;
    let number = call.int(1)?;
    let largest = mask(network.bits - network.prefix);
    let host = if number < 0 {
        let from_end = u128::from(number.unsigned_abs()) - 1;
        largest.checked_sub(from_end)
    } else {
        Some(u128::from(number.unsigned_abs())).filter(|host| *host <= largest)
    };
    let host = host.ok_or_else(|| format!("The network has no host {number}."))?;
    call.string(network.show(network.address | host))
}

pub(super) fn cidrnetmask(call: &Call<'_>) -> Answer {
    let network = Network::parse(call.str(0)?)?;
    if network.bits != 32 {
        return Err("Only a network of IP version 4 has a netmask.".to_owned());
    }
    call.string(network.show(mask(32) & !mask(32 - network.prefix)))
}

/// Networks one after the other, each at the next boundary of its size.
pub(super) fn cidrsubnets(call: &Call<'_>) -> Answer {
    let network = Network::parse(call.str(0)?)?;
    let (mut next, mut subnets) = (network.address, Vec::new());
    let last = network.address | mask(network.bits - network.prefix);
    let mut is_full = false;
    for index in 1..call.arguments.len() {
        let new_bits = bits(call, index)?;
        if !(1..=32).contains(&new_bits) {
            return Err("A subnet must have 1 to 32 bits more.".to_owned());
        }
        let prefix = network.prefix.checked_add(new_bits).filter(|prefix| *prefix <= network.bits);
        let prefix = prefix.ok_or("The network has too few bits.")?;
        let host = mask(network.bits - prefix);
        let start = next.checked_add(host).map(|end| end & !host);
        let start = start
            .filter(|start| !is_full && start | host <= last)
            .ok_or("The network has too few addresses.")?;
        let subnet = Network { address: start, prefix, bits: network.bits };
        subnets.push(EvaluatedValue::string(format!("{}/{prefix}", subnet.show(start)), call.place));
        match (start | host).checked_add(1) {
            Some(following) => next = following,
            None => is_full = true,
        }
    }
    call.value(Data::List(Type::String, subnets.into_iter().collect()))
}
