// File tabs, and files and folders that are dropped or opened.

import type { App, DatedFile, LargeFile } from './app.ts';
import { byId, count, h, icon } from './dom.ts';
import { isLog, settingsOf, withoutMark } from './state.ts';
import type { SourceFile } from './types.ts';

/** Limits of one drop: number of files, and their total size in bytes. */
const FILES = 500;
const BYTES = 16 << 20;
/** In a folder, a `.tpl` file whose name begins with `_` is a part of a Helm chart. */
const KNOWN = /\.(ya?ml|jsonl?|log|txt|out|tf|tofu|tfvars|tftpl)$|^[^_].*\.tpl$/i;
/** Size in bytes up to which a log opens in the editor. */
export const EDITABLE = 1 << 20;

export function fileTabs(app: App): void {
  const bar = byId('files');
  const render = () => {
    const { files, active } = app.state;
    const worst = new Map<string, 'error' | 'warning'>();
    for (const { file, severity } of app.report?.findings ?? []) {
      if (severity === 'error' || (severity === 'warning' && !worst.has(file))) worst.set(file, severity);
    }
    for (const { file } of app.report?.unreadable ?? []) worst.set(file, 'error');
    const focused = bar.contains(document.activeElement);
    bar.replaceChildren(...files.map((file, index) => tab(app, file, index, index === active, worst.get(file.name))));
    const selected = bar.querySelector<HTMLElement>('[aria-current]');
    selected?.parentElement?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (focused) selected?.focus();
    byId('editor').setAttribute('aria-label', `Text of ${app.file.name}`);
  };
  app.on('files', render);
  app.on('report', () => {
    if (!bar.querySelector('.rename')) render();
  });
  bar.addEventListener('keydown', (event) => keys(app, event));
  // The first click of a double click may have redrawn the tabs.
  bar.addEventListener('dblclick', ({ clientX, clientY }) => {
    const box = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('.file');
    if (box) rename(app, box, [...bar.children].indexOf(box));
  });
  byId('add').addEventListener('click', () => app.newFile());
  const picker = byId<HTMLInputElement>('picker');
  byId('open').addEventListener('click', () => picker.click());
  picker.addEventListener('change', async () => {
    await take(
      app,
      [...(picker.files ?? [])].map((file) => ({ path: file.name, file })),
      0,
    );
    picker.value = '';
  });
  dropping(app);
}

function tab(
  app: App,
  file: SourceFile,
  index: number,
  selected: boolean,
  worst: 'error' | 'warning' | undefined,
): HTMLElement {
  const button = h(
    'button',
    {
      type: 'button',
      class: 'tab',
      'aria-current': selected && 'true',
      tabindex: selected ? 0 : -1,
      title: `${file.name} (double-click or F2 to rename)`,
      onclick: () => index !== app.state.active && app.open(index),
    },
    h('span', { class: 'name' }, file.name),
    worst &&
      h(
        'span',
        { class: `badge ${worst}` },
        worst === 'error' ? '●' : '▲',
        h('span', { class: 'hidden' }, ` has ${worst}s`),
      ),
  );
  const close = h(
    'button',
    {
      type: 'button',
      class: 'close',
      'aria-label': `Close ${file.name}`,
      tabindex: selected ? 0 : -1,
      onclick: () => app.closeFile(index),
    },
    icon('close'),
  );
  return h('div', { class: 'file' }, button, close);
}

function keys(app: App, event: KeyboardEvent): void {
  if (!(event.target as HTMLElement).classList.contains('tab')) return;
  const { files, active } = app.state;
  const to = { ArrowRight: active + 1, ArrowLeft: active - 1, Home: 0, End: files.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    app.open((to + files.length) % files.length);
  } else if (event.key === 'Delete') {
    app.closeFile(active);
  } else if (event.key === 'F2') {
    const box = (event.target as HTMLElement).parentElement;
    if (box) rename(app, box, active);
  }
}

function rename(app: App, box: HTMLElement, index: number): void {
  const input = h('input', {
    class: 'rename',
    'aria-label': 'New name of the file',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  input.value = app.state.files[index]?.name ?? '';
  let done = false;
  const finish = (take: boolean) => {
    if (done) return;
    done = true;
    const wanted = input.value;
    input.remove();
    if (take) app.renameFile(index, wanted);
    app.emit('files');
    byId('files').querySelector<HTMLElement>('[aria-current]')?.focus();
  };
  input.addEventListener('blur', () => finish(true));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') finish(true);
    if (event.key === 'Escape') finish(false);
  });
  box.replaceChildren(input);
  input.focus();
  input.setSelectionRange(0, Math.max(input.value.lastIndexOf('.'), 0) || input.value.length);
}

