// Diagnoses logs, events and status in a separate worker, so that a manifest is checked while a gigabyte is read.

import init, { Reading } from '../../build/symptoms/karpwarden.js';
import { type Handlers, serve } from './worker-server.ts';
import type { FilesOfCluster, Story, SymptomMethods } from './types.ts';

declare const SYMPTOMS: string;

const ready = init({ module_or_path: new URL(SYMPTOMS, self.location.href) });

/** Bytes of a large file that are read at a time. */
const CHUNK = 1 << 20;

/** Today's date; the engine reads no clock. */
const today = () => new Date().toISOString().slice(0, 10);

/** Feeds the files of clusters to a reading. */
async function feed(reading: Reading, clusters: FilesOfCluster[], progress: (done: number) => void): Promise<void> {
  let done = 0;
  for (const { name, files } of clusters) {
    reading.cluster(name);
    for (const file of files) {
      reading.file(file.name);
      if ('text' in file) {
        reading.feed(new TextEncoder().encode(file.text));
        continue;
      }
      // Reads chunks: a file may be larger than the memory.
      for (let at = 0; at < file.file.size; at += CHUNK) {
        reading.feed(new Uint8Array(await file.file.slice(at, at + CHUNK).arrayBuffer()));
        done += CHUNK;
        progress(done);
      }
    }
  }
}

const methods: Handlers<SymptomMethods> = {
  async diagnose(clusters, settings, progress) {
    const before = performance.now();
    const reading = new Reading(JSON.stringify(settings), today());
    await feed(reading, clusters, progress);
    return { json: reading.finish(), ms: performance.now() - before };
  },
  async story(clusters, settings, kind, name, progress) {
    const reading = new Reading(JSON.stringify(settings), today()).about(kind, name);
    await feed(reading, clusters, progress);
    return (JSON.parse(reading.finish()) as { stories: Story[] }).stories;
  },
  async excerpt(file, line, around, progress) {
    const first = Math.max(1, line - around);
    let [at, number, text] = [0, 1, ''];
    const decoder = new TextDecoder();
    while (at < file.size && number <= line + around) {
      const chunk = new Uint8Array(await file.slice(at, at + CHUNK).arrayBuffer());
      let [from, end] = [0, chunk.length];
      for (let next = chunk.indexOf(10); next >= 0; next = chunk.indexOf(10, next + 1)) {
        number++;
        if (number === first) from = next + 1;
        if (number === line + around + 1) {
          end = next;
          break;
        }
      }
      // A line may be longer than a chunk: only its start is shown.
      if (number >= first && text.length < CHUNK)
        text += decoder.decode(chunk.subarray(first > 1 && text === '' ? from : 0, end), { stream: true });
      at += CHUNK;
      progress(at);
    }
    return { first, lines: text.split('\n').map((one) => one.slice(0, 2000)) };
  },
};

serve(ready, methods);
