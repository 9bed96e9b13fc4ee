// Programs of VS Code that npm would have to compile or download, from elsewhere: the log files of the package @vscode/spdlog, without which the
// process of the extensions waits in a loop, and the program of @vscode/ripgrep, which a later release has in a package of its own.

const { appendFileSync, mkdirSync } = require('node:fs');
const Module = require('node:module');
const { dirname } = require('node:path');

class Logger {
  constructor(file) {
    this.file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.write('');
  }
  write(text) {
    appendFileSync(this.file, text);
  }
}
for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'critical']) {
  Logger.prototype[level] = function (message) {
    this.write(`[${level}] ${message}\n`);
  };
}
for (const name of ['setLevel', 'setPattern', 'clearFormatters', 'flush', 'drop'])
  Logger.prototype[name] = () => undefined;

const create = (name, file) => Promise.resolve(new Logger(file));
const LogLevel = { Trace: 0, Debug: 1, Info: 2, Warning: 3, Error: 4, Critical: 5, Off: 6 };
const log = { LogLevel, setFlushOn: () => undefined, createAsyncRotatingLogger: create, createRotatingLogger: create };

const rgPath = require.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
const standIns = { '@vscode/spdlog': log, '@vscode/ripgrep': { rgPath } };

const load = Module._load;
Module._load = (request, ...rest) => (Object.hasOwn(standIns, request) ? standIns[request] : load(request, ...rest));
