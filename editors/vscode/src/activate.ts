// Starts the engine and registers the commands.

import { type ExtensionContext, type LogOutputChannel, commands, window, workspace } from 'vscode';

import { WorkspaceCheck } from './check.ts';
import type { Engine, Platform } from './engine.ts';
import { rememberFiles } from './git.ts';
import { messageOf } from './message.ts';
import { RulePages } from './rule-pages.ts';
import { openSettings } from './settings-file.ts';
import { Status } from './status.ts';
import { ViewPanel } from './view-panel.ts';

/** The engine, while it runs. */
class Running {
  engine: Engine | undefined;
  #starts: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: ExtensionContext,
    private readonly platform: Platform,
    private readonly output: LogOutputChannel,
    private readonly status: Status,
  ) {}

  /** Starts the engine, and ends the one before. Starts follow each other. */
  restart(): Promise<void> {
    this.#starts = this.#starts.then(() => this.#restart());
    return this.#starts;
  }

  async #restart(): Promise<void> {
    await this.stop();
    try {
      const engine = await this.platform.start(this.context, this.output);
      this.engine = engine;
      engine.client.onNotification('karpwarden/stopped', ({ message }: { message: string }) => {
        this.output.error(`The engine stopped: ${message}`);
        void this.restart();
      });
      this.output.info(`Started ${engine.title}`);
      this.status.started(engine);
    } catch (error) {
      this.output.error(messageOf(error));
      this.status.failed(messageOf(error));
      void this.#tell(messageOf(error));
    }
  }

  /** Shows an error. The next start does not wait until somebody closes the message. */
  async #tell(error: string): Promise<void> {
    const choice = await window.showErrorMessage(`Karpwarden did not start: ${error}`, 'Show Output');
    if (choice) this.output.show();
  }

  async stop(): Promise<void> {
    const { engine } = this;
    this.engine = undefined;
    await engine?.stop().catch((error: unknown) => this.output.warn(messageOf(error)));
  }
}

let running: Running | undefined;

export async function activateWith(context: ExtensionContext, platform: Platform): Promise<void> {
  const output = window.createOutputChannel('Karpwarden', { log: true });
  const status = new Status();
  const engine = new Running(context, platform, output, status);
  running = engine;
  const check = new WorkspaceCheck(() => engine.engine, status);
  const pages = new RulePages(context);
  const show = (view: Parameters<typeof ViewPanel.show>[1]) => () => ViewPanel.show(context, view, output);
  const register = (name: string, run: () => unknown) => commands.registerCommand(`karpwarden.${name}`, run);
  context.subscriptions.push(
    output,
    status,
    check,
    pages,
    register('checkWorkspace', () => check.run()),
    register('simulateHere', show('placement')),
    register('showDisruption', show('disruption')),
    register('planAgainstGit', show('change')),
    register('showClusterAnswer', show('admission')),
    register('explainRule', () => pages.choose()),
    register('openSettings', () => openSettings()),
    register('restart', () => engine.restart()),
    register('showOutput', () => output.show()),
    register('showMenu', () => status.menu()),
    workspace.onDidChangeConfiguration((change) => {
      const names = ['karpwarden.path', 'karpwarden.engine'];
      if (names.some((name) => change.affectsConfiguration(name))) void engine.restart();
    }),
  );
  rememberFiles();
  await engine.restart();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
