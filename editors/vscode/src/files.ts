// The files of a folder that may contain manifests, read through the editor, because a browser has no other way.

import { type Uri, type WorkspaceFolder, RelativePattern, workspace } from 'vscode';

import type { SourceFile } from '../../../playground/package/answers';
import { MAX_BYTES, MAX_FILES, PATTERN, SKIPPED_FOLDERS } from './limits.ts';

/** The name of a file in its folder. */
export function nameIn(folder: WorkspaceFolder, uri: Uri): string {
  return uri.path.slice(folder.uri.path.replace(/\/$/, '').length + 1);
}

export const uriIn = (folder: WorkspaceFolder, name: string): Uri =>
  folder.uri.with({ path: `${folder.uri.path.replace(/\/$/, '')}/${name}` });

/** Reads a file; undefined if it is gone, too large or not text. */
export async function read(folder: WorkspaceFolder, uri: Uri): Promise<SourceFile | undefined> {
  try {
    const bytes = await workspace.fs.readFile(uri);
    if (bytes.length > MAX_BYTES) return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { name: nameIn(folder, uri), text };
  } catch {
    return undefined;
  }
}

/** The files on disk, and the number of those that were left out because there are too many or because they cannot be read. */
export async function filesIn(folder: WorkspaceFolder): Promise<{ files: SourceFile[]; omitted: number }> {
  const found = await workspace.findFiles(
    new RelativePattern(folder, PATTERN),
    new RelativePattern(folder, SKIPPED_FOLDERS),
    MAX_FILES + 1,
  );
  const read_ = await Promise.all(found.slice(0, MAX_FILES).map((uri) => read(folder, uri)));
  const files: SourceFile[] = [];
  let bytes = 0;
  for (const file of read_) {
    bytes += file?.text.length ?? 0;
    if (file && bytes <= MAX_BYTES) files.push(file);
  }
  return { files, omitted: found.length - files.length };
}
