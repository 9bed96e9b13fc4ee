//! Search for many pieces of text at once, by four bytes of each that are rare elsewhere.

use super::index::PatternId;
use foldhash::HashMap;

/// Four bytes of a piece.
type Window = [u8; Pieces::SHORTEST];

/// Pieces of text, each with its pattern.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Bloom filter: one bit for each hash of a window, so that most windows of a text need no lookup.
    hashes: Vec<u64>,
    windows: HashMap<Window, Vec<PatternId>>,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { hashes: vec![0; 1 << 10], windows: HashMap::default() }
    }
}

impl Pieces {
    /// Length in bytes that a piece has at least.
    pub(super) const SHORTEST: usize = 4;

    /// Adds a piece under its rarest four bytes.
    pub(super) fn add(&mut self, piece: &str, id: PatternId) {
        let windows = piece.as_bytes().windows(Self::SHORTEST).filter_map(<[u8]>::first_chunk);
        let Some(window) = windows.max_by_key(|window| rarity(**window)) else { return };
        let (word, bit) = hash(*window);
        if let Some(bits) = self.hashes.get_mut(word) {
            *bits |= bit;
        }
        self.windows.entry(*window).or_default().push(id);
    }

    /// The patterns of all pieces that a text may contain, each once.
    pub(super) fn find(&self, text: &str) -> Vec<PatternId> {
        let windows = text.as_bytes().windows(Self::SHORTEST).filter_map(<[u8]>::first_chunk);
        let likely = windows.filter(|window| {
            let (word, bit) = hash(**window);
            self.hashes.get(word).is_some_and(|bits| bits & bit != 0)
        });
        let mut found: Vec<PatternId> =
            likely.filter_map(|window| self.windows.get(window)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The word and the bit of a window in the filter: Fibonacci hashing to 16 bits.
fn hash(window: Window) -> (usize, u64) {
    let hash = u32::from_le_bytes(window).wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

/// Rarity of four bytes in English and in the controller's log.
fn rarity(window: Window) -> u32 {
    let weight = |byte: &u8| match byte {
        b' ' | b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'"' | b',' | b':' => 0,
        b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'.' | b'-' | b'/' | b'0'..=b'9' => 1,
        b'g' | b'h' | b'f' | b'y' | b'v' | b'b' | b'w' => 2,
        _ => 3,
    };
    window.iter().map(weight).sum()
}
