// The server for assistants, `karpwarden mcp`, as the official TypeScript client sees it: the client validates every structured answer
// against the schema of its tool. The server is the program in the variable KARPWARDEN, or a debug build.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const command = process.env.KARPWARDEN ?? join(root, 'target/debug/karpwarden');
const example = (name) => readFileSync(join(root, 'examples', name), 'utf8');

const POOL = example('getting-started.yaml');
const POD = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop }
spec: { containers: [{ name: a, image: a, resources: { requests: { cpu: 1 } } }] }
`;
/** Many objects, so that an answer about them has several pages. */
const many = (text, count) =>
  Array.from({ length: count }, (_, index) => text.replaceAll('NAME', `n${index}`)).join('---\n');
const CLASS = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: NAME }
spec: { instanceProfile: 'arn:aws:iam::111122223333:instance-profile/nodes' }
`;
const LIMITED = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: NAME }
spec:
  limits: { nodes: 5 }
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements: [{ key: karpenter.sh/capacity-type, operator: In, values: [spot] }]
`;
const NODE = `apiVersion: v1
kind: Node
metadata: { name: NAME }
spec: { providerID: 'aws:///us-east-1a/NAME' }
`;

const folder = mkdtempSync(join(tmpdir(), 'karpwarden-assistant-'));
const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { roots: { listChanged: true } } });

before(async () => {
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root/class.yaml'), CLASS.replace('NAME', 'in'));
  writeFileSync(join(folder, 'secret.yaml'), CLASS.replace('NAME', 'secret'));
  symlinkSync(join(folder, 'secret.yaml'), join(folder, 'root/link.yaml'));
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(join(folder, 'root')).href, name: 'root' }],
  }));
  await client.connect(new StdioClientTransport({ command, args: ['mcp'] }));
  // The client validates answers only of tools that it has listed.
  await client.listTools();
});

after(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The structured answer of a tool, which is also its text. */
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, result.content[0].text);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** All items of a list of an answer, page by page. Also returns the number of pages. */
async function pages(name, args, at) {
  let answer = await call(name, args);
  const items = at
    .split('/')
    .slice(1)
    .reduce((value, key) => value[key], answer);
  let pages = 1;
  for (;;) {
    const more = answer.more.find((one) => one.at === at);
    if (!more) return { items, pages };
    answer = await call(name, { cursor: more.cursor });
    items.push(...answer.part.items);
    pages += 1;
  }
}

test('names itself and its tools', async () => {
  assert.equal(client.getServerVersion().name, 'karpwarden');
  assert.match(client.getInstructions(), /`check`/);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['check', 'explain', 'upgrade', 'simulate', 'disruption', 'plan', 'diagnose'],
  );
  assert.ok(tools.every((tool) => tool.annotations.readOnlyHint && tool.inputSchema.type === 'object'));
});

test('calls and pages every tool', async () => {
  const classes = many(CLASS, 150);
  const rules = Array.from({ length: 20 }, () => 'instance-profile-is-arn');
  const changed = classes.replaceAll('instance-profile/nodes', 'instance-profile/other');
  for (const [name, args, at, count] of [
    ['check', { text: classes, select: ['instance-profile-is-arn'] }, '/answer/findings', 150],
    ['explain', { names: rules }, '/answer/pages', 20],
    ['simulate', { text: `${POOL}---\n${many(POD.replace('name: web', 'name: NAME'), 150)}` }, '/answer/pods', 150],
    ['disruption', { text: `${POOL}---\n${many(NODE, 150)}`, at: '2026-03-11T10:30:00Z' }, '/answer/nodes', 150],
    ['plan', { oldText: classes, newText: changed }, '/answer/changes', 150],
    ['upgrade', { text: many(LIMITED, 150), from: '1.0', to: '1.14' }, '/answer/findings', 150],
    ['diagnose', { text: classes, select: ['instance-profile-is-arn'] }, '/answer/findings', 150],
  ]) {
    const { items, pages: number } = await pages(name, args, at);
    assert.equal(items.length, count, name);
    assert.ok(number > 1, name);
  }
});

test('reads below the roots, and nothing else', async () => {
  const { answer } = await call('check', { paths: ['.'], select: ['instance-profile-is-arn'] });
  assert.deepEqual(
    answer.findings.map((finding) => finding.file),
    ['class.yaml'],
  );
  assert.deepEqual(
    answer.skipped.map((skipped) => skipped.file),
    ['link.yaml'],
  );
  for (const path of ['../secret.yaml', 'link.yaml', '/etc/passwd']) {
    const { isError, content } = await client.callTool({ name: 'check', arguments: { paths: [path] } });
    assert.ok(isError);
    assert.match(content[0].text, /outside of the folders that may be read .*--root DIR/);
  }
});

test('reads every kind of resource', async () => {
  const uris = [];
  let cursor;
  do {
    const list = await client.listResources({ cursor });
    uris.push(...list.resources.map((resource) => resource.uri));
    cursor = list.nextCursor;
  } while (cursor);
  assert.ok(uris.length > 200);
  const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
  assert.match(await read('karpwarden://rules'), /- `instance-profile-is-arn` \(error\): /);
  assert.match(await read('karpwarden://rules/instance-profile-is-arn'), /^# /);
  assert.equal(JSON.parse(await read('karpwarden://schemas/report')).title, 'A report of Karpwarden');
  assert.ok(JSON.parse(await read('karpwarden://instance-types')).families.length > 50);
  assert.equal(JSON.parse(await read('karpwarden://instance-types/m7g.large')).arch, 'arm64');
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates.length, 2);
  await assert.rejects(client.readResource({ uri: 'karpwarden://rules/no-such-rule' }), /there is no resource/);
});

test('a prompt ends in a check that passes', async () => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(
    prompts.map((prompt) => prompt.name),
    ['write-nodepool'],
  );
  const argument = { name: 'architecture', value: 'a' };
  const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'write-nodepool' }, argument });
  assert.deepEqual(completed.completion.values, ['amd64', 'arm64']);
  const args = { workload: 'a web service', architecture: 'arm64', release: '1.8' };
  const { messages } = await client.getPrompt({ name: 'write-nodepool', arguments: args });
  const [, manifest] = messages[0].content.text.match(/```yaml\n([^]*?)```/);
  const { answer } = await call('check', { text: manifest, karpenterVersion: '1.8' });
  assert.equal(answer.summary.errors, 0);
  await assert.rejects(client.getPrompt({ name: 'write-nodepool', arguments: {} }), /`workload` is missing/);
});

test('errors and cancelled calls cost only themselves', async () => {
  await assert.rejects(client.callTool({ name: 'chek', arguments: {} }), /there is no tool `chek`.*`check`/);
  const large = await client.callTool({ name: 'check', arguments: { text: 'x'.repeat(5 << 20) } });
  assert.match(large.content[0].text, /`text` has 5 MiB/);
  await assert.rejects(client.callTool({ name: 'check', arguments: { text: 'x'.repeat(9 << 20) } }), /more than 8 MiB/);
  const controller = new AbortController();
  const text = many(CLASS, 1000);
  const cancelled = client.callTool({ name: 'check', arguments: { text } }, undefined, { signal: controller.signal });
  controller.abort('enough');
  await assert.rejects(cancelled, /enough/);
  const calls = Array.from({ length: 10 }, () => call('check', { text: CLASS }));
  assert.ok((await Promise.all(calls)).every(({ answer }) => answer.summary.documents === 1));
});
