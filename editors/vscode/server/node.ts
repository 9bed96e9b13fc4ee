// The language server in a worker of Node.

import { parentPort } from 'node:worker_threads';

import { type EngineParts, startServer } from './worker.ts';

parentPort?.once('message', (parts: EngineParts) => {
  const receive = startServer(parts, (message) => parentPort?.postMessage(message));
  parentPort?.on('message', receive);
});
