// The Disruption tab: when Karpenter may disrupt nodes, and what blocks each node.

import assert from 'node:assert/strict';

import { drop, onPage, paste } from './browser.mjs';
import { NODES, POOL } from './disruption-input.mjs';

/** A Wednesday. */
const NOW = new Date('2026-03-11T10:30:00Z');
/** The lines of the budgets, counted from 0. */
const [ALWAYS, HOURS] = [13, 14];
const line = (number) => POOL.split('\n')[number];

async function open(page, text = POOL) {
  await paste(page, text);
  await page.locator('#tab-disruption').click();
  await page.locator('.week').first().waitFor();
}

/** Shows the week from a Wednesday in UTC. */
async function at(page, time = '2026-03-11T10:30') {
  await page.locator('#disruption-at').fill(time);
  await page.locator('#disruption-at').dispatchEvent('change');
  await page.locator(`.when[data-start="${time}:00Z"]`).first().waitFor({ state: 'attached' });
}

/** The lines at the cursor while the editor has the focus. */
const selected = (page) =>
  page.evaluate(
    () =>
      document.getElementById('editor').shadowRoot.activeElement?.closest('.cm-editor') &&
      [...document.getElementById('editor').shadowRoot.querySelectorAll('.cm-activeLine')].map(
        (line) => line.textContent,
      ),
  );
const slider = (page, reason) => page.getByRole('slider', { name: `Week of team for ${reason}` });
const value = (page, reason) => slider(page, reason).getAttribute('aria-valuetext');

onPage('loads the module when the tab opens', async (page, { sent }) => {
  const loaded = () => sent.filter((url) => /\/placement[^/]*$/.test(url));
  await paste(page, POOL);
  assert.deepEqual(loaded(), []);
  await page.locator('#tab-disruption').click();
  await page.locator('.week').waitFor();
  assert.equal(loaded().filter((url) => url.endsWith('.wasm')).length, 1);
});

onPage('shows the week of a budget for business hours, with dates in UTC', async (page) => {
  await open(page);
  await page.locator('#release').selectOption('1.14');
  await page.getByText('Judged for Karpenter 1.14').waitFor();
  await at(page);
  assert.deepEqual(await page.locator('.week h4').allTextContents(), ['Empty, Drifted', 'Underutilized']);
  assert.equal(await value(page, 'Empty'), 'all week: 7 nodes. budgets[0] (7), line 14. ');
  const box = page.locator('.reason').nth(1);
  await box.locator('summary').click();
  const rows = await box
    .locator('.intervals .interval')
    .evaluateAll((all) =>
      all.map((one) => [...one.children].filter((part) => !part.matches('.local')).map((part) => part.textContent)),
    );
  assert.deepEqual(rows.slice(0, 3), [
    ['no node', 'Wed 11 Mar 10:30 to 18:00 UTC', 'budgets[1] (0), line 15'],
    ['7 nodes', 'Wed 11 Mar 18:00 to Thu 12 Mar 08:00 UTC', 'budgets[0] (7), line 14'],
    ['no node', 'Thu 12 Mar 08:00 to 18:00 UTC', 'budgets[1] (0), line 15'],
  ]);
  assert.equal(rows.length, 11);
  const strip = box.locator('.week-strip');
  assert.deepEqual(await strip.locator('.day').allTextContents(), [
    'Thu 12',
    'Fri 13',
    'Sat 14',
    'Sun 15',
    'Mon 16',
    'Tue 17',
  ]);
  // The last interval is too narrow for a number.
  assert.equal(await strip.locator('.number').count(), 10);
  assert.equal(((await strip.locator('.closed').getAttribute('d')).match(/M/g) ?? []).length, 6);
});

