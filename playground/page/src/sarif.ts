// Findings for code scanning, byte for byte as `karpwarden check --format sarif` prints them.

import { type App, LIMIT } from './app.ts';
import { download } from './dom.ts';

export async function downloadSarif(app: App): Promise<void> {
  try {
    const log = await app.engine.call('sarif', [app.manifests, app.state.settings], LIMIT);
    app.dismiss('sarif');
    download('karpwarden.sarif', `${log}\n`, 'application/sarif+json');
  } catch (error) {
    app.notice(
      'sarif',
      `The SARIF file could not be created: ${(error as Error).message}. Check the connection and try again.`,
      [],
      true,
    );
  }
}
