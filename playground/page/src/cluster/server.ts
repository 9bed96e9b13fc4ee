// Turns a policy's answer into an AdmissionResponse, like policy-server. tools/admit/src/server.rs does the same natively
// and names its sources.

import type { Json } from '../types.ts';
import { Inventory, type HostCall } from './inventory.ts';
import { type JsonObject, at, diff, isObject, sorted, textAt } from './json.ts';
import { call } from './wapc.ts';

export interface Policy {
  module: WebAssembly.Module;
  metadata: Json;
  settings: Json;
  mode: 'protect' | 'monitor';
  mutating: boolean;
}

export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  patchType?: string;
  patch?: string;
  status?: { message?: string; code?: number };
  auditAnnotations: { [key: string]: string } | null;
  warnings: string[] | null;
}

const ID = 'kw.cap.karpenter';
/** Returns the name of a policy's webhook in the API server. */
export const webhookOf = (policy: string): string => `kw.cap.${policy}.kubewarden.admission`;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads the metadata from the custom section of a module. */
export function metadataOf(module: WebAssembly.Module): Json {
  const section = WebAssembly.Module.customSections(module, 'io.kubewarden.metadata')[0];
  return section ? (JSON.parse(decoder.decode(section)) as Json) : null;
}

/** Returns the kinds that the metadata requests access to, which `kwctl scaffold manifest` grants. */
export function contextAware(metadata: Json): { apiVersion: string; kind: string }[] {
  const resources = at(metadata, 'contextAwareResources');
  if (!Array.isArray(resources)) return [];
  return resources.map((one) => ({ apiVersion: textAt(one, 'apiVersion'), kind: textAt(one, 'kind') }));
}

/** Whether a rule of the metadata matches the request. Otherwise the API server does not call the webhook. */
export function matchesRules(metadata: Json, request: Json): boolean {
  const rules = at(metadata, 'rules');
  if (!Array.isArray(rules) || rules.length === 0) return true;
  const covers = (rule: Json, field: string, wanted: string) => {
    const listed = at(rule, field);
    return Array.isArray(listed) && listed.some((value) => value === '*' || value === wanted);
  };
  return rules.some(
    (rule) =>
      covers(rule, 'apiGroups', textAt(request, 'resource', 'group')) &&
      covers(rule, 'apiVersions', textAt(request, 'resource', 'version')) &&
      covers(rule, 'resources', textAt(request, 'resource', 'resource')) &&
      covers(rule, 'operations', textAt(request, 'operation')),
  );
}

/** Runs the policy in a fresh instance and returns the response that the API server receives, and the patched object. */
export async function review(
  policy: Policy,
  request: JsonObject,
  others: readonly JsonObject[],
  granted: readonly { apiVersion: string; kind: string }[],
): Promise<{ response: AdmissionResponse; object: Json; calls: HostCall[] }> {
  const inventory = new Inventory(others, granted);
  const { response: evaluated, mutated } = await evaluate(policy, request, inventory);
  const response = constrain(policy, evaluated);
  const object = response.patch === undefined ? (at(request, 'object') ?? null) : mutated;
  return { response, object, calls: inventory.calls };
}

async function evaluate(
  policy: Policy,
  request: JsonObject,
  inventory: Inventory,
): Promise<{ response: AdmissionResponse; mutated: Json }> {
  const uid = textAt(request, 'uid');
  const payload = encoder.encode(sorted({ request, settings: policy.settings }));
  let answer: Uint8Array;
  try {
    answer = await call(policy.module, 'validate', payload, (binding, namespace, operation, callPayload) => {
      let query: Json = null;
      try {
        query = JSON.parse(decoder.decode(callPayload)) as Json;
      } catch {
        // Invalid JSON names no resource, so the inventory refuses it.
      }
      const reply = inventory.answer(binding, namespace, operation, query);
      return reply === undefined ? new Uint8Array() : encoder.encode(sorted(reply));
    });
  } catch (error) {
    return { response: rejected(uid, `internal server error: ${(error as Error).message}`, 500), mutated: null };
  }
  let output: Json;
  try {
    output = JSON.parse(decoder.decode(answer)) as Json;
  } catch (error) {
    return {
      response: rejected(uid, `internal server error: invalid response from policy: ${(error as Error).message}`, 500),
      mutated: null,
    };
  }
  return { response: responseOf(uid, at(request, 'object'), output), mutated: at(output, 'mutated_object') ?? null };
}

function rejected(uid: string, message: string, code?: number): AdmissionResponse {
  const status = { message, ...(code === undefined ? {} : { code }) };
  return { uid, allowed: false, status, auditAnnotations: null, warnings: null };
}

function responseOf(uid: string, object: Json | undefined, answer: Json): AdmissionResponse {
  const mutated = at(answer, 'mutated_object') ?? null;
  let patch: string | undefined;
  if (mutated !== null && object === undefined) {
    return rejected(
      uid,
      'Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed',
    );
  }
  if (mutated !== null && object !== undefined) {
    const changes = diff(object, mutated);
    if (changes.length > 0) patch = base64(sorted(changes));
  }
  const message = at(answer, 'message');
  const code = at(answer, 'code');
  const status = {
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof code === 'number' ? { code } : {}),
  };
  const annotations = at(answer, 'audit_annotations');
  const warnings = at(answer, 'warnings');
  return {
    uid,
    allowed: at(answer, 'accepted') === true,
    ...(patch === undefined ? {} : { patchType: 'JSONPatch', patch }),
    ...(Object.keys(status).length > 0 ? { status } : {}),
    auditAnnotations: isObject(annotations) ? (annotations as { [key: string]: string }) : null,
    warnings: Array.isArray(warnings) ? (warnings as string[]) : null,
  };
}

/** Applies the mode of the policy and its permission to mutate. */
function constrain(policy: Policy, response: AdmissionResponse): AdmissionResponse {
  if (policy.mode === 'monitor') {
    const { uid, auditAnnotations, warnings } = response;
    return { uid, allowed: true, auditAnnotations, warnings };
  }
  if (response.patch !== undefined && !policy.mutating) {
    const message = `Request rejected by policy ${ID}. The policy attempted to mutate the request, but it is currently configured to not allow mutations.`;
    const { uid, auditAnnotations, warnings } = response;
    return { uid, allowed: false, status: { message }, auditAnnotations, warnings };
  }
  return response;
}

function base64(text: string): string {
  let letters = '';
  for (const byte of encoder.encode(text)) letters += String.fromCharCode(byte);
  return btoa(letters);
}
