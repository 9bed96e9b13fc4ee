// The language server as WebAssembly, in a worker of Node, over its protocol.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const dist = new URL('../build/dist/', import.meta.url);
const examples = new URL('../../../examples/', import.meta.url);
const FOLDER = 'file:///work%20space';
const uriOf = (name) => `${FOLDER}/${name}`;

let worker;
let next = 1;
const answers = new Map();
const published = new Map();
let waiting = [];

function receive(message) {
  if (message.method === 'textDocument/publishDiagnostics') {
    const { uri, version, diagnostics } = message.params;
    published.set(uri, { version, diagnostics });
    waiting = waiting.filter((one) => !one());
  } else if (message.id !== undefined) {
    const { resolve, reject } = answers.get(message.id);
    answers.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }
}

const notify = (method, params) => worker.postMessage({ jsonrpc: '2.0', method, params });
const request = (method, params) =>
  new Promise((resolve, reject) => {
    const id = next++;
    answers.set(id, { resolve, reject });
    worker.postMessage({ jsonrpc: '2.0', id, method, params });
  });
const open = (name, text, version = 1) =>
  notify('textDocument/didOpen', { textDocument: { uri: uriOf(name), languageId: 'yaml', version, text } });
const close = (name) => notify('textDocument/didClose', { textDocument: { uri: uriOf(name) } });
const files = (list, removed = []) => notify('karpwarden/files', { folder: FOLDER, files: list, removed });
/** The diagnostics of a document, once they satisfy a condition. */
const diagnosticsOf = (name, holds) =>
  new Promise((resolve) => {
    const look = () => {
      const now = published.get(uriOf(name));
      if (!now || !holds(now)) return false;
      resolve(now.diagnostics);
      return true;
    };
    if (!look()) waiting.push(look);
  });
const example = (name) => readFileSync(new URL(name, examples), 'utf8');

before(async () => {
  worker = new Worker(fileURLToPath(new URL('server-node.cjs', dist)));
  worker.on('message', receive);
  worker.postMessage({
    module: readFileSync(new URL('engine.wasm', dist)),
    rules: readFileSync(new URL('rules.json', dist), 'utf8'),
  });
  const capabilities = { workspace: { workspaceEdit: { documentChanges: true } } };
  const { serverInfo, capabilities: offered } = await request('initialize', { capabilities });
  assert.ok(offered.completionProvider && offered.definitionProvider && offered.codeLensProvider);
  const { version } = JSON.parse(readFileSync(new URL('../build/package.json', import.meta.url), 'utf8'));
  assert.equal(serverInfo.version, version);
});

after(() => worker.terminate());

test('shows the findings of an example, with fix, rule page and objects', async () => {
  const text = example('nodeclass-bad.yaml');
  open('nodeclass.yaml', text);
  const found = await diagnosticsOf('nodeclass.yaml', ({ diagnostics }) => diagnostics.length > 0);
  const arn = found.find(({ code }) => code === 'instance-profile-is-arn');
  assert.equal(arn.severity, 1);
  assert.match(arn.message, /instanceProfile/);
  const line = text.split('\n')[arn.range.start.line];
  assert.match(line.slice(arn.range.start.character, arn.range.end.character), /^arn:aws:iam::/);

  const textDocument = { uri: uriOf('nodeclass.yaml') };
  const context = { diagnostics: [] };
  const actions = await request('textDocument/codeAction', { textDocument, range: arn.range, context });
  const [fix] = actions.filter(({ isPreferred }) => isPreferred);
  assert.match(fix.title, /^Fix: .*\(instance-profile-is-arn\)$/);
  const [{ textDocument: edited, edits }] = fix.edit.documentChanges;
  assert.deepEqual([edited.uri, edited.version], [textDocument.uri, 1]);
  assert.doesNotMatch(edits[0].newText, /arn:/);

  const hover = await request('textDocument/hover', { textDocument, position: arn.range.start });
  assert.match(hover.contents.value, /\*\*A change of `spec.instanceProfile`/);
  assert.match(hover.contents.value, /instance-profile-is-arn|instance profile/i);

  const symbols = await request('textDocument/documentSymbol', { textDocument });
  assert.ok(
    symbols.some((symbol) => symbol.name.startsWith('EC2NodeClass ')),
    JSON.stringify(symbols),
  );
  close('nodeclass.yaml');
});

test('compares the open document with the files on disk, and follows both', async () => {
  const pool = (name) =>
    `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: ${name}}\n      requirements: []\n`;
  const nodeClass = example('nodeclass-good.yaml');
  const [, name] = /^ {2}name: (.*)$/m.exec(nodeClass);
  const dangles = ({ diagnostics }) => diagnostics.some(({ code }) => code === 'nodeclass-ref-dangling');
  files([{ name: 'nodes/class.yaml', text: nodeClass }]);
  open('pool.yaml', pool('other'));
  await diagnosticsOf('pool.yaml', dangles);
  const change = { textDocument: { uri: uriOf('pool.yaml'), version: 2 }, contentChanges: [{ text: pool(name) }] };
  notify('textDocument/didChange', change);
  await diagnosticsOf('pool.yaml', (now) => now.version === 2 && !dangles(now));
  const checked = async () => (await request('karpwarden/report', { folder: FOLDER })).summary.checked;
  assert.equal(await checked(), 2);
  files([{ name: '.gitignore', text: 'nodes/\n' }]);
  assert.equal(await checked(), 1);
  files([], ['.gitignore']);
  assert.equal(await checked(), 2);
  files([], ['nodes/class.yaml']);
  close('pool.yaml');
});