function dropping(app: App): void {
  const veil = byId('drop');
  let inside = 0;
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragenter', (event) => {
    if (!carriesFiles(event)) return;
    inside++;
    document.body.dataset.pane = 'editor';
    veil.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (carriesFiles(event) && --inside <= 0) veil.hidden = true;
  });
  // The capture phase comes before the editor, which would insert the text.
  addEventListener('dragover', (event) => carriesFiles(event) && event.preventDefault(), true);
  addEventListener(
    'drop',
    async (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const [target] = event.composedPath();
      inside = 0;
      veil.hidden = true;
      const items = [...(event.dataTransfer?.items ?? [])];
      // The browser clears the entries after the first await.
      const entries = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
      const plain = [...(event.dataTransfer?.files ?? [])];
      const found: Found[] = [];
      let skipped = 0;
      if (entries.length > 0) for (const entry of entries) skipped += await walk(entry, found);
      else found.push(...plain.map((file) => ({ path: file.name, file })));
      await take(app, found, skipped, target ?? null);
    },
    true,
  );
}

interface Found {
  path: string;
  file: File;
}

/** Collects the files below an entry and returns how many were skipped because of the limits. */
async function walk(entry: FileSystemEntry, found: Found[], depth = 0): Promise<number> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    // A file dropped directly is always taken; in a folder only files with a known extension are.
    if ((depth > 0 && !KNOWN.test(entry.name)) || found.length >= FILES) return depth > 0 ? 0 : 1;
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, file });
    return 0;
  }
  if (depth > 32) return 1;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  let skipped = 0;
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return skipped;
    some.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const below of some) {
      if (below.name === 'node_modules' || below.name.startsWith('.')) continue;
      skipped += await walk(below, found, depth + 1);
    }
  }
}

async function take(app: App, found: Found[], skipped: number, target: EventTarget | null = null): Promise<void> {
  const files: DatedFile[] = [];
  let left = BYTES;
  const large: LargeFile[] = [];
  let tooMany = skipped;
  for (const { path, file } of found) {
    if (files.length >= FILES) {
      tooMany++;
      continue;
    }
    if (file.size > (isLog(path) ? Math.min(left, EDITABLE) : left)) {
      large.push({ name: path, file });
      continue;
    }
    const text = withoutMark(new TextDecoder('utf-8', { ignoreBOM: true }).decode(await file.arrayBuffer()));
    left -= file.size;
    if (path === 'karpwarden.yaml') await takeSettings(app, text);
    else files.push({ name: path, text, modified: file.lastModified });
  }
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  if (files.length > 0 && !app.taking?.(files, target)) app.addFiles(files.map(({ name, text }) => ({ name, text })));
  app.addLarge(large);
  if (files.some(({ name }) => isLog(name))) app.show('symptoms');
  if (tooMany > 0) {
    app.notice(
      'drop',
      `${count(tooMany, 'file was', 'files were')} skipped: the page opens at most ${FILES}. The command line has no such limit.`,
    );
  }
  if (files.length > 0) app.announce(`${count(files.length, 'file')} opened`);
  else if (found.length === 0)
    app.notice(
      'drop',
      'No manifest or log found. The page opens .yaml, .yml, .json, .jsonl, .tf, .tofu, .tfvars, .tftpl, .tpl, .log, .txt and .out files.',
    );
  const manifests = large.filter(({ name }) => !isLog(name));
  if (manifests.length > 0) {
    app.notice(
      'large',
      `${manifests.map(({ name }) => name).join(', ')}: too large for the editor, so it is searched for symptoms only. Check it on the command line: karpwarden check.`,
    );
  }
}

async function takeSettings(app: App, text: string): Promise<void> {
  const { problems, settings } = await app.engine.call('settings', [text], 10_000);
  if (settings) {
    app.change(settingsOf(settings));
    app.notice('settings', 'The settings were loaded from karpwarden.yaml.');
  } else {
    const mistakes = problems.map(
      (problem) => `line ${problem.line}: ${problem.path ? `${problem.path}: ` : ''}${problem.message}`,
    );
    app.notice('settings', `karpwarden.yaml was not loaded. ${mistakes.join('; ')}`, [], true);
  }
}
