// The language server in a worker of a browser.

import { type EngineParts, startServer } from './worker.ts';

self.addEventListener(
  'message',
  ({ data }: MessageEvent<EngineParts>) => {
    const receive = startServer(data, (message) => postMessage(message));
    self.addEventListener('message', (event: MessageEvent<object>) => receive(event.data));
  },
  { once: true },
);
