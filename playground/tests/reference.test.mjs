// The static pages of the rules and symptoms.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { accessible, dist, onPage, root, rules, screenshot, settled, unpack, visit, withPage } from './browser.mjs';

const folder = join(dist, 'rules');
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.html'))
  .map((name) => name.replace('.html', ''));
const html = (name) => readFileSync(join(folder, `${name}.html`), 'utf8');
const hrefs = (name) => [...html(name).matchAll(/ href="([^"]*)"/g)].map(([, href]) => href.replaceAll('&amp;', '&'));
const withoutScripts = { unchecked: true, context: { javaScriptEnabled: false } };

test('every rule and symptom has a page', () => {
  const documented = readdirSync(join(root, 'docs/rules'))
    .map((name) => name.replace('.md', ''))
    .filter((name) => name !== 'README');
  assert.deepEqual(names.filter((name) => name !== 'index').sort(), documented.sort());
});

test('every page has its own title, description and canonical address', () => {
  const titles = new Set();
  for (const name of names) {
    const page = html(name);
    titles.add(/<title>([^<]+)<\/title>/.exec(page)[1]);
    assert.match(page, /<meta name="description" content="[^"]{10,}">/, name);
    assert.ok(
      page.includes(
        `<link rel="canonical" href="https://karpwarden.github.io/karpwarden/rules/${name === 'index' ? '' : name}">`,
      ),
      name,
    );
    assert.doesNotMatch(page, /<script|%[A-Z]+%/, name);
  }
  assert.equal(titles.size, names.length);
});

test('every internal link leads to a page of this site', () => {
  let links = 0;
  for (const name of names) {
    for (const href of hrefs(name)) {
      if (href.startsWith('https:')) continue;
      links++;
      const { pathname, hash } = new URL(href, `http://localhost/rules/${name}.html`);
      const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      assert.ok(existsSync(join(dist, file)), `${name}: ${href}`);
      if (hash && file.startsWith('/rules/'))
        assert.ok(
          html(file.slice('/rules/'.length, -'.html'.length)).includes(`id="${hash.slice(1)}"`),
          `${name}: ${href}`,
        );
    }
  }
  assert.ok(links > names.length);
});

test('related rules link to each other', () => {
  assert.ok(hrefs('instance-profile-is-arn').includes('instance-profile-not-found.html'));
  assert.ok(hrefs('instance-profile-not-found').includes('instance-profile-is-arn.html'));
});

onPage(
  'a rule page is readable without scripts, and its links work',
  async (page, { server }) => {
    await page.goto(`${server.address}rules/instance-profile-is-arn`);
    await page.getByRole('heading', { name: 'instance-profile-is-arn', level: 1 }).waitFor();
    for (const name of ['What it does', 'Why it is bad', 'Example', 'Use instead', 'References']) {
      assert.ok(await page.getByRole('heading', { name, exact: true }).isVisible(), name);
    }
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'nodeclass' }).click();
    await page.waitForURL(/rules\/index\.html#nodeclass$/);
    await page.getByRole('link', { name: 'al2-end-of-life', exact: true }).click();
    await page.getByRole('heading', { name: 'al2-end-of-life', level: 1 }).waitFor();
  },
  { ...withoutScripts, path: 'rules/' },
);

onPage(
  'an example opens in the playground with its findings',
  async (page) => {
    await page.getByRole('link', { name: 'Open in the playground' }).first().click();
    await page.locator('.finding').first().waitFor();
    assert.ok((await rules(page)).includes('instance-profile-is-arn'));
    assert.equal(await page.locator('.file [aria-current] .name').textContent(), 'instance-profile-is-arn.yaml');
  },
  { unchecked: true, path: 'rules/instance-profile-is-arn' },
);

onPage(
  'an example of a symptom opens in the playground with its diagnosis',
  async (page) => {
    await page.getByRole('link', { name: 'Open in the playground' }).first().click();
    await page.locator('#diagnoses .finding').first().waitFor();
    assert.ok((await page.locator('#diagnoses .rule').allTextContents()).includes('instance-profile-not-found'));
  },
  { unchecked: true, path: 'rules/instance-profile-not-found' },
);

test('the example of every rule has its finding in the playground', async () => {
  // An upgrade, several clusters, another date or a folder take the command line.
  const elsewhere = /^```yaml,.*(from=|clusters|today=|files)/m;
  const cases = names.flatMap((name) => {
    const [, example] = html(name).split('<h2>Example</h2>');
    if (!example) return [];
    const link = /href="\.\.\/(#[^"]+)"/.exec(example.split('<h2>')[0]);
    if (!link)
      assert.match(readFileSync(join(root, 'docs/rules', `${name}.md`), 'utf8'), elsewhere, `${name}: no link`);
    return link ? [{ name, ...unpack(`http://localhost/${link[1]}`) }] : [];
  });
  assert.ok(cases.length > 80, String(cases.length));
  await withPage({}, async (page, { server }) => {
    const worker = readdirSync(join(dist, 'assets')).find((asset) => asset.startsWith('engine-worker'));
    const found = await page.evaluate(
      async ([url, cases]) => {
        const worker = new Worker(url, { type: 'module' });
        const answers = new Promise((resolve) => {
          const reports = new Map();
          worker.onmessage = ({ data }) => {
            if ('progress' in data) return;
            reports.set(data.id, data.result?.json ?? data.error);
            if (reports.size === cases.length) resolve(cases.map((_, id) => reports.get(id)));
          };
        });
        cases.forEach(({ files, settings }, id) =>
          worker.postMessage({ id, method: 'check', args: [files, settings, null] }),
        );
        return answers;
      },
      [`${server.address}assets/${worker}`, cases],
    );
    const silent = cases.flatMap(({ name }, index) => {
      const reported = JSON.parse(found[index]).findings.map(({ rule }) => rule);
      return reported.includes(name) ? [] : [`${name}: ${reported}`];
    });
    assert.deepEqual(silent, []);
  });
});

onPage('the panel links to other rules and to the static page', async (page) => {
  await page.getByRole('button', { name: 'Why instance-profile-is-arn' }).click();
  const link = page.getByRole('link', { name: 'Open as a page' });
  assert.equal(await link.getAttribute('href'), 'rules/instance-profile-is-arn.html');
  await page.goto(`${page.url()}?rule=instance-profile-not-found`);
  await settled(page);
  await page.getByRole('heading', { name: 'What to do' }).waitFor();
  await page.locator('.doc').getByRole('link', { name: 'instance-profile-is-arn' }).click();
  await page.getByRole('heading', { name: 'Why it is bad' }).waitFor();
});

for (const [name, path] of [
  ['rule', 'rules/instance-profile-is-arn'],
  ['symptom', 'rules/instance-profile-not-found'],
  ['rules', 'rules/'],
]) {
  test(`static page: ${name}, light, dark and on a phone`, async () => {
    const visited = await visit({ unchecked: true, path });
    const { page } = visited;
    await screenshot(page, `static-${name}`);
    await accessible(page, name);
    await page.emulateMedia({ colorScheme: 'dark' });
    await screenshot(page, `static-${name}-dark`);
    await accessible(page, `${name}, dark`);
    await page.setViewportSize({ width: 390, height: 844 });
    await screenshot(page, `static-${name}-phone`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    await visited.close();
    assert.ok(width <= 390, `the page is wider than the screen: ${width}`);
  });
}
