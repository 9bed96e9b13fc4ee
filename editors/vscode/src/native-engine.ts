// The command line as the engine.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { LogOutputChannel } from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';

import type { Report } from '../../../playground/package/answers';
import { type Engine, clientOptions } from './engine.ts';

const run = promisify(execFile);
/** Bytes of a report. */
const MAX_REPORT = 256 * 1024 * 1024;

/** Starts `karpwarden lsp`. */
export async function startNativeEngine(command: string, output: LogOutputChannel): Promise<Engine> {
  const { stdout } = await run(command, ['--version']);
  const server = { command, args: ['lsp'], transport: TransportKind.stdio };
  const client = new LanguageClient('karpwarden', 'Karpwarden', server, clientOptions(output));
  await client.start();
  return {
    title: `${stdout.trim()} (${command})`,
    client,
    report: (folder) => (folder.uri.scheme === 'file' ? reportOf(command, folder.uri.fsPath) : Promise.resolve(null)),
    stop: () => client.dispose(),
  };
}

/** Checks a folder; null if its settings have mistakes, which the server shows in that file. */
async function reportOf(command: string, folder: string): Promise<Report | null> {
  const options = { cwd: folder, maxBuffer: MAX_REPORT };
  // The settings of the folder could ask for helm, which the user did not start.
  const stdout = await run(command, ['check', '--no-render', '--format', 'json', '.'], options).then(
    (done) => done.stdout,
    // An exit status other than 0 is the rule if there are findings.
    (failed: { stdout?: string }) => failed.stdout ?? '',
  );
  return stdout.startsWith('{') ? (JSON.parse(stdout) as Report) : null;
}
