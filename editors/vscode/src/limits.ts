// Bounds of what the extension itself reads. The command line has its own.

/** Manifests, and files that say what is checked. */
export const PATTERN = '**/{*.yaml,*.yml,*.json,*.jsonl,*.tf,*.tofu,*.tftpl,*.tfvars,.gitignore,.ignore}';
export const SKIPPED_FOLDERS = '**/{node_modules,.git,.terraform}/**';
/** Files of a folder. */
export const MAX_FILES = 5000;
/** Bytes of a file, and of all files of a folder. */
export const MAX_BYTES = 32 * 1024 * 1024;
