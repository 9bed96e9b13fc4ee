// Bounds of what the extension itself reads. The command line has its own.

/** Manifests, and files that say what is checked. */
export const PATTERN = '**/{*.yaml,*.yml,*.json,*.jsonl,*.tf,*.tofu,*.tftpl,*.tfvars,.gitignore,.ignore}';
export const NAMES = /\.(ya?ml|jsonl?|tf|tofu|tftpl|tfvars|gitignore|ignore)$/;
export const SKIPPED = ['node_modules', '.git', '.terraform'];
export const SKIPPED_FOLDERS = `**/{${SKIPPED.join()}}/**`;
/** Files of a folder. */
export const MAX_FILES = 5000;
/** Bytes of a file, and of all files of a folder. */
export const MAX_BYTES = 32 * 1024 * 1024;
