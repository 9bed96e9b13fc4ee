// Calls into a worker. A call that exceeds its time limit ends the worker; the next call starts a new one.

/** Rejection of calls whose worker was ended. */
export class WorkerStopped extends Error {
  constructor(
    readonly why: 'time' | 'cancelled' | 'crashed',
    message: string,
  ) {
    super(message);
  }
}

interface PendingCall {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: number;
  progress: (done: number) => void;
}

type Methods = Record<string, { args: unknown[]; result: unknown }>;

export class WorkerClient<T extends { [K in keyof T]: Methods[string] }> {
  #worker: Worker | undefined;
  #pending = new Map<number, PendingCall>();
  #next = 0;

  constructor(private readonly url: string) {}

  /** Calls a method. The worker must answer or report progress within `limit` milliseconds. */
  call<M extends keyof T & string>(
    method: M,
    args: T[M]['args'],
    limit: number,
    progress?: (done: number) => void,
  ): Promise<T[M]['result']> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const expire = () => this.stop(new WorkerStopped('time', `stopped after ${Math.round(limit / 1000)} s`));
      const pending: PendingCall = {
        resolve: resolve as (value: unknown) => void,
        reject,
        timer: window.setTimeout(expire, limit),
        progress: (done) => {
          clearTimeout(pending.timer);
          pending.timer = window.setTimeout(expire, limit);
          progress?.(done);
        },
      };
      this.#pending.set(id, pending);
      this.#start().postMessage({ id, method, args });
    });
  }

  /** Ends the worker and rejects every pending call. */
  stop(why: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject, timer } of pending) {
      clearTimeout(timer);
      reject(why);
    }
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.url, { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent) => {
      const pending = this.#pending.get(data.id);
      if ('progress' in data) {
        pending?.progress(data.progress);
        return;
      }
      this.#pending.delete(data.id);
      if (pending) clearTimeout(pending.timer);
      if (data.fatal) {
        pending?.reject(new WorkerStopped('crashed', data.error));
        this.stop(new WorkerStopped('crashed', data.error));
      } else if ('error' in data) pending?.reject(new Error(data.error));
      else pending?.resolve(data.result);
    });
    worker.addEventListener('error', (event) => {
      this.stop(new WorkerStopped('crashed', event.message || 'it could not be loaded'));
    });
    this.#worker = worker;
    return worker;
  }
}
