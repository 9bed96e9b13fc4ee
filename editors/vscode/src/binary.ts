// The search for the command line.

export interface Search {
  /** The setting `karpwarden.path`; empty for none. */
  wanted: string;
  /** The PATH. */
  path: string;
  /** The folder of the extension. */
  extension: string;
  platform: NodeJS.Platform;
  isExecutable: (file: string) => boolean;
}

/**
 * Returns the path of the command line; undefined if it is not installed. A wanted path is not checked: its absence is an error to show.
 * An error if it is relative.
 */
export function findBinary({ wanted, path, extension, platform, isExecutable }: Search): string | undefined {
  const [separator, slash, name] = platform === 'win32' ? [';', '\\', 'karpwarden.exe'] : [':', '/', 'karpwarden'];
  // An empty or relative folder on the PATH means the working folder, from which no program of a workspace may start.
  const isAbsolute = (folder: string) => (platform === 'win32' ? /^([a-z]:)?[\\/]/i : /^\//).test(folder);
  if (wanted && !isAbsolute(wanted))
    throw new Error(`The setting \`karpwarden.path\` is no absolute path: \`${wanted}\``);
  if (wanted) return wanted;
  const folders = [...path.split(separator).filter(isAbsolute), `${extension}${slash}bin`];
  return folders.map((folder) => `${folder.replace(/[\\/]$/, '')}${slash}${name}`).find(isExecutable);
}
