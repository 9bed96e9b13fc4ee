// Every front end gives the same answer: the page's workers return the bytes of the command line, and the policy module
// answers in the page as it does in policy-server.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  existsSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { root, visit } from './browser.mjs';
import { EDITED, POOL as TEAM, cluster } from './change-input.mjs';
import { NODES, POOL } from './disruption-input.mjs';

/** Builds a program with the features that the Makefile selects. */
const build = (name) => cargo('build', '--quiet', '--locked', '--workspace', '--examples', '--bin', name);
const cargo = (...args) =>
  execFileSync('cargo', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const CASES = 1000;

/** Manifests below a folder of the repository. */
function manifestsIn(folder) {
  const found = [];
  const walk = (folder) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path);
      else if (/\.(ya?ml|jsonl?)$/.test(name))
        found.push({ name: relative(root, path), text: readFileSync(path, 'utf8') });
    }
  };
  walk(join(root, folder));
  return found;
}

/** Manifests of the examples and of the tests with whole files, each in the current folder. */
const manifests = () =>
  ['examples', 'tests/problems', 'tests/cli']
    .flatMap(manifestsIn)
    .map(({ name, text }) => ({ name: name.replaceAll('/', '-'), text }));

/** A sample of the cases decided by the API server. An update becomes an AdmissionReview. */
function conformance() {
  const path = join(root, 'tests/conformance/cases.jsonl.gz');
  if (!existsSync(path)) return [];
  const lines = gunzipSync(readFileSync(path)).toString().trim().split('\n');
  const every = Math.max(1, Math.floor(lines.length / CASES));
  return lines
    .filter((_, index) => index % every === 0)
    .map((line, index) => {
      const { object, oldObject } = JSON.parse(line);
      const request = { uid: '1', operation: 'UPDATE', object, oldObject };
      const whole = oldObject ? { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request } : object;
      return { name: `case-${index}.json`, text: `${JSON.stringify(whole, null, 1)}\n` };
    });
}

const unusual = [
  { name: 'crlf.yaml', text: readFileSync(join(root, 'examples/nodeclass-bad.yaml'), 'utf8').replaceAll('\n', '\r\n') },
  {
    name: 'emoji.yaml',
    text: 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: "😀\t𝔘", labels: {é: ü}}\nspec: {x: 1}\n',
  },
  { name: 'empty.yaml', text: '' },
  { name: 'binary.yaml', text: 'a: \0\n' },
  { name: 'broken.yaml', text: 'a: [\n---\n{{ x }}\n---\nb: {\n' },
  { name: 'lines.jsonl', text: '{"apiVersion":"v1","kind":"Pod"}\n{"a"\n{}\n' },
];

/** A configuration with a template and values that are known, and a plan. */
const terraform = [
  {
    name: 'terraform/main.tf',
    text: `locals {
  profile = "arn:aws:iam::111122223333:instance-profile/nodes"
}

resource "kubectl_manifest" "class" {
  for_each  = toset(["a", "b"])
  yaml_body = templatefile("\${path.module}/class.yaml.tftpl", { name = each.key, profile = local.profile, on = module.a.on })
}
`,
  },
  {
    name: 'terraform/class.yaml.tftpl',
    text: `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: \${name}}
spec:
  instanceProfile: \${profile}
%{ if on ~}
  tags: {a: b}
%{ else ~}
  tags: {c: d}
%{ endif ~}
`,
  },
  { name: 'plan.json', text: readFileSync(join(root, 'fuzz/seeds/plans/objects.json'), 'utf8') },
];

let visited;
let folder;
let target;

/** Returns the output of the command line for these files. */
function native(files, flags = [], format = 'json', command = 'check') {
  for (const { name, text } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  try {
    const options = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 };
    return execFileSync(
      join(target, 'debug/karpwarden'),
      [command, '--format', format, ...flags, ...files.map((file) => file.name)],
      options,
    );
  } catch (error) {
    return error.stdout;
  }
}

