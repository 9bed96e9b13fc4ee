// Sends the files of the folders to the engine in the worker, and what changes.

import { type Disposable, type LogOutputChannel, type WorkspaceFolder, RelativePattern, workspace } from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';

import { filesIn, nameIn, read } from './files.ts';
import { PATTERN } from './limits.ts';

export class Feed implements Disposable {
  readonly #watchers = new Map<string, Disposable>();
  readonly #folders: Disposable;
  /** The files of every folder, once they are sent. */
  ready: Promise<unknown>;

  constructor(
    private readonly client: BaseLanguageClient,
    private readonly output: LogOutputChannel,
  ) {
    this.#folders = workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
      for (const folder of removed) this.#remove(folder);
      this.ready = Promise.all(added.map((folder) => this.#add(folder)));
    });
    this.ready = Promise.all((workspace.workspaceFolders ?? []).map((folder) => this.#add(folder)));
  }

  async #add(folder: WorkspaceFolder): Promise<void> {
    const uri = folder.uri.toString();
    const watcher = workspace.createFileSystemWatcher(new RelativePattern(folder, PATTERN));
    const changed = async (file: typeof folder.uri) => {
      const now = await read(folder, file);
      await this.#send(uri, now ? [now] : [], now ? [] : [nameIn(folder, file)]);
    };
    watcher.onDidChange((file) => void changed(file));
    watcher.onDidCreate((file) => void changed(file));
    watcher.onDidDelete((file) => void this.#send(uri, [], [nameIn(folder, file)]));
    this.#watchers.set(uri, watcher);
    const { files, omitted } = await filesIn(folder);
    if (omitted > 0)
      this.output.warn(`${folder.name}: ${omitted} files are too many, too large or no text, and are not checked`);
    await this.#send(uri, files, []);
  }

  #remove({ uri }: WorkspaceFolder): void {
    this.#watchers.get(uri.toString())?.dispose();
    this.#watchers.delete(uri.toString());
    void this.client.sendNotification('karpwarden/removed', { folder: uri.toString() });
  }

  async #send(folder: string, files: unknown[], removed: string[]): Promise<void> {
    await this.client.sendNotification('karpwarden/files', { folder, files, removed });
  }

  dispose(): void {
    this.#folders.dispose();
    for (const watcher of this.#watchers.values()) watcher.dispose();
  }
}
