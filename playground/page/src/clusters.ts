// Files of several clusters: each folder is one, as `--cluster` has it.

import type { FilesOfCluster, SymptomFile } from './types.ts';

/** The folder of a cluster: that of a file below those that all files share; empty for a file beside them. */
function folderOf(name: string, shared: number): string {
  const folders = name.split('/').slice(0, -1);
  return folders.length > shared ? folders.slice(0, shared + 1).join('/') : '';
}

/** The files by their folders, in the order of names; what is in none comes first, and is a cluster without a name. */
export function byFolder(files: SymptomFile[]): FilesOfCluster[] {
  const paths = files.map(({ name }) => name.split('/').slice(0, -1));
  const [first = [], ...others] = paths;
  let shared = 0;
  while (shared < first.length && others.every((path) => path[shared] === first[shared])) shared++;
  const groups = new Map<string, SymptomFile[]>();
  for (const file of files) {
    const folder = folderOf(file.name, shared);
    groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  const named = [...groups].map(([name, inside]) => ({ name, files: inside }));
  return named.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The folders, where there are several. */
export function foldersOf(files: SymptomFile[]): string[] {
  const names = byFolder(files).map(({ name }) => name).filter(Boolean);
  return names.length > 1 ? names : [];
}