before(async () => {
  build('karpwarden');
  target = JSON.parse(cargo('metadata', '--no-deps', '--format-version', '1')).target_directory;
  visited = await visit();
  folder = mkdtempSync(join(tmpdir(), 'karpwarden-front-ends-'));
  // The test calls the page's workers directly.
  const assets = readdirSync(join(root, 'playground/dist/assets'));
  const urls = Object.fromEntries(
    ['engine', 'symptoms', 'placement', 'admission'].map((name) => [
      name,
      `${visited.server.address}assets/${assets.find((asset) => asset.startsWith(`${name}-worker`))}`,
    ]),
  );
  await visited.page.evaluate((urls) => {
    globalThis.ask = {};
    for (const [name, url] of Object.entries(urls)) {
      const worker = new Worker(url, { type: 'module' });
      const waiting = new Map();
      let next = 0;
      worker.onmessage = ({ data }) => {
        if ('progress' in data) return;
        const { resolve, reject } = waiting.get(data.id);
        waiting.delete(data.id);
        if ('error' in data) reject(new Error(data.error));
        else resolve(data.result);
      };
      globalThis.ask[name] = (method, ...args) =>
        new Promise((resolve, reject) => {
          waiting.set(++next, { resolve, reject });
          worker.postMessage({ id: next, method, args });
        });
    }
  }, urls);
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await visited.close();
});

test('JSON and SARIF of the page equal those of the command line', async () => {
  const inPage = (sets) =>
    visited.page.evaluate(
      (sets) =>
        Promise.all(
          sets.map(
            async ([files, settings, range]) => (await globalThis.ask.engine('check', files, settings, range)).json,
          ),
        ),
      sets,
    );
  const all = [...manifests(), ...unusual];
  const sets = [
    ...all.map((file) => [[file], {}, null]),
    ...all.map((file) => [[file], { karpenterVersion: '1.3', clusterName: 'prod' }, null]),
    ...all.map((file) => [[file], {}, '1.0..1.14']),
    [all, {}, null],
    [terraform, {}, null],
    [terraform, {}, '1.0..1.14'],
    // With a kustomization, which the page checks with the whole engine.
    [manifestsIn('tests/cli/charts'), {}, null],
    ...conformance().map((file) => [[file], {}, '1.0..1.14']),
  ];
  const given = await inPage(sets);
  let findings = 0;
  sets.forEach(([files, settings, range], index) => {
    const flags = [];
    if (range) flags.push('--karpenter-version', range);
    if (settings.karpenterVersion)
      flags.push('--karpenter-version', settings.karpenterVersion, '--cluster-name', settings.clusterName);
    const expected = native(files, flags);
    assert.equal(`${given[index]}\n`, expected, files.map((file) => file.name).join());
    findings += JSON.parse(expected).findings.length;
  });
  console.log(`${sets.length} runs, ${findings} findings, equal bytes`);

  const logs = await visited.page.evaluate(
    (sets) => Promise.all(sets.map((files) => globalThis.ask.engine('sarif', files, {}))),
    [...all.map((file) => [file]), all],
  );
  [...all.map((file) => [file]), all].forEach((files, index) => {
    assert.equal(`${logs[index]}\n`, native(files, [], 'sarif'), files.map((file) => file.name).join());
  });
  console.log(`${logs.length} SARIF logs, equal bytes`);
});