onPage('arrow keys read the week, and Enter selects the line of the budget that decides', async (page) => {
  await open(page);
  await at(page);
  await page.locator('#disruption-now').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  while (!(await slider(page, 'Underutilized').evaluate((one) => one === document.activeElement)))
    await page.keyboard.press('Tab');
  assert.match(
    await value(page, 'Underutilized'),
    /^Wed 11 Mar 10:30 to 18:00 UTC: no node\. budgets\[1\] \(0\), line 15\. $/,
  );
  await page.keyboard.press('ArrowRight');
  assert.match(await value(page, 'Underutilized'), /^Wed 11 Mar 18:00 to Thu 12 Mar 08:00 UTC: 7 nodes\. budgets\[0\]/);
  assert.match(
    await page.locator('.reason').nth(1).locator('.readout').textContent(),
    /^7 nodes.*18:00 to Thu 12 Mar 08:00 UTC/,
  );
  await page.keyboard.press('End');
  assert.equal(await slider(page, 'Underutilized').getAttribute('aria-valuenow'), '11');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  assert.deepEqual(await selected(page), [line(HOURS)]);
});

onPage('the pointer describes an interval, and a click selects the line of its budget', async (page) => {
  await open(page);
  await at(page);
  const strip = page.locator('.week-strip').nth(1);
  const { width } = await strip.boundingBox();
  // Half a day after the start is Wednesday night.
  const position = { x: width / 14, y: 30 };
  await strip.hover({ position });
  assert.match(await page.locator('.reason').nth(1).locator('.readout').textContent(), /^7 nodesWed 11 Mar 18:00/);
  await strip.click({ position });
  assert.deepEqual(await selected(page), [line(ALWAYS)]);
});

onPage(
  'shows local time beside UTC',
  async (page) => {
    await open(page);
    await at(page);
    assert.equal(
      await page.locator('.reason').nth(1).locator('.readout .local').textContent(),
      'Wed 11 Mar 16:00 to 23:30 in Asia/Calcutta',
    );
  },
  { context: { timezoneId: 'Asia/Calcutta' } },
);

onPage('points out windows that overlap or stay closed', async (page) => {
  const budgets = `
      - {nodes: '2', reasons: [Drifted], schedule: 0 16 * * mon-fri, duration: 4h}
      - {nodes: '1', reasons: [Drifted], schedule: 0 18 * * mon-fri, duration: 4h}
      - {nodes: '0', schedule: 0 0 1 1 *, duration: 1h}
`;
  await open(page, POOL.trimEnd() + budgets);
  await at(page);
  const remarks = await page.locator('.remarks li').allTextContents();
  assert.equal(remarks.length, 2, remarks.join('\n'));
  assert.match(
    remarks[0],
    /^The window of budgets\[4\] \(0\) stays closed all week; it opens on Fri 2027-01-01 00:00\. Show budgets\[4\] \(0\), line 18$/,
  );
  assert.match(
    remarks[1],
    /^The windows of budgets\[2\] \(2\) and budgets\[3\] \(1\) overlap, first from Wed 2026-03-11 18:00 to Wed 2026-03-11 20:00; .* decides\. Show budgets\[3\] \(1\), line 17$/,
  );
  await page.locator('.remarks .link').first().click();
  assert.match((await selected(page))[0], /0 0 1 1/);
});

onPage('a NodePool that blocks everything says so', async (page) => {
  await open(page, POOL.replace("nodes: '7'", "nodes: '0'"));
  assert.match(await page.locator('.remarks').textContent(), /No node may be disrupted for the reason Empty all week/);
});

onPage('nodes come with what blocks them, what helps, and the line at fault', async (page) => {
  await open(page, POOL + NODES);
  await at(page);
  assert.match(await page.locator('#disruption-verdict').textContent(), /^Now: no node is disrupted$/);
  const rows = page.locator('#blocked > li');
  assert.equal(await rows.count(), 2);
  assert.match(
    await rows.nth(0).textContent(),
    /^kept NodePool teampod-do-not-disrupt: .*Remove the annotation from the pod/,
  );
  assert.match(
    await rows.nth(1).textContent(),
    /^lonelyunmanaged: .*Karpenter disrupts only nodes that have a NodeClaim\./,
  );
  await rows.nth(0).locator('summary').click();
  const story = await rows.nth(0).locator('.node-story').textContent();
  assert.match(
    story,
    /^Every methodstopped by what is in the wayDrainnever endspod shop\/web has karpenter\.sh\/do-not-disrupt.*Initialized is True since Sun 2026-03-01 10:02/,
  );
  await rows.nth(0).locator('.node-places .link').click();
  assert.match((await selected(page))[0], /do-not-disrupt/);
});

