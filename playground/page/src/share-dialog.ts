// Dialog that creates a link to the files and settings.

import type { App } from './app.ts';
import { dialog } from './dialog.ts';
import { copy, count, h } from './dom.ts';
import { asMarkdown } from './issue.ts';
import { downloadSarif } from './sarif.ts';
import { type Shared, encode } from './share.ts';

/** Some chat programs and mail clients truncate longer links. */
const LONG = 8000;

export function shareDialog(app: App): void {
  const box = (id: string, label: string, checked: boolean) => {
    const input = h('input', { type: 'checkbox', id, onchange: () => void update() });
    input.checked = checked;
    return [input, h('label', { class: 'check' }, input, h('span', {}, label))] as const;
  };
  const { files, settings } = app.state;
  const [withFiles, filesLabel] = box(
    'share-files',
    files.length === 1 ? `The text of ${app.file.name}` : `The text of ${count(files.length, 'file')}`,
    true,
  );
  const [withSettings, settingsLabel] = box('share-settings', 'The settings', Object.keys(settings).length > 0);
  const field = h('input', { readonly: true, id: 'share-link', 'aria-label': 'Link', onfocus: () => field.select() });
  const length = h('p', { class: 'help', id: 'share-length', role: 'status' });
  const button = h(
    'button',
    {
      type: 'button',
      class: 'primary',
      id: 'share-copy',
      onclick: () => void copy(field.value, button, (text) => app.announce(text)),
    },
    'Copy link',
  );
  const issue = h(
    'button',
    { type: 'button', onclick: () => void copy(asMarkdown(app, field.value), issue, (text) => app.announce(text)) },
    'Copy as Markdown',
  );
  const sarif = h('button', { type: 'button', onclick: () => void downloadSarif(app) }, 'Download SARIF');
  const update = async () => {
    const shared: Shared = {};
    if (withFiles.checked) shared.files = files;
    if (withSettings.checked) shared.settings = settings;
    const nothing = !shared.files && !shared.settings;
    const { origin, pathname } = location;
    const fragment = nothing ? '' : await encode(shared);
    field.value = fragment && `${origin}${pathname}#${fragment}`;
    button.disabled = !fragment;
    const { length: letters } = field.value;
    const what = shared.files
      ? 'The link contains your text: whoever has the link can read it.'
      : 'The link does not contain your text.';
    const large =
      app.large.length > 0 && shared.files ? ' It does not contain the files that are too large for the editor.' : '';
    length.textContent = nothing
      ? 'Choose what to share.'
      : !fragment
        ? 'The text is too long for a link. Send the files instead.'
        : `${count(letters, 'character')}. ${what} Browsers do not send this part of the address to any server.${letters > LONG ? ' Some programs truncate links of this length; if so, send the files instead.' : ''}${large}`;
  };
  dialog(
    'Share',
    h('fieldset', {}, h('legend', {}, 'What to include'), filesLabel, settingsLabel),
    h('div', { class: 'link-box' }, field, button),
    length,
    h('div', { class: 'row-actions' }, issue, sarif),
  );
  void update();
  button.focus();
}
