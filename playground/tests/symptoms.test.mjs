// The Symptoms tab: diagnoses of logs, events and status, with their evidence.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { drop, onPage, opened, pack, paste, root, shared } from './browser.mjs';

const folder = join(root, 'examples/symptoms');
const examples = readdirSync(folder).sort();
const filesOf = (name) =>
  readdirSync(join(folder, name))
    .sort()
    .map((file) => ({ name: file, text: readFileSync(join(folder, name, file), 'utf8') }));
const log = (name) => filesOf(name).find((file) => file.name.endsWith('.log')).text;

async function choose(page, name) {
  await page.locator('#examples').click();
  await page.locator('.menu button', { hasText: name }).click();
  await page.locator('#diagnoses .finding').first().waitFor();
}
const diagnosed = (page) => page.locator('#diagnoses .rule').allTextContents();
const report = async (page) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JSON' }).click(),
  ]);
  return JSON.parse(readFileSync(await download.path(), 'utf8'));
};
const send = (page, text) =>
  page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);

onPage('each example has the diagnosis it is named after, and its evidence is marked in the editor', async (page) => {
  assert.equal(examples.length, 5);
  for (const name of examples) {
    await choose(page, name);
    await page.waitForFunction((name) => document.querySelector('#diagnoses .rule')?.textContent === name, name);
    const { findings } = await report(page);
    const rows = await page.locator('#diagnoses .finding').first().locator('.evidence > li').count();
    assert.ok(rows > 0, name);
    // The editor draws only visible lines, so the test scrolls to the line first.
    const { file, line } = findings[0].evidence.find((one) => one.line !== null);
    await page.locator('.evidence .link').first().click();
    assert.equal(await page.locator('.file [aria-current] .name').textContent(), file);
    const whole = filesOf(name)
      .find((one) => one.name === file)
      .text.split('\n')[line - 1];
    // The editor draws the line in the next frame.
    await page.waitForFunction(
      (whole) =>
        [...document.getElementById('editor').shadowRoot.querySelectorAll('.cm-evidence')].some(
          (marked) => marked.textContent === whole,
        ),
      whole,
    );
    await page.locator('#tab-findings').click();
    assert.equal(
      await page.locator('.cm-evidence').count(),
      0,
      'evidence is marked only while the Symptoms tab is open',
    );
    await page.locator('#tab-symptoms').click();
    await page.locator('#diagnoses .finding').first().waitFor();
  }
});

onPage('a diagnosis leads to the line to change in a manifest', async (page) => {
  await choose(page, 'double-nodeclaim');
  await page.locator('.cause').first().click();
  assert.equal(await page.locator('.file [aria-current] .name').textContent(), 'storage.yaml');
  const selected = await page.evaluate(
    () => document.getElementById('editor').shadowRoot.getSelection?.().toString() ?? '',
  );
  assert.match(selected, /volumeBindingMode|Immediate|^$/);
});

onPage('a pasted log is diagnosed and not checked as a manifest', async (page) => {
  await send(page, log('registration-taint-absent'));
  await page.locator('#diagnoses .finding').first().waitFor();
  assert.deepEqual((await diagnosed(page))[0], 'registration-taint-absent');
  assert.equal(await page.locator('#tab-symptoms').getAttribute('aria-selected'), 'true');
  assert.equal(await page.locator('.file [aria-current] .name').textContent(), 'controller.log');
  assert.match(await page.locator('.notes').textContent(), /12 lines/);
  await page.locator('#tab-findings').click();
  await page.getByText('Nothing to check yet').waitFor();
  assert.equal(await page.locator('.cm-lintRange').count(), 0);
});

onPage('a log pasted into a manifest leads to its symptoms, and the manifest stays', async (page) => {
  const manifest = readFileSync(join(root, 'examples/nodeclass-good.yaml'), 'utf8').replace(
    'name: default',
    'name: mine',
  );
  await paste(page, manifest);
  const hint = page.locator('.notice[data-kind="log"]');
  assert.equal(await hint.count(), 0);
  // The cursor is at the end of the last line, without a line break after it.
  await paste(page, manifest.trimEnd());
  await page.locator('.cm-content').press('Control+End');
  await page.evaluate((text) => navigator.clipboard.writeText(text), log('registration-taint-absent'));
  await page.keyboard.press('Control+V');
  await hint.waitFor();
  const first = manifest.trimEnd().split('\n').length;
  assert.match(
    await hint.textContent(),
    new RegExp(`^manifest\\.yaml: lines ${first} to ${first + 11} look like a log`),
  );
  await hint.getByRole('button', { name: 'Show its symptoms' }).click();
  await page.locator('#diagnoses .finding').first().waitFor();
  assert.equal((await diagnosed(page))[0], 'registration-taint-absent');
  assert.deepEqual((await shared(page)).files, [
    { name: 'manifest.yaml', text: manifest },
    { name: 'controller.log', text: log('registration-taint-absent').trimEnd() },
  ]);
  assert.equal(await hint.count(), 0);
});

