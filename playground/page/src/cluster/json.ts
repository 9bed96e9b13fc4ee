// JSON with sorted keys, as Kubernetes hosts write it, so that equal objects have equal text.

import type { Json } from '../types.ts';

export type JsonObject = { [key: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of keys. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let node: Json | undefined = value;
  for (const key of path) {
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

/** Returns the string at a path of keys, or an empty string. */
export function textAt(value: Json | undefined, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Serialises a value with sorted keys. */
export function sorted(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort(byCodePoint);
  return `{${members.map((key) => `${JSON.stringify(key)}:${sorted(value[key] ?? null)}`).join(',')}}`;
}

export function byCodePoint(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    if (one.charCodeAt(index) !== other.charCodeAt(index)) {
      return (one.codePointAt(index) ?? 0) - (other.codePointAt(index) ?? 0);
    }
  }
  return one.length - other.length;
}

export function equal(one: Json, other: Json): boolean {
  return sorted(one) === sorted(other);
}

/** JSON patch (RFC 6902) with the operations in the order of the crate json-patch, which policy-server uses. */
export function diff(left: Json, right: Json, path = ''): JsonObject[] {
  if (isObject(left) && isObject(right)) {
    const below = (key: string) => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const patch: JsonObject[] = [];
    for (const key of Object.keys(right).sort(byCodePoint)) {
      const value = right[key] ?? null;
      if (Object.hasOwn(left, key)) patch.push(...diff(left[key] ?? null, value, below(key)));
      else patch.push({ op: 'add', path: below(key), value });
    }
    for (const key of Object.keys(left).sort(byCodePoint)) {
      if (!Object.hasOwn(right, key)) patch.push({ op: 'remove', path: below(key) });
    }
    return patch;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const patch: JsonObject[] = [];
    let shift = 0;
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
      const item = `${path}/${index - shift}`;
      const [before, after] = [left[index], right[index]];
      if (before !== undefined && after !== undefined) patch.push(...diff(before, after, item));
      else if (after !== undefined) patch.push({ op: 'add', path: item, value: after });
      else {
        shift++;
        patch.push({ op: 'remove', path: item });
      }
    }
    return patch;
  }
  return equal(left, right) ? [] : [{ op: 'replace', path, value: right }];
}
