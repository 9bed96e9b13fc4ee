// A text that arrives, in whatever way, survives the next key: no part of it is selected, and the view starts at its first
// line. tests/browser.mjs fails a page that logs an error or violates its content policy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { drop, onPage, pack, root, settled, shared, visit } from './browser.mjs';

const example = (name) => readFileSync(join(root, 'examples', name), 'utf8');
/** A manifest with a line that is wider than the editor. */
const MANIFEST = `${example('nodeclass-good.yaml').replace('name: default', 'name: mine')}# ${'wide '.repeat(100)}\n`;

/** Sends a paste event to an element; the editor is in a shadow root. */
const pasteEvent = (page, text, inEditor) =>
  page.evaluate(
    ([text, inEditor]) => {
      const data = new DataTransfer();
      data.setData('text/plain', text);
      const target = inEditor
        ? document.getElementById('editor').shadowRoot.querySelector('.cm-content')
        : document.body;
      target.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }),
      );
    },
    [text, inEditor],
  );

async function clipboard(page, text) {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press('Control+V');
}

const WAYS = {
  'a paste into the editor': (page) => pasteEvent(page, MANIFEST, true),
  'a paste beside the editor': (page) => pasteEvent(page, MANIFEST, false),
  'Ctrl+V': (page) => clipboard(page, MANIFEST),
  'a dropped file': (page) => drop(page, [{ name: 'mine.yaml', text: MANIFEST }]),
  'a dropped file of the same name': (page) => drop(page, [{ name: 'nodeclass-bad.yaml', text: MANIFEST }]),
  'a chosen file': (page) =>
    page
      .locator('#picker')
      .setInputFiles([{ name: 'mine.yaml', mimeType: 'text/yaml', buffer: Buffer.from(MANIFEST) }]),
  'a shared link': (page) => page.evaluate((link) => (location.hash = link), pack({ f: [['mine.yaml', MANIFEST]] })),
};

/** Waits until the editor shows the text, types a letter, and returns the text of the file. */
async function typeInto(page, expected) {
  await page.waitForFunction(
    (start) => document.getElementById('editor').shadowRoot.querySelector('.cm-content').textContent.startsWith(start),
    expected.slice(0, 40).split('\n')[0],
  );
  const scroller = await page.evaluate(async () => {
    // The editor scrolls in the next frame.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const { scrollLeft, scrollTop } = document.getElementById('editor').shadowRoot.querySelector('.cm-scroller');
    return { scrollLeft, scrollTop };
  });
  assert.deepEqual(scroller, { scrollLeft: 0, scrollTop: 0 }, 'the view starts at the first line');
  await page.locator('.cm-content').focus();
  await page.keyboard.type('x');
  await settled(page);
  return (await shared(page)).files.find(
    ({ name }) => name === 'mine.yaml' || name === 'manifest.yaml' || name.startsWith('nodeclass'),
  )?.text;
}

for (const [way, arrive] of Object.entries(WAYS)) {
  for (const selectAll of [true, false]) {
    onPage(`${way}${selectAll ? ' over a selection of everything' : ''} survives the next letter`, async (page) => {
      await page.locator('.cm-content').click();
      if (selectAll) await page.keyboard.press('Control+A');
      await arrive(page);
      const after = await typeInto(page, MANIFEST);
      assert.equal(after.replace('x', '').length, MANIFEST.length, after.slice(0, 80));
      assert.ok([`x${MANIFEST}`, `${MANIFEST}x`].includes(after), after.slice(0, 80));
    });
  }
}

onPage('an example from the menu survives the next letter', async (page) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.locator('#examples').click();
  await page.locator('.menu button', { hasText: 'nodeclass-good.yaml' }).click();
  assert.equal(await typeInto(page, example('nodeclass-good.yaml')), `x${example('nodeclass-good.yaml')}`);
});

onPage('the safe fixes leave no text selected that the visitor did not select', async (page) => {
  await page.locator('#fix-all').click();
  await page.getByText('Nothing to report').waitFor();
  await page.locator('.cm-content').focus();
  await page.keyboard.type('x');
  assert.equal((await shared(page)).files[0].text, `x${example('nodeclass-bad.yaml').replace(/arn:.*\//, '')}`);
});

onPage('a first paste can be undone', async (page) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await clipboard(page, MANIFEST);
  await page.getByText('Nothing to report').waitFor();
  await page.keyboard.press('Control+Z');
  await page.locator('.finding').waitFor();
  assert.equal((await shared(page)).files[0].text, example('nodeclass-bad.yaml'));
});

onPage(
  'typing over, cutting and composing over a selection breaks no rule of the content policy',
  async (page, { context }) => {
    const all = () => page.locator('.cm-content').press('Control+A');
    await all();
    await page.keyboard.type('a: 1');
    await all();
    await page.keyboard.press('Control+X');
    await page.keyboard.press('Control+V');
    const session = await context.newCDPSession(page);
    await all();
    await session.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
    await session.send('Input.insertText', { text: '日本: 1' });
    await page.waitForFunction(
      () => document.getElementById('editor').shadowRoot.querySelector('.cm-content').textContent === '日本: 1',
    );
  },
);

test('a page that logs an error or violates its content policy fails its test', async () => {
  const visited = await visit();
  await visited.page.evaluate(() => {
    console.error('a logged error');
    document.body.setAttribute('style', 'color: red');
  });
  await visited.page.reload();
  await settled(visited.page);
  await assert.rejects(visited.close(), (error) => {
    assert.match(error.message, /console: a logged error/);
    assert.match(error.message, /content policy: style-src-attr/);
    return true;
  });
});
