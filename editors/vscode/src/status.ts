// The status bar: the Karpenter release that findings are for, the engine, and the commands.

import {
  type Disposable,
  MarkdownString,
  StatusBarAlignment,
  ThemeColor,
  type WorkspaceFolder,
  commands,
  languages,
  window,
  workspace,
} from 'vscode';

import { pinnedRelease } from '../../../playground/page/src/pins.ts';
import type { Report } from '../../../playground/package/answers';
import { type Engine, SELECTOR } from './engine.ts';
import { nameIn } from './files.ts';
import { summaryOf } from './summary.ts';

const COMMANDS = [
  ['checkWorkspace', '$(checklist) Check workspace'],
  ['simulateHere', '$(server) Simulate here'],
  ['showDisruption', '$(calendar) Show which nodes may be disrupted'],
  ['planAgainstGit', '$(git-compare) Plan against Git'],
  ['showClusterAnswer', '$(terminal) Show what the cluster would answer'],
  ['explainRule', '$(book) Explain a rule'],
  ['openSettings', '$(gear) Open karpwarden.yaml'],
  ['restart', '$(debug-restart) Restart the engine'],
  ['showOutput', '$(output) Show output'],
] as const;

export class Status implements Disposable {
  /** Called when an engine has started. */
  onStart: () => void = () => undefined;
  readonly #item = window.createStatusBarItem('karpwarden', StatusBarAlignment.Right, 90);
  readonly #listener = window.onDidChangeActiveTextEditor((editor) => {
    // While a view has the focus, the file beside it stays the subject.
    if (editor || window.visibleTextEditors.length === 0) this.#document = editor?.document;
    this.#draw();
  });
  #document = window.activeTextEditor?.document;
  #engine = '';
  #failure = '';
  #reports: readonly [WorkspaceFolder, Report | null][] = [];

  constructor() {
    this.#item.name = 'Karpwarden';
    this.#item.command = 'karpwarden.showMenu';
  }

  started({ title }: Engine): void {
    this.#engine = title;
    this.#failure = '';
    this.#draw();
    this.onStart();
  }

  failed(message: string): void {
    this.#failure = message;
    this.#draw();
  }

  checked(reports: readonly [WorkspaceFolder, Report | null][]): void {
    this.#reports = reports;
    const hasManifest = reports.some(([, report]) => report !== null && report.summary.checked > 0);
    void commands.executeCommand('setContext', 'karpwarden.hasManifest', hasManifest);
    this.#draw();
  }

  async menu(): Promise<void> {
    const items = COMMANDS.map(([command, label]) => ({ label, command }));
    const chosen = await window.showQuickPick(items, {
      title: 'Karpwarden',
      placeHolder: this.#failure || this.#engine,
    });
    if (chosen) await commands.executeCommand(`karpwarden.${chosen.command}`);
  }

  #draw(): void {
    const document = this.#document;
    if (!this.#failure && (!document || languages.match(SELECTOR, document) === 0)) {
      this.#item.hide();
      return;
    }
    const folder = document && workspace.getWorkspaceFolder(document.uri);
    const report = this.#reports.find(([one]) => one.uri.toString() === folder?.uri.toString())?.[1];
    const release = report && document && folder ? releaseOf(report, nameIn(folder, document.uri)) : '';
    this.#item.text = this.#failure ? '$(error) Karpwarden' : `$(pass) Karpenter ${release}`.trimEnd();
    this.#item.backgroundColor = this.#failure ? new ThemeColor('statusBarItem.errorBackground') : undefined;
    this.#item.tooltip = this.#tooltip(report ?? null, release);
    this.#item.accessibilityInformation = { label: `Karpwarden: Karpenter ${release || 'release not known yet'}` };
    this.#item.show();
  }

  #tooltip(report: Report | null, release: string): MarkdownString {
    const text = new MarkdownString('**Karpwarden**\n\n');
    if (this.#failure) return text.appendText(this.#failure);
    if (release) text.appendText(`Findings are for Karpenter ${release}.\n`);
    if (report) text.appendText(`${summaryOf([report])}\n`);
    for (const note of report?.notes ?? []) text.appendText(`${note}\n`);
    return text.appendText(`Checked by ${this.#engine}.`);
  }

  dispose(): void {
    this.#item.dispose();
    this.#listener.dispose();
  }
}

/** The release that a file is checked for. */
const releaseOf = (report: Report, name: string): string => pinnedRelease(report.pins, name) ?? report.karpenterVersion;
