// The view beside a file: the page's Placement, Disruption, Change and Admission tabs.

import { byId, h } from '../../../playground/page/src/dom.ts';
import { Host } from './host.ts';
import { type FromView, type ToView, VIEWS, type ViewName } from './messages.ts';
import { type Assets, workerOf } from './workers.ts';

declare function acquireVsCodeApi(): { postMessage(message: FromView): void };

declare global {
  /** The addresses that `define` in build.mjs puts into the page's code. */
  var WORKERS: { placement: string };
}

const TITLES: Record<ViewName, string> = {
  placement: 'Placement',
  disruption: 'Disruption',
  change: 'Change',
  admission: 'Cluster’s answer',
};

type Part = { render(view: HTMLElement): Promise<void> };

const { postMessage: post } = acquireVsCodeApi();
const view = byId('view');
const notices = byId('notices');
const assets = JSON.parse(document.body.dataset.assets ?? '{}') as Assets;
const parts: Partial<Record<ViewName, Promise<Part>>> = {};
let host: Host | undefined;
/** The tab that is shown once there are files. */
let wanted = VIEWS.find((name) => name === document.body.dataset.view) ?? 'placement';
let hasFiles = false;

const tabs = VIEWS.map((name) =>
  h(
    'button',
    {
      type: 'button',
      role: 'tab',
      id: `tab-${name}`,
      'aria-controls': 'view',
      onclick: () => {
        post({ type: 'chosen', view: name });
        void show(name);
      },
    },
    TITLES[name],
  ),
);
byId('tabs').append(...tabs);
byId('tabs').addEventListener('keydown', (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const next = tabs[(at + by + tabs.length) % tabs.length];
  if (by === 0 || at < 0 || !next) return;
  event.preventDefault();
  next.focus();
  next.click();
});

async function load(name: ViewName, app: Host): Promise<Part> {
  if (name === 'placement') return new (await import('../../../playground/page/src/placement.ts')).PlacementView(app);
  if (name === 'disruption')
    return new (await import('../../../playground/page/src/disruption.ts')).DisruptionView(app);
  if (name === 'change') return new (await import('../../../playground/page/src/change.ts')).ChangeView(app);
  return new (await import('../../../playground/page/src/admission.ts')).AdmissionView(app);
}

async function show(name: ViewName): Promise<void> {
  wanted = name;
  for (const tab of tabs) {
    const selected = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', String(selected));
    tab.tabIndex = selected ? 0 : -1;
  }
  view.setAttribute('aria-labelledby', `tab-${name}`);
  await draw();
}

async function draw(): Promise<void> {
  if (!host || !hasFiles) return;
  const tab = wanted;
  host.state.tab = tab;
  parts[tab] ??= load(tab, host);
  const part = await parts[tab];
  if (tab === 'admission') await host.prepareAdmission();
  if (host.state.tab === tab) await part.render(view);
}

function failed(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  post({ type: 'failed', message });
  view.replaceChildren(h('div', { class: 'calm' }, h('strong', {}, 'This could not be shown'), message));
}

async function receive(message: ToView): Promise<void> {
  if (!host) return;
  if (message.type === 'show') return show(message.view);
  if (message.type === 'base') {
    host.opened = message.files;
    byId('base').textContent = `compared with ${message.title}`;
  } else {
    hasFiles = true;
    const problems = await host.take(message.files, message.config);
    const text = `karpwarden.yaml is not applied: ${problems[0] ?? ''}`;
    notices.replaceChildren(...(problems.length > 0 ? [h('div', { class: 'notice bad' }, h('span', {}, text))] : []));
  }
  await draw();
}

async function start(): Promise<void> {
  const [engine, placement, admission] = await Promise.all([
    workerOf(assets, 'engine-worker.js', { engine: 'engine.wasm', rules: 'rules.json' }),
    workerOf(assets, 'placement-worker.js', { engine: 'engine.wasm' }),
    workerOf(assets, 'admission-worker.js', { policy: 'policy.wasm' }),
  ]);
  globalThis.WORKERS = { placement };
  host = new Host({ engine, admission }, post);
  let last = Promise.resolve();
  window.addEventListener('message', ({ data }: MessageEvent<ToView>) => {
    last = last.then(() => receive(data)).catch(failed);
  });
  void show(wanted);
  post({ type: 'ready' });
}

start().catch(failed);
