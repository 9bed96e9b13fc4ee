#!/usr/bin/env node
// The command line: the same program as the native one, compiled to WebAssembly for WASI, on the WASI of Node.

import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { parse, sep } from 'node:path';
import { isatty } from 'node:tty';

/** Exit status if the system refuses a resource: `Status` in cli/src/status.rs. */
const SYSTEM = 5;
/** `EPERM`: https://github.com/WebAssembly/WASI/blob/snapshot-01/phases/snapshot/docs.md#errno */
const NOT_PERMITTED = 63;

/** Imports the WASI of Node without the warning that it is experimental. All other warnings are shown. */
async function importWasi() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...options) => {
    if (!(options[0] === 'ExperimentalWarning' && String(warning).startsWith('WASI'))) {
      emitWarning.call(process, warning, ...options);
    }
  };
  try {
    return (await import('node:wasi')).WASI;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The environment of the program: the user's, with the current folder and the width of the terminal. */
function environment(root) {
  // Programs for WASI start in the root folder.
  const env = { ...process.env, PWD: `/${process.cwd().slice(root.length).replaceAll(sep, '/')}` };
  if (isatty(1) && process.stdout.columns) env.COLUMNS = String(process.stdout.columns);
  return env;
}

/** Gives a new file the owner and the mode of the file that it is about to replace: WASI has no function for this. */
function keepAttributes(from, to) {
  const replaced = statSync(to, { throwIfNoEntry: false });
  if (replaced === undefined) return;
  const file = statSync(from);
  if (file.uid !== replaced.uid || file.gid !== replaced.gid) chownSync(from, replaced.uid, replaced.gid);
  // The last step: a change of the owner clears bits of the mode.
  chmodSync(from, replaced.mode & 0o7777);
}

async function run() {
  const WASI = await importWasi();
  const { root } = parse(process.cwd());
  const wasi = new WASI({
    version: 'preview1',
    args: ['karpwarden', ...process.argv.slice(2)],
    env: environment(root),
    preopens: { '/': root },
    returnOnExit: true,
  });
  const module = new WebAssembly.Module(readFileSync(new URL('./engine/command.wasm', import.meta.url)));
  const { wasiImport } = wasi;
  // V8 calls functions of `node:wasi` directly from WebAssembly. If one of them allocates memory, a garbage collection may start there, which
  // does not see the stack and frees what it holds (nodejs/node#46777). Then Node 20.20 and 22.23 end with a segmentation fault after the
  // output: in 20 of 20 checks of 200 files. A function of JavaScript around each function prevents the direct call: 0 of 460.
  const imports = Object.fromEntries(
    Object.entries(wasiImport).map(([name, call]) => [name, (...values) => call(...values)]),
  );
  let memory;
  // The only folder that the program has is the root, so that each path starts there.
  const path = (start, length) => root + Buffer.from(memory.buffer, start, length).toString();
  const rename = (folder, from, fromLength, toFolder, to, toLength) => {
    try {
      keepAttributes(path(from, fromLength), path(to, toLength));
    } catch {
      return NOT_PERMITTED;
    }
    return wasiImport.path_rename(folder, from, fromLength, toFolder, to, toLength);
  };
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: { ...imports, path_rename: rename },
  });
  ({ memory } = instance.exports);
  return wasi.start(instance);
}

try {
  // WASI of Node 18 follows symbolic links wrongly.
  if (Number.parseInt(process.versions.node) < 20) throw new Error('it needs Node 20 or later');
  process.exitCode = await run();
} catch (error) {
  console.error(`error: the WebAssembly module stopped: ${error.message}`);
  process.exitCode = SYSTEM;
}
