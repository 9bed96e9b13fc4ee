// The Change tab: what an edit does to the nodes.

import assert from 'node:assert/strict';

import { accessible, drop, onPage, opened, paste } from './browser.mjs';
import { EDITED, POOL, cluster } from './change-input.mjs';

/** The first lines of the NodePool, counted from 1. */
const [LABEL, LIMITS] = [9, 15];

/** Opens a text as a file, so that it is the text before the change. */
async function start(page, text) {
  await drop(page, [{ name: 'team.yaml', text }]);
  await opened(page, 'team.yaml');
  await page.locator('#release').selectOption('1.14');
  await page.locator('#tab-change').click();
  await page.locator('#change-time').waitFor();
}

async function at(page, time = '2026-03-14T22:00') {
  await page.locator('#change-at').fill(time);
  await page.locator('#change-at').dispatchEvent('change');
  await page.waitForFunction(() => document.getElementById('change-time')?.textContent.includes('Sat 14 Mar 22:00'));
}

const verdict = (page) => page.locator('#change-verdict').textContent();
const says = (page, pattern) =>
  page.waitForFunction(
    (source) => new RegExp(source).test(document.getElementById('change-verdict')?.textContent),
    pattern.source,
  );
/** The marked lines of an editor: the number and the words. */
const marks = (page, host = '#editor') =>
  page.evaluate(
    (host) =>
      [...document.querySelector(host).shadowRoot.querySelectorAll('.cm-changed')].map((line) => [
        [...line.parentElement.querySelectorAll('.cm-line')].indexOf(line) + 1,
        line.querySelector('.cm-effect').textContent,
      ]),
    host,
  );
const fields = (page) =>
  page
    .locator('.fields li')
    .filter({ has: page.locator('.path') })
    .evaluateAll((all) =>
      all.map((one) => [
        one.querySelector('.path').textContent,
        one.querySelector('.effect strong').textContent,
        ...[...one.querySelectorAll('.sides > div')].map((side) => side.lastElementChild.textContent),
      ]),
    );

onPage('loads the module when the tab opens, and compares with the text as it was opened', async (page, { sent }) => {
  const loaded = () => sent.filter((url) => /\/placement[^/]*\.wasm$/.test(url)).length;
  await drop(page, [{ name: 'team.yaml', text: POOL }]);
  await opened(page, 'team.yaml');
  assert.equal(loaded(), 0);
  await page.locator('#tab-change').click();
  await page.locator('#change-time').waitFor();
  assert.equal(loaded(), 1);
  assert.match(await verdict(page), /^No node is replaced/);
  assert.equal(await page.locator('.before-name').textContent(), 'team.yaml, as opened');
  await paste(page, EDITED);
  await says(page, /^Replaces every node of 1 NodePool \(team\)/);
  assert.equal(await page.locator('.before-name').textContent(), 'team.yaml, as opened');
  assert.deepEqual(await fields(page), [
    ['spec.template.metadata.labels.team', 'replaces every node', 'platform', 'compute'],
    ['spec.limits', 'acts at once', '{"cpu":2000}', '{"cpu":3000}'],
  ]);
  const expected = [
    [LABEL, 'replaces every node'],
    [LIMITS, 'acts at once'],
  ];
  assert.deepEqual(await marks(page), expected);
  assert.deepEqual(await marks(page, '.before-editor'), expected);
  // The marks belong to the tab.
  await page.locator('#tab-findings').click();
  assert.deepEqual(await marks(page), []);
  await page.locator('#tab-change').click();
  await page.locator('.fields').first().waitFor();
  assert.equal((await marks(page)).length, 2);
});

onPage('plans again while typing, until the texts are equal', async (page) => {
  await start(page, POOL);
  await paste(page, EDITED);
  await says(page, /^Replaces every node/);
  await page.locator('.fields .link').first().click();
  await page.keyboard.press('ArrowRight');
  for (let index = 0; index < 'compute'.length; index++) await page.keyboard.press('Backspace');
  await page.keyboard.type('platform');
  await says(page, /^No node is replaced/);
  assert.deepEqual(await fields(page), [['spec.limits', 'acts at once', '{"cpu":2000}', '{"cpu":3000}']]);
});

onPage('a button of a changed field selects its line', async (page) => {
  await start(page, POOL);
  await paste(page, EDITED);
  await says(page, /^Replaces every node/);
  await page.locator('.fields .link', { hasText: `team.yaml, line ${LABEL}` }).click();
  const line = await page.evaluate(
    () => document.getElementById('editor').shadowRoot.querySelector('.cm-activeLine').textContent,
  );
  assert.match(line, /team: compute/);
});

onPage('takes another text before the change: pasted, opened, and exchanged', async (page) => {
  await start(page, EDITED);
  await paste(page, POOL, '.before-editor');
  await says(page, /^Replaces every node/);
  assert.equal(await page.locator('.before-name').textContent(), 'team.yaml');
  await page.locator('#before-swap').click();
  await page.waitForFunction(() =>
    /compute.*platform/.test(document.querySelector('.fields .sides')?.textContent ?? ''),
  );
  assert.equal((await fields(page))[0][2], 'compute');
  await page.locator('#before-opened').click();
  await says(page, /^No node is replaced/);
  await page.locator('#before-picker').setInputFiles([
    { name: 'pool.yaml', mimeType: 'text/yaml', buffer: Buffer.from(EDITED) },
    { name: 'more.yaml', mimeType: 'text/yaml', buffer: Buffer.from('a: b\n') },
  ]);
  await says(page, /^Replaces every node/);
  assert.deepEqual(await page.locator('.before select option').allTextContents(), ['pool.yaml', 'more.yaml']);
});

