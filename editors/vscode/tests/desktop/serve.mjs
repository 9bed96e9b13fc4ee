// Serves VS Code with a file system, on loopback, with the packed extension and a Git repository of files.

import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('server.cjs', import.meta.url));

function write(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/**
 * Serves `files` (texts by name), which are committed, with `command` as `karpwarden` on the PATH; `more` are settings of the
 * machine. `folder` of the result is where the files are.
 */
export async function serveDesktop(vsix, files, command, more = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'karpwarden-desktop-')));
  const folder = join(root, 'clusters');
  const settings = {
    'workbench.startupEditor': 'none',
    'workbench.tips.enabled': false,
    'workbench.enableExperiments': false,
    'extensions.ignoreRecommendations': true,
    'telemetry.telemetryLevel': 'off',
    'git.openRepositoryInParentFolders': 'never',
  };
  write(root, {
    'vscode/data/User/settings.json': JSON.stringify(settings),
    // On the machine of the server, its settings choose programs, not those of the user.
    'vscode/data/Machine/settings.json': JSON.stringify(more),
  });
  write(folder, files);
  const git = (...words) => execFileSync('git', ['-C', folder, ...words]);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'start');
  mkdirSync(join(root, 'bin'));
  symlinkSync(command, join(root, 'bin/karpwarden'));
  const standIns = fileURLToPath(new URL('stand-ins.cjs', import.meta.url));
  const env = {
    NODE_OPTIONS: `--require ${JSON.stringify(standIns)}`,
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
    HOME: root,
    // No marketplace.
    EXTENSIONS_GALLERY: '{"serviceUrl": ""}',
  };
  execFileSync(process.execPath, [server, join(root, 'vscode'), vsix], { env, stdio: 'ignore' });
  const child = fork(server, [join(root, 'vscode')], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  const [port] = await once(child, 'message');
  return {
    address: `http://127.0.0.1:${port}/?folder=${folder}`,
    folder,
    async close() {
      // With the server its processes, which would wait for hours for another connection.
      process.kill(-child.pid);
      await once(child, 'exit');
      rmSync(root, { recursive: true, force: true });
    },
  };
}