onPage(
  'the story of a node says what consolidation would do with it alone, whatever the budget allows',
  async (page) => {
    const condition =
      "{type: Consolidatable, status: 'True', reason: Consolidatable, lastTransitionTime: '2026-03-01T10:03:00Z'}";
    await open(
      page,
      POOL +
        NODES.replace(", annotations: {karpenter.sh/do-not-disrupt: 'true'}", '').replace(
          '    - {type: Initialized',
          `    - ${condition}\n    - {type: Initialized`,
        ),
    );
    await at(page);
    const row = page.locator('#blocked > li').nth(0);
    assert.match(await row.textContent(), /^kept NodePool teambudget: /);
    await row.locator('summary').click();
    await row.getByText('This node alone').waitFor();
    assert.match(
      await row.locator('.node-story').textContent(),
      /This node alonewould replace the node by one of \d+ types, such as [\w.-]+ for \$[\d.]+; saves \$[\d.]+ per hourDrain/,
    );
  },
);

onPage('judges again while typing, and keeps the focus and what is open', async (page) => {
  await open(page);
  await at(page);
  await page.locator('.reason').nth(1).locator('summary').click();
  await paste(page, POOL.replace("nodes: '7'", "nodes: '9'"));
  await page.waitForFunction(() => /9 nodes/.test(document.querySelector('.readout')?.textContent));
  assert.equal(await page.locator('.reason').nth(1).locator('details').getAttribute('open'), '');
  assert.equal(await page.locator('#disruption-at').inputValue(), '2026-03-11T10:30');
});

onPage('the week starts now unless the visitor chooses a time', async (page) => {
  await open(page);
  const now = Date.now();
  const from = async () => Date.parse(`${await page.locator('#disruption-at').inputValue()}Z`);
  assert.ok(now - (await from()) < 120_000);
  await at(page);
  await page.locator('#disruption-now').click();
  await page.waitForFunction(() => !document.getElementById('disruption-at').value.startsWith('2026-03-11'));
  assert.ok(now - (await from()) < 120_000);
});

onPage('a visitor who leaves before the answer finds it on return', async (page) => {
  await paste(page, POOL);
  // Counts the answers of workers that start from here on.
  await page.evaluate(() => {
    globalThis.answers = 0;
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (kind, listener) {
      const counting = (event) => {
        listener(event);
        globalThis.answers++;
      };
      add.call(this, kind, kind === 'message' ? counting : listener);
    };
  });
  for (const [tab, answer, answers] of [
    ['disruption', '.week', 1],
    ['placement', '#placement .calm', 2],
  ]) {
    // Leaves as soon as the tab is drawn, in the same task, so the answer comes later.
    await page.evaluate(
      (tab) =>
        new Promise((resolve) => {
          const observer = new MutationObserver(() => {
            if (!document.getElementById(tab)) return;
            observer.disconnect();
            document.getElementById('tab-findings').click();
            resolve();
          });
          observer.observe(document.getElementById('view'), { childList: true });
          document.getElementById(`tab-${tab}`).click();
        }),
      tab,
    );
    await page.waitForFunction((answers) => globalThis.answers >= answers, answers);
    await page.locator(`#tab-${tab}`).click();
    await page.locator(answer).first().waitFor();
  }
});

