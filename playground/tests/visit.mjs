// Drives the built page in a real browser, for the tests and the benchmark.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { chromium } from 'playwright-core';

import { serve } from '../serve.mjs';

export const here = dirname(fileURLToPath(import.meta.url));
export const dist = join(here, '../dist');
export const root = join(here, '../..');
const screens = join(here, '../screenshots');

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Path of the browser: CHROMIUM, or an installed one. */
function executable() {
  const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = candidates.find((path) => path && existsSync(path));
  if (!found)
    throw new Error('Chromium is missing: install it with `apt-get install chromium`, or set CHROMIUM to its path');
  return found;
}

export const launch = () => chromium.launch({ executablePath: executable(), args: FLAGS, headless: true });

/**
 * Opens a page in a new context, which shares nothing with others: by default of a new browser, which ends with it. `close` throws
 * if the page requested another origin, violated its content policy, opened a dialog or logged an error.
 */
export async function visit({ path = '', ...options } = {}) {
  const server = options.server ?? (await serve(dist));
  const browser = options.browser ?? (await launch());
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    serviceWorkers: 'block',
    permissions: ['clipboard-read', 'clipboard-write'],
    acceptDownloads: true,
    ...options.context,
  });
  const failures = [];
  const sent = [];
  context.on('request', (request) => {
    sent.push(request.url());
    const inside = request.url().startsWith(server.address) || /^(blob|data):/.test(request.url());
    if (!inside) failures.push(`request to another origin: ${request.url()}`);
  });
  // Every page of the context is watched, also after a reload.
  await context.exposeBinding('reportViolation', (_, violation) => failures.push(`content policy: ${violation}`));
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      globalThis.reportViolation(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
    });
  });
  context.on('console', (message) => {
    if (message.type() === 'error') failures.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => failures.push(`error: ${error.error().message}\n${error.error().stack}`));
  context.on('dialog', (dialog) => {
    failures.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const page = await context.newPage();
  await page.goto(server.address + path);
  if (!options.unchecked) {
    await settled(page);
    await page.locator('.cm-content').waitFor();
  }
  return {
    page,
    context,
    server,
    sent,
    failures,
    async close({ allow = [] } = {}) {
      await context.close();
      if (!options.browser) await browser.close();
      if (!options.server) server.close();
      const bad = failures.filter((text) => !allow.some((pattern) => pattern.test(text)));
      if (bad.length > 0) throw new Error(bad.join('\n'));
    },
  };
}

/** Waits until the files have been checked with their latest texts. */
export async function settled(page) {
  await page.waitForFunction(() => document.getElementById('view').ariaBusy === 'false');
}

/** Pastes a text over the content of an editor, by default the one of the page, and waits for the check. */
export async function paste(page, text, host = '#editor') {
  await page.locator(`${host} .cm-content`).click();
  await page.keyboard.press('Control+A');
  await page.evaluate(
    ([text, host]) => {
      const content = document.querySelector(host).shadowRoot.querySelector('.cm-content');
      const data = new DataTransfer();
      data.setData('text/plain', text);
      content.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }),
      );
    },
    [text, host],
  );
  await settled(page);
}

/** Drops files on the page. `times` repeats the text of a large file. */
export async function drop(page, files) {
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const { name, text, times = 1 } of files)
      data.items.add(new File(Array(times).fill(text), name, { type: 'text/plain' }));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document
        .getElementById('editor')
        .dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, files);
}

/** Waits until the page has opened a dropped or chosen file and checked it. */
export async function opened(page, name) {
  await page.waitForFunction(
    (name) => [...document.querySelectorAll('.file .name')].some((one) => one.textContent === name),
    name,
  );
  await settled(page);
}

/** Clicks a button that copies a text, and returns the text. */
export async function copied(page, button) {
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Returns the share link with the files and settings it contains. The files are exactly the text in the editor. */
export async function shared(page) {
  await page.locator('#share').click();
  const link = await page.waitForFunction(() => document.getElementById('share-link')?.value);
  const value = await link.jsonValue();
  await page.keyboard.press('Escape');
  // The page moves the focus when the dialog has closed.
  await page.locator('dialog').waitFor({ state: 'detached' });
  return { link: value, ...unpack(value) };
}

export function unpack(link) {
  const bytes = Buffer.from(new URL(link).hash.slice(1), 'base64url');
  const { f = [], s = {} } = JSON.parse(inflateRawSync(bytes.subarray(1)).toString());
  return { files: f.map(([name, text]) => ({ name, text })), settings: s };
}

export function pack(value, version = 1) {
  const packed = deflateRawSync(typeof value === 'string' ? value : JSON.stringify(value));
  return Buffer.concat([Buffer.from([version]), packed]).toString('base64url');
}

/** Returns the text of the first file. */
export const text = async (page) => (await shared(page)).files[0].text;

/** Saves a screenshot for people to look at. */
export async function screenshot(page, name) {
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(screens, `${name}.png`) });
}

/** Fails on a serious or critical accessibility violation. */
export async function accessible(page, name) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary}`),
    }));
  });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious, [], name);
}

/** Fails on content outside of landmarks, and on a heading without a text. */
export async function structured(page, name) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const all = globalThis.axe.getRules().map(({ ruleId }) => ruleId);
    const named = ['region', 'empty-heading', 'page-has-heading-one'];
    const values = all.filter((id) => named.includes(id) || id.startsWith('landmark-'));
    const { violations } = await globalThis.axe.run(document, { runOnly: { type: 'rule', values } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  });
  assert.deepEqual(violations, [], name);
  assert.match(await page.locator('h1').first().innerText(), /\S/, name);
}

/** Returns the rule names in the list of findings. */
export const rules = (page) => page.locator('.finding .rule').allTextContents();
