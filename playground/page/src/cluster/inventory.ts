// Host calls of a policy to the cluster. The documents on the page serve as the cluster. Order of the checks, wording and
// shapes follow policy-server; tools/admit/src/cluster/ names the sources.

import type { Json } from '../types.ts';
import { type JsonObject, isObject, textAt } from './json.ts';
import { groupAndVersion, isBuiltIn, isNamespaced } from './kinds.ts';

/** One host call of the policy. */
export interface HostCall {
  operation: string;
  apiVersion: string;
  kind: string;
  refusal: string | null;
}

type Mask = Map<string, Mask>;

export class Inventory {
  readonly calls: HostCall[] = [];

  constructor(
    private readonly objects: readonly JsonObject[],
    private readonly granted: readonly { apiVersion: string; kind: string }[],
  ) {}

  /** Answers a host call with JSON, or throws the error that the policy receives. */
  answer(binding: string, namespace: string, operation: string, payload: Json): Json | undefined {
    if (binding !== 'kubewarden') throw new Error(`unknown binding: ${binding}`);
    if (namespace === 'tracing' && operation === 'log') return undefined;
    const [apiVersion, kind] = [textAt(payload, 'api_version'), textAt(payload, 'kind')];
    const call: HostCall = { operation: `${namespace}/${operation}`, apiVersion, kind, refusal: null };
    this.calls.push(call);
    try {
      return this.#answer(namespace, operation, apiVersion, kind, payload);
    } catch (error) {
      call.refusal = (error as Error).message;
      throw error;
    }
  }

  #answer(namespace: string, operation: string, apiVersion: string, kind: string, payload: Json): Json {
    if (namespace !== 'kubernetes') {
      const known = ['tracing', 'oci', 'net', 'crypto'].includes(namespace);
      throw new Error(known ? `unknown operation: ${operation}` : `unknown namespace: ${namespace}`);
    }
    if (operation === 'can_i') return { allowed: false };
    const list = operation === 'list_resources_all' || operation === 'list_resources_by_namespace';
    if (!list && operation !== 'get_resource') throw new Error(`unknown operation: ${operation}`);
    if (!this.granted.some((resource) => resource.apiVersion === apiVersion && resource.kind === kind)) {
      throw new Error(
        `Policy has not been granted access to Kubernetes ${apiVersion}/${kind} resources. The violation has been reported.`,
      );
    }
    const masks = isObject(payload) && Array.isArray(payload.field_masks) ? payload.field_masks : null;
    const mask = masks && maskOf(masks.filter((path) => typeof path === 'string'));
    const where = textAt(payload, 'namespace');
    const namespaced = isNamespaced(groupAndVersion(apiVersion)[0], kind);
    const failure = (text: string) => new Error(`Callback evaluation failure: ${text}`);
    const all = this.objects.filter(
      (object) => textAt(object, 'apiVersion') === apiVersion && textAt(object, 'kind') === kind,
    );
    const placedIn = (object: JsonObject) => textAt(object, 'metadata', 'namespace') || 'default';
    if (list) {
      const within = operation === 'list_resources_by_namespace';
      if (within && !namespaced) {
        throw failure(`resource ${apiVersion}/${kind} is cluster wide. Cannot search for it inside of a namespace`);
      }
      for (const selector of ['label_selector', 'field_selector']) {
        if (textAt(payload, selector)) throw failure(`this page does not evaluate the selector in ${selector}`);
      }
      const items = all.filter((object) => !within || placedIn(object) === where).map((object) => listed(object, mask));
      return { apiVersion, kind: `${kind}List`, metadata: {}, items };
    }
    const name = textAt(payload, 'name');
    const found = all.find(
      (object) => textAt(object, 'metadata', 'name') === name && (!namespaced || placedIn(object) === where),
    );
    if (!found) throw failure(`Cannot find ${apiVersion}/${kind} named '${name}'`);
    return mask ? pruneObject(found, mask) : found;
  }
}

/** An object as the host lists it: without bookkeeping, and for built-in groups without apiVersion and kind. */
function listed(object: JsonObject, mask: Mask | null): JsonObject {
  const builtIn = isBuiltIn(groupAndVersion(textAt(object, 'apiVersion'))[0]);
  let copy = Object.fromEntries(
    Object.entries(object).filter(([key]) => !builtIn || (key !== 'apiVersion' && key !== 'kind')),
  );
  if (isObject(copy.metadata)) {
    const annotations = isObject(copy.metadata.annotations) ? copy.metadata.annotations : {};
    const kept = Object.entries(annotations).filter(
      ([key]) => key !== 'kubectl.kubernetes.io/last-applied-configuration',
    );
    copy = { ...copy, metadata: { ...copy.metadata, managedFields: [], annotations: Object.fromEntries(kept) } };
  }
  return mask ? pruneObject(copy, mask) : copy;
}

/** Builds a mask from dotted paths. A key that contains a dot cannot be selected. */
function maskOf(paths: string[]): Mask {
  const root: Mask = new Map();
  for (const path of paths) {
    let node = root;
    for (const part of path.split('.')) {
      const next: Mask = node.get(part) ?? new Map();
      node.set(part, next);
      node = next;
    }
  }
  return root;
}

/** Prunes an object but keeps apiVersion, kind and metadata. */
function pruneObject(object: JsonObject, mask: Mask): JsonObject {
  if (mask.size === 0) return object;
  return pruned(object, mask, ['apiVersion', 'kind', 'metadata']) as JsonObject;
}

function pruned(value: Json, mask: Mask, keep: string[] = []): Json {
  if (mask.size === 0) return value;
  // A path applies to every item of a list.
  if (Array.isArray(value)) return value.map((item) => pruned(item, mask));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    if (keep.includes(key)) return [[key, inner]];
    const child = mask.get(key);
    return child ? [[key, pruned(inner, child)]] : [];
  });
  return Object.fromEntries(kept);
}
