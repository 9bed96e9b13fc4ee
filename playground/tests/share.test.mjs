// Share links: what goes in comes out, and a damaged or hostile link gives a sound answer or an error for the visitor.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

import { here } from './browser.mjs';

const bundle = await build({
  entryPoints: [join(here, '../page/src/share.ts')],
  bundle: true,
  write: false,
  format: 'esm',
});
const { encode, decode } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`
);

const ERRORS = /^The link (is damaged and could not be read|was created by a newer version of this page)\./;

/** Random numbers below a limit, the same in every run: xorshift32. */
function randomNumbers(seed) {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

const PIECES = [
  'kind: NodePool\n',
  '  ',
  '- ',
  '"',
  '\\',
  '\0',
  '\ud800',
  '\udc00',
  '\u2028',
  'ü',
  '中',
  '😀',
  '<img>',
  '__proto__',
  '#',
  '%',
];

const textOf = (random) => Array.from({ length: random(20) }, () => PIECES[random(PIECES.length)]).join('');

function fragmentOf(json) {
  const bytes = Buffer.concat([Buffer.from([1]), deflateRawSync(Buffer.from(json))]);
  return bytes.toString('base64url');
}

/** Decodes a fragment; null for an error that tells the visitor what to do. */
async function decoded(fragment) {
  try {
    return await decode(fragment);
  } catch (error) {
    assert.match(error.message, ERRORS);
    return null;
  }
}

/** Checks what the rest of the page relies on. */
function assertSound({ files = [], settings = {}, ...others }) {
  assert.deepEqual(others, {});
  for (const { name, text, ...rest } of files) {
    assert.deepEqual(rest, {});
    assert.ok(typeof text === 'string' && typeof name === 'string' && name !== '', name);
  }
  assert.equal(new Set(files.map(({ name }) => name)).size, files.length);
  const {
    karpenterVersion = '',
    kubernetesVersion = '',
    clusterName = '',
    completeInventory = true,
    allowIgnoreAnnotation = true,
    fix = true,
    strictUpdates = true,
    announceErrors = 'auto',
    context = 'all',
    rules = {},
    exceptions = [],
    exclude = [],
    overrides = [],
    ...unknown
  } = settings;
  assert.deepEqual(unknown, {});
  for (const text of [karpenterVersion, kubernetesVersion, clusterName]) assert.equal(typeof text, 'string');
  for (const truth of [completeInventory, allowIgnoreAnnotation, fix, strictUpdates])
    assert.equal(typeof truth, 'boolean');
  assert.ok([true, false, 'auto'].includes(announceErrors));
  assert.match(context, /^(all|pools|none)$/);
  const levels = [rules, ...overrides.map((override) => override.rules ?? {})].flatMap(Object.values);
  for (const level of levels) assert.match(level, /^(deny|warn|info|off)$/);
  for (const path of [exclude, ...overrides.map(({ paths }) => paths)].flat()) assert.equal(typeof path, 'string');
  for (const exception of exceptions)
    for (const value of Object.values(exception)) assert.equal(typeof value, 'string');
}

test('files and settings survive the way through a link', async () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 300; round++) {
    const files = Array.from({ length: 1 + random(5) }, (_, index) => ({
      name: `${index} ${textOf(random)}`.trim().slice(0, 200),
      text: textOf(random),
    }));
    const shared = { files, settings: { karpenterVersion: `1.${random(16)}`, rules: { nodeclass: 'off' } } };
    const fragment = await encode(shared);
    assert.match(fragment, /^[\w-]+$/);
    assert.deepEqual(await decode(fragment), shared);
  }
});

test('settings without a field in the form survive the way through a link', async () => {
  const settings = {
    karpenterVersion: '1.0..1.8',
    completeInventory: false,
    strictUpdates: true,
    announceErrors: 'auto',
    context: 'pools',
    rules: { storage: 'warn' },
    exceptions: [{ rule: 'storage', reason: 'old', until: '2027-03-31' }],
    exclude: ['old/', '*.tmp.yaml'],
    overrides: [
      { paths: ['dev/**'], karpenterVersion: '1.6', clusterName: 'dev', rules: { labels: 'off' } },
      { paths: ['prod/'], kubernetesVersion: '1.33' },
    ],
  };
  assert.deepEqual((await decode(await encode({ settings }))).settings, settings);
});

test('a damaged link gives a sound answer or an error', async () => {
  const random = randomNumbers(2);
  const LETTERS = 'ABCxyz019-_+/=%.é\0';
  let errors = 0;
  for (let round = 0; round < 2000; round++) {
    let fragment = await encode({ files: [{ name: 'a.yaml', text: textOf(random) }], settings: { fix: true } });
    for (let change = 0; change <= random(3); change++) {
      const at = random(fragment.length + 1);
      const letter = LETTERS[random(LETTERS.length)];
      const rest = [fragment.slice(at + 1), fragment.slice(at), '', fragment.slice(random(fragment.length + 1))][
        random(4)
      ];
      fragment = fragment.slice(0, at) + letter + rest;
    }
    const shared = await decoded(fragment);
    if (shared) assertSound(shared);
    else errors++;
  }
  assert.ok(errors > 1000, `${errors} errors`);
});

test('JSON of any shape gives a sound answer or an error', async () => {
  const random = randomNumbers(3);
  const KEYS = [
    'f',
    's',
    'rules',
    'exceptions',
    'rule',
    'karpenterVersion',
    'fix',
    'completeInventory',
    'announceErrors',
    'context',
    'exclude',
    'overrides',
    'paths',
    '__proto__',
    'constructor',
    'reason',
    'until',
    'name',
    'text',
  ];
  const LEAVES = [
    null,
    true,
    false,
    0,
    -1,
    1e308,
    '',
    'deny',
    'off',
    '1.8',
    'a.yaml',
    '\ufeffkind: Pod',
    '__proto__',
    ' '.repeat(300),
  ];
  const value = (depth) => {
    const shape = depth === 0 ? 0 : random(3);
    if (shape === 0) return JSON.stringify(LEAVES[random(LEAVES.length)]);
    const items = Array.from({ length: random(5) }, () => value(depth - 1));
    return shape === 1
      ? `[${items.join()}]`
      : `{${items.map((item) => `${JSON.stringify(KEYS[random(KEYS.length)])}:${item}`).join()}}`;
  };
  const files = () =>
    `[${Array.from({ length: random(5) }, () => (random(3) ? `["a.yaml",${value(0)}]` : value(2))).join()}]`;
  let answers = 0;
  for (let round = 0; round < 3000; round++) {
    const json = random(2) ? `{"f":${files()},"s":${value(3)}}` : value(4);
    const shared = await decoded(fragmentOf(json));
    if (!shared) continue;
    assertSound(shared);
    answers++;
  }
  assert.ok(answers > 1000, `${answers} answers`);
  assert.deepEqual(Object.keys(Object.prototype), []);
});

test('a link that unpacks to more than the page can hold is refused', async () => {
  const bomb = fragmentOf(JSON.stringify({ f: [['a.yaml', 'a'.repeat(64 << 20)]] }));
  assert.ok(bomb.length < 100_000);
  assert.equal(await decoded(bomb), null);
});
