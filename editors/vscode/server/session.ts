// A language server around the engine as WebAssembly, for editors in which the command line cannot run. It gives what
// `karpwarden lsp` gives as far as the npm package can; the extension sends the files, because a worker reads none.

import type {
  CodeActionParams,
  DidChangeTextDocumentParams,
  DidCloseTextDocumentParams,
  DidOpenTextDocumentParams,
  DocumentSymbolParams,
  HoverParams,
  InitializeParams,
} from 'vscode-languageserver-protocol';

import type { SourceFile } from '../../../playground/package/answers';
import { type Checkable, codeActions, diagnostics, hover, symbols } from './answers.ts';
import type { Engine } from './engine.ts';
import { Folder } from './folder.ts';

/** Message of JSON-RPC. */
export interface Message {
  jsonrpc: '2.0';
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Files of a folder, from the extension. */
export interface FolderFiles {
  folder: string;
  files: SourceFile[];
  removed: string[];
}

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** Milliseconds without a change before a check. */
const PAUSE = 50;

interface OpenDocument {
  version: number;
  text: string;
}

export class Session {
  readonly #folders: Folder[] = [];
  readonly #open = new Map<string, OpenDocument>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly engine: Promise<Engine>,
    private readonly send: (message: Message) => void,
  ) {}

  /** Answers a message of the editor. */
  async receive({ id, method, params }: Message): Promise<void> {
    if (method === undefined) return;
    const respond = (body: Pick<Message, 'result' | 'error'>) => {
      if (id !== undefined) this.send({ jsonrpc: '2.0', id, ...body });
    };
    const run = this.#methods[method];
    if (!run) {
      respond({ error: { code: METHOD_NOT_FOUND, message: `unknown method ${method}` } });
      return;
    }
    try {
      respond({ result: (await run(params as never)) ?? null });
    } catch (error) {
      respond({ error: { code: INTERNAL_ERROR, message: String(error) } });
      this.#failed(error);
    }
  }

  readonly #methods: Record<string, (params: never) => unknown> = {
    initialize: async ({ workspaceFolders }: InitializeParams) => {
      for (const { uri } of workspaceFolders ?? []) this.#folder(uri);
      const { version } = await this.engine;
      return {
        capabilities: {
          textDocumentSync: { openClose: true, change: 1 },
          hoverProvider: true,
          codeActionProvider: { codeActionKinds: ['quickfix'] },
          documentSymbolProvider: true,
        },
        serverInfo: { name: 'karpwarden', version },
      };
    },
    initialized: () => undefined,
    shutdown: () => null,
    exit: () => undefined,
    '$/setTrace': () => undefined,
    '$/cancelRequest': () => undefined,
    'textDocument/didOpen': ({ textDocument: { uri, version, text } }: DidOpenTextDocumentParams) =>
      this.#edit(uri, { version, text }),
    'textDocument/didChange': ({ textDocument: { uri, version }, contentChanges }: DidChangeTextDocumentParams) => {
      const text = contentChanges.at(-1)?.text;
      if (text !== undefined) this.#edit(uri, { version, text });
    },
    'textDocument/didClose': ({ textDocument: { uri } }: DidCloseTextDocumentParams) => {
      this.#edit(uri, undefined);
      this.send({ jsonrpc: '2.0', method: 'textDocument/publishDiagnostics', params: { uri, diagnostics: [] } });
    },
    'textDocument/hover': async ({ textDocument, position }: HoverParams) => {
      const document = await this.#checkable(textDocument.uri);
      return document && hover(document, position, await this.engine);
    },
    'textDocument/codeAction': async ({ textDocument, range, context }: CodeActionParams) => {
      const asksForFixes = context.only?.some((kind) => kind === '' || kind === 'quickfix') ?? true;
      const document = asksForFixes ? await this.#checkable(textDocument.uri) : null;
      return document && codeActions(document, range, (uri) => this.#open.get(uri)?.version ?? null);
    },
    'textDocument/documentSymbol': async ({ textDocument }: DocumentSymbolParams) => {
      const document = await this.#checkable(textDocument.uri);
      if (!document?.checked.report) return null;
      const { name, text } = document;
      return symbols((await this.engine).documents({ name, text }), text);
    },
    'karpwarden/files': ({ folder, files, removed }: FolderFiles) => {
      this.#folder(folder).update(files, removed);
      this.#later();
    },
    'karpwarden/removed': ({ folder }: { folder: string }) => {
      const at = this.#folders.findIndex(({ uri }) => uri === folder);
      if (at >= 0) this.#folders.splice(at, 1);
      this.#later();
    },
    'karpwarden/report': async ({ folder }: { folder: string }) => this.#folder(folder).check(await this.engine).report,
  };

  /** The folder with a URI. A new one takes the open documents in it. */
  #folder(uri: string): Folder {
    const clean = uri.replace(/\/$/, '');
    const known = this.#folders.find((folder) => folder.uri === clean);
    if (known) return known;
    const folder = new Folder(clean);
    this.#folders.push(folder);
    for (const [document, { text }] of this.#open) {
      const name = folder.nameOf(document);
      if (name !== undefined) folder.edit(name, text);
    }
    return folder;
  }

  #edit(uri: string, document: OpenDocument | undefined): void {
    if (document) this.#open.set(uri, document);
    else this.#open.delete(uri);
    for (const folder of this.#folders) {
      const name = folder.nameOf(uri);
      if (name !== undefined) folder.edit(name, document?.text);
    }
    this.#later();
  }

  /** An open document with the check of its folder; a document outside of every folder is checked alone. */
  async #checkable(uri: string): Promise<Checkable | null> {
    const document = this.#open.get(uri);
    if (!document) return null;
    const engine = await this.engine;
    const own = this.#folders.find((folder) => folder.nameOf(uri) !== undefined);
    const folder = own ?? new Folder(uri.slice(0, uri.lastIndexOf('/')));
    const name = folder.nameOf(uri) ?? uri;
    if (!own) folder.edit(name, document.text);
    const checked = folder.check(engine);
    return { folder, name, text: document.text, checked };
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#publish().catch((error: unknown) => this.#failed(error)), PAUSE);
  }

  async #publish(): Promise<void> {
    for (const uri of this.#open.keys()) {
      const document = await this.#checkable(uri);
      const version = this.#open.get(uri)?.version;
      if (!document || version === undefined) continue;
      const params = { uri, version, diagnostics: diagnostics(document) };
      this.send({ jsonrpc: '2.0', method: 'textDocument/publishDiagnostics', params });
    }
  }

  /** Reports a trap, after which the module is unusable: the extension starts another worker. */
  #failed(error: unknown): void {
    if (error instanceof WebAssembly.RuntimeError)
      this.send({ jsonrpc: '2.0', method: 'karpwarden/stopped', params: { message: error.message } });
  }
}
