// The check of the whole workspace. The server shows the findings of open documents, this the findings of the others.

import {
  Diagnostic,
  DiagnosticSeverity,
  type Disposable,
  Position,
  ProgressLocation,
  Range,
  type WorkspaceFolder,
  Uri,
  commands,
  languages,
  window,
  workspace,
} from 'vscode';

import type { Finding, Report } from '../../../playground/package/answers';
import type { Engine } from './engine.ts';
import { uriIn } from './files.ts';
import { messageOf } from './message.ts';
import { summaryOf } from './summary.ts';
import type { Status } from './status.ts';

const SEVERITY = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** Milliseconds after a save before the status is up to date. */
const PAUSE = 500;

export class WorkspaceCheck implements Disposable {
  readonly #found = languages.createDiagnosticCollection('karpwarden-workspace');
  readonly #listeners: Disposable[];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly engine: () => Engine | undefined,
    private readonly status: Status,
  ) {
    const later = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#reports().catch(() => undefined), PAUSE);
    };
    status.onStart = later;
    this.#listeners = [
      // The server has the findings of an open document.
      workspace.onDidOpenTextDocument(({ uri }) => this.#found.delete(uri)),
      workspace.onDidSaveTextDocument(later),
      workspace.onDidChangeWorkspaceFolders(later),
    ];
  }

  /** Checks every folder, and opens the list of findings. */
  async run(): Promise<void> {
    if (!workspace.workspaceFolders?.length) {
      await window.showInformationMessage('Open the folder of your manifests to check it.');
      return;
    }
    const options = { location: ProgressLocation.Window, title: 'Karpwarden: checking' };
    try {
      const reports = await window.withProgress(options, () => this.#reports());
      this.#found.clear();
      const open = new Set(workspace.textDocuments.map(({ uri }) => uri.toString()));
      for (const [folder, report] of reports) if (report) this.#show(folder, report, open);
      await commands.executeCommand('workbench.actions.view.problems');
      void window.showInformationMessage(summaryOf(reports.map(([, report]) => report)));
    } catch (error) {
      await window.showErrorMessage(`Karpwarden did not check the workspace: ${messageOf(error)}`);
    }
  }

  /** The reports of all folders, which the status shows. */
  async #reports(): Promise<[WorkspaceFolder, Report | null][]> {
    const engine = this.engine();
    if (!engine) throw new Error('the engine does not run');
    const folders = workspace.workspaceFolders ?? [];
    const reports = await Promise.all(
      folders.map(async (folder): Promise<[WorkspaceFolder, Report | null]> => [folder, await engine.report(folder)]),
    );
    this.status.checked(reports);
    return reports;
  }

  #show(folder: WorkspaceFolder, { findings }: Report, open: ReadonlySet<string>): void {
    for (const name of new Set(findings.map(({ file }) => file))) {
      const uri = uriIn(folder, name);
      const own = findings.filter(({ file }) => file === name);
      if (!open.has(uri.toString())) this.#found.set(uri, own.map(diagnostic));
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#found.dispose();
    for (const listener of this.#listeners) listener.dispose();
  }
}

/** A finding in a file that is not open. Columns of a report count code points, which differ from VS Code's only after an emoji. */
function diagnostic({ line, column, endLine, endColumn, severity, message, help, rule, url }: Finding): Diagnostic {
  const place = (at: number | null, from: number | null) =>
    new Position(Math.max(0, (at ?? 1) - 1), Math.max(0, (from ?? 1) - 1));
  const range = new Range(place(line, column), place(endLine ?? line, endColumn ?? column));
  const found = new Diagnostic(range, help ? `${message}\n${help}` : message, SEVERITY[severity]);
  found.source = 'karpwarden';
  found.code = url ? { value: rule, target: Uri.parse(url) } : rule;
  return found;
}
