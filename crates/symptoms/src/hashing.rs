//! A hash for what is looked up in every line of a log.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Hashes texts: a multiplication for eight bytes, from a start that is another in each run, so that nobody can choose names
/// that fall together.
#[derive(Clone, Debug)]
pub(super) struct Hashing {
    start: u64,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { start: RandomState::new().hash_one(0) }
    }
}

impl BuildHasher for Hashing {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded(self.start)
    }
}

#[derive(Debug)]
pub(super) struct Folded(u64);

impl Folded {
    /// Both halves of a product, folded into one.
    #[expect(clippy::cast_possible_truncation, reason = "the halves are what is asked for")]
    fn take(&mut self, eight: u64) {
        let product = u128::from(self.0 ^ eight) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        for eight in eights {
            self.take(u64::from_le_bytes(*eight));
        }
        let rest = rest.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        self.take(rest ^ (bytes.len() as u64) << 56);
    }

    // The length of a text or its end, which `write` knows.
    fn write_usize(&mut self, _: usize) {}
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        // The table takes its places from the lowest bits and tells things apart by the highest.
        self.0 ^ self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_that_are_alike_fall_apart() {
        let hashing = Hashing::default();
        let names = (0..20_000).map(|number| format!("default-{number:05x}"));
        let hashes: HashSet<u64> =
            names.chain(["", "a", "aa"].map(str::to_owned)).map(|name| hashing.hash_one(&*name)).collect();
        assert_eq!(hashes.len(), 20_003);
        let low: HashSet<u64> = hashes.iter().map(|hash| hash & 0x7fff).collect();
        assert!(low.len() > 13_000, "{}", low.len());
    }
}