test('completes, explains and goes to what a name means in a file that is not open', async () => {
  const [, name] = /^ {2}name: (.*)$/m.exec(example('nodeclass-good.yaml'));
  files([{ name: 'no des/class.yaml', text: example('nodeclass-good.yaml') }]);
  const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: ${name}}
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}]
`;
  open('pool.yaml', pool);
  const textDocument = { uri: uriOf('pool.yaml') };
  const at = (part, after = 1) => {
    const offset = pool.indexOf(part) + after;
    const lines = pool.slice(0, offset).split('\n');
    return { line: lines.length - 1, character: lines.at(-1).length };
  };
  const [definition] = await request('textDocument/definition', { textDocument, position: at(`name: ${name}`, 7) });
  assert.equal(definition.uri, uriOf('no%20des/class.yaml'));
  const hover = await request('textDocument/hover', {
    textDocument,
    position: at('karpenter.k8s.aws/instance-family'),
  });
  assert.match(hover.contents.value, /This requirement leaves \d+ of \d+ instance types/);
  const [lens] = await request('textDocument/codeLens', { textDocument });
  assert.match(lens.command.title, /^\d+ instance types · \d+ workloads · from \$/);
  const folds = await request('textDocument/foldingRange', { textDocument });
  assert.ok(folds.length > 0);
  const found = await request('workspace/symbol', { query: 'nodeclass' });
  assert.deepEqual(
    found.map((symbol) => symbol.location.uri),
    [uriOf('no%20des/class.yaml')],
  );

  // An edit in part, and the completion of what it begins.
  const range = { start: { line: 4, character: 0 }, end: { line: 4, character: 0 } };
  notify('textDocument/didChange', {
    textDocument: { ...textDocument, version: 2 },
    contentChanges: [{ range, text: '  \n' }],
  });
  const { items } = await request('textDocument/completion', { textDocument, position: { line: 4, character: 2 } });
  const labels = items.map(({ label }) => label);
  assert.ok(labels.includes('disruption') && !labels.includes('template'), labels.join());
  close('pool.yaml');
  files([], ['no des/class.yaml']);
});

test('applies the overrides of the settings, and takes patches for patches', async () => {
  const text = example('nodeclass-bad.yaml');
  const config = 'overrides: [{paths: [old/], rules: {instance-profile-is-arn: off}}]\n';
  files([
    { name: 'karpwarden.yaml', text: config },
    { name: 'old/nodeclass.yaml', text },
    { name: 'new/nodeclass.yaml', text },
    { name: 'new/kustomization.yaml', text: 'resources: [nodeclass.yaml]\npatches: [{path: patch.yaml}]\n' },
    {
      name: 'new/patch.yaml',
      text: 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n',
    },
  ]);
  const { findings } = await request('karpwarden/report', { folder: FOLDER });
  const arns = findings.filter(({ rule }) => rule === 'instance-profile-is-arn');
  assert.deepEqual(
    arns.map(({ file }) => file),
    ['new/nodeclass.yaml'],
  );
  assert.ok(findings.every(({ file }) => file !== 'new/patch.yaml'));
  files(
    [],
    [
      'karpwarden.yaml',
      ...['old/nodeclass', 'new/nodeclass', 'new/kustomization', 'new/patch'].map((one) => `${one}.yaml`),
    ],
  );
});

test('applies karpwarden.yaml, shows its mistakes, and says nothing where no manifest mentions Karpenter', async () => {
  open('nodeclass.yaml', example('nodeclass-bad.yaml'));
  await diagnosticsOf('nodeclass.yaml', ({ diagnostics }) => diagnostics.length > 0);
  open('karpwarden.yaml', 'rules:\n  instance-profile-is-arn: off\nexclude: []\n');
  const without = ({ diagnostics }) => diagnostics.every(({ code }) => code !== 'instance-profile-is-arn');
  await diagnosticsOf('nodeclass.yaml', without);
  const change = (text, version) =>
    notify('textDocument/didChange', {
      textDocument: { uri: uriOf('karpwarden.yaml'), version },
      contentChanges: [{ text }],
    });
  change('rulez: {}\n', 2);
  const [mistake] = await diagnosticsOf('karpwarden.yaml', ({ diagnostics }) => diagnostics.length > 0);
  assert.deepEqual(mistake.range.start, { line: 0, character: 0 });
  change('exclude: [nodeclass.yaml]\n', 3);
  await diagnosticsOf('karpwarden.yaml', ({ diagnostics }) => diagnostics.length === 0);
  assert.equal(await request('karpwarden/report', { folder: FOLDER }), null);
  close('karpwarden.yaml');
  close('nodeclass.yaml');

  open('service.yaml', 'apiVersion: v1\nkind: Service\nmetadata: {name: "a b"}\nspec: {}\n');
  assert.deepEqual(await diagnosticsOf('service.yaml', () => true), []);
  close('service.yaml');
});

test('finds in every example what the report says', async () => {
  let all = 0;
  for (const name of readdirSync(examples).filter((one) => one.endsWith('.yaml'))) {
    open(name, example(name));
    const report = await request('karpwarden/report', { folder: FOLDER });
    const found = await diagnosticsOf(name, () => true);
    const expected = report?.findings.map(({ rule, line }) => `${line} ${rule}`) ?? [];
    assert.deepEqual(
      found.map(({ code, range }) => `${range.start.line + 1} ${code}`),
      expected,
      name,
    );
    close(name);
    all += found.length;
  }
  assert.ok(all > 5, `${all} findings only`);
});

test('answers an unknown request with an error', async () => {
  await assert.rejects(request('karpwarden/unknown', {}), /is not supported/);
});
