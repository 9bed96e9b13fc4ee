// Entry point of the page: start-up, panel, tabs, toolbar, keys and shared links.

import { App, FIRST } from './app.ts';
import { fetchArticles, showArticle } from './documentation.ts';
import { byId, h } from './dom.ts';
import { examplesMenu } from './examples.ts';
import { EDITABLE, fileTabs } from './files.ts';
import { counts } from './finding-words.ts';
import { FindingsView } from './findings.ts';
import { logHint } from './log-hint.ts';
import { looksLikeLog } from './log-lines.ts';
import { releaseOptions } from './release-options.ts';
import { decode, encode } from './share.ts';
import { type State, type Tab, type Theme, isLog, load } from './state.ts';
import { isTerraform, terraformHint } from './terraform.ts';
import type { Finding, Settings } from './types.ts';

const embedded = new URLSearchParams(location.search).get('embed') === '1';
const stored = embedded ? null : load();
const first = () => [{ ...FIRST }];

const state: State = {
  files: stored?.files.length ? stored.files : first(),
  active: stored?.files.length ? stored.active : 0,
  settings: stored?.settings ?? {},
  tab: stored?.tab ?? 'findings',
  theme: stored?.theme ?? 'system',
  remember: stored?.remember ?? true,
};

const view = byId('view');
/** The rule or symptom whose article the panel shows. */
let explained: string | undefined;

const app = new App(state, embedded, {
  fix(finding: Finding) {
    showFindings();
    app.selected = finding;
    void draw();
    document.body.dataset.pane = 'panel';
    findings.preview(finding);
  },
  explain,
  field: async (...place) => (await import('./field-tip.ts')).fieldTip(app, ...place),
  typesLeft: async (offset) => (await import('./placement.ts')).typesLeft(app, offset),
  week: async (offset) => (await import('./schedule-tip.ts')).scheduleTip(app, offset),
});
if (embedded) app.keeping = false;

const findings = new FindingsView(app, explain);
type Lazy = { render(view: HTMLElement): Promise<void> };
const lazy: Partial<Record<Tab, Promise<Lazy>>> = {};

function explain(rule: string): void {
  if (state.tab !== 'findings' && state.tab !== 'symptoms') app.show('findings');
  explained = rule;
  document.body.dataset.pane = 'panel';
  panes();
  void draw();
}

function showFindings(): void {
  explained = undefined;
  if (state.tab !== 'findings') app.show('findings');
}

async function back(): Promise<void> {
  const rule = explained;
  explained = undefined;
  await draw();
  const item = [...view.querySelectorAll<HTMLElement>('.finding')].find(
    (one) => one.querySelector('.rule')?.textContent === rule,
  );
  (item?.querySelector<HTMLElement>('.why') ?? item?.querySelector<HTMLElement>('.jump') ?? view).focus();
}

/** Fetches the script of a tab. */
async function loadTab(tab: Tab): Promise<Lazy> {
  if (tab === 'placement') return new (await import('./placement.ts')).PlacementView(app);
  if (tab === 'disruption') return new (await import('./disruption.ts')).DisruptionView(app);
  if (tab === 'change') return new (await import('./change.ts')).ChangeView(app);
  const later = await import('./later.ts');
  if (tab === 'admission') return new later.AdmissionView(app);
  return tab === 'releases' ? new later.ReleasesView(app) : new later.SymptomsView(app, explain);
}

async function draw(): Promise<void> {
  if (explained !== undefined) {
    if (view.querySelector('.doc h2')?.textContent !== explained)
      void showArticle(app, explained, view, explain, () => void back());
    return;
  }
  if (state.tab === 'findings') return findings.render(view);
  const { tab } = state;
  lazy[tab] ??= loadTab(tab);
  try {
    const part = await lazy[tab];
    if (state.tab === tab && explained === undefined) await part.render(view);
  } catch {
    delete lazy[tab];
    view.replaceChildren(
      h('p', { class: 'calm' }, 'This tab could not be fetched. Check the connection and open the tab again.'),
    );
  }
}

/** Updates the count of findings or diagnoses in the header and returns it; empty without a report. */
function showCount(): string {
  const isLog = state.tab === 'symptoms';
  const report = isLog ? app.diagnosis : app.report;
  if (!report && !isLog) return '';
  const parts = report ? counts(report) : [];
  const text = parts.map((part) => part.textContent).join(', ');
  // A log is still read.
  byId('count').replaceChildren(...(text ? parts : ['Symptoms']));
  byId('show-panel').textContent = text || 'Symptoms';
  return text;
}
app.on('report', () => {
  if (!app.report) return;
  const text = showCount();
  if (state.tab !== 'symptoms') app.announce(text, 1000);
  void draw();
});
app.on('diagnosis', showCount);
app.on('selection', () => {
  if (state.tab === 'findings' && explained === undefined) findings.select();
});

