// The page of `karpwarden report`, opened from disk, and of `karpwarden open`. The program is in the variable KARPWARDEN, or a debug build.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { path, reportPage } from '../report.mjs';
import { accessible, root, screenshot, structured, withPage } from './browser.mjs';
import { NODES, POOL } from './disruption-input.mjs';

const command = process.env.KARPWARDEN ?? join(root, 'target/debug/karpwarden');
const AT = ['--at', '2026-03-11T10:30:00Z'];
const PENDING = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: big, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: big}}
  template:
    metadata: {labels: {app: big}}
    spec:
      nodeSelector: {disk: local}
      containers: [{name: big, image: nginx, resources: {requests: {cpu: '2', memory: 1Gi}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: small, namespace: shop}
spec: {containers: [{name: small, image: nginx, resources: {requests: {cpu: '3'}}}]}
`;

const folder = mkdtempSync(join(tmpdir(), 'karpwarden-report-'));
const file = (name) => join(folder, name);
const address = (name) => pathToFileURL(file(name)).href;
const write = (name, args) => execFileSync(command, ['report', '--quiet', ...AT, '--output', file(name), ...args]);

before(() => {
  mkdirSync(file('cluster'));
  writeFileSync(file('cluster/cluster.yaml'), POOL + NODES + PENDING);
  cpSync(join(root, 'examples/nodeclass-bad.yaml'), file('cluster/nodeclass-bad.yaml'));
  cpSync(join(root, 'examples/symptoms/registration-taint-absent'), file('cluster/logs'), { recursive: true });
  write('report.html', [file('cluster')]);
});
after(() => rmSync(folder, { recursive: true }));

/** Opens a file in a new page, which may request nothing else. */
async function onFile(name, run, context = {}) {
  const server = { address: address(name), close: () => {} };
  await withPage({ server, unchecked: true, context }, async (page, visited) => {
    await page.locator('h1').waitFor();
    await run(page);
    assert.deepEqual(
      visited.sent.filter((url) => url !== server.address && !url.startsWith('data:')),
      [],
    );
  });
}

test('the page in the command line is the page that the sources give', async () => {
  assert.ok(readFileSync(path, 'utf8') === (await reportPage()), 'run `make generate`');
});

test('a file shows every answer and requests nothing', async () => {
  await onFile('report.html', async (page) => {
    assert.match(await page.title(), /^cluster: Karpwarden report$/);
    const tiles = await page.locator('.tile').allInnerTexts();
    assert.equal(tiles.length, 5);
    assert.match(tiles[0], /error/);
    assert.match(tiles[1], /2 pods without a node/);
    assert.match(tiles[3], /of 2 nodes blocked/);
    assert.match(tiles[4], /symptom/);
    await page.locator('#findings').waitFor();
    assert.ok((await page.locator('.finding').count()) > 1);
    assert.match(await page.locator('#unplaced').innerText(), /shop\/big ×2/);
    assert.match(await page.locator('#new-nodes').innerText(), /NodePool team[^]*\$\d/);
    await page.locator('.week', { hasText: 'NodePool team' }).waitFor();
    const kept = page.locator('.blocked', { hasText: 'kept' });
    assert.match(await kept.innerText(), /do-not-disrupt/);
    await kept.locator('summary').click();
    assert.match(await kept.innerText(), /Drain/i);
    assert.ok((await page.locator('.evidence li').count()) > 0);
    assert.match(await page.locator('#foot').innerText(), /kB of answers/);
    await accessible(page, 'report');
    await structured(page, 'report');
  });
});

test('keys lead to the parts of the page and along a week', async () => {
  await onFile('report.html', async (page) => {
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the report');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^Findings/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(new URL(page.url()).hash, '#calendar');
    const slider = page.locator('.week-slider').last();
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await slider.getAttribute('aria-valuenow'), '2');
    // A budget has no text to go to.
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.week .link').count(), 0);
  });
});

test('a theme can be chosen, and a narrow page has one column', async () => {
  await onFile('report.html', async (page) => {
    await screenshot(page, 'report');
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    assert.notEqual(await paper(), light);
    await accessible(page, 'report, dark by choice');
  });
  const phone = { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true };
  await onFile(
    'report.html',
    async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 390, `${width} px`);
      await accessible(page, 'report on a phone');
      await screenshot(page, 'report-phone');
    },
    phone,
  );
  await onFile(
    'report.html',
    async (page) => {
      await accessible(page, 'report, dark');
      await screenshot(page, 'report-dark');
    },
    { colorScheme: 'dark' },
  );
});

test('text of the input stays text', async () => {
  const markup = '</script><img src=x onerror=alert(1)>';
  mkdirSync(file('hostile'));
  writeFileSync(file('hostile/a.yaml'), POOL.replaceAll('team', JSON.stringify(markup)));
  write('hostile.html', [file('hostile'), '--title', markup]);
  await onFile('hostile.html', async (page) => {
    assert.equal(await page.locator('h1').innerText(), markup);
    assert.equal(await page.locator('img').count(), 0);
    assert.match(await page.locator('.week h3').innerText(), /onerror=alert/);
  });
});

test('the served page follows its input', async () => {
  const input = file('served');
  mkdirSync(input);
  writeFileSync(join(input, 'a.yaml'), readFileSync(join(root, 'examples/nodeclass-bad.yaml')));
  const process = spawn(command, ['open', ...AT, input], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const line = await new Promise((resolve) => createInterface(process.stdout).once('line', resolve));
    const [served] = /http:\S+/.exec(line);
    await withPage({ server: { address: served, close: () => {} }, unchecked: true }, async (page) => {
      await page.locator('.finding').first().waitFor();
      writeFileSync(join(input, 'a.yaml'), readFileSync(join(root, 'examples/nodeclass-good.yaml')));
      await page.getByText('Nothing to report').waitFor();
      await accessible(page, 'served report');
    });
  } finally {
    process.kill();
  }
});
