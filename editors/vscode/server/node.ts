// The language server in a worker of Node.

import { parentPort } from 'node:worker_threads';

import { type EngineParts, loadEngine } from './engine.ts';
import { type Message, Session } from './session.ts';

parentPort?.once('message', (parts: EngineParts) => {
  const session = new Session(loadEngine(parts), (message) => parentPort?.postMessage(message));
  parentPort?.on('message', (message: Message) => void session.receive(message));
});