// Panel tabs

const tabs = [...byId('tabs').querySelectorAll<HTMLButtonElement>('[role="tab"]')];
const nameOf = (tab: HTMLElement) => tab.id.replace('tab-', '') as Tab;
app.on('tab', () => {
  for (const tab of tabs) {
    const selected = nameOf(tab) === state.tab;
    tab.setAttribute('aria-selected', String(selected));
    tab.tabIndex = selected ? 0 : -1;
    // A phone is too narrow for all tabs.
    if (selected) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  view.setAttribute('aria-labelledby', `tab-${state.tab}`);
  explained = undefined;
  showCount();
  view.replaceChildren();
  view.scrollTop = 0;
  void draw();
});
for (const tab of tabs) {
  tab.addEventListener('click', () => app.show(nameOf(tab)));
}
byId('tabs').addEventListener('keydown', (event) => {
  const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
  if (!next) return;
  event.preventDefault();
  app.show(nameOf(next));
  next.focus();
});

// Phone: one pane at a time

function panes(): void {
  const panel = document.body.dataset.pane === 'panel';
  byId('show-editor').setAttribute('aria-pressed', String(!panel));
  byId('show-panel').setAttribute('aria-pressed', String(panel));
}
new MutationObserver(panes).observe(document.body, { attributeFilter: ['data-pane'] });
byId('show-editor').addEventListener('click', () => (document.body.dataset.pane = 'editor'));
byId('show-panel').addEventListener('click', () => (document.body.dataset.pane = 'panel'));

// Toolbar

const release = byId<HTMLSelectElement>('release');
const cluster = byId<HTMLInputElement>('cluster');
function setting(change: (settings: Settings) => void): void {
  const settings = structuredClone(state.settings);
  change(settings);
  app.change(settings);
}
release.addEventListener('change', () =>
  setting((settings) => {
    if (release.value) settings.karpenterVersion = release.value;
    else delete settings.karpenterVersion;
  }),
);
cluster.addEventListener('input', () =>
  setting((settings) => {
    if (cluster.value.trim()) settings.clusterName = cluster.value.trim();
    else delete settings.clusterName;
  }),
);
function showSettings(): void {
  const options = releaseOptions(app);
  const label = (all: Iterable<HTMLOptionElement>) => [...all].map((option) => option.text).join();
  // An open list closes when its options are replaced.
  if (label(options) !== label(release.options)) release.replaceChildren(...options);
  release.value = state.settings.karpenterVersion ?? '';
  if (document.activeElement !== cluster) cluster.value = state.settings.clusterName ?? '';
}
app.on('settings', showSettings);
// The input may pin another version than before.
app.on('report', showSettings);

const THEMES: Theme[] = ['system', 'light', 'dark'];
function paint(): void {
  const { theme } = state;
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const label = `Theme: ${theme === 'system' ? 'same as system' : theme}`;
  byId('theme').setAttribute('aria-label', label);
  byId('theme').title = label;
}
byId('theme').addEventListener('click', () => {
  state.theme = THEMES[(THEMES.indexOf(state.theme) + 1) % THEMES.length] ?? 'system';
  paint();
  app.announce(`Theme: ${state.theme}`);
  app.keep();
});
paint();

byId('settings').addEventListener('click', async () => (await import('./later.ts')).settingsDialog(app));
byId('share').addEventListener('click', async () => (await import('./later.ts')).shareDialog(app));
byId('cancel').addEventListener('click', () => app.cancel());
examplesMenu(app, byId<HTMLButtonElement>('examples'));
fileTabs(app);
logHint(app);
terraformHint(app);

addEventListener('keydown', (event) => {
  if (event.key === 'F8') {
    event.preventDefault();
    showFindings();
    app.step(event.shiftKey ? -1 : 1);
  } else if (event.key === '.' && (event.ctrlKey || event.metaKey)) {
    const finding = app.atCursor().find((one) => one.fix);
    if (!finding) {
      app.announce('No fix at the cursor');
      return;
    }
    event.preventDefault();
    showFindings();
    app.selected = finding;
    void draw();
    document.body.dataset.pane = 'panel';
    findings.preview(finding);
  }
});
// A manifest pasted anywhere on the page replaces the first example.
addEventListener(
  'paste',
  (event) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const inField = event.target instanceof Element && event.target.closest('input, dialog, .before-editor') !== null;
    const isLog = looksLikeLog(text);
    const mayReplace = app.isUntouched() || !app.file.text.trim();
    const isOther = isTerraform(text);
    const isManifest = text.includes('apiVersion') && app.isUntouched();
    if (inField || !(isLog ? mayReplace || text.length > EDITABLE : isOther ? mayReplace : isManifest)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isLog) app.replaceExample(text, isOther ? 'main.tf' : 'manifest.yaml');
    else if (text.length > EDITABLE) app.addLarge([{ name: 'pasted.log', file: new File([text], 'pasted.log') }]);
    else {
      app.replaceExample(text, 'controller.log');
      app.show('symptoms');
    }
  },
  true,
);
addEventListener('pagehide', () => app.keepNow());
// A print shows every finding; the list shows the first 200.
addEventListener('beforeprint', () => findings.showAll(true));
addEventListener('afterprint', () => findings.showAll(false));

