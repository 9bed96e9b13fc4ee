// Runs the policy module in a worker.

import type { Json } from './types.ts';
import { type JsonObject, textAt } from './cluster/json.ts';
import { type Operation, admissionRequest } from './cluster/request.ts';
import { type AdmissionResponse, contextAware, matchesRules, metadataOf, review } from './cluster/server.ts';
import { once } from './once.ts';
import type { HostCall } from './cluster/inventory.ts';

declare const POLICY: string;

export interface PolicyInfo {
  digest: string;
  bytes: number;
  title: string;
  version: string;
  contextAware: { apiVersion: string; kind: string }[];
}

export interface ReviewRequest {
  operation: Operation;
  object: Json;
  oldObject: Json;
  others: Json[];
  settings: Json;
  mode: 'protect' | 'monitor';
  mutating: boolean;
  connected: boolean;
  /** The spec of the installed policy, whose rules say what the API server sends. Default: the metadata of the module. */
  policy?: Json;
}

export interface Reviewed {
  /** Null if no rule of the policy matches the request: the API server does not send it. */
  response: AdmissionResponse | null;
  /** The object after the patch of the policy. */
  object: Json;
  calls: HostCall[];
}

export interface AdmissionMethods {
  load: { args: []; result: PolicyInfo };
  review: { args: [ReviewRequest]; result: Reviewed };
}

interface LoadedPolicy {
  module: WebAssembly.Module;
  metadata: Json;
  info: PolicyInfo;
}

const load = once(async (): Promise<LoadedPolicy> => {
  const response = await fetch(new URL(POLICY, self.location.href));
  if (!response.ok) throw new Error(`The policy module could not be fetched: HTTP status ${response.status}`);
  const bytes = await response.arrayBuffer();
  const [hash, module] = await Promise.all([crypto.subtle.digest('SHA-256', bytes), WebAssembly.compile(bytes)]);
  const metadata = metadataOf(module);
  const digest = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const annotation = (name: string) => textAt(metadata, 'annotations', `io.kubewarden.policy.${name}`);
  const info: PolicyInfo = {
    digest: `sha256:${digest}`,
    bytes: bytes.byteLength,
    title: annotation('title'),
    version: annotation('version'),
    contextAware: contextAware(metadata),
  };
  return { module, metadata, info };
});

async function reviewRequest(options: ReviewRequest): Promise<Reviewed> {
  const { module, metadata, info } = await load();
  const object = options.operation === 'DELETE' ? null : (options.object as JsonObject);
  const oldObject = options.operation === 'CREATE' ? null : (options.oldObject as JsonObject);
  const request = admissionRequest(options.operation, object, oldObject);
  if (!matchesRules(options.policy ?? metadata, request)) return { response: null, object, calls: [] };
  const { settings, mode, mutating } = options;
  const granted = options.connected ? info.contextAware : [];
  return review({ module, metadata, settings, mode, mutating }, request, options.others as JsonObject[], granted);
}

type Message = { id: number } & ({ method: 'load'; args: [] } | { method: 'review'; args: [ReviewRequest] });

// Reviews run one at a time, because every instance reserves address space.
let last: Promise<void> = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  last = last.then(() => respond(data));
});

async function respond(data: Message): Promise<void> {
  try {
    const result = data.method === 'load' ? (await load()).info : await reviewRequest(data.args[0]);
    postMessage({ id: data.id, result });
  } catch (error) {
    postMessage({ id: data.id, error: (error as Error).message });
  }
}
