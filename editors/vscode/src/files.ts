// The files of a folder that may contain manifests, read through the editor, because a browser has no other way.

import { FileType, RelativePattern, Uri, type WorkspaceFolder, workspace } from 'vscode';

import type { SourceFile } from '../../../playground/package/answers';
import { MAX_BYTES, MAX_FILES, NAMES, PATTERN, SKIPPED, SKIPPED_FOLDERS } from './limits.ts';

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

/** File systems that VS Code itself searches. In others a search without a provider never ends. */
const SEARCHABLE = ['file', 'vscode-remote'];

const search = (folder: WorkspaceFolder) =>
  workspace.findFiles(
    new RelativePattern(folder, PATTERN),
    new RelativePattern(folder, SKIPPED_FOLDERS),
    MAX_FILES + 1,
  );

async function walk(root: Uri): Promise<Uri[]> {
  const found: Uri[] = [];
  const open = [root];
  for (let folder = open.pop(); folder && found.length <= MAX_FILES; folder = open.pop()) {
    const entries = await workspace.fs.readDirectory(folder).then(
      (read) => read,
      () => [],
    );
    for (const [name, type] of entries) {
      const uri = Uri.joinPath(folder, name);
      // A link to a folder may lead in circles.
      if (type === FileType.Directory && !SKIPPED.includes(name)) open.push(uri);
      else if (type & FileType.File && NAMES.test(name)) found.push(uri);
    }
  }
  return found;
}

/** The files on disk, and the number of files that were left out because there are too many or because they cannot be read. */
export async function filesIn(folder: WorkspaceFolder): Promise<{ files: SourceFile[]; omitted: number }> {
  const found = SEARCHABLE.includes(folder.uri.scheme) ? await search(folder) : await walk(folder.uri);
  const read_ = await Promise.all(found.slice(0, MAX_FILES).map((uri) => read(folder, uri)));
  const files: SourceFile[] = [];
  let bytes = 0;
  for (const file of read_) {
    bytes += file?.text.length ?? 0;
    if (file && bytes <= MAX_BYTES) files.push(file);
  }
  return { files, omitted: found.length - files.length };
}
