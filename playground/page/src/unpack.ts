// Unpacks what `assemble pack` packed: a module is LZMA (https://7-zip.org/sdk.html, lzma-specification.txt), which is a
// fifth smaller than what browsers unpack themselves; and what comes later is packed against the first module, with which
// the others have most of their bytes in common.
//
//   four bytes: how long it is unpacked, little-endian; then a raw stream with lc=3, lp=0, pb=0

// Where the probabilities of each kind of decision are.
const IS_MATCH = 0;
const IS_REP = IS_MATCH + 12;
const IS_REP0 = IS_REP + 12;
const IS_REP1 = IS_REP0 + 12;
const IS_REP2 = IS_REP1 + 12;
const IS_REP0_LONG = IS_REP2 + 12;
const SLOT = IS_REP0_LONG + 12;
const SPECIAL = SLOT + 4 * 64;
const ALIGN = SPECIAL + 128;
const MATCH_LENGTH = ALIGN + 16;
const REP_LENGTH = MATCH_LENGTH + 2 + 8 + 8 + 256;
const LITERAL = REP_LENGTH + 2 + 8 + 8 + 256;
const ALL = LITERAL + 8 * 0x300;

/** Fetches a packed module, from beside the worker that asks. */
export async function fetchModule(name: string, before?: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(new URL(name, self.location.href));
  if (!answer.ok || !answer.body) throw new Error(`${name} could not be fetched: ${answer.status}`);
  return unpack(answer.body, before);
}

/** No decision about a byte or a match reads more than this. */
const STEP = 20;

/** Unpacks a module while it arrives; `before` is the one that it was packed against. */
async function unpack(
  stream: ReadableStream<Uint8Array>,
  before: Uint8Array = new Uint8Array(),
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let packed = new Uint8Array(1 << 19);
  let ready = 0;
  let over = false;
  const more = async () => {
    const { done, value } = await reader.read();
    over = done;
    if (!value) return;
    if (ready + value.length > packed.length) {
      const wider = new Uint8Array(2 * (ready + value.length));
      wider.set(packed);
      packed = wider;
    }
    packed.set(value, ready);
    ready += value.length;
  };
  while (ready < 9 && !over) await more();

  const view = new DataView(packed.buffer);
  const end = before.length + view.getUint32(0, true);
  const out = new Uint8Array(end);
  out.set(before);
  const odds = new Uint16Array(ALL).fill(1024);
  // The range and the code: unsigned, which only a typed array keeps cheap.
  const coder = new Uint32Array([0xffffffff, view.getUint32(5)]);
  let next = 9;

  const narrow = () => {
    if ((coder[0] as number) >= 1 << 24) return;
    coder[0] = (coder[0] as number) << 8;
    coder[1] = ((coder[1] as number) << 8) | (packed[next++] as number);
  };
  const bit = (index: number): number => {
    const odd = odds[index] as number;
    const bound = ((coder[0] as number) >>> 11) * odd;
    const one = (coder[1] as number) >= bound;
    if (one) {
      coder[0] = (coder[0] as number) - bound;
      coder[1] = (coder[1] as number) - bound;
      odds[index] = odd - (odd >>> 5);
    } else {
      coder[0] = bound;
      odds[index] = odd + ((2048 - odd) >>> 5);
    }
    narrow();
    return one ? 1 : 0;
  };
  const tree = (index: number, bits: number): number => {
    let node = 1;
    for (let left = bits; left > 0; left--) node = (node << 1) | bit(index + node);
    return node - (1 << bits);
  };
  const reverse = (index: number, bits: number): number => {
    let [node, value] = [1, 0];
    for (let place = 0; place < bits; place++) {
      const one = bit(index + node);
      node = (node << 1) | one;
      value |= one << place;
    }
    return value;
  };
  const direct = (bits: number): number => {
    let value = 0;
    for (let left = bits; left > 0; left--) {
      coder[0] = (coder[0] as number) >>> 1;
      const one = (coder[1] as number) >= (coder[0] as number) ? 1 : 0;
      if (one) coder[1] = (coder[1] as number) - (coder[0] as number);
      value = (value << 1) | one;
      narrow();
    }
    return value;
  };
  const length = (index: number): number => {
    if (bit(index) === 0) return 2 + tree(index + 2, 3);
    if (bit(index + 1) === 0) return 10 + tree(index + 10, 3);
    return 18 + tree(index + 18, 8);
  };
  const distance = (long: number): number => {
    const slot = tree(SLOT + Math.min(long - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    if (slot < 14) return base + reverse(SPECIAL + base - slot, bits);
    return base + (direct(bits - 4) << 4) + reverse(ALIGN, 4);
  };

  let at = before.length;
  let state = 0;
  // The last four distances, each one less than it is.
  let [rep0, rep1, rep2, rep3] = [0, 0, 0, 0];
  while (at < end) {
    while (next + STEP > ready && !over) await more();
    if (bit(IS_MATCH + state) === 0) {
      const literal = LITERAL + 0x300 * ((at > 0 ? (out[at - 1] as number) : 0) >> 5);
      let symbol = 1;
      if (state >= 7) {
        // What stands where the last match would go on is most likely not this byte.
        let other = out[at - rep0 - 1] as number;
        while (symbol < 0x100) {
          const likely = (other >> 7) & 1;
          other <<= 1;
          const one = bit(literal + ((1 + likely) << 8) + symbol);
          symbol = (symbol << 1) | one;
          if (one !== likely) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(literal + symbol);
      out[at++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let long: number;
    if (bit(IS_REP + state) === 0) {
      [rep3, rep2, rep1] = [rep2, rep1, rep0];
      long = length(MATCH_LENGTH);
      rep0 = distance(long);
      state = state < 7 ? 7 : 10;
    } else {
      if (bit(IS_REP0 + state) === 0) {
        if (bit(IS_REP0_LONG + state) === 0) {
          out[at] = out[at - rep0 - 1] as number;
          at++;
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else if (bit(IS_REP1 + state) === 0) [rep0, rep1] = [rep1, rep0];
      else if (bit(IS_REP2 + state) === 0) [rep0, rep1, rep2] = [rep2, rep0, rep1];
      else [rep0, rep1, rep2, rep3] = [rep3, rep0, rep1, rep2];
      long = length(REP_LENGTH);
      state = state < 7 ? 8 : 11;
    }
    for (const stop = Math.min(at + long, end); at < stop; at++) out[at] = out[at - rep0 - 1] as number;
  }
  if (next > ready) throw new Error('the module did not arrive whole');
  return out.subarray(before.length);
}
