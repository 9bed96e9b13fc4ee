// A worker that is asked with ids, ended when it exceeds its time, and started again.

export class Stopped extends Error {
  constructor(readonly why: 'time' | 'cancelled' | 'crashed', message: string) {
    super(message);
  }
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: number;
  moved: (done: number) => void;
}

type Table = Record<string, { args: unknown[]; result: unknown }>;

export class Remote<T extends { [K in keyof T]: Table[string] }> {
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor(private readonly url: string) {}

  /** Asks for something; the answer, or a sign of progress, has to come within the limit. */
  call<M extends keyof T & string>(
    method: M,
    args: T[M]['args'],
    limit: number,
    progress?: (done: number) => void,
  ): Promise<T[M]['result']> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = () => this.stop(new Stopped('time', `stopped after ${Math.round(limit / 1000)} s`));
      const waiting: Waiting = {
        resolve: resolve as (value: unknown) => void,
        reject,
        timer: window.setTimeout(late, limit),
        moved: (done) => {
          clearTimeout(waiting.timer);
          waiting.timer = window.setTimeout(late, limit);
          progress?.(done);
        },
      };
      this.#waiting.set(id, waiting);
      this.#start().postMessage({ id, method, args });
    });
  }

  /** Ends whatever the worker does; those who wait are told why. The next call starts a new one. */
  stop(why: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(why);
    }
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.url, { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent) => {
      const waiting = this.#waiting.get(data.id);
      if ('progress' in data) {
        waiting?.moved(data.progress);
        return;
      }
      this.#waiting.delete(data.id);
      if (waiting) clearTimeout(waiting.timer);
      if (data.fatal) {
        waiting?.reject(new Stopped('crashed', data.error));
        this.stop(new Stopped('crashed', data.error));
      } else if ('error' in data) waiting?.reject(new Error(data.error));
      else waiting?.resolve(data.result);
    });
    worker.addEventListener('error', (event) => {
      this.stop(new Stopped('crashed', event.message || 'it could not be loaded'));
    });
    this.#worker = worker;
    return worker;
  }
}
