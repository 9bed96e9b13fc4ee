// The extension in a browser.

import { type ExtensionContext, type LogOutputChannel, Uri } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/browser';

import { activateWith } from './activate.ts';
import { type Engine, clientOptions } from './engine.ts';
import { engineParts, startModuleEngine } from './module-engine.ts';

export { deactivate } from './activate.ts';

export function activate(context: ExtensionContext): Promise<void> {
  return activateWith(context, { start });
}

async function start(context: ExtensionContext, output: LogOutputChannel): Promise<Engine> {
  const parts = await engineParts(context);
  const worker = new Worker(Uri.joinPath(context.extensionUri, 'dist/server-web.js').toString(true));
  worker.postMessage(parts);
  const client = new LanguageClient('karpwarden', 'Karpwarden', worker, clientOptions(output));
  return startModuleEngine(client, output, () => worker.terminate());
}
