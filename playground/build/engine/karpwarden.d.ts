/* tslint:disable */
/* eslint-disable */

/**
 * What this build knows: `{"version", "keys", "releases": [{"name", "newest"}]}`.
 */
export function about(): string;

/**
 * Checks files: `[{"name", "text"}]`, with settings as YAML or JSON.
 *
 * Gives the bytes of `karpwarden check --format json`. A range such as `1.0..1.14` takes the place of the settings'
 * `karpenterVersion`; today (`2027-03-31`) is for exceptions that end.
 */
export function check(files: string, settings: string, range?: string | null, today?: string | null): string;

/**
 * The objects in the files and where they start: `[{"file", "document", "apiVersion", "kind", "namespace", "name",
 * "operation", "line", "offset", "object", "oldObject"}]`. The last two only where they are asked for.
 */
export function documents(files: string, whole: boolean): string;

/**
 * Makes the safe fixes, as `karpwarden check --fix` does: `{"files": [{"name", "text"}], "applied", "refused": [{"rule",
 * "file", "line", "reason"}]}`. Only the files that changed are given.
 */
export function fix(files: string, settings: string, today?: string | null): string;

/**
 * The ClusterAdmissionPolicy that gives these settings to the policy, as YAML.
 */
export function policy(settings: string, mode: string): string;

/**
 * Every rule, as `karpwarden rules --format json` prints them.
 */
export function rules(): string;

/**
 * What is wrong with settings, and what they say as JSON where nothing is:
 * `{"problems": [{"path", "message", "line", "column", "offset", "endOffset"}], "settings"}`.
 */
export function settings(text: string): string;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly about: () => [number, number];
    readonly check: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => [number, number, number, number];
    readonly documents: (a: number, b: number, c: number) => [number, number, number, number];
    readonly fix: (a: number, b: number, c: number, d: number, e: number, f: number) => [number, number, number, number];
    readonly policy: (a: number, b: number, c: number, d: number) => [number, number, number, number];
    readonly rules: () => [number, number];
    readonly settings: (a: number, b: number) => [number, number];
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
