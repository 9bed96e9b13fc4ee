// The language server in a worker of a browser.

import { type EngineParts, loadEngine } from './engine.ts';
import { type Message, Session } from './session.ts';

self.addEventListener(
  'message',
  ({ data }: MessageEvent<EngineParts>) => {
    const session = new Session(loadEngine(data), (message) => postMessage(message));
    self.addEventListener('message', (event: MessageEvent<Message>) => void session.receive(event.data));
  },
  { once: true },
);
