// Groups files by cluster: one folder per cluster, like `--cluster` on the command line.

import type { FilesOfCluster, SymptomFile } from './types.ts';

/** Returns the first folder below the folders that all files share; empty for a file outside such a folder. */
function folderOf(name: string, shared: number): string {
  const folders = name.split('/').slice(0, -1);
  return folders.length > shared ? folders.slice(0, shared + 1).join('/') : '';
}

/** Groups files by folder, sorted by name. Files outside a folder come first, as a cluster without a name. */
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

/** Returns the folders; empty if there are fewer than two. */
export function foldersOf(files: SymptomFile[]): string[] {
  const names = byFolder(files)
    .map(({ name }) => name)
    .filter(Boolean);
  return names.length > 1 ? names : [];
}
