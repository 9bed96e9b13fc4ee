// Reloads the page of `karpwarden open` when its input has changed.

import { byId } from './dom.ts';

/** Milliseconds between two questions to the server. */
const PACE = 1000;

/** Asks the server for the mark of the input, and reloads the page when it is not `mark`. */
export function followChanges(mark: string): void {
  const note = byId('live');
  const ask = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch('mark', { cache: 'no-store' });
      // Without a mark, the input cannot be read now.
      if (answer.ok && (await answer.text()) !== mark) location.reload();
      note.textContent = '';
    } catch {
      note.textContent = 'The server has stopped: start karpwarden open again';
    }
  };
  const again = () => void ask().finally(() => setTimeout(again, PACE));
  again();
}
