// The findings for code scanning, as `karpwarden check --format sarif` writes them.

import { type App, LIMIT } from './app.ts';
import { download } from './dom.ts';

export async function downloadSarif(app: App): Promise<void> {
  try {
    const log = await app.engine.call('sarif', [app.manifests, app.state.settings], LIMIT);
    app.dismiss('sarif');
    download('karpwarden.sarif', `${log}\n`, 'application/sarif+json');
  } catch (error) {
    app.notice('sarif', `No SARIF was made: ${(error as Error).message}. Check the connection and try again.`, [], true);
  }
}
