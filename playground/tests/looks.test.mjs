// Takes a screenshot of every state (screenshots/), and checks accessibility with axe and the size of touch targets.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { accessible, drop, opened, paste, screenshot, root, settled, structured, visit } from './browser.mjs';
import { EDITED, POOL as TEAM, cluster } from './change-input.mjs';
import { NODES, POOL } from './disruption-input.mjs';

const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('-bad.yaml'));
const example = (name) => readFileSync(join(root, 'examples', name), 'utf8');

const STATES = {
  first: async () => {},
  'one-error': async (page) => {
    await page.locator('.finding .jump').click();
    await page.locator('.fix').click();
    await page.locator('.preview').waitFor();
  },
  'many-findings': async (page) => {
    await paste(page, examples.map(example).join('\n---\n'));
    await page.locator('.finding').nth(2).waitFor();
  },
  hover: async (page) => {
    await page.locator('.cm-lintRange-error').hover();
    await page.locator('.cm-tooltip').first().waitFor();
  },
  clean: async (page) => {
    await paste(page, example('nodeclass-good.yaml'));
    await page.getByText('Nothing to report').waitFor();
  },
  broken: async (page) => {
    await paste(page, 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\n spec: {\n');
    await page.locator('.unread').waitFor();
  },
  template: async (page) => {
    await paste(
      page,
      'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: {{ .Values.name }}\nspec:\n  {{- toYaml .Values.spec | nindent 2 }}\n',
    );
    await page.getByText('template, not checked').waitFor();
  },
  empty: async (page) => {
    await paste(page, ' ');
    await page.getByText('Nothing to check yet').waitFor();
  },
  documentation: async (page) => {
    await page.getByRole('button', { name: 'Why instance-profile-is-arn' }).click();
    await page.getByRole('heading', { name: 'References' }).waitFor();
  },
  admission: async (page) => {
    await page.locator('#tab-admission').click();
    await page.locator('#verdict').waitFor();
  },
  'admission-refused': async (page) => {
    await paste(page, example('labels-bad.yaml'));
    await page.locator('#tab-admission').click();
    await page.getByText('Refused by the API server').waitFor();
  },
  'log-in-manifest': async (page) => {
    await paste(
      page,
      `${example('nodeclass-good.yaml')}${readFileSync(join(root, 'examples/symptoms/foreign-collection/karpenter.log'), 'utf8')}`,
    );
    await page.locator('.notice').waitFor();
  },
  releases: async (page) => {
    await paste(
      page,
      `${example('labels-bad.yaml').replace('karpenter.sh/team: batch', 'node-role.kubernetes.io/batch: ""')}\n---\n${example('nodeclass-bad.yaml')}`,
    );
    await page.locator('#tab-releases').click();
    await page.locator('.strip').waitFor();
  },
  placement: async (page) => {
    await page.locator('#tab-placement').click();
    await page.getByRole('button', { name: 'Add an example' }).click();
    await page.locator('.node').first().waitFor();
    await page.locator('.types summary').click();
    await page.locator('.types table').waitFor();
  },
  'placement-empty': async (page) => {
    await page.locator('#tab-placement').click();
    await page.getByText('No pods to place').waitFor();
  },
  disruption: async (page) => {
    await page.locator('#tab-disruption').click();
    await page.getByRole('button', { name: 'Add an example' }).click();
    await page.locator('.week').waitFor();
    await page.locator('.reason summary').nth(1).click();
  },
  'disruption-nodes': async (page) => {
    await paste(page, POOL + NODES);
    await page.locator('#tab-disruption').click();
    await page.locator('#blocked summary').first().click();
    await page.locator('#blocked').scrollIntoViewIfNeeded();
  },
  'disruption-empty': async (page) => {
    await page.locator('#tab-disruption').click();
    await page.getByText('No NodePool').waitFor();
  },
  change: async (page) => {
    await drop(page, [{ name: 'team.yaml', text: TEAM }]);
    await opened(page, 'team.yaml');
    await page.locator('#tab-change').click();
    await page.locator('#change-time').waitFor();
    await paste(page, EDITED);
    await page.locator('.fields').first().waitFor();
  },
  'change-nodes': async (page) => {
    await drop(page, [{ name: 'team.yaml', text: TEAM + cluster() }]);
    await opened(page, 'team.yaml');
    await paste(page, EDITED + cluster());
    await page.locator('#tab-change').click();
    await page.locator('.rollout').scrollIntoViewIfNeeded();
  },
  'change-empty': async (page) => {
    await page.locator('#tab-change').click();
    await page.locator('#change-time').waitFor();
  },
  'symptoms-empty': async (page) => {
    await page.locator('#tab-symptoms').click();
    await page.getByText('No log, event or status yet').waitFor();
  },
  symptoms: async (page) => {
    await page.locator('#examples').click();
    await page.locator('.menu button', { hasText: 'double-nodeclaim' }).click();
    await page.locator('#diagnoses .evidence').first().waitFor();
  },
  timeline: async (page) => {
    const folder = join(root, 'crates/symptoms/src/story/example');
    await drop(
      page,
      readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') })),
    );
    await page.locator('#tab-symptoms').click();
    await page.locator('#timeline').click();
    await page.locator('.lives .link').first().click();
    await page.locator('.steps li').first().waitFor();
  },
  'symptoms-large': async (page) => {
    const log = readFileSync(join(root, 'examples/symptoms/foreign-collection/karpenter.log'), 'utf8');
    await drop(page, [{ name: 'karpenter-a.log', text: log, times: 200 }]);
    await page.locator('#diagnoses .evidence .link').first().click();
    await page.locator('.excerpt .here').waitFor();
  },
  'symptoms-reading': async (page) => {
    await drop(page, [
      { name: 'karpenter-a.log', text: '{"level":"INFO","message":"nothing"}\n'.repeat(30_000), times: 450 },
    ]);
    await page.waitForFunction(() => document.querySelector('#reading progress')?.value > 0);
  },
  settings: async (page) => {
    await page.locator('#settings').click();
    await page.locator('#settings-text').waitFor();
    await page.getByRole('button', { name: 'Add an exception' }).click();
  },
  share: async (page) => {
    await page.locator('#share').click();
    await page.waitForFunction(() => document.getElementById('share-link')?.value);
  },
  examples: async (page) => {
    await page.locator('#examples').click();
    await page.locator('.menu button').first().waitFor();
  },
};

for (const [name, reach] of Object.entries(STATES)) {
  test(`${name}: light and dark`, async () => {
    const visited = await visit();
    const { page } = visited;
    try {
      await reach(page);
      await screenshot(page, name);
      await accessible(page, name);
      await structured(page, name);
      await page.emulateMedia({ colorScheme: 'dark' });
      await screenshot(page, `${name}-dark`);
      await accessible(page, `${name}, dark`);
    } catch (error) {
      await visited.close({ allow: [/./] });
      throw error;
    }
    await visited.close();
  });
}

test('phone: one column, the count stays visible, touch targets are at least 44 px', async () => {
  const visited = await visit({
    context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  });
  const { page } = visited;
  try {
    await screenshot(page, 'phone');
    assert.match(await page.locator('#show-panel').textContent(), /1 error/);
    assert.equal(await page.locator('#panel').isVisible(), false);
    await accessible(page, 'phone');
    await structured(page, 'phone');
    await page.locator('#show-panel').tap();
    await structured(page, 'phone, findings');
    assert.equal(await page.locator('#editor').isVisible(), false);
    await screenshot(page, 'phone-findings');
    const small = await page.evaluate(() =>
      [...document.querySelectorAll('button, select')]
        .filter((one) => one.checkVisibility() && !one.classList.contains('link'))
        .map((one) => ({ name: one.id || one.textContent, ...one.getBoundingClientRect().toJSON() }))
        .filter((box) => box.height < 44 || box.width < 44)
        .map(({ name, width, height }) => `${name} ${width}x${height}`),
    );
    assert.deepEqual(small, []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `the page is wider than the screen: ${wide}`);
    const top = (id) => page.evaluate((id) => document.getElementById(id).getBoundingClientRect().top, id);
    assert.equal(await top('theme'), await top('examples'), 'the toolbar has one row');
    await page.locator('.fix').tap();
    await page.locator('.preview').waitFor();
    await screenshot(page, 'phone-preview');
    await page.getByRole('button', { name: 'Cancel' }).tap();
    await page.locator('.finding .jump').tap();
    assert.equal(await page.locator('#editor').isVisible(), true, 'a tap on a finding shows its line');
    for (const tab of ['admission', 'releases', 'placement', 'disruption', 'change', 'symptoms']) {
      await page.locator('#show-panel').tap();
      await page.locator(`#tab-${tab}`).tap();
      await page
        .locator(
          {
            admission: '#verdict',
            releases: '.strip',
            placement: '.calm',
            disruption: '.calm',
            change: '#change-time',
            symptoms: '.calm',
          }[tab],
        )
        .waitFor();
      await screenshot(page, `phone-${tab}`);
      await structured(page, `phone, ${tab}`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    }
    await page.locator('#tab-disruption').tap();
    await page.getByRole('button', { name: 'Add an example' }).tap();
    await page.locator('.week').waitFor();
    await screenshot(page, 'phone-disruption-week');
    await structured(page, 'phone, a week of disruption');
    const low = await page.evaluate(() =>
      [...document.querySelectorAll('#view button, #view summary, #view [role="slider"], #view input')]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
        .map((one) => one.outerHTML),
    );
    assert.deepEqual(low, []);
    await page.locator('#settings').tap();
    await page.locator('#settings-text').waitFor();
    await screenshot(page, 'phone-settings');
    await structured(page, 'phone, settings');
  } catch (error) {
    await visited.close({ allow: [/./] });
    throw error;
  }
  await visited.close();
});

test('200 % zoom, forced colours, reduced motion and more contrast', async () => {
  const visited = await visit({ context: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } });
  const { page } = visited;
  try {
    await screenshot(page, 'zoom');
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 720);
    await accessible(page, 'zoom');
    await page.locator('#show-panel').click();
    await screenshot(page, 'zoom-findings');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ forcedColors: 'active' });
    await screenshot(page, 'forced-colours');
    await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'reduce' });
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter(
          (one) => getComputedStyle(one).transitionDuration !== '0s' || getComputedStyle(one).animationName !== 'none',
        )
        .map((one) => one.tagName),
    );
    assert.deepEqual(moving, []);
    await page.emulateMedia({ contrast: 'more' });
    await screenshot(page, 'more-contrast');
    await settled(page);
  } catch (error) {
    await visited.close({ allow: [/./] });
    throw error;
  }
  await visited.close();
});

test('embedded page', async () => {
  const visited = await visit({ path: '?embed=1', context: { viewport: { width: 900, height: 420 } } });
  await screenshot(visited.page, 'embed');
  await accessible(visited.page, 'embed');
  await visited.close();
});
