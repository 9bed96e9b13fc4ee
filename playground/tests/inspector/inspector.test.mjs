// `karpwarden mcp` as the official inspector sees it. The server is the program in the variable KARPWARDEN, or a debug build.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const command = process.env.KARPWARDEN ?? join(here, '../../../target/debug/karpwarden');
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const inspector = join(dirname(manifest), 'clients/launcher/build/index.js');
// The inspector keeps a catalogue of servers in the home folder.
const home = mkdtempSync(join(tmpdir(), 'karpwarden-inspector-'));
after(() => rmSync(home, { recursive: true, force: true }));

const CLASS = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: in }
spec: { instanceProfile: 'arn:aws:iam::111122223333:instance-profile/nodes' }
`;

/** The answer to a method. */
function ask(...args) {
  const words = [inspector, '--cli', command, 'mcp', '--method', ...args];
  return JSON.parse(execFileSync(process.execPath, words, { env: { ...process.env, HOME: home }, maxBuffer: 1 << 26 }));
}

test('lists the tools, with schemas that every client can read', () => {
  // `--strict` fails if the inspector finds an error in a schema.
  const { tools } = ask('tools/list', '--strict');
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['check', 'explain', 'upgrade', 'simulate', 'disruption', 'plan', 'diagnose'],
  );
});

test('calls each tool', () => {
  for (const [name, ...args] of [
    ['check', `text=${CLASS}`],
    ['explain', 'names=["instance-profile-is-arn"]'],
    ['upgrade', `text=${CLASS}`, 'from="1.0"', 'to="1.14"'],
    ['simulate', `text=${CLASS}`],
    ['disruption', `text=${CLASS}`],
    ['plan', `oldText=${CLASS}`, `newText=${CLASS.replace('profile/nodes', 'profile/other')}`],
    ['diagnose', `text=${CLASS}`],
  ]) {
    const result = ask('tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    assert.ok(result.structuredContent.summary, name);
  }
});

test('reads resources and prompts', () => {
  assert.ok(ask('resources/list').resources.length > 200);
  assert.match(ask('resources/read', '--uri', 'karpwarden://rules').contents[0].text, /`instance-profile-is-arn`/);
  assert.equal(ask('resources/templates/list').resourceTemplates.length, 2);
  assert.equal(ask('prompts/list').prompts[0].name, 'write-nodepool');
  const { messages } = ask('prompts/get', '--prompt-name', 'write-nodepool', '--prompt-args', 'workload=a web service');
  assert.match(messages[0].content.text, /a web service/);
});
