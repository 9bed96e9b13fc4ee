// Share links. The fragment of the address holds files and settings; browsers do not send it to any server.
//
//   #<base64url of: one version byte, then deflated JSON {"f": [[name, text]], "s": settings}>
//
// `playground/assemble` writes the same format for the examples of the rule pages.

import type { Settings, SourceFile } from './types.ts';
import { settingsOf, filesOf } from './state.ts';

const VERSION = 1;
/** Largest size of the JSON in bytes, so that a hostile link cannot exhaust the memory. */
const LIMIT = 4 << 20;

export interface Shared {
  files?: SourceFile[];
  settings?: Settings;
}

/** Encodes the fragment of a link; empty if the text is too long for a link. */
export async function encode(shared: Shared): Promise<string> {
  const files = shared.files?.map(({ name, text }) => [name, text]);
  const json = new TextEncoder().encode(JSON.stringify({ f: files, s: shared.settings }));
  if (json.length > LIMIT) return '';
  const packed = await through(json, new CompressionStream('deflate-raw'), Infinity);
  const bytes = new Uint8Array(packed.length + 1);
  bytes[0] = VERSION;
  bytes.set(packed, 1);
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes a fragment. Throws an error whose message is for the user. */
export async function decode(fragment: string): Promise<Shared> {
  const damaged = 'The link is damaged and could not be read. Ask the sender for a new link, or paste the manifest.';
  let bytes: Uint8Array;
  try {
    const text = atob(fragment.replaceAll('-', '+').replaceAll('_', '/'));
    bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error(damaged);
  }
  if (bytes[0] !== VERSION) {
    throw new Error(
      bytes.length > 0 && (bytes[0] ?? 0) > VERSION
        ? 'The link was created by a newer version of this page. Reload the page, then open the link again.'
        : damaged,
    );
  }
  let json: unknown;
  try {
    const raw = await through(bytes.subarray(1), new DecompressionStream('deflate-raw'), LIMIT);
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    throw new Error(damaged);
  }
  if (typeof json !== 'object' || json === null) throw new Error(damaged);
  const { f, s } = json as { f?: unknown; s?: unknown };
  const shared: Shared = {};
  const pairs = Array.isArray(f)
    ? f.map((pair) => (Array.isArray(pair) ? { name: pair[0], text: pair[1] } : null))
    : null;
  const files = filesOf(pairs);
  if (files.length > 0) shared.files = files;
  if (s !== undefined) shared.settings = settingsOf(s);
  if (!shared.files && !shared.settings) throw new Error(damaged);
  return shared;
}

/** Pipes bytes through a stream; fails if the output exceeds the limit. */
async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  limit: number,
): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Error('too long');
    }
    pieces.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
