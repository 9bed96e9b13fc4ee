// waPC host for the policy module. Like policy-server, it creates a new instance for each call. Nine imports belong to
// waPC (wapc.io); Rust's standard library needs five imports of WASI.

type HostCallHandler = (binding: string, namespace: string, operation: string, payload: Uint8Array) => Uint8Array;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export async function call(
  module: WebAssembly.Module,
  operation: string,
  payload: Uint8Array,
  answer: HostCallHandler,
): Promise<Uint8Array> {
  let memory: WebAssembly.Memory;
  const bytes = (pointer: number, length: number) => new Uint8Array(memory.buffer, pointer, length);
  const text = (pointer: number, length: number) => decoder.decode(bytes(pointer, length));
  const put = (pointer: number, data: Uint8Array) => bytes(pointer, data.length).set(data);

  const name = encoder.encode(operation);
  let response: Uint8Array = new Uint8Array();
  let failure: string | null = null;
  let hostResponse: Uint8Array = new Uint8Array();
  let hostError: Uint8Array = new Uint8Array();

  const wapc = {
    __guest_request(operationPointer: number, pointer: number) {
      put(operationPointer, name);
      put(pointer, payload);
    },
    __guest_response(pointer: number, length: number) {
      response = bytes(pointer, length).slice();
    },
    __guest_error(pointer: number, length: number) {
      failure = text(pointer, length);
    },
    __host_call(
      ...[bindingAt, bindingLength, namespaceAt, namespaceLength, operationAt, operationLength, at, length]: [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ]
    ): number {
      const target = [text(bindingAt, bindingLength), text(namespaceAt, namespaceLength)] as const;
      try {
        hostResponse = answer(...target, text(operationAt, operationLength), bytes(at, length).slice());
        return 1;
      } catch (error) {
        hostError = encoder.encode((error as Error).message);
        return 0;
      }
    },
    __host_response: (pointer: number) => put(pointer, hostResponse),
    __host_response_len: () => hostResponse.length,
    __host_error: (pointer: number) => put(pointer, hostError),
    __host_error_len: () => hostError.length,
    __console_log: (pointer: number, length: number) => console.info(text(pointer, length)),
  };

  const wasi_snapshot_preview1 = {
    random_get(pointer: number, length: number): number {
      crypto.getRandomValues(bytes(pointer, length));
      return 0;
    },
    environ_sizes_get(count: number, size: number): number {
      new DataView(memory.buffer).setUint32(count, 0, true);
      new DataView(memory.buffer).setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_write(_: number, vectors: number, count: number, written: number): number {
      const view = new DataView(memory.buffer);
      let total = 0;
      for (let index = 0; index < count; index++) total += view.getUint32(vectors + index * 8 + 4, true);
      view.setUint32(written, total, true);
      return 0;
    },
    proc_exit(code: number) {
      throw new Error(`the policy ended itself with status ${code}`);
    },
  };

  const instance = await WebAssembly.instantiate(module, { wapc, wasi_snapshot_preview1 });
  const exports = instance.exports as Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };
  memory = exports.memory;
  exports._start?.();
  exports.wapc_init?.();
  if (exports.__guest_call?.(name.length, payload.length) !== 1) {
    throw new Error(`Guest call failure: ${failure ?? 'the policy gave no reason'}`);
  }
  return response;
}