onPage('judges the objects that a kustomization builds', async (page) => {
  const patch = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: team}
spec:
  disruption:
    budgets: [{nodes: '3'}]
`;
  await drop(page, [
    { name: 'kustomization.yaml', text: 'resources: [pool.yaml]\npatches: [{path: patch.yaml}]\n' },
    { name: 'pool.yaml', text: POOL },
    { name: 'patch.yaml', text: patch },
  ]);
  await page.locator('#tab-disruption').click();
  await page.locator('.readout', { hasText: '3 nodes' }).first().waitFor();
  assert.equal(await page.locator('.week').count(), 1);
});

onPage('names of NodePools, nodes and budgets stay text', async (page) => {
  const evil = '<img src=x onerror=alert(1)>';
  await open(
    page,
    (POOL + NODES)
      .replaceAll('name: team\n', `name: "${evil}"\n`)
      .replaceAll('nodepool: team', `nodepool: "${evil}"`)
      .replace('name: lonely', `name: "${evil}"`)
      .replace("nodes: '7'", `nodes: "${evil}"`),
  );
  assert.equal(await page.locator('#disruption img').count(), 0);
  assert.ok((await page.locator('.week h3').first().textContent()).includes(evil));
});

onPage('asks for a NodePool where there is none, and an example adds one', async (page) => {
  await page.locator('#tab-disruption').click();
  await page.getByText('No NodePool').waitFor();
  assert.equal(await page.locator('#disruption-at').isVisible(), false);
  await page.getByRole('button', { name: 'Add an example' }).click();
  await page.locator('.week').waitFor();
  await page.locator('.remarks').waitFor();
});

onPage('a schedule in the editor tells the week of its budget', async (page, { sent }) => {
  const cron = `---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec: {schedule: 5 4 * * *}
`;
  await paste(page, POOL + cron);
  await page.clock.install({ time: NOW });
  const loaded = () => sent.some((url) => /placement[^/]*\.wasm$/.test(url));
  await page.locator('.cm-line', { hasText: '5 4' }).locator('span', { hasText: '5 4' }).first().hover();
  await page.locator('.cm-line', { hasText: 'nodeClassRef' }).hover();
  assert.equal(loaded(), false);
  await page.locator('.cm-line', { hasText: 'mon-fri' }).locator('span', { hasText: 'mon-fri' }).first().hover();
  const tip = page.locator('.tip-week');
  await tip.waitFor();
  assert.match(
    await tip.textContent(),
    /^budgets\[1\] \(0\) of NodePool team allows at most 0 nodes at a time for Underutilized while its window is open\./,
  );
  const windows = await tip.locator('li').allTextContents();
  const days = ['Thu 12', 'Fri 13', 'Mon 16', 'Tue 17'];
  // The first and the last window are cut by the start and the end of the week.
  assert.equal(windows.length, 6);
  assert.deepEqual(
    windows.slice(1, 5),
    days.map((day) => `${day} Mar 08:00 to 18:00`),
  );
  assert.equal(((await tip.locator('.open').getAttribute('d')).match(/M/g) ?? []).length, windows.length);
  assert.equal(loaded(), true);
});

onPage('a schedule whose window stays closed says when it opens', async (page) => {
  await paste(page, POOL.replace('0 8 * * mon-fri', '0 8 29 2 *'));
  await page.clock.install({ time: NOW });
  await page.locator('.cm-line', { hasText: '29 2' }).locator('span', { hasText: '29 2' }).first().hover();
  await page.locator('.tip-week').waitFor();
  assert.match(
    await page.locator('.tip-week').textContent(),
    /The window stays closed all week, and opens on Tue 29 Feb 08:00 UTC\./,
  );
});

onPage('a schedule that Karpenter cannot read says what follows', async (page) => {
  await paste(page, POOL.replace('0 8 * * mon-fri', '0 8 * * 8'));
  await page.locator('.cm-line', { hasText: '* 8' }).locator('.cm-lintRange').first().hover();
  await page.locator('.tip-week').waitFor();
  assert.match(
    await page.locator('.tip-week').textContent(),
    /^Karpenter cannot read this schedule, and disrupts nothing in NodePool team\.$/,
  );
});
