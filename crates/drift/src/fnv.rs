//! FNV-1 as Go's `hash/fnv.New64` computes it, and how hashstructure joins hashes.
//!
//! Source: mitchellh/hashstructure v2.0.2 hashstructure.go, format 2.

/// FNV-1 of some bytes: multiply, then combine. FNV-1a would do it the other way round.
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| hash.wrapping_mul(PRIME) ^ u64::from(*byte))
}

/// The hash of a string.
pub(crate) fn text(text: &str) -> u64 {
    bytes(text.as_bytes())
}

/// The hash of two hashes in order: a key and its value, or the name of a field and its value.
pub(crate) fn ordered(first: u64, second: u64) -> u64 {
    let mut both = [0; 16];
    let (left, right) = both.split_at_mut(8);
    left.copy_from_slice(&first.to_le_bytes());
    right.copy_from_slice(&second.to_le_bytes());
    bytes(&both)
}

/// Closes a combination without order.
pub(crate) fn finished(hash: u64) -> u64 {
    bytes(&hash.to_le_bytes())
}
