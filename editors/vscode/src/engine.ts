// The engine behind the extension: the command line, or the module in the extension.

import type { ExtensionContext, LogOutputChannel, WorkspaceFolder } from 'vscode';
import type { BaseLanguageClient, LanguageClientOptions } from 'vscode-languageclient';

import type { Report } from '../../../playground/package/answers';
import { SCHEME } from './rule-pages.ts';

export interface Engine {
  /** The engine in a few words: a path, or the module. */
  readonly title: string;
  readonly client: BaseLanguageClient;
  /** Checks a folder; null if its settings have mistakes, or if it does not mention Karpenter. */
  report(folder: WorkspaceFolder): Promise<Report | null>;
  stop(): Promise<void>;
}

/** The differences between the desktop and a browser. */
export interface Platform {
  start(context: ExtensionContext, output: LogOutputChannel): Promise<Engine>;
}

/** Documents that the engine checks. */
export const SELECTOR = [
  ...['yaml', 'json', 'jsonc', 'jsonl', 'helm', 'terraform', 'opentofu'].map((language) => ({ language })),
  { pattern: '**/*.{tf,tofu,tftpl}' },
];

export const clientOptions = (outputChannel: LogOutputChannel): LanguageClientOptions => ({
  documentSelector: SELECTOR,
  outputChannel,
  diagnosticCollectionName: 'karpwarden',
  initializationOptions: { rulePages: SCHEME },
});
