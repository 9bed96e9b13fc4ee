// The engine as WebAssembly in a worker.

import { type ExtensionContext, type LogOutputChannel, Uri, workspace } from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';

import type { Report } from '../../../playground/package/answers';
import type { EngineParts } from '../server/worker.ts';
import type { Engine } from './engine.ts';
import { Feed } from './feed.ts';

/** The module and the pages of the rules, which a worker cannot read itself. */
export async function engineParts({ extensionUri }: ExtensionContext): Promise<EngineParts> {
  const [module, rules] = await Promise.all(
    ['engine.wasm', 'rules.json'].map((name) => workspace.fs.readFile(Uri.joinPath(extensionUri, 'dist', name))),
  );
  return { module: Uint8Array.from(module ?? []), rules: new TextDecoder().decode(rules) };
}

/** Starts a client whose server has its engine. */
export async function startModuleEngine(
  client: BaseLanguageClient,
  output: LogOutputChannel,
  end: () => void,
): Promise<Engine> {
  await client.start();
  const feed = new Feed(client, output);
  await feed.ready;
  return {
    title: 'the engine in the extension',
    client,
    async report(folder) {
      await feed.ready;
      return client.sendRequest<Report | null>('karpwarden/report', { folder: folder.uri.toString() });
    },
    async stop() {
      feed.dispose();
      await client.dispose();
      end();
    },
  };
}
