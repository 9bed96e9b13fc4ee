// The files that an answer about a file is from.

import type { SourceFile } from '../../../playground/package/answers';

const isIn = (folder: string) => (name: string) => folder === '' || name.startsWith(`${folder}/`);
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/**
 * Returns the folder nearest to a file whose files have what a simulation needs: a NodePool, and pods. A folder has its subfolders,
 * too. Empty for the folder of the editor.
 */
export function scopeOf(files: readonly SourceFile[], active: string): string {
  const has = (folder: string, kinds: RegExp) => files.some(({ name, text }) => isIn(folder)(name) && kinds.test(text));
  for (let folder = parentOf(active); folder; folder = parentOf(folder)) {
    if (has(folder, POOLS) && has(folder, PODS)) return folder;
  }
  return '';
}

/** The files of a scope, the open one first: an answer starts with its objects. */
export function within(files: readonly SourceFile[], scope: string, active: string): SourceFile[] {
  const own = files.filter(({ name }) => isIn(scope)(name));
  return [...own.filter(({ name }) => name === active), ...own.filter(({ name }) => name !== active)];
}

const POOLS = /\bNodePool\b|\bkubectl_manifest\b/;
const PODS = /\b(Pod|Deployment|StatefulSet|ReplicaSet|DaemonSet|Job|CronJob|Rollout|Node)\b/;
