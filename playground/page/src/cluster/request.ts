// Manifests as admission requests, field by field as tools/admit/src/admission.rs builds them.

import { type JsonObject, isObject, textAt } from './json.ts';
import { groupAndVersion, isNamespaced, plural } from './kinds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

const OPTIONS: Record<Operation, string> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** The AdmissionRequest that the API server would send about an object. */
export function admissionRequest(
  operation: Operation,
  object: JsonObject | null,
  oldObject: JsonObject | null,
): JsonObject {
  const either = object ?? oldObject ?? {};
  const [apiVersion, kind] = [textAt(either, 'apiVersion'), textAt(either, 'kind')];
  const [group, version] = groupAndVersion(apiVersion);
  const named = isObject(either.metadata) && typeof either.metadata.name === 'string';
  const name = textAt(either, 'metadata', 'name');
  const given = isObject(either.metadata) && typeof either.metadata.namespace === 'string';
  const namespace = isNamespaced(group, kind)
    ? given
      ? textAt(either, 'metadata', 'namespace')
      : 'default'
    : undefined;
  const gvk = { group, version, kind };
  const gvr = { group, version, resource: plural(kind) };
  const identity = [apiVersion, kind, operation, namespace ?? '', name];
  return {
    uid: uidOf(identity),
    kind: gvk,
    resource: gvr,
    requestKind: gvk,
    requestResource: gvr,
    ...(named ? { name } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
    ...(object ? { object: placed(object, namespace) } : {}),
    ...(oldObject ? { oldObject: placed(oldObject, namespace) } : {}),
    dryRun: false,
    options: { apiVersion: 'meta.k8s.io/v1', kind: OPTIONS[operation] },
  };
}

/** A namespaced object reaches the webhook with its namespace filled in. */
function placed(object: JsonObject, namespace: string | undefined): JsonObject {
  if (namespace === undefined) return object;
  const metadata = Object.hasOwn(object, 'metadata') ? object.metadata : {};
  if (!isObject(metadata) || Object.hasOwn(metadata, 'namespace')) return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

/** FNV-1a, two times 64 bits, in the shape of the API server's identifiers: the same request has the same one. */
function uidOf(identity: string[]): string {
  const bytes = new TextEncoder().encode(identity.join('/'));
  const hash = (seed: bigint) => {
    let value = 0xcbf29ce484222325n ^ seed;
    for (const byte of bytes) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
    return value;
  };
  const [high, low] = [hash(0n), hash(1n)];
  const hex = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0');
  return [
    hex(high >> 32n, 8),
    hex((high >> 16n) & 0xffffn, 4),
    `4${hex(high & 0xfffn, 3)}`,
    `8${hex((low >> 48n) & 0xfffn, 3)}`,
    hex(low & 0xffffffffffffn, 12),
  ].join('-');
}
