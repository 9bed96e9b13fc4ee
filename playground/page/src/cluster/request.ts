// Builds admission requests from manifests, field by field like tests/doors/src/admission.rs.

import { type JsonObject, isObject, textAt } from './json.ts';
import { groupAndVersion, isNamespaced, plural } from './kinds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

const OPTIONS: Record<Operation, string> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** Builds the AdmissionRequest that the API server sends for an object. */
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
    ...(object ? { object: withNamespace(object, namespace) } : {}),
    ...(oldObject ? { oldObject: withNamespace(oldObject, namespace) } : {}),
    dryRun: false,
    options: { apiVersion: 'meta.k8s.io/v1', kind: OPTIONS[operation] },
  };
}

/** Fills in the namespace, as the API server does before it calls a webhook. */
function withNamespace(object: JsonObject, namespace: string | undefined): JsonObject {
  if (namespace === undefined) return object;
  const metadata = Object.hasOwn(object, 'metadata') ? object.metadata : {};
  if (!isObject(metadata) || Object.hasOwn(metadata, 'namespace')) return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

/** Derives a UUID from the request with FNV-1a, so that the same request always has the same UID. */
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
