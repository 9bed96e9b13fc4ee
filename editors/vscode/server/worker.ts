// The language server of the module, in a worker: it gets the messages of the editor, and the files from the extension, because it reads
// none itself.

import ignore from 'ignore';

import init, { LanguageServer } from '../../../playground/build/editor/karpwarden.js';

/** The first message of the extension: the module and the pages of the rules as JSON. */
export interface EngineParts {
  module: Uint8Array<ArrayBuffer>;
  rules: string;
}

/** Message of JSON-RPC. */
type Message = object;

/** The functions that the module calls. */
const host = (send: (message: Message) => void) => ({
  send: (message: string) => send(JSON.parse(message) as Message),
  /** The positions of the names that patterns in the syntax of ignore files match. */
  matching(patterns: string[], names: string[]): Uint32Array {
    const matcher = ignore({ allowRelativePaths: true }).add(patterns);
    return Uint32Array.from([...names.keys()].filter((at) => matcher.ignores(names[at] ?? '')));
  },
  now: () => Date.now() / 1000,
});

/** Starts the server. Returns what takes its messages. */
export function startServer(
  { module, rules }: EngineParts,
  send: (message: Message) => void,
): (message: Message) => void {
  let server: LanguageServer | undefined;
  let received: Message[] = [];
  let isWaiting = false;
  // After a trap the module is unusable, and the extension starts another worker.
  const stopped = (error: unknown) =>
    send({ jsonrpc: '2.0', method: 'karpwarden/stopped', params: { message: String(error) } });
  const handle = () => {
    isWaiting = false;
    const messages = JSON.stringify(received);
    received = [];
    try {
      server?.handle(messages);
    } catch (error) {
      stopped(error);
    }
  };
  // An editor sends every keystroke. One check is enough for all messages that came during the last one.
  const later = () => {
    if (server && !isWaiting && received.length > 0) {
      isWaiting = true;
      setTimeout(handle);
    }
  };
  init({ module_or_path: module }).then(() => {
    server = new LanguageServer(rules, host(send));
    later();
  }, stopped);
  return (message) => {
    received.push(message);
    later();
  };
}
