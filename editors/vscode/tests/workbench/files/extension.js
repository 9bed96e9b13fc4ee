// A file system in memory, with the files that the server of the test names.

const vscode = require('vscode');

const encoder = new TextEncoder();

exports.activate = async function activate(context) {
  const response = await fetch(vscode.Uri.joinPath(context.extensionUri, '../mount.json').toString(true));
  const files = new Map(Object.entries(await response.json()).map(([name, text]) => [`/${name}`, encoder.encode(text)]));
  const changed = new vscode.EventEmitter();
  const missing = (uri) => vscode.FileSystemError.FileNotFound(uri);
  const isFolder = (path) => path === '/' || [...files.keys()].some((name) => name.startsWith(`${path}/`));
  const provider = {
    onDidChangeFile: changed.event,
    watch: () => new vscode.Disposable(() => undefined),
    stat(uri) {
      const bytes = files.get(uri.path);
      if (bytes) return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: bytes.length };
      if (isFolder(uri.path)) return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
      throw missing(uri);
    },
    readDirectory({ path }) {
      const start = path === '/' ? '/' : `${path}/`;
      const names = [...files.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
      const entries = names.map((name) => [
        name.split('/')[0],
        name.includes('/') ? vscode.FileType.Directory : vscode.FileType.File,
      ]);
      return [...new Map(entries)];
    },
    readFile(uri) {
      const bytes = files.get(uri.path);
      if (!bytes) throw missing(uri);
      return bytes;
    },
    writeFile(uri, bytes) {
      const type = files.has(uri.path) ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created;
      files.set(uri.path, bytes);
      changed.fire([{ type, uri }]);
    },
    createDirectory: () => undefined,
    delete(uri) {
      files.delete(uri.path);
      changed.fire([{ type: vscode.FileChangeType.Deleted, uri }]);
    },
    rename: () => undefined,
  };
  context.subscriptions.push(vscode.workspace.registerFileSystemProvider('memory', provider, { isCaseSensitive: true }));
};
