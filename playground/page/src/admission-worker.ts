// Runs the policy module in a worker.

import type { Json } from './types.ts';
import { type JsonObject, textAt } from './cluster/json.ts';
import { type Operation, admissionRequest } from './cluster/request.ts';
import { type AdmissionResponse, contextAware, matchesRules, metadataOf, review, WEBHOOK } from './cluster/server.ts';
import { once } from './once.ts';
import type { HostCall } from './cluster/inventory.ts';

declare const POLICY: string;

export interface Loaded {
  digest: string;
  bytes: number;
  title: string;
  version: string;
  webhook: string;
  contextAware: { apiVersion: string; kind: string }[];
}

export interface Asked {
  operation: Operation;
  object: Json;
  oldObject: Json;
  others: Json[];
  settings: Json;
  mode: 'protect' | 'monitor';
  mutating: boolean;
  connected: boolean;
}

export interface Answered {
  /** Null if no rule of the policy's metadata matches the request: the API server does not send it. */
  response: AdmissionResponse | null;
  calls: HostCall[];
}

export interface AdmissionMethods {
  load: { args: []; result: Loaded };
  review: { args: [Asked]; result: Answered };
}

interface Module {
  module: WebAssembly.Module;
  metadata: Json;
  loaded: Loaded;
}

const load = once(async (): Promise<Module> => {
  const answer = await fetch(new URL(POLICY, self.location.href));
  if (!answer.ok) throw new Error(`The policy module could not be fetched: HTTP status ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const [hash, module] = await Promise.all([crypto.subtle.digest('SHA-256', bytes), WebAssembly.compile(bytes)]);
  const metadata = metadataOf(module);
  const digest = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const annotation = (name: string) => textAt(metadata, 'annotations', `io.kubewarden.policy.${name}`);
  const loaded: Loaded = {
    digest: `sha256:${digest}`,
    bytes: bytes.byteLength,
    title: annotation('title'),
    version: annotation('version'),
    webhook: WEBHOOK,
    contextAware: contextAware(metadata),
  };
  return { module, metadata, loaded };
});

async function answer(asked: Asked): Promise<Answered> {
  const { module, metadata, loaded } = await load();
  const object = asked.operation === 'DELETE' ? null : (asked.object as JsonObject);
  const oldObject = asked.operation === 'CREATE' ? null : (asked.oldObject as JsonObject);
  const request = admissionRequest(asked.operation, object, oldObject);
  if (!matchesRules(metadata, request)) return { response: null, calls: [] };
  const { settings, mode, mutating } = asked;
  const granted = asked.connected ? loaded.contextAware : [];
  return review({ module, metadata, settings, mode, mutating }, request, asked.others as JsonObject[], granted);
}

type Message = { id: number } & ({ method: 'load'; args: [] } | { method: 'review'; args: [Asked] });

// Reviews run one at a time, because every instance reserves address space.
let last: Promise<void> = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  last = last.then(() => respond(data));
});

async function respond(data: Message): Promise<void> {
  try {
    const result = data.method === 'load' ? (await load()).loaded : await answer(data.args[0]);
    postMessage({ id: data.id, result });
  } catch (error) {
    postMessage({ id: data.id, error: (error as Error).message });
  }
}
