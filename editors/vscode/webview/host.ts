// The page around the tabs, in a view of VS Code: the editor is VS Code's own.

import type { AdmissionMethods } from '../../../playground/page/src/admission-worker.ts';
import type { About, EngineMethods, Report, Settings, SourceFile } from '../../../playground/page/src/types.ts';
import type { ViewHost } from '../../../playground/page/src/view-host.ts';
import { WorkerClient } from '../../../playground/page/src/worker-client.ts';
import { byId } from '../../../playground/page/src/dom.ts';
import type { FromView, ViewName } from './messages.ts';

/** Time limit of a check in milliseconds. */
const LIMIT = 20_000;

export class Host implements ViewHost {
  readonly state = {
    files: [] as SourceFile[],
    settings: {} as Settings,
    tab: 'placement' as ViewName,
  };
  readonly engine: WorkerClient<EngineMethods>;
  readonly admission: WorkerClient<AdmissionMethods>;
  about: About | undefined;
  report: Pick<Report, 'pins'> | undefined;
  opened: SourceFile[] = [];
  /** Files are not dropped here. */
  taking: ViewHost['taking'];
  #speaker = 0;

  constructor(
    workers: Record<'engine' | 'admission', string>,
    private readonly post: (message: FromView) => void,
  ) {
    this.engine = new WorkerClient(workers.engine);
    this.admission = new WorkerClient(workers.admission);
  }

  get manifests(): SourceFile[] {
    return this.state.files.map(({ name, text }) => ({ name, text }));
  }

  /** Takes the files of the editor, and the text of karpwarden.yaml. Returns the mistakes in it. */
  async take(files: SourceFile[], config: string): Promise<string[]> {
    this.state.files = files;
    const { settings, problems } = await this.engine.call('settings', [config], LIMIT);
    this.state.settings = settings ?? {};
    return problems.map(({ line, message }) => `line ${line}: ${message}`);
  }

  /** The release that the definitions of the API server are from needs what the files pin. */
  async prepareAdmission(): Promise<void> {
    this.about ??= await this.engine.call('start', [], LIMIT);
    const { json } = await this.engine.call('check', [this.manifests, this.state.settings, null], LIMIT);
    this.report = JSON.parse(json) as Report;
  }

  announce(text: string, delay = 200): void {
    clearTimeout(this.#speaker);
    this.#speaker = window.setTimeout(() => (byId('live').textContent = text), delay);
  }

  addFiles(files: SourceFile[]): void {
    this.post({ type: 'newFiles', files });
  }

  replaceFiles(files: SourceFile[]): void {
    this.addFiles(files);
  }

  goTo(file: string, from: number, to: number): void {
    this.post({ type: 'goTo', file, from, to });
  }

  goToLine(file: string, line: number): void {
    this.post({ type: 'goToLine', file, line });
  }

  /** Lines are marked in the editor of the text before the change only. */
  setEffects(): void {
    // Nothing to do: the list of changes links to the lines.
  }
}
