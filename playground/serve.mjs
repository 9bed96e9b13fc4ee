// Serves dist/ on loopback with the headers of a careful static host. `node serve.mjs [--port 8080]`

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { CSP } from './policy.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** The path of a request's address; undefined if the address is malformed. */
function pathOf(address) {
  try {
    const path = normalize(decodeURIComponent(new URL(address, 'http://localhost').pathname));
    return path.includes('\0') ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Starts a server on a free port, or on `port`. */
export async function serve(folder, port = 0) {
  const server = createServer(async (request, response) => {
    const path = pathOf(request.url);
    if (path === undefined) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end('bad request\n');
      return;
    }
    // Like GitHub Pages, the server adds `.html` to an address without an extension.
    const page = path.endsWith(sep) ? join(path, 'index.html') : extname(path) ? path : `${path}.html`;
    const file = join(folder, page);
    if (!file.startsWith(folder + sep) || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const plain = await readFile(file);
      const gzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      const bytes = gzip ? gzipSync(plain) : plain;
      response.writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-length': bytes.length,
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
        vary: 'accept-encoding',
        'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        'content-security-policy': `${CSP}; frame-ancestors *`,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      response.end(request.method === 'HEAD' ? undefined : bytes);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--port');
  const port = at > 0 ? Number(process.argv[at + 1]) : 8080;
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'dist');
  const { address } = await serve(folder, port).catch(() => serve(folder));
  console.log(`Serving the playground at ${address} (stop with Ctrl+C)`);
}
