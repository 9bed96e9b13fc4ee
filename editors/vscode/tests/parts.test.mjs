// The extension's own logic, without VS Code.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { load } from './source.mjs';

const { findBinary } = await load('src/binary.ts');
const { scopeOf, within } = await load('src/scope.ts');
const { summaryOf } = await load('src/summary.ts');
const { viewHtml, ASSETS } = await load('src/view-html.ts');

const search = (more) =>
  findBinary({
    wanted: '',
    path: '/usr/local/bin:/usr/bin',
    extension: '/ext',
    platform: 'linux',
    isExecutable: () => false,
    ...more,
  });
const only =
  (...files) =>
  (file) =>
    files.includes(file);

test('the setting wins over the PATH, and the PATH over the extension', () => {
  const everywhere = only('/usr/bin/karpwarden', '/ext/bin/karpwarden');
  assert.equal(search({ wanted: '/opt/kw', isExecutable: everywhere }), '/opt/kw');
  assert.equal(search({ isExecutable: everywhere }), '/usr/bin/karpwarden');
  assert.equal(search({ isExecutable: only('/ext/bin/karpwarden') }), '/ext/bin/karpwarden');
  assert.equal(search({}), undefined);
});

test('no program of the working folder is started', () => {
  for (const wanted of ['karpwarden', './karpwarden', 'bin/karpwarden'])
    assert.throws(() => search({ wanted, isExecutable: () => true }), /absolute/);
  assert.equal(
    search({ path: ':.:bin:./x', isExecutable: only('/karpwarden', './karpwarden', 'bin/karpwarden') }),
    undefined,
  );
});

test('finds the program of Windows', () => {
  const windows = { platform: 'win32', path: 'C:\\tools\\;D:\\bin', extension: 'C:\\ext' };
  assert.equal(search({ ...windows, isExecutable: only('C:\\tools\\karpwarden.exe') }), 'C:\\tools\\karpwarden.exe');
  assert.equal(
    search({ ...windows, isExecutable: only('C:\\ext\\bin\\karpwarden.exe') }),
    'C:\\ext\\bin\\karpwarden.exe',
  );
});

test('a simulation is about the nearest folder with a NodePool and pods', () => {
  const files = [
    { name: 'dev/pool.yaml', text: 'kind: NodePool' },
    { name: 'dev/apps/web.yaml', text: 'kind: Deployment' },
    { name: 'prod/pool.yaml', text: 'kind: NodePool' },
    { name: 'devices/job.yaml', text: 'kind: Job' },
  ];
  assert.equal(scopeOf(files, 'dev/apps/web.yaml'), 'dev');
  assert.equal(scopeOf(files, 'dev/pool.yaml'), 'dev');
  assert.equal(scopeOf(files, 'prod/pool.yaml'), '', 'prod has no pods');
  assert.equal(scopeOf(files, 'readme.yaml'), '');
  const names = (scope, active) => within(files, scope, active).map(({ name }) => name);
  assert.deepEqual(names('dev', 'dev/apps/web.yaml'), ['dev/apps/web.yaml', 'dev/pool.yaml']);
  assert.equal(names('', 'prod/pool.yaml')[0], 'prod/pool.yaml');
});

test('sums up the reports of all folders', () => {
  const report = (errors, warnings, infos, checked) => ({ summary: { errors, warnings, infos, checked } });
  assert.equal(
    summaryOf([report(1, 2, 0, 3), null, report(0, 0, 1, 1)]),
    '1 error, 2 warnings, 1 info in 4 documents.',
  );
  assert.equal(summaryOf([report(0, 0, 0, 1)]), 'No findings in 1 document.');
  assert.match(summaryOf([null]), /^Nothing was checked/);
});

test('the view loads nothing but files of the extension, and no inline code', () => {
  const html = viewHtml({
    source: 'https://files.example',
    address: (file) => `https://files.example/${file}?a="&b`,
    sprite: '<svg></svg>',
    view: 'placement',
  });
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html);
  assert.match(policy, /^default-src 'none'; /);
  assert.ok(!policy.includes('unsafe-inline') && !/'unsafe-eval'/.test(policy), policy);
  const sources = policy.split(/[; ]+/).filter((word) => word.includes(':'));
  assert.deepEqual(new Set(sources), new Set(['blob:', 'https://files.example']));
  assert.ok(!/<script(?![^>]*src=)|style=|onclick=/.test(html), html);
  for (const name of ASSETS) assert.ok(html.includes(`${name}?a=\\&quot;&amp;b`), name);
});

test('every command has a title, and every menu a known command', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const { commands, menus, walkthroughs, submenus } = manifest.contributes;
  const known = commands.map(({ command }) => command);
  const source = readFileSync(new URL('../src/activate.ts', import.meta.url), 'utf8');
  const registered = [...source.matchAll(/register\('(\w+)'/g)].map(([, name]) => `karpwarden.${name}`);
  assert.deepEqual(new Set(known), new Set(registered));
  for (const [menu, items] of Object.entries(menus)) {
    assert.ok(!menu.startsWith('karpwarden.') || submenus.some(({ id }) => id === menu), menu);
    for (const { command } of items) assert.ok(command === undefined || known.includes(command), command);
  }
  for (const { description, completionEvents, media } of walkthroughs[0].steps) {
    const linked = [...description.matchAll(/command:([\w.]+)/g)].map(([, name]) => name);
    for (const command of linked) assert.ok(known.includes(command), command);
    assert.deepEqual(
      completionEvents,
      linked.map((command) => `onCommand:${command}`),
    );
    assert.ok(readFileSync(new URL(`../${media.markdown}`, import.meta.url)).length > 0);
  }
});
