// The worker's side of a call; worker-client.ts is the page's side.

export type Progress = (done: number) => void;

/** One function per method. The last argument reports progress. */
export type Handlers<T extends { [K in keyof T]: { args: unknown[]; result: unknown } }> = {
  [M in keyof T]: (...args: [...T[M]['args'], progress: Progress]) => T[M]['result'] | Promise<T[M]['result']>;
};

/** Serves calls once the module is ready. */
export function serve<T extends { [K in keyof T]: { args: unknown[]; result: unknown } }>(
  ready: Promise<unknown>,
  methods: Handlers<T>,
): void {
  self.addEventListener('message', async (event: MessageEvent<{ id: number; method: keyof T; args: unknown[] }>) => {
    const { id, method, args } = event.data;
    try {
      await ready;
      const run = methods[method] as (...args: unknown[]) => unknown;
      const result = await run(...args, (done: number) => postMessage({ id, progress: done }));
      postMessage({ id, result });
    } catch (error) {
      // The engine throws strings for invalid input. Anything else is a trap, which leaves the module unusable.
      const isRefusal = typeof error === 'string';
      postMessage({ id, error: isRefusal ? error : String(error), fatal: !isRefusal });
    }
  });
}
