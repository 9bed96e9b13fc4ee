/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const about: (a: number) => void;
export const check: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number) => void;
export const documents: (a: number, b: number, c: number, d: number) => void;
export const policy: (a: number, b: number, c: number, d: number, e: number) => void;
export const rules: (a: number) => void;
export const settings: (a: number, b: number, c: number) => void;
export const __wbindgen_externrefs: WebAssembly.Table;
export const __wbindgen_add_to_stack_pointer: (a: number) => number;
export const __wbindgen_export: (a: number, b: number, c: number) => void;
export const __wbindgen_export2: (a: number, b: number) => number;
export const __wbindgen_export3: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_export4: (a: number) => void;
export const __wbindgen_start: () => void;
