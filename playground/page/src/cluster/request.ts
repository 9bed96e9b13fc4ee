// Builds admission requests from manifests, field by field like tools/admit/src/admission.rs.

import { type JsonObject, isObject, textAt } from './json.ts';
import { groupAndVersion, isNamespaced, plural } from './kinds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

const OPTIONS: Record<Operation, string> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** UID of every request. */
const UID = '00000000-0000-4000-8000-000000000000';

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
  return {
    uid: UID,
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
