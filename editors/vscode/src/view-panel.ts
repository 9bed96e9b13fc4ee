// The view beside a file: the page's Placement, Disruption, Change and Admission tabs, which follow the texts of the editor.

import {
  type Disposable,
  type ExtensionContext,
  type LogOutputChannel,
  Range,
  Selection,
  type TextDocument,
  type TextEditor,
  Uri,
  ViewColumn,
  type WebviewPanel,
  type WorkspaceFolder,
  window,
  workspace,
} from 'vscode';

import type { SourceFile } from '../../../playground/package/answers';
import type { FromView, ToView, ViewName } from '../webview/messages.ts';
import { filesIn, nameIn, uriIn } from './files.ts';
import { type BaseFiles, chooseBase } from './git.ts';
import { messageOf } from './message.ts';
import { scopeOf, within } from './scope.ts';
import { viewHtml } from './view-html.ts';

const CONFIG = 'karpwarden.yaml';
/** Milliseconds without a change before the view follows. */
const PAUSE = 150;

const TITLES: Record<ViewName, string> = {
  placement: 'Placement',
  disruption: 'Disruption',
  change: 'Plan',
  admission: 'Cluster’s answer',
};

/** The origin of the view's files. */
interface Subject {
  folder: WorkspaceFolder;
  /** The name of the file that was open when the view was. */
  active: string;
}

const isManifest = (name: string) => name !== CONFIG && !/(^|\/)\.(git)?ignore$/.test(name);

type ReadBase = (files: readonly SourceFile[]) => Promise<BaseFiles>;

export class ViewPanel {
  static #current: ViewPanel | undefined;

  readonly #panel: WebviewPanel;
  readonly #listeners: Disposable[] = [];
  #ready = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The files on disk, until one changes. */
  #saved: Promise<SourceFile[]> | undefined;
  #base: ReadBase | undefined;
  #scope = '';

  /** Shows a view of the files around the open one. There is one panel; another command shows another view in it. */
  static async show(context: ExtensionContext, view: ViewName, output: LogOutputChannel): Promise<void> {
    const document = window.activeTextEditor?.document;
    const folder = document && workspace.getWorkspaceFolder(document.uri);
    const subject = folder ? { folder, active: nameIn(folder, document.uri) } : this.#current?.subject;
    if (!subject) {
      await window.showInformationMessage('Open a manifest of a folder first: the view is about the files around it.');
      return;
    }
    const base = view === 'change' ? await chooseBase(subject.folder) : undefined;
    if (view === 'change' && !base) return;
    this.#current ??= new ViewPanel(context, view, subject, output);
    await this.#current.#show(view, subject, base);
  }

