// The pages of the rules, as documents that VS Code shows as Markdown.

import { type Disposable, type ExtensionContext, Uri, commands, window, workspace } from 'vscode';

/** The scheme of their addresses: `karpwarden-rule:some-rule.md`. */
export const SCHEME = 'karpwarden-rule';

export class RulePages implements Disposable {
  #texts: Promise<Record<string, string>> | undefined;
  readonly #provider: Disposable;

  constructor(private readonly context: ExtensionContext) {
    const provideTextDocumentContent = async ({ path }: Uri) => (await this.#load())[path.replace(/\.md$/, '')] ?? '';
    this.#provider = workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent });
  }

  /** Asks for a rule, and shows its page. */
  async choose(): Promise<void> {
    const names = Object.keys(await this.#load());
    const chosen = await window.showQuickPick(names, { title: 'Explain a rule', placeHolder: 'Name of the rule' });
    if (!chosen) return;
    await commands.executeCommand('markdown.showPreview', Uri.from({ scheme: SCHEME, path: `${chosen}.md` }));
  }

  #load(): Promise<Record<string, string>> {
    this.#texts ??= (async () => {
      const bytes = await workspace.fs.readFile(Uri.joinPath(this.context.extensionUri, 'dist/rules.json'));
      return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, string>;
    })();
    return this.#texts;
  }

  dispose(): void {
    this.#provider.dispose();
  }
}
