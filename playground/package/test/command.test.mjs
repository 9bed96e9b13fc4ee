// `npx karpwarden`, installed from the packed tarball, answers as the native command line does: the same bytes on both streams, the same
// exit status, the same files.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { here, install, root } from '../install.mjs';

const { repository } = JSON.parse(readFileSync(join(here, 'package.json')));
const REMEDY = `install the native command line: ${repository.url.replace(/^git\+|\.git$/g, '')}#in-a-terminal-or-in-ci`;

let installed;
let commands;

before(() => {
  installed = install();
  commands = {
    wasm: join(installed.folder, 'node_modules/.bin/karpwarden'),
    native: process.env.KARPWARDEN ?? join(root, 'target/debug/karpwarden'),
  };
});
after(() => installed?.remove());

/** Runs a command, one of `commands` or another program, to its end. */
function run(command, args, { cwd = root, input = '', env = {} } = {}) {
  return new Promise((resolve) => {
    const options = { cwd, encoding: 'buffer', maxBuffer: 1 << 28, env: { ...process.env, ...env } };
    const child = execFile(commands[command] ?? command, args, options, (error, stdout, stderr) =>
      resolve({
        status: error ? (error.code ?? error.signal) : 0,
        stdout: stdout.toString('latin1'),
        stderr: stderr.toString('latin1'),
      }),
    );
    // A program may end without reading its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** An answer without what is random, the name of a temporary file, and without the system's number of an error: WASI has other numbers. */
function comparable({ stderr, ...said }) {
  return { ...said, stderr: stderr.replace(/\(os error \d+\)/g, '').replace(/\.karpwarden-\w+/g, '') };
}

/** Runs both commands, and returns what both said. */
async function both(args, options = {}) {
  const [npx, native] = await Promise.all(
    ['wasm', 'native'].map(async (one) => comparable(await run(one, args, options))),
  );
  assert.deepEqual(npx, native, `karpwarden ${args.join(' ')}`);
  return native;
}

/** A new folder with files. */
function folderWith(name, files) {
  const folder = join(installed.folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The files below a folder with their texts and modes. */
function contents(folder) {
  const names = readdirSync(folder, { recursive: true }).sort();
  return names.map((name) => {
    const file = lstatSync(join(folder, name));
    return [name, file.mode, file.isFile() ? readFileSync(join(folder, name), 'utf8') : ''];
  });
}

for (const format of ['human', 'json', 'sarif', 'github', 'gitlab', 'junit', 'markdown']) {
  test(`checks the examples in the format ${format}`, async () => {
    const { status, stdout } = await both(['check', '--format', format, 'examples']);
    assert.equal(status, 1);
    assert.match(stdout, /instance-profile-is-arn/);
  });
}

for (const args of [
  ['check', '--karpenter-version', '1.0..1.14', 'examples/cluster.yaml'],
  ['check', '--color', 'always', 'examples/nodeclass-bad.yaml'],
  ['explain', 'storageclass-immediate'],
  ['explain', 'storage'],
  ['rules'],
  ['rules', '--format', 'json'],
  ['rules', '--search', 'arn'],
  ['schema', 'nodepool', '--karpenter-version', '1.8'],
  ['report', '--at', '2026-03-11T10:30:00Z', 'examples/cluster.yaml'],
  ['simulate', 'examples/cluster.yaml'],
  ['simulate', '--format', 'json', 'examples'],
  ['disruption', '--at', '2026-03-11T10:30:00Z', '--timezone', 'Europe/Berlin', 'examples/cluster.yaml'],
  ['hash', 'examples'],
  ['upgrade', '--from', '1.0', '--to', '1.14', 'examples'],
  ['diagnose', 'examples/symptoms/double-nodeclaim'],
  ['diagnose', '--format', 'json', 'examples/symptoms'],
  ['plan', '--at', '2026-03-11T10:30:00Z', 'examples/plan/old', 'examples/plan/new'],
  ['plan', '--at', '2026-03-11T10:30:00Z', '--format', 'json', 'examples/plan/old', 'examples/plan/new'],
  ['collect', '--print-rbac', 'snapshot'],
  ['completions', 'bash'],
  ['man'],
  ['--version'],
  ['check', '--help'],
  ['open', '--help'],
  ['__complete', '--', 'karpwarden', 'explain', 'storage'],
  ['check', '../' + root.split('/').at(-1) + '/examples/nodeclass-bad.yaml', join(root, 'examples/labels-bad.yaml')],
]) {
  test(`karpwarden ${args.join(' ')}`, async () => {
    const { stdout } = await both(args);
    assert.notEqual(stdout, '');
  });
}

test('reads standard input', async () => {
  const input = readFileSync(join(root, 'examples/nodeclass-bad.yaml'));
  assert.equal((await both(['check', '-'], { input })).status, 1);
  assert.equal((await both(['check', '--format', 'json', '-'], { input: '' })).status, 3);
  // More than a pipe holds.
  const large = `${'# a comment\n'.repeat(100_000)}${input}`;
  assert.equal((await both(['check', '--format', 'json', '-'], { input: large })).status, 1);
});

test('has the exit statuses of the native command', async () => {
  const folder = folderWith('statuses', {
    'good/nodepool.txt': '',
    'broken.yaml': 'apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: [\n',
    'link/a.yaml': 'a: 1\n',
  });
  symlinkSync('nowhere', join(folder, 'link/dangling.yaml'));
  mkdirSync(join(folder, 'out.json'));
  for (const [status, args] of [
    [0, ['check', join(root, 'examples/labels-good.yaml')]],
    [1, ['check', join(root, 'examples/labels-bad.yaml')]],
    [2, ['check', '--unknown-flag']],
    [2, ['check', '--select', 'storage-class-immediate', '.']],
    [4, ['check', 'missing.yaml']],
    [3, ['check', 'good']],
    [0, ['check', 'link']],
    [4, ['check', 'broken.yaml']],
    [5, ['check', '--output', 'out.json', 'link']],
    [5, ['check', '--output', 'missing/out.json', 'link']],
    [5, ['report', '--output', 'missing/page.html', 'link']],
    [4, []],
  ]) {
    const said = await both(args, { cwd: folder });
    assert.equal(said.status, status, `${args.join(' ')}: ${said.stderr}`);
  }
  assert.equal((await both([], { cwd: join(folder, 'good') })).status, 3);
});

test('reads at the largest depth, and refuses what is deeper', async () => {
  const nested = (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}\n`;
  for (const [depth, levels] of [
    [1000, 999],
    [1000, 1001],
    [128, 129],
  ]) {
    await both(['check', '--max-depth', String(depth), '--format', 'json', '-'], { input: nested(levels) });
  }
});

test('ends with its own exit status after a long run', async () => {
  const files = (name) => {
    const text = readFileSync(join(root, `examples/${name}.yaml`));
    return Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}.yaml`, text]));
  };
  for (const [status, name] of [
    [0, 'labels-good'],
    [1, 'nodeclass-bad'],
  ]) {
    const said = await both(['check', '--format', 'json', '.'], { cwd: folderWith(`long/${name}`, files(name)) });
    assert.equal(said.status, status);
  }
});

test('runs in a project in which npm has installed it', async () => {
  const folder = folderWith('manifests', { 'class.yaml': readFileSync(join(root, 'examples/nodeclass-bad.yaml')) });
  const npm = await run('npx', ['--offline', 'karpwarden', 'check', '.'], { cwd: folder });
  assert.deepEqual(npm, await run('native', ['check', '.'], { cwd: folder }));
  assert.equal(npm.status, 1);
});

// `script` of util-linux runs a command on a terminal; other systems have other programs of this name.
test('fits its output to a terminal', { skip: process.platform !== 'linux' }, async () => {
  const onTerminal = (command, words) =>
    run('script', [
      '--quiet',
      '--return',
      '--command',
      `stty cols 60 rows 40 && ${commands[command]} ${words}`,
      '/dev/null',
    ]);
  for (const words of ['check --help', 'explain instance-profile-is-arn', 'rules --search arn']) {
    const npx = await onTerminal('wasm', words);
    assert.deepEqual(npx, await onTerminal('native', words), words);
    assert.ok(npx.stdout.includes('\u001b['), npx.stdout);
  }
  // A terminal shows progress too, after a second.
  const { status, stdout } = await onTerminal('wasm', 'check examples');
  assert.equal(status, 1);
  const coloured = stdout.split('\n').filter((line) => line.includes('\u001b['));
  assert.ok(coloured.some((line) => line.includes('instance-profile-is-arn')), stdout);
});

test('finds the config file in a folder above, and follows links', async () => {
  const folder = folderWith('config', {
    'karpwarden.yaml': 'rules:\n  instance-profile-is-arn: info\n',
    'apps/one/.gitignore': 'ignored.yaml\n',
    'apps/one/ignored.yaml': 'a: [\n',
    'elsewhere/other.yaml': readFileSync(join(root, 'examples/storage-bad.yaml')),
  });
  cpSync(join(root, 'examples/nodeclass-bad.yaml'), join(folder, 'apps/one/nodeclass.yaml'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'apps/absolute'));
  symlinkSync('../elsewhere/other.yaml', join(folder, 'apps/other.yaml'));
  const { stdout } = await both(['check', '.'], { cwd: join(folder, 'apps') });
  assert.match(stdout, /info\[instance-profile-is-arn\]/);
  await both(['check', '..'], { cwd: join(folder, 'apps/one') });
  await both(['check', 'apps/absolute', 'apps/other.yaml'], { cwd: folder });
  symlinkSync('..', join(folder, 'elsewhere/loop'));
  symlinkSync(join(folder, 'missing.yaml'), join(folder, 'apps/dangling.yaml'));
  const all = await both(['check', '--format', 'json', '.'], { cwd: folder });
  assert.equal(all.status, 0, all.stderr);
});

test('writes the same files, and keeps their modes', async () => {
  const folders = Object.keys(commands).map((command) => {
    const folder = folderWith(`fixed-${command}/files`, { 'karpwarden.yaml': 'rules: {}\n' });
    cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
    chmodSync(join(folder, 'examples/nodeclass-bad.yaml'), 0o750);
    chmodSync(join(folder, 'examples/labels-bad.yaml'), 0o600);
    linkSync(join(folder, 'examples/storage-bad.yaml'), join(folder, 'examples/storage-link.yaml'));
    symlinkSync('examples/nodeclass-bad.yaml', join(folder, 'link.yaml'));
    return { command, folder };
  });
  for (const args of [
    ['check', '--diff', 'examples'],
    ['check', '--fix', 'link.yaml', 'examples'],
    ['check', '--fix', '--unsafe-fixes', 'examples'],
    ['check', '--format', 'sarif', '--output', 'report.sarif', 'examples'],
    ['check', '--write-baseline', 'known.json', 'examples'],
    ['init', '--force'],
    ['init'],
  ]) {
    const said = await Promise.all(folders.map(({ command, folder }) => run(command, args, { cwd: folder })));
    assert.deepEqual(said[0], said[1], args.join(' '));
  }
  const [npx, native] = folders.map(({ folder }) => contents(folder));
  assert.deepEqual(npx, native);
  const fixed = join(folders[0].folder, 'examples/nodeclass-bad.yaml');
  assert.match(readFileSync(fixed, 'utf8'), /instanceProfile: KarpenterNodeProfile-prod\n/);
  assert.equal(statSync(fixed).mode & 0o777, 0o750);
});

test('checks again when a file changes', async () => {
  const bad = (name) => readFileSync(join(root, `examples/${name}-bad.yaml`));
  const watch = (command) =>
    new Promise((resolve, reject) => {
      const folder = folderWith(`watched-${command}`, { 'a.yaml': bad('nodeclass') });
      const child = spawn(commands[command], ['check', '--watch', 'a.yaml'], { cwd: folder });
      const said = { stdout: '', stderr: '' };
      let rounds = 0;
      child.stdout.on('data', (text) => (said.stdout += text));
      child.stderr.on('data', (text) => {
        said.stderr += text;
        const seen = said.stderr.match(/watching 1 file;/g)?.length ?? 0;
        if (seen === rounds) return;
        rounds = seen;
        if (rounds === 1) writeFileSync(join(folder, 'a.yaml'), bad('labels'));
        else child.kill('SIGTERM');
      });
      child.on('error', reject);
      child.on('close', (_, signal) => resolve({ ...said, signal }));
    });
  const [npx, native] = await Promise.all([watch('wasm'), watch('native')]);
  assert.deepEqual(npx, native);
  assert.equal(npx.signal, 'SIGTERM');
  assert.match(npx.stdout, /instance-profile-is-arn/);
});

test('names the remedy for what WebAssembly cannot do', async () => {
  const folder = folderWith('chart', {
    'Chart.yaml': 'apiVersion: v2\nname: pools\nversion: 0.1.0\n',
    'templates/class.yaml':
      'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: {{ .Values.name }}\n',
  });
  for (const [status, words, args] of [
    ...[
      ['collect', 'snapshot'],
      ['why', 'pod/web'],
      ['plan', '-f', '.'],
    ].map((args) => [3, `error: kubectl cannot be started: WebAssembly starts no other programs; ${REMEDY}\n`, args]),
    [
      2,
      `error: \`--base\`: cannot run \`git\`: WebAssembly starts no other programs; ${REMEDY}\n`,
      ['plan', '--base=main', '.'],
    ],
    [5, `error: WebAssembly has no threads, which the language server needs; ${REMEDY}\n`, ['lsp']],
    [5, `error: WebAssembly has no threads, which the server for assistants needs; ${REMEDY}\n`, ['mcp']],
    [5, `error: WebAssembly has no sockets, which \`open\` needs; ${REMEDY}\n`, ['open', '.']],
  ]) {
    assert.deepEqual(await run('wasm', args, { cwd: folder }), { status, stdout: '', stderr: words });
  }
  assert.equal(existsSync(join(folder, 'snapshot')), false);
  const { stderr } = await run('wasm', ['check', '--render', '.'], { cwd: folder });
  assert.match(
    stderr,
    /`helm` cannot be started: WebAssembly starts no other programs; install the native command line/,
  );
});

test('shows the warnings of Node, except that WASI is experimental', async () => {
  const options = { cwd: installed.folder, env: { NODE_OPTIONS: '--import ./warn.mjs' } };
  writeFileSync(join(installed.folder, 'warn.mjs'), "process.emitWarning('something else', 'ExperimentalWarning');\n");
  const { stderr } = await run('wasm', ['--version'], options);
  assert.match(stderr, /ExperimentalWarning: something else/);
  assert.doesNotMatch(stderr, /WASI/);
});

test('ends when its reader has read enough', async () => {
  const child = spawn(commands.wasm, ['rules', '--format', 'json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.destroy();
  assert.equal(await new Promise((resolve) => child.on('exit', resolve)), 0);
});