  private constructor(
    context: ExtensionContext,
    private view: ViewName,
    private subject: Subject,
    private readonly output: LogOutputChannel,
  ) {
    const dist = Uri.joinPath(context.extensionUri, 'dist');
    const options = { enableScripts: true, localResourceRoots: [dist], retainContextWhenHidden: true };
    const column = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    this.#panel = window.createWebviewPanel('karpwarden.view', TITLES[view], column, options);
    this.#panel.iconPath = Uri.joinPath(dist, 'icon.svg');
    const { webview } = this.#panel;
    this.#listeners.push(
      webview.onDidReceiveMessage((message: FromView) => void this.#receive(message)),
      this.#panel.onDidDispose(() => this.#dispose()),
      workspace.onDidChangeTextDocument(({ document }) => this.#changed(document)),
      workspace.onDidSaveTextDocument((document) => this.#stale(document)),
      workspace.onDidDeleteFiles(() => this.#stale()),
      workspace.onDidCreateFiles(() => this.#stale()),
      workspace.onDidRenameFiles(() => this.#stale()),
    );
    void this.#fill(dist);
  }

  async #fill(dist: Uri): Promise<void> {
    const { webview } = this.#panel;
    const sprite = new TextDecoder().decode(await workspace.fs.readFile(Uri.joinPath(dist, 'sprite.svg')));
    webview.html = viewHtml({
      source: webview.cspSource,
      address: (file) => webview.asWebviewUri(Uri.joinPath(dist, file)).toString(),
      sprite,
      view: this.view,
    });
  }

  async #show(view: ViewName, subject: Subject, base: ReadBase | undefined): Promise<void> {
    this.view = view;
    if (subject.folder !== this.subject.folder) this.#saved = undefined;
    this.subject = subject;
    this.#base = base ?? this.#base;
    this.#panel.reveal(undefined, true);
    await this.#send();
    this.#post({ type: 'show', view });
  }

  async #receive(message: FromView): Promise<void> {
    try {
      if (message.type === 'ready') {
        this.#ready = true;
        await this.#send();
        this.#post({ type: 'show', view: this.view });
      } else if (message.type === 'chosen') await this.#choose(message.view);
      else if (message.type === 'goTo') await this.#goTo(message.file, message.from, message.to);
      else if (message.type === 'goToLine') await this.#goToLine(message.file, message.line);
      else if (message.type === 'failed') this.output.error(`The view: ${message.message}`);
      else await this.#open(message.files);
    } catch (error) {
      this.output.error(messageOf(error));
    }
  }

  async #choose(view: ViewName): Promise<void> {
    this.view = view;
    this.#title();
    if (view !== 'change' || this.#base) return;
    this.#base = await chooseBase(this.subject.folder);
    await this.#send();
  }

  #title(): void {
    this.#panel.title = `${TITLES[this.view]}: ${this.#scope || this.subject.folder.name}`;
  }

  #changed(document: TextDocument): void {
    if (workspace.getWorkspaceFolder(document.uri)?.uri.toString() !== this.subject.folder.uri.toString()) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), PAUSE);
  }

  #stale(document?: TextDocument): void {
    this.#saved = undefined;
    if (document) this.#changed(document);
    else void this.#send();
  }

  /** Sends the current texts. */
  async #send(): Promise<void> {
    if (!this.#ready) return;
    const { folder, active } = this.subject;
    this.#saved ??= filesIn(folder).then(({ files, omitted }) => {
      if (omitted > 0) this.output.warn(`${folder.name}: ${omitted} files are too many, too large or no text`);
      return files;
    });
    const texts = new Map((await this.#saved).map(({ name, text }) => [name, text]));
    for (const document of workspace.textDocuments) {
      if (workspace.getWorkspaceFolder(document.uri)?.uri.toString() !== folder.uri.toString()) continue;
      const name = nameIn(folder, document.uri);
      if (texts.has(name) || name === active) texts.set(name, document.getText());
    }
    const config = texts.get(CONFIG) ?? '';
    const files = [...texts].filter(([name]) => isManifest(name)).map(([name, text]) => ({ name, text }));
    this.#scope = scopeOf(files, active);
    this.#title();
    const own = within(files, this.#scope, active);
    if (this.#base) {
      const { title, files: before } = await this.#base(own);
      const old = before.filter(({ name }) => isManifest(name));
      this.#post({ type: 'base', title, files: within(old, this.#scope, active) });
    }
    this.#post({ type: 'files', files: own, config });
  }

  #post(message: ToView): void {
    if (this.#ready) void this.#panel.webview.postMessage(message);
  }

  async #editorOf(file: string): Promise<TextEditor> {
    const document = await workspace.openTextDocument(uriIn(this.subject.folder, file));
    const visible = window.visibleTextEditors.find((editor) => editor.document === document);
    return window.showTextDocument(document, visible?.viewColumn ?? ViewColumn.One);
  }

  async #goTo(file: string, from: number, to: number): Promise<void> {
    const editor = await this.#editorOf(file);
    // Offsets of the engine count line ends as the text has them, as VS Code does.
    const range = new Range(editor.document.positionAt(from), editor.document.positionAt(to));
    editor.selection = new Selection(range.start, range.end);
    editor.revealRange(range);
  }

  async #goToLine(file: string, line: number): Promise<void> {
    const editor = await this.#editorOf(file);
    const { range } = editor.document.lineAt(Math.min(line, editor.document.lineCount) - 1);
    editor.selection = new Selection(range.start, range.end);
    editor.revealRange(range);
  }

  /** Opens texts as new documents, which are not saved. */
  async #open(files: readonly SourceFile[]): Promise<void> {
    for (const { text } of files) {
      const document = await workspace.openTextDocument({ language: 'yaml', content: text });
      await window.showTextDocument(document, ViewColumn.One);
    }
  }

  #dispose(): void {
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener.dispose();
    ViewPanel.#current = undefined;
  }
}