test('diagnoses of the page equal those of the command line', async () => {
  const folders = [];
  const walk = (path) => {
    const inside = readdirSync(path)
      .sort()
      .map((name) => join(path, name));
    const files = inside
      .filter((one) => statSync(one).isFile())
      .map((one) => ({ name: basename(one), text: readFileSync(one, 'utf8') }));
    for (const file of files) folders.push([file]);
    if (files.length > 1) folders.push(files);
    for (const one of inside) if (statSync(one).isDirectory()) walk(one);
  };
  for (const path of ['examples/symptoms', 'tests/problems/symptoms'])
    if (existsSync(join(root, path))) walk(join(root, path));
  const noise = { name: 'noise.log', text: '\u0000\ufffd{"level":"INFO"\r\n'.repeat(50) };
  const sets = [...folders, [noise], ...folders.map((files) => [...files, noise])];
  const given = await visited.page.evaluate(
    (sets) =>
      Promise.all(
        sets.map(async (files) => (await globalThis.ask.symptoms('diagnose', [{ name: '', files }], {})).json),
      ),
    sets,
  );
  let diagnoses = 0;
  sets.forEach((files, index) => {
    const expected = native(files, [], 'json', 'diagnose');
    assert.equal(`${given[index]}\n`, expected, files.map((file) => file.name).join());
    diagnoses += JSON.parse(expected).findings.filter((one) => one.evidence.length > 0).length;
  });
  assert.ok(diagnoses > 0);
  console.log(`${sets.length} inputs, ${diagnoses} diagnoses, equal bytes`);
});

