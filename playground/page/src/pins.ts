// The release that the files pin.

import type { Report } from './types.ts';

/** The release that a file or its nearest folder pins. A pin without a version means that the pins there disagree. */
export function pinnedRelease(pins: Report['pins'], file: string): string | undefined {
  const holds = (folder: string) => folder === '' || folder === file || file.startsWith(`${folder}/`);
  const [nearest] = pins
    .filter(({ folder }) => holds(folder))
    .sort((one, other) => other.folder.length - one.folder.length);
  return nearest?.version ? nearest.checkedAs : undefined;
}