onPage('a log in a file for manifests becomes a log, and log lines in a manifest are no log', async (page) => {
  await drop(page, [{ name: 'pods.yaml', text: log('registration-taint-absent') }]);
  const hint = page.locator('.notice[data-kind="log"]');
  await hint.getByRole('button', { name: 'Show its symptoms' }).click();
  await page.locator('#diagnoses .finding').first().waitFor();
  assert.deepEqual((await shared(page)).files, [{ name: 'controller.log', text: log('registration-taint-absent') }]);
  await page.locator('#tab-findings').click();
  const entry = '{"level":"INFO","time":"2026-05-30T06:44:00.000Z","logger":"controller","message":"found"}';
  await drop(page, [
    {
      name: 'config.yaml',
      text: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  zap: |\n    {"level": "info", "encoding": "json"}\n  # 2026-05-30T06:44:00Z note\n`,
    },
  ]);
  await opened(page, 'config.yaml');
  assert.equal(await hint.count(), 0);
  const sample = log('registration-taint-absent').trimEnd();
  const samples = [
    `data:\n  sample: |\n    ${sample.replaceAll('\n', '\n    ')}\n`,
    `data:\n  sample: ${entry}\n`,
    `list:\n  - '${entry}'\n`,
  ];
  for (const [index, data] of samples.entries()) {
    await drop(page, [
      {
        name: `sample-${index}.yaml`,
        text: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sample-${index}}\n${data}`,
      },
    ]);
    await opened(page, `sample-${index}.yaml`);
    assert.equal(await hint.count(), 0, data);
  }
  await drop(page, [{ name: 'commented.yaml', text: `# ${entry}\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n` }]);
  await opened(page, 'commented.yaml');
  assert.equal(await hint.count(), 0);
});

onPage('a log in the middle of a manifest ends with its last entry', async (page) => {
  const top = 'apiVersion: v1\nkind: ConfigMap\n';
  const rest = 'metadata:\n  name: a\ndata:\n  b: c\n';
  const events =
    'LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n5m12s       Warning   FailedScheduling   pod/web-1   0/3 nodes are available\n4m          Normal    Nominated          pod/web-1   Pod should schedule on: nodeclaim/a\n';
  // Pasted over the first example, the whole text would become a log.
  await paste(page, top + rest);
  for (const part of [log('registration-taint-absent'), events]) {
    await paste(page, top + part + rest);
    await page.locator('.notice[data-kind="log"]').getByRole('button', { name: 'Show its symptoms' }).click();
    await page.locator('.file [aria-current]', { hasText: 'controller' }).waitFor();
    const { files } = await shared(page);
    assert.equal(files[0].text, top + rest);
    assert.equal(files.at(-1).text, part);
    await page.locator('.file .tab').first().click();
  }
});

onPage('a dismissed hint at a log does not return when a line is inserted above the log', async (page) => {
  const hint = page.locator('.notice[data-kind="log"]');
  const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n`;
  await paste(page, manifest);
  await paste(page, manifest + log('registration-taint-absent'));
  await hint.waitFor();
  assert.match(await hint.textContent(), /lines 4 to 15 look/);
  await paste(page, `# one\n${manifest}${log('registration-taint-absent')}`);
  assert.match(await hint.textContent(), /lines 5 to 16 look/, 'an open hint follows the log');
  await hint.getByRole('button', { name: 'Dismiss' }).click();
  await paste(page, `# one\n# two\n${manifest}${log('registration-taint-absent')}`);
  assert.equal(await hint.count(), 0);
  await paste(page, manifest + log('nodeclaim-refused-label'));
  await hint.waitFor();
});

onPage('the documentation of a symptom opens in the panel and closes again', async (page) => {
  await choose(page, 'foreign-collection');
  await page.getByRole('button', { name: 'Why foreign-collection' }).first().click();
  await page.getByRole('heading', { name: 'Why it happens' }).waitFor();
  await page.getByRole('button', { name: 'Symptoms', exact: true }).click();
  await page.locator('#diagnoses .finding').first().waitFor();
});

onPage('a link with a log opens its diagnosis', async (page, { context }) => {
  await choose(page, 'double-nodeclaim');
  const { link, files } = await shared(page);
  assert.deepEqual(files, filesOf('double-nodeclaim'));
  const other = await context.newPage();
  await other.goto(link);
  await other.locator('#diagnoses .finding').first().waitFor();
  assert.equal((await diagnosed(other))[0], 'double-nodeclaim');
});

const line = (index) =>
  `{"level":"INFO","time":"2025-02-19T09:30:00.000Z","logger":"controller","message":"nothing in particular","number":${index}}\n`;
const quiet = Array.from({ length: 8000 }, (_, index) => line(index)).join('');

onPage('a large log is read in chunks with progress and can be cancelled', async (page) => {
  await drop(page, [{ name: 'large.log', text: quiet, times: 400 }]);
  await page.waitForFunction(() => document.querySelector('#reading progress')?.value > 0);
  assert.match(await page.locator('#reading').textContent(), /\d of \d+ MiB read/);
  await page.locator('#symptoms-cancel').click();
  await page.getByText('The diagnosis was cancelled.').waitFor();
  assert.equal(await page.locator('.file').count(), 1, 'the editor does not open it');
  await page.getByRole('button', { name: 'Remove large.log' }).click();
  // The evidence is at the end of a smaller file and shown with the lines around it.
  const evidence = log('foreign-collection');
  await drop(page, [{ name: 'some.log', text: quiet + evidence, times: 2 }]);
  await page.locator('#diagnoses .finding').first().waitFor();
  const { findings } = await report(page);
  const { line: number, text } = findings[0].evidence.find((one) => one.line !== null);
  await page.locator('#diagnoses .evidence .link').first().click();
  const here = page.locator('.excerpt .here');
  await here.waitFor();
  const whole = (quiet + evidence).split('\n')[number - 1];
  assert.match(await here.textContent(), new RegExp(`▸ ${number} `));
  assert.ok((await here.textContent()).includes(whole.slice(0, 200)), text);
  assert.equal(await page.locator('.excerpt .row').count(), 9);
  await page.locator('.cm-content').click();
  await page.keyboard.type('# ');
  await page.getByText('have changed since this diagnosis').waitFor();
  await page.locator('#symptoms-again').click();
  await page.waitForFunction(() => !document.querySelector('.stale') && document.querySelector('#diagnoses .finding'));
});

onPage('hostile words of a log stay text', async (page) => {
  const payload = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const hostile = ['registration-taint-absent', 'nodeclaim-refused-label'].map(log).join('\n');
  await send(page, hostile.replaceAll('custom-w6n8t', payload).replaceAll('kubernetes.io', `kubernetes.io/${payload}`));
  await page.locator('#diagnoses .finding').first().waitFor();
  assert.match(await page.locator('#view').textContent(), /<img src=x/);
  const foreign = await page.evaluate(() =>
    [document, document.getElementById('editor').shadowRoot].flatMap((root) =>
      [...root.querySelectorAll('img, iframe, script:not([src]), [onerror]')].map((node) => node.outerHTML),
    ),
  );
  assert.deepEqual(foreign, []);
});

const collection = join(root, 'tests/problems/symptoms/foreign-collection/two-clusters-1.8');

onPage('folders are separate clusters on request', async (page, { context, server }) => {
  await choose(page, 'nodeclaim-refused-label');
  assert.equal(await page.locator('#apart').count(), 0, 'one folder or none is one cluster');
  const files = ['blue', 'green'].map((name) => [
    `${name}/karpenter.log`,
    readFileSync(join(collection, name, 'karpenter.log'), 'utf8'),
  ]);
  page = await context.newPage();
  await page.goto(`${server.address}#${pack({ f: files })}`);
  await page.getByText('Each folder is a cluster: blue, green').waitFor();
  assert.equal((await report(page)).logs.length, 1);
  await page.locator('#apart').check();
  await page.getByRole('list', { name: 'Input of green' }).waitFor();
  const { findings, logs } = await report(page);
  assert.deepEqual(
    logs.map(({ cluster }) => cluster),
    ['blue', 'green'],
  );
  assert.deepEqual([findings[0].rule, findings[0].confidence], ['foreign-collection', 'certain']);
  assert.match(await page.locator('#diagnoses .where').first().textContent(), /^cluster (blue|green)/);
  await page.locator('#apart').uncheck();
  await page.getByRole('list', { name: 'Input', exact: true }).waitFor();
});

onPage('a dropped folder may contain logs and manifests', async (page) => {
  await drop(page, filesOf('double-nodeclaim'));
  await page.locator('#diagnoses .finding').first().waitFor();
  assert.equal((await diagnosed(page))[0], 'double-nodeclaim');
  await page.locator('#tab-findings').click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.finding .rule')].some((rule) => rule.textContent === 'storageclass-immediate'),
  );
});

onPage('lists errors that are not recognised, with their number and times', async (page) => {
  await page.locator('#tab-symptoms').click();
  const entry = (minute, text) =>
    JSON.stringify({
      level: 'ERROR',
      time: `2026-04-23T18:0${minute}:00.000Z`,
      logger: 'controller',
      message: text,
      commit: '1c39126',
    });
  await send(page, `${entry(1, 'the frobnicator 7 broke')}\n${entry(3, 'the frobnicator 8 broke')}\n`);
  const row = page.getByRole('list', { name: 'Errors that are not recognised' }).getByRole('listitem');
  await row.first().waitFor();
  assert.deepEqual(await row.locator('code').allTextContents(), ['the frobnicator … broke']);
  assert.match(await row.first().textContent(), /2 times · 2026-04-23T18:01:00\S* to 2026-04-23T18:03:00/);
});

onPage('says that a log does not come from Karpenter', async (page) => {
  await page.locator('#tab-symptoms').click();
  await send(page, '2026-04-23T18:04:55Z GET /index.html 200\n2026-04-23T18:04:56Z listening\n');
  await page.getByText('None of these lines is known to come from Karpenter').waitFor();
});