onPage('two dropped files are the text before and after, the older one first', async (page) => {
  await start(page, 'a: b\n');
  await page.evaluate(
    ([old, latest]) => {
      const data = new DataTransfer();
      data.items.add(new File([latest], 'a.yaml', { lastModified: 2 }));
      data.items.add(new File([old], 'b.yaml', { lastModified: 1 }));
      for (const type of ['dragenter', 'dragover', 'drop'])
        document
          .getElementById('view')
          .dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [POOL, EDITED],
  );
  await says(page, /^Replaces every node/);
  assert.equal(await page.locator('.before-name').textContent(), 'b.yaml');
  assert.deepEqual(await page.locator('.file .name').allTextContents(), ['a.yaml']);
  assert.equal((await fields(page))[0][3], 'compute');
});

onPage('a removed NodePool is marked in the text before', async (page) => {
  const other = POOL.replace('name: team', 'name: other');
  await start(page, `${POOL}---\n${other}`);
  await paste(page, POOL);
  await says(page, /[Rr]emoves/);
  // The line of its name.
  const [[line, words]] = await marks(page, '.before-editor');
  assert.deepEqual([line, words], [POOL.split('\n').length + 4, 'removes nodes']);
  await page.locator('.changed .link', { hasText: 'before, team.yaml' }).click();
  assert.equal(
    await page.evaluate(() => document.activeElement.classList.contains('before-editor')),
    true,
    'the focus is in the text before',
  );
});

onPage(
  'with nodes, draws the rollout over the week, the nodes as a timeline, and the nodes that never go',
  async (page) => {
    await start(page, POOL + cluster());
    await paste(page, EDITED + cluster());
    await at(page);
    await says(page, /^Replaces 3 of 4 nodes/);
    await page.getByText('What limits the pace').waitFor();
    const slider = page.getByRole('slider', { name: 'Nodes of team that are replaced' });
    assert.match(await slider.getAttribute('aria-valuetext'), /UTC: (1 node at a time|no node is replaced)\.$/);
    await slider.focus();
    const first = await slider.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await slider.getAttribute('aria-valuetext'), first);
    const rows = page.locator('.timeline li');
    assert.equal(await rows.count(), 3);
    assert.match(await rows.first().textContent(), /^n[234](Sat 14|Sun 15) Mar \d\d:\d\d to /);
    const never = page.locator('.node-group', { hasText: 'n1' });
    assert.match(await never.textContent(), /n1.*NodePoolDrifted/);
    assert.match(await page.locator('#change').textContent(), /1 node never replaced/);
  },
);

onPage('the nodes may be in the text after alone', async (page) => {
  await start(page, EDITED + cluster());
  await paste(page, POOL, '.before-editor');
  await says(page, /^Replaces 3 of 4 nodes/);
});

onPage('names and values stay text, and the tab is accessible', async (page) => {
  const evil = '<img src=x onerror=alert(1)>';
  await start(page, POOL.replace('name: team\n', `name: "${evil}"\n`));
  await paste(page, EDITED.replace('name: team\n', `name: "${evil}"\n`).replace('compute', `"${evil}"`));
  await page.locator('.fields').first().waitFor();
  // The editor of the text before surrounds its marks with images without a source.
  assert.equal(await page.locator('#view img[src]').count(), 0);
  await accessible(page, 'change');
});

onPage('follows one edit after another while the input holds 200 nodes', async (page) => {
  await start(page, POOL + cluster(200));
  for (const text of [EDITED, EDITED.replace('compute', 'storage')]) {
    await paste(page, text + cluster(200));
    await says(page, /^Replaces 199 of 200 nodes/);
    await paste(page, POOL + cluster(200));
    await says(page, /^No node is replaced/);
  }
});

onPage(
  'keeps the text before the change while other tabs are open, and takes a paste elsewhere as an edit',
  async (page) => {
    await start(page, POOL);
    await paste(page, EDITED, '.before-editor');
    await says(page, /^Replaces every node/);
    await page.locator('#tab-disruption').click();
    await page.locator('.week').first().waitFor();
    await paste(page, EDITED);
    await page.locator('#tab-change').click();
    await says(page, /^No node is replaced/);
    assert.equal(await page.locator('.before-name').textContent(), 'team.yaml');
  },
);

onPage('a field that the text before lacks is marked there at the field around it', async (page) => {
  await start(page, POOL);
  await paste(page, POOL.replace('labels:', 'annotations: {a: b}\n      labels:'));
  await says(page, /^Replaces every node/);
  assert.deepEqual(await marks(page), [[8, 'replaces every node']]);
  // The line of `metadata`.
  assert.deepEqual(await marks(page, '.before-editor'), [[7, 'replaces every node']]);
});
