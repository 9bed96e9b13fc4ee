// The worker's side of a call (see remote.ts): what it is asked, and how it tells a refusal from a breakdown.

/** Answers by method; the last argument tells of progress. */
export type Handlers<T extends { [K in keyof T]: { args: unknown[]; result: unknown } }> = {
  [M in keyof T]: (...args: [...T[M]['args'], progress: (done: number) => void]) => T[M]['result'] | Promise<T[M]['result']>;
};

export function answer<T extends { [K in keyof T]: { args: unknown[]; result: unknown } }>(ready: Promise<unknown>, methods: Handlers<T>): void {
  self.addEventListener('message', async (event: MessageEvent<{ id: number; method: keyof T; args: unknown[] }>) => {
    const { id, method, args } = event.data;
    try {
      await ready;
      const run = methods[method] as (...args: unknown[]) => unknown;
      const result = await run(...args, (done: number) => postMessage({ id, progress: done }));
      postMessage({ id, result });
    } catch (error) {
      // A trap leaves the module unfit for use; a refusal (a string) does not.
      const refused = typeof error === 'string';
      postMessage({ id, error: refused ? error : String(error), fatal: !refused });
    }
  });
}
