// JSON as a Kubernetes host writes it: the keys of objects in order, so that the same object is the same text.

import type { Json } from '../types.ts';

export type JsonObject = { [key: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value below a path of keys. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let node: Json | undefined = value;
  for (const key of path) {
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

/** The text below a path of keys; empty where there is none. */
export function textAt(value: Json | undefined, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

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

/** RFC 6902, step by step as the crate json-patch does, which policy-server uses. */
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
      const place = `${path}/${index - shift}`;
      const [before, after] = [left[index], right[index]];
      if (before !== undefined && after !== undefined) patch.push(...diff(before, after, place));
      else if (after !== undefined) patch.push({ op: 'add', path: place, value: after });
      else {
        shift++;
        patch.push({ op: 'remove', path: place });
      }
    }
    return patch;
  }
  return equal(left, right) ? [] : [{ op: 'replace', path, value: right }];
}
