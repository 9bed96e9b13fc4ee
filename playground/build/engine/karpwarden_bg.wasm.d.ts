/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const about: () => [number, number];
export const check: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => [number, number, number, number];
export const documents: (a: number, b: number, c: number) => [number, number, number, number];
export const fix: (a: number, b: number, c: number, d: number, e: number, f: number) => [number, number, number, number];
export const policy: (a: number, b: number, c: number, d: number) => [number, number, number, number];
export const rules: () => [number, number];
export const settings: (a: number, b: number) => [number, number];
export const __wbindgen_externrefs: WebAssembly.Table;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __wbindgen_malloc: (a: number, b: number) => number;
export const __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
export const __externref_table_dealloc: (a: number) => void;
export const __wbindgen_start: () => void;
