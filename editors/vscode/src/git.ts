// The files at a commit, through VS Code's own Git extension.

import { Uri, type WorkspaceFolder, extensions, window, workspace } from 'vscode';

import type { SourceFile } from '../../../playground/package/answers';
import { filesIn, nameIn, uriIn } from './files.ts';
import { NAMES } from './limits.ts';

/** The part of the API of the extension vscode.git, version 1, that is used here. */
interface GitExtension {
  getAPI(version: 1): { getRepository(uri: Uri): Repository | null };
}
interface Repository {
  state: { workingTreeChanges: Change[]; untrackedChanges: Change[] };
  show(ref: string, path: string): Promise<string>;
  getCommit(ref: string): Promise<{ hash: string }>;
  diffWith(ref: string): Promise<Change[]>;
}
interface Change {
  uri: Uri;
  originalUri: Uri;
  renameUri: Uri | undefined;
  status: number;
}
/** The status of a file that Git does not know. */
const UNTRACKED = 7;

export interface BaseFiles {
  /** The origin of the files: a commit, or the saved texts. */
  title: string;
  files: SourceFile[];
}

/** The files at the start, by folder, where there is no Git. A browser saves each edit at once, so the saved files show no change. */
const atStart = new Map<string, Promise<SourceFile[]>>();

export function rememberFiles(): void {
  if (extensions.getExtension('vscode.git')) return;
  for (const folder of workspace.workspaceFolders ?? []) {
    const files = filesIn(folder).then((read) => read.files);
    atStart.set(folder.uri.toString(), files);
  }
}

/** The Git repository of a folder; undefined in a browser, which has no Git extension. */
async function repositoryOf(folder: WorkspaceFolder): Promise<Repository | undefined> {
  const extension = extensions.getExtension<GitExtension>('vscode.git');
  if (!extension) return undefined;
  const git = extension.isActive ? extension.exports : await extension.activate();
  return git.getAPI(1).getRepository(folder.uri) ?? undefined;
}

/** Asks for a commit, and returns the function that reads the files there. Without Git the files are as they were saved. */
export async function chooseBase(
  folder: WorkspaceFolder,
): Promise<((files: readonly SourceFile[]) => Promise<BaseFiles>) | undefined> {
  const repository = await repositoryOf(folder).catch(() => undefined);
  if (!repository) {
    const first = atStart.get(folder.uri.toString());
    const title = first ? 'the files at the start' : 'the saved files';
    void window.showInformationMessage(`There is no Git repository here, so the plan compares with ${title}.`);
    return async (files) => ({ title, files: (await first) ?? (await savedFiles(folder, files)) });
  }
  const ref = await window.showInputBox({
    title: 'Plan against Git',
    prompt: 'Commit, branch or tag before the change',
    value: workspace.getConfiguration('karpwarden', folder).get<string>('plan.base', 'HEAD'),
    async validateInput(text) {
      // Git takes what starts with a dash for an option.
      if (!text.trim() || text.startsWith('-')) return 'Name a commit, branch or tag.';
      return repository.getCommit(text).then(
        () => undefined,
        () => `Git knows no commit \`${text}\`.`,
      );
    },
  });
  if (ref === undefined) return undefined;
  return async (files) => ({ title: ref, files: await filesAt(repository, ref, folder, files) });
}

/** The files at a commit: Git shows each file that differs from it. */
async function filesAt(
  repository: Repository,
  ref: string,
  folder: WorkspaceFolder,
  files: readonly SourceFile[],
): Promise<SourceFile[]> {
  const changed = new Set<string>();
  const { workingTreeChanges, untrackedChanges } = repository.state;
  const untracked = [...workingTreeChanges, ...untrackedChanges].filter(({ status }) => status === UNTRACKED);
  for (const { uri, originalUri, renameUri } of [...(await repository.diffWith(ref)), ...untracked]) {
    for (const one of [uri, originalUri, renameUri]) {
      if (one && workspace.getWorkspaceFolder(one)?.uri.toString() === folder.uri.toString())
        changed.add(nameIn(folder, one));
    }
  }
  for (const document of workspace.textDocuments) {
    if (document.isDirty && workspace.getWorkspaceFolder(document.uri) === folder)
      changed.add(nameIn(folder, document.uri));
  }
  const known = new Set(files.map(({ name }) => name));
  // A deleted file counts by its name.
  const names = [...changed].filter((name) => known.has(name) || NAMES.test(name));
  const old = await Promise.all(
    names.map(async (name): Promise<SourceFile[]> => {
      // A file that the commit does not have.
      const text = await repository.show(ref, uriIn(folder, name).fsPath).catch(() => undefined);
      return text === undefined ? [] : [{ name, text }];
    }),
  );
  return [...files.filter(({ name }) => !changed.has(name)), ...old.flat()];
}

async function savedFiles(folder: WorkspaceFolder, files: readonly SourceFile[]): Promise<SourceFile[]> {
  const saved = files.map(async ({ name, text }): Promise<SourceFile[]> => {
    const dirty = workspace.textDocuments.some(
      ({ uri, isDirty }) => isDirty && uri.toString() === uriIn(folder, name).toString(),
    );
    if (!dirty) return [{ name, text }];
    const bytes = await workspace.fs.readFile(uriIn(folder, name)).then(
      (read) => read,
      () => undefined,
    );
    return bytes ? [{ name, text: new TextDecoder().decode(bytes) }] : [];
  });
  return (await Promise.all(saved)).flat();
}
