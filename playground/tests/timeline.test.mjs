// The timeline of the Symptoms tab: the lives of NodeClaims, and the story of one object.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { drop, onPage, opened, root } from './browser.mjs';

const folder = join(root, 'crates/symptoms/src/story/example');
const FILES = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

async function open(page, files = FILES) {
  await drop(page, files);
  await opened(page, files[0].name);
  await page.locator('#tab-symptoms').click();
  await page.locator('#timeline').click();
  await page.locator('.lives li').first().waitFor();
}

async function tell(page, name) {
  await page.locator('#story-name').fill(name);
  await page.keyboard.press('Enter');
}

const rows = (page) => page.locator('.lives > li');
const steps = (page) => page.locator('.steps > li').allTextContents();
const shapes = (page, row) =>
  rows(page)
    .nth(row)
    .locator('.life-bar rect:not(.ground)')
    .evaluateAll((all) =>
      all.map((one) => ({
        phase: one.getAttribute('class'),
        x: Number(one.getAttribute('x')),
        end: Number(one.getAttribute('x')) + Number(one.getAttribute('width')),
      })),
    );

onPage('draws each NodeClaim, and says the same in words', async (page) => {
  await open(page);
  assert.deepEqual(await page.locator('.lives .life .link').allTextContents(), [
    'default-7xk2p',
    'gpu-zz9zz',
    'default-b4r7d',
  ]);
  assert.match(await rows(page).nth(0).textContent(), /NodePool default · c6i\.large spot eu-west-1a · 2 pods/);
  assert.equal(
    await rows(page).nth(0).locator('.moments').textContent(),
    'created Tue 21 Oct 12:00 UTC, launched after 3 s, registered after 39 s, initialized after 54 s, disrupted (underutilized) after 3 h 0 min, draining after 3 h 1 min, terminated after 3 h 3 min',
  );
  const phases = (await shapes(page, 0)).map(({ phase }) => phase);
  assert.deepEqual(phases, ['starting', 'starting', 'starting', 'used', 'leaving', 'leaving']);
  const used = (await shapes(page, 0))[3];
  assert.ok(used.x < 10 && used.end > 980, JSON.stringify(used));
});

onPage('a NodeClaim without an end lives until the end of the input', async (page) => {
  await open(page);
  assert.equal((await shapes(page, 2)).at(-1).phase, 'used');
  assert.ok((await shapes(page, 2)).at(-1).end >= 999);
});

onPage('the keyboard opens the timeline and the story of a NodeClaim, with the lines that show it', async (page) => {
  await drop(page, FILES);
  // A later answer of the check would draw the tab again.
  await opened(page, FILES[0].name);
  await page.locator('#tab-symptoms').click();
  await page.locator('#timeline').focus();
  await page.keyboard.press('Enter');
  await rows(page).first().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.steps li').first().waitFor();
  assert.equal(
    await page.evaluate(() => document.activeElement.textContent),
    'Node ip-10-0-37-12.eu-west-1.compute.internal',
  );
  const told = await steps(page);
  assert.equal(told[0], 'Tue 21 Oct 12:00:01created for pending podskarpenter.log, line 3');
  assert.ok(
    told.some((text) =>
      /^Tue 21 Oct 12:10:00blocked ×5 until Tue 21 Oct 13:30:00 pdb · Pdb prevents pod evictions.*the PodDisruptionBudget allows no eviction now/.test(
        text,
      ),
    ),
    told.join('\n'),
  );
  await page.locator('.steps .link').first().click();
  assert.equal(await page.locator('.file .tab[aria-current] .name').textContent(), 'karpenter.log');
});

onPage('tells the story of a pod, a NodePool and a node by name', async (page) => {
  await open(page);
  for (const [name, title] of [
    ['shop/api-6d5f7c9b8-qk2vx', 'Pod shop/api-6d5f7c9b8-qk2vx'],
    ['gpu', 'NodePool gpu'],
    ['ip-10-0-37-12.eu-west-1.compute.internal', 'Node ip-10-0-37-12.eu-west-1.compute.internal'],
  ]) {
    await tell(page, name);
    await page.locator('#story h4', { hasText: title }).waitFor();
    assert.ok((await steps(page)).length > 0);
  }
  await tell(page, 'nobody');
  await page.getByText('No input mentions nobody.').waitFor();
});

onPage('a step without a time shows its age', async (page) => {
  const events = `LAST SEEN   TYPE     REASON             OBJECT                    MESSAGE
3m12s       Normal   Unconsolidatable   nodeclaim/default-7xk2p   Can't replace with a cheaper node
`;
  await drop(page, [{ name: 'events.txt', text: events }]);
  await opened(page, 'events.txt');
  await page.locator('#tab-symptoms').click();
  await page.locator('#timeline').click();
  await page.locator('.timeline .digest, .lives').first().waitFor();
  await tell(page, 'default-7xk2p');
  await page.locator('.steps li').first().waitFor();
  assert.match((await steps(page))[0], /^192s ago/);
});

onPage('follows the input while it is open', async (page) => {
  await open(page);
  await drop(page, [
    {
      name: 'karpenter.log',
      text: FILES.find(({ name }) => name === 'karpenter.log').text.replaceAll('default-7xk2p', 'default-other'),
    },
  ]);
  await page.locator('.lives .link', { hasText: 'default-other' }).waitFor();
  assert.equal(await page.locator('.timeline').getAttribute('open'), '');
});

onPage('the report for download has no story', async (page) => {
  await open(page);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download JSON' }).click();
  const report = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  assert.equal('stories' in report, false);
});

onPage('names in logs stay text', async (page) => {
  const evil = '<img src=x onerror=alert(1)>';
  await open(
    page,
    FILES.map(({ name, text }) => ({ name, text: text.replaceAll('default-7xk2p', evil) })),
  );
  assert.equal(await page.locator('.timeline img').count(), 0);
});