test('diagnoses of several clusters equal those of the command line', async () => {
  const path = join(root, 'tests/problems/symptoms/foreign-collection/two-clusters-1.8');
  const clusters = readdirSync(path)
    .sort()
    .map((name) => ({
      name,
      files: readdirSync(join(path, name))
        .sort()
        .map((file) => ({ name: `${name}/${file}`, text: readFileSync(join(path, name, file), 'utf8') })),
    }));
  const given = await visited.page.evaluate(
    async (clusters) => (await globalThis.ask.symptoms('diagnose', clusters, {})).json,
    clusters,
  );
  const flags = clusters.flatMap(({ name }) => ['--cluster', name]);
  const options = { cwd: path, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const { stdout } = spawnSync(join(target, 'debug/karpwarden'), ['diagnose', '--format', 'json', ...flags], options);
  assert.equal(`${given}\n`, stdout);
  assert.equal(JSON.parse(given).logs.length, 2);
});

test('stories of the page equal those of the command line', async () => {
  const path = join(root, 'crates/symptoms/src/story/example');
  const files = readdirSync(path).map((name) => ({ name, text: readFileSync(join(path, name), 'utf8') }));
  for (const [kind, name, flags] of [
    ['Cluster', '', ['--timeline']],
    ['Node', 'default-7xk2p', ['--node', 'default-7xk2p']],
    ['Pod', 'shop/web-0', ['--pod', 'shop/web-0']],
    ['NodePool', 'default', ['--nodepool', 'default']],
  ]) {
    const given = await visited.page.evaluate(
      ([files, kind, name]) => globalThis.ask.symptoms('story', [{ name: '', files }], {}, kind, name),
      [files, kind, name],
    );
    const { stories } = JSON.parse(native(files, flags, 'json', 'diagnose'));
    assert.equal(stories.length, 1);
    assert.deepEqual(given, stories);
  }
});

test('the Disruption tab and the command line judge alike', async () => {
  const at = '2026-03-11T10:30:00Z';
  const files = [{ name: 'disruption.yaml', text: POOL + NODES }];
  const { result } = await visited.page.evaluate(
    ([files, at]) => globalThis.ask.placement('disruption', files, undefined, at),
    [files, at],
  );
  const expected = JSON.parse(native(files, ['--at', at], 'json', 'disruption'));
  const now = result.pools.map(({ name, nodes, weeks }) => ({
    name,
    nodes,
    budgets: weeks.flatMap(({ reasons, left, intervals: [first, second] }) =>
      reasons.map((reason) => ({
        reason,
        allowed: left,
        until: second && second.allowed !== first.allowed ? first.end : '',
      })),
    ),
  }));
  const order = (one, other) => (one.reason < other.reason ? -1 : 1);
  for (const pool of [...now, ...expected.nodePools]) pool.budgets.sort(order);
  assert.deepEqual(
    now,
    expected.nodePools.map(({ budgets, ...pool }) => ({
      ...pool,
      budgets: budgets.map(({ reason, allowed, until }) => ({ reason, allowed, until })),
    })),
  );
  const obstacles = (nodes) =>
    nodes.map(({ name, nodePool, blockedBy, until }) => ({ name, nodePool, blockedBy, until }));
  assert.deepEqual(obstacles(result.nodes), obstacles(expected.nodes));
  assert.ok(expected.nodes.some(({ blockedBy }) => blockedBy === 'pod-do-not-disrupt'));
});

test('the policy in the page answers as in policy-server', async () => {
  build('respond');
  const { page } = visited;
  const requests = [];
  for (const file of [...manifests(), ...conformance()]) {
    const objects = await page.evaluate((file) => globalThis.ask.engine('documents', [file], true), file);
    objects.forEach((one, index) => {
      // An object without kind or version never reaches a webhook.
      if (!one.apiVersion || !one.kind) return;
      const others = objects.filter((_, other) => other !== index).map((other) => other.object);
      const base = {
        operation: 'CREATE',
        object: one.object,
        oldObject: null,
        others,
        settings: {},
        mode: 'protect',
        mutating: false,
        connected: true,
      };
      requests.push(base);
      if (one.oldObject) requests.push({ ...base, operation: 'UPDATE', oldObject: one.oldObject });
      if (file.name.startsWith('case-')) return;
      requests.push({ ...base, connected: false, mode: 'monitor' });
      requests.push({ ...base, settings: { fix: true, karpenterVersion: '1.8' }, mutating: true });
      requests.push({ ...base, settings: { fix: true }, mutating: false });
      requests.push({ ...base, operation: 'DELETE', oldObject: one.object });
      requests.push({ ...base, settings: { nonsense: true } });
    });
  }
  const inPage = await page.evaluate(
    (requests) =>
      Promise.all(requests.map(async (request) => (await globalThis.ask.admission('review', request)).response)),
    requests,
  );
  const lines = execFileSync(join(target, 'debug/respond'), [join(root, 'policies/karpenter/annotated-policy.wasm')], {
    input: `${requests.map((request) => JSON.stringify(request)).join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 29,
  });
  const native = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(native.length, requests.length);
  native.forEach((expected, index) =>
    assert.deepEqual(inPage[index], expected, JSON.stringify(requests[index]).slice(0, 400)),
  );
  const denied = native.filter((response) => response && !response.allowed).length;
  const patched = native.filter((response) => response?.patch).length;
  assert.ok(denied > 0 && patched > 0);
  console.log(`${native.length} requests, ${denied} denied, ${patched} patched, equal answers`);
});

test('the Change tab and the command line plan alike, with and without nodes', async () => {
  const at = '2026-03-14T22:00:00Z';
  const after = { name: 'team.yaml', text: EDITED };
  const planned = async (before, files) => {
    const { answer } = await visited.page.evaluate(
      ([before, files, at]) => globalThis.ask.placement('plan', before, files, '1.14', at),
      [before, files, at],
    );
    return answer;
  };
  // The command line names the flag that replaces an assumption.
  const same = (answer, expected) => {
    assert.equal(answer.assumptions.length, expected.assumptions.length);
    assert.deepEqual({ ...answer, assumptions: [] }, { ...expected, assumptions: [] });
  };
  const flags = ['--karpenter-version', '1.14', '--at', at];
  const old = { name: 'before/team.yaml', text: TEAM };
  const alone = JSON.parse(native([old, after], flags, 'json', 'plan'));
  assert.equal(alone.effect, 'replaces-all');
  same(await planned([old], [after]), alone);
  const whole = { name: 'before/team.yaml', text: TEAM + cluster() };
  native([whole, after], flags, 'json', 'plan');
  const withNodes = JSON.parse(native([after], [...flags, '--snapshot', 'before'], 'json', 'plan'));
  assert.equal(withNodes.nodes.length, 4);
  assert.equal(withNodes.nodes.filter(({ never }) => never).length, 1);
  same(await planned([whole], [after]), withNodes);
});
