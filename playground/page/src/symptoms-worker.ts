// What reads logs, events and status: in a worker of its own, so that a manifest is checked while a gigabyte is read.

import init, { Reading, page } from '../../build/symptoms/karpwarden.js';
import { type Handlers, answer } from './answer.ts';
import { fetchModule } from './unpack.ts';
import type { SymptomMethods } from './types.ts';

declare const ENGINE: string;
declare const SYMPTOMS: string;

const ready = fetchModule(ENGINE)
  .then((before) => fetchModule(SYMPTOMS, before))
  .then((bytes) => init({ module_or_path: bytes }));

/** How much of a large file is read at once. */
const PIECE = 1 << 20;

/** The engine reads no clock. */
const today = () => new Date().toISOString().slice(0, 10);

const methods: Handlers<SymptomMethods> = {
  async diagnose(clusters, settings, progress) {
    const before = performance.now();
    const reading = new Reading(JSON.stringify(settings), today());
    let done = 0;
    for (const { name, files } of clusters) {
      reading.cluster(name);
      for (const file of files) {
        reading.file(file.name);
        if ('text' in file) {
          reading.feed(new TextEncoder().encode(file.text));
          continue;
        }
        // A gigabyte is never in memory: pieces of it are.
        for (let at = 0; at < file.file.size; at += PIECE) {
          reading.feed(new Uint8Array(await file.file.slice(at, at + PIECE).arrayBuffer()));
          done += PIECE;
          progress(done);
        }
      }
    }
    return { json: reading.finish(), ms: performance.now() - before };
  },
  async excerpt(file, line, around, progress) {
    const first = Math.max(1, line - around);
    let [at, number, text] = [0, 1, ''];
    const decoder = new TextDecoder();
    while (at < file.size && number <= line + around) {
      const piece = new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());
      let [from, end] = [0, piece.length];
      for (let next = piece.indexOf(10); next >= 0; next = piece.indexOf(10, next + 1)) {
        number++;
        if (number === first) from = next + 1;
        if (number === line + around + 1) {
          end = next;
          break;
        }
      }
      // Of lines without end only the start is shown.
      if (number >= first && text.length < PIECE) text += decoder.decode(piece.subarray(first > 1 && text === '' ? from : 0, end), { stream: true });
      at += PIECE;
      progress(at);
    }
    return { first, lines: text.split('\n').map((one) => one.slice(0, 2000)) };
  },
  page: (name) => page(name) ?? '',
};

answer(ready, methods);