// Shared links, opened or pasted into this page

async function openLink(): Promise<void> {
  const fragment = location.hash.slice(1);
  if (!fragment || fragment === 'panel') return;
  if (!embedded) history.replaceState(null, '', location.pathname + location.search);
  try {
    const shared = await decode(fragment);
    const before = structuredClone(state);
    app.keepNow();
    // The visitor's own text stays stored until the shared text is edited.
    app.keeping = false;
    if (shared.settings) {
      state.settings = shared.settings;
      app.emit('settings');
    }
    if (shared.files) {
      app.show(shared.files.some(({ name }) => isLog(name)) ? 'symptoms' : 'findings');
      app.replaceFiles(shared.files);
    } else app.check();
    if (stored?.files.length && !embedded) {
      app.notice('link', 'You opened a shared link.', [
        [
          'Restore my text',
          () => {
            app.keeping = true;
            state.settings = before.settings;
            app.emit('settings');
            app.replaceFiles(before.files, before.active);
          },
        ],
      ]);
    }
  } catch (error) {
    app.notice('link', (error as Error).message, [], true);
  }
}
addEventListener('hashchange', () => void openLink());

// Start

if (embedded) {
  document.body.classList.add('embed');
  const whole = byId<HTMLAnchorElement>('whole');
  whole.hidden = false;
  whole.href = location.pathname + location.hash;
  app.on('report', async () => {
    whole.href = `${location.pathname}#${await encode({ files: state.files, settings: state.settings })}`;
  });
}
app.open(state.active);
app.emit('tab');
const firstReport = new Promise<void>((resolve) => app.on('report', resolve));
void openLink().then(() => app.check());
const started = app.engine.call('start', [], 60_000);
// The editor loads after the first report, so that findings show sooner on a slow connection. A slow check delays it by
// two seconds at most.
void started
  .then(() => Promise.race([firstReport, new Promise((resolve) => setTimeout(resolve, 2000))]))
  .catch(() => undefined)
  .then(() => app.upgrade())
  .catch(() => {
    const reload: [string, () => void] = ['Reload', () => location.reload()];
    app.notice(
      'editor',
      'The editor could not be fetched. The plain text area still works; reload the page for the full editor.',
      [reload],
    );
  });
started.then(
  (about) => {
    app.about = about;
    byId('version').textContent = `Karpwarden ${about.version}`;
    showSettings();
    if (state.tab === 'releases') void draw();
    const name = new URLSearchParams(location.search).get('rule');
    if (name) void explainFromAddress(name);
    const idle = window.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1000));
    if (!embedded) idle(() => void workOffline());
  },
  (error: Error) =>
    app.notice(
      'start',
      `The engine did not start: ${error.message}. Reload the page. If that does not help, this browser may be too old.`,
      [['Reload', () => location.reload()]],
      true,
    ),
);

/** Shows the article of the rule or symptom in the address (`?rule=NAME`). */
async function explainFromAddress(name: string): Promise<void> {
  const articles: Awaited<ReturnType<typeof fetchArticles>> = await fetchArticles().catch(() => ({}));
  if (!Object.hasOwn(articles, name)) return;
  app.show(articles[name]?.symptom ? 'symptoms' : 'findings');
  explain(name);
}

/** Registers the service worker, which makes the page work offline. */
async function workOffline(): Promise<void> {
  try {
    await navigator.serviceWorker.register('sw.js');
    await navigator.serviceWorker.ready;
    byId('offline').hidden = false;
  } catch {
    // Without a service worker the page needs a connection.
  }
}
