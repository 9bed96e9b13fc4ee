// The extension on a desktop, or on a remote machine.

import { accessSync, constants, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { type ExtensionContext, type LogOutputChannel, workspace } from 'vscode';
import { LanguageClient, PortMessageReader, PortMessageWriter } from 'vscode-languageclient/node';

import { activateWith } from './activate.ts';
import { findBinary } from './binary.ts';
import { type Engine, clientOptions } from './engine.ts';
import { engineParts, startModuleEngine } from './module-engine.ts';
import { startNativeEngine } from './native-engine.ts';

export { deactivate } from './activate.ts';

export function activate(context: ExtensionContext): Promise<void> {
  return activateWith(context, { start });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

async function start(context: ExtensionContext, output: LogOutputChannel): Promise<Engine> {
  const settings = workspace.getConfiguration('karpwarden');
  const wish = settings.get<string>('engine', 'auto');
  const folders = workspace.workspaceFolders ?? [];
  // A folder of another file system, such as one on GitHub, has no path that the command line could read.
  const isOnDisk = folders.length === 0 || folders.some(({ uri }) => uri.scheme === 'file');
  const command =
    wish === 'wasm' || (wish === 'auto' && !isOnDisk)
      ? undefined
      : findBinary({
          wanted: settings.get<string>('path', '').trim(),
          path: process.env.PATH ?? '',
          extension: context.extensionPath,
          platform: process.platform,
          isExecutable,
        });
  if (command !== undefined) return startNativeEngine(command, output);
  if (wish === 'native') throw new Error('`karpwarden` is neither in the setting `karpwarden.path` nor on the PATH');
  return startWorker(context, output);
}

async function startWorker(context: ExtensionContext, output: LogOutputChannel): Promise<Engine> {
  const parts = await engineParts(context);
  const worker = new Worker(context.asAbsolutePath('dist/server-node.cjs'));
  worker.postMessage(parts);
  const transports = () =>
    Promise.resolve({ reader: new PortMessageReader(worker), writer: new PortMessageWriter(worker) });
  const client = new LanguageClient('karpwarden', 'Karpwarden', transports, clientOptions(output));
  return startModuleEngine(client, output, () => void worker.terminate());
}
