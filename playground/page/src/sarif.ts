// The findings for code scanning, as `karpwarden check --format sarif` writes them.

import { type App, LIMIT } from './app.ts';
import { documentation } from './documentation.ts';
import { download } from './dom.ts';

export async function downloadSarif(app: App): Promise<void> {
  try {
    const files = app.manifests;
    const log = await app.engine.call('sarif', [files, app.state.settings, await documentation()], LIMIT);
    app.unnotice('sarif');
    download('karpwarden.sarif', `${log}\n`, 'application/sarif+json');
  } catch (error) {
    app.notice('sarif', `No SARIF was made: ${(error as Error).message}. Check the connection and try again.`, [], true);
  }
}
