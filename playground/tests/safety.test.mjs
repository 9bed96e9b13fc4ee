// Safety: foreign text stays text, limits hold, and marks are on the right characters. tests/browser.mjs fails every page
// that requests another origin or violates its content policy.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { serve } from '../serve.mjs';

import { dist, pack, paste, settled, shared, text, visit, withPage } from './browser.mjs';

const PAYLOADS = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "'><svg onload=alert(1)>",
  'javascript:alert(1)',
  '</textarea><iframe src=javascript:alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
];

/** Elements that the page itself never creates. The editor's own image beside an empty cursor has a class and no source. */
const foreign = (page) =>
  page.evaluate(() => {
    const all = [document, document.getElementById('editor').shadowRoot];
    return all.flatMap((root) =>
      [
        ...root.querySelectorAll(
          'img:not(.cm-widgetBuffer:not([src])), iframe, object, embed, script:not([src]), [onerror], [onload], a[href^="javascript:"]',
        ),
      ].map((node) => node.outerHTML),
    );
  });

const hostile = (payload) => {
  const quoted = JSON.stringify(payload);
  return `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: ${quoted}, namespace: ${quoted}, labels: {${quoted}: ${quoted}}}
spec:
  instanceProfile: ${JSON.stringify(`arn:aws:iam::111122223333:instance-profile/${payload}`)}
  role: ${quoted}
  ${quoted}: ${quoted}
  amiSelectorTerms: [{alias: ${quoted}}]
---
${payload}
---
apiVersion: ${quoted}
kind: ${quoted}
`;
};

test('the server refuses malformed addresses and goes on', async () => {
  const { address, close } = await serve(dist);
  const status = (path) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(address);
      get({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
  for (const path of ['/%', '/%E0%A4%A', '//', '/%00', '/a%00.html']) {
    assert.equal(await status(path), 400, path);
  }
  assert.equal(await status('/'), 200);
  close();
});

test('script payloads in manifests, file names and settings are shown as text', async () => {
  await withPage({}, async (page) => {
    for (const payload of PAYLOADS) {
      await paste(page, hostile(payload));
      await page.locator('.file [aria-current]').dblclick();
      await page.locator('.rename').fill(`${payload}.yaml`);
      await page.keyboard.press('Enter');
      await settled(page);
      await page.locator('#cluster').fill(payload);
      await settled(page);
      await page.locator('.finding').first().waitFor();
      assert.ok((await page.locator('.file .name').first().textContent()).startsWith(payload.trim()));
      for (const fix of await page.locator('.fix').all()) await fix.click();
      for (const tab of ['admission', 'releases', 'placement', 'disruption', 'change', 'symptoms', 'findings']) {
        await page.locator(`#tab-${tab}`).click();
        await page
          .locator(
            {
              admission: '.terminal, .calm',
              releases: '.strip, .calm',
              placement: '#placement .calm, #placement-verdict',
              disruption: '#disruption .calm, #disruption .week',
              change: '#change-time',
              symptoms: '.calm, .finding',
              findings: '.finding',
            }[tab],
          )
          .first()
          .waitFor();
        assert.deepEqual(await foreign(page), []);
      }
      await page.locator('.cm-lintRange').first().hover();
      await page.locator('.cm-tooltip').first().waitFor();
      await page.locator('#settings').click();
      await page
        .locator('#settings-text')
        .fill(
          `clusterName: ${JSON.stringify(payload)}\n${JSON.stringify(payload)}: 1\nrules: {${JSON.stringify(payload)}: deny}\n`,
        );
      await page.locator('.problem li').first().waitFor();
      assert.deepEqual(await foreign(page), []);
      await page.keyboard.press('Escape');
    }
  });
});

test('hostile share links are inert, and damaged links are reported', async () => {
  for (const payload of PAYLOADS) {
    const link = pack({
      f: [[payload, hostile(payload)]],
      s: { clusterName: payload, rules: { [payload]: 'deny' }, exceptions: [{ rule: payload, reason: payload }] },
    });
    await withPage({ path: `#${link}`, unchecked: true }, async (page) => {
      await settled(page);
      await page.locator('.notice, .finding').first().waitFor();
      await page.locator('.cm-content').waitFor();
      assert.deepEqual(await foreign(page), []);
    });
  }
  const bomb = pack(`{"f":[["a","${' '.repeat(40 << 20)}"]]}`);
  const polluting = pack(
    '{"f":[["a","b: 1"]],"s":{"__proto__":{"clusterName":"x"},"constructor":{"prototype":{"y":1}}}}',
  );
  for (const [fragment, expected] of [
    ['%%%', /The link is damaged/],
    ['AAAA', /The link is damaged/],
    [pack({ f: [] }), /The link is damaged/],
    [pack([1]), /The link is damaged/],
    [pack({ f: [['a', 'b']] }, 9), /newer version of this page/],
    [bomb, /The link is damaged/],
  ]) {
    await withPage({ path: `#${fragment}` }, async (page) => {
      assert.match(await page.locator('.notice').textContent(), expected);
      await page.locator('.finding').waitFor();
    });
  }
  await withPage({ path: `#${polluting}` }, async (page) => {
    assert.equal(await page.evaluate(() => ({}).clusterName ?? {}.y), undefined);
    assert.deepEqual((await shared(page)).settings, {});
  });
});

test('a corrupt stored state does not break the page', async () => {
  await withPage({}, async (page) => {
    for (const stored of [
      '{',
      '[]',
      '{"files":[{"name":1}],"active":9,"settings":[1],"theme":"<x>"}',
      '{"files":"x"}',
    ]) {
      await page.evaluate((stored) => {
        addEventListener('pagehide', () => localStorage.setItem('karpwarden', stored));
        localStorage.setItem('karpwarden', stored);
      }, stored);
      await page.reload();
      await settled(page);
      await page.locator('.finding').waitFor();
    }
  });
});

test('squiggles match the report for code points, surrogates, tabs and Windows line endings', async () => {
  const manifest = (end) =>
    [
      '# ключ 😀 e\u0301 日本語 \u{1F468}\u200D\u{1F469}\u200D\u{1F467}',
      'apiVersion: karpenter.k8s.aws/v1',
      'kind: EC2NodeClass',
      'metadata: {name: "😀é", annotations: {"ключ": "значение\t𝔘"}}',
      'spec: {tags: {"😀": "𝔘𝔫𝔦"}, instanceProfile: "arn:aws:iam::111122223333:instance-profile/😀/日本", amiFamily: AL2023}',
      '# end 😀',
      '',
    ].join(end);
  await withPage({}, async (page) => {
    for (const end of ['\n', '\r\n']) {
      const source = manifest(end);
      await paste(page, source);
      assert.equal(await text(page), source, 'the text is unchanged');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download JSON' }).click(),
      ]);
      const stream = await download.createReadStream();
      let json = '';
      for await (const piece of stream) json += piece;
      const finding = JSON.parse(json).findings.find((one) => one.rule === 'instance-profile-is-arn');
      const expected = source.slice(finding.offset, finding.endOffset);
      assert.match(expected, /^"arn:.*日本"$/);
      const line = source.split(end)[finding.line - 1];
      assert.equal(
        [...line].slice(finding.column - 1, finding.endColumn - 1).join(''),
        expected,
        'line and column agree',
      );
      // Syntax highlighting may split a mark.
      const marked = await page.evaluate(() => {
        const root = document.getElementById('editor').shadowRoot;
        return [...root.querySelectorAll('.cm-lintRange')].map((mark) => mark.textContent);
      });
      assert.ok(marked.join('\n').includes(expected), `${JSON.stringify(marked)}`);
      assert.equal(await page.locator('.cm-specialChar', { hasText: '␍' }).count(), 0, 'line endings are hidden');
    }
  });
});

test('keys cross, delete and insert a Windows line ending as one character', async () => {
  await withPage({}, async (page) => {
    await paste(page, 'a: 1\r\nb: 2\r\n');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Backspace');
    assert.equal(await text(page), 'a: 1b: 2\r\n');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    assert.equal(await text(page), 'a: 1\r\nb: 2\r\n');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('End');
    await page.keyboard.press('Delete');
    assert.equal(await text(page), 'a: 1b: 2\r\n');
  });
});

test('20,000 lines do not block typing', async () => {
  const pool = (index) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: pool-${index}
spec:
  template:
    metadata:
      labels:
        karpenter.sh/team: a
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
---
`;
  const source = Array.from({ length: 1430 }, (_, index) => pool(index)).join('');
  assert.ok(source.split('\n').length > 20_000);
  await withPage({}, async (page) => {
    await paste(page, source);
    await page.locator('.finding').first().waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    const [frame, key] = await page.evaluate(async () => {
      const content = document.getElementById('editor').shadowRoot.querySelector('.cm-content');
      const [frames, keys] = [[], []];
      const time = async (action) => {
        const before = performance.now();
        action();
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        return performance.now() - before;
      };
      for (let index = 0; index < 20; index++) {
        frames.push(await time(() => {}));
        keys.push(await time(() => content.ownerDocument.execCommand('insertText', false, 'x')));
      }
      return [frames, keys].map((times) => times.sort((one, other) => one - other)[10]);
    });
    // The median key must not wait for a check. On a slow machine every frame is late, with and without a key.
    assert.ok(key < 120 + 4 * frame, `the median key took ${key} ms, and a frame without a key ${frame} ms`);
    await settled(page);
    assert.equal(await page.locator('.finding').count(), 200, 'the list shows the first 200');
    await page.getByRole('button', { name: /^Show 200 of/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.finding').length === 400);
  });
});

test('a check that exceeds its time limit is cancelled with a message, and the next check works', async () => {
  await withPage({ unchecked: true, path: 'nothing', allow: [/404/] }, async (page, { server }) => {
    let hang = true;
    await page.route('**/engine-worker-*.js', async (route) => {
      if (!hang) return route.continue();
      return route.fulfill({
        contentType: 'text/javascript',
        body: 'onmessage = ({data}) => { if (data.method === "check") for (;;); postMessage({id: data.id, result: {version: "0", keys: [], releases: []}}); };',
      });
    });
    await page.goto(server.address);
    await page.locator('#busy').waitFor();
    await page.locator('.cm-content').waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.type('still alive ');
    await page.locator('.notice.bad').waitFor({ timeout: 20_000 });
    assert.match(await page.locator('.notice.bad').textContent(), /took longer than 10 s and was cancelled/);
    hang = false;
    await page.getByRole('button', { name: 'Allow a minute' }).click();
    await page.waitForFunction(() => document.getElementById('timing').textContent.startsWith('checked'));
    assert.equal(await page.locator('.notice').count(), 0);
  });
});

test('a download of the engine may take longer than the time limit of a call', async () => {
  const name = readdirSync(join(dist, 'assets')).find((name) => /^engine-.*\.wasm$/.test(name));
  const engine = readFileSync(join(dist, 'assets', name));
  const slow = createServer().listen(0, '127.0.0.1');
  await once(slow, 'listening');
  try {
    await withPage({ unchecked: true, path: 'nothing', allow: [/404/] }, async (page, { server }) => {
      await page.addInitScript(() => {
        globalThis.parts = 0;
        globalThis.Worker = class extends Worker {
          constructor(...args) {
            super(...args);
            this.addEventListener('message', ({ data }) => (globalThis.parts += 'progress' in data ? 1 : 0));
          }
        };
      });
      await page.route(`**/${name}`, (route) => route.continue({ url: `http://127.0.0.1:${slow.address().port}/` }));
      await page.goto(server.address);
      await page.locator('.cm-content').waitFor();
      await page.clock.install();
      const requested = once(slow, 'request');
      await page.locator('#settings').click();
      const manifests = page.locator('dialog .block pre');
      await page.getByText('Loading the manifests').waitFor();
      assert.ok(await page.locator('#copy-policy').isDisabled());
      const [, response] = await requested;
      await page.clock.runFor(9000);
      response.writeHead(200, { 'content-type': 'application/wasm' });
      response.write(engine.subarray(0, 1 << 20));
      await page.waitForFunction(() => globalThis.parts > 0);
      await page.clock.runFor(9000);
      response.end(engine.subarray(1 << 20));
      await page.waitForFunction(() =>
        /kind: PolicyServer/.test(document.querySelector('dialog .block pre').textContent),
      );
      assert.ok(await page.locator('#copy-policy').isEnabled());
      assert.match(await manifests.textContent(), /mode: monitor/);
    });
  } finally {
    slow.close();
  }
});

test('a check can be cancelled, and a crashed worker restarts', async () => {
  await withPage({ unchecked: true, path: 'nothing', allow: [/404/, /boom/] }, async (page, { server }) => {
    let body = 'onmessage = ({data}) => { if (data.method === "check") for (;;); };';
    await page.route('**/engine-worker-*.js', async (route) => {
      if (!body) return route.continue();
      return route.fulfill({ contentType: 'text/javascript', body });
    });
    await page.goto(server.address);
    await page.locator('#cancel').click();
    await page.getByText('The check was cancelled').waitFor();
    body = 'onmessage = () => { throw new Error("boom"); };';
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('The engine stopped').first().waitFor();
    body = '';
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.locator('.finding').waitFor();
  });
});

test('every tab works offline after the first visit', async () => {
  const visited = await visit({ context: { serviceWorkers: 'allow' } });
  const { page, server, context } = visited;
  try {
    await page.locator('#offline').waitFor({ timeout: 60_000 });
    server.close();
    await context.setOffline(true);
    await page.reload();
    await settled(page);
    await page.locator('.finding .fix').waitFor();
    await page.getByRole('button', { name: 'Why instance-profile-is-arn' }).click();
    await page.getByRole('heading', { name: 'Why it is bad' }).waitFor();
    await page.locator('#tab-admission').click();
    await page.locator('#verdict').waitFor();
    await page.locator('#tab-releases').click();
    await page.locator('.strip').waitFor();
    await page.locator('#tab-placement').click();
    await page.locator('#placement .calm').waitFor();
    await page.locator('#tab-disruption').click();
    await page.locator('#disruption .calm').waitFor();
    await page.locator('#tab-change').click();
    await page.locator('#change-time').waitFor();
    await page.locator('.before-editor .cm-content').waitFor();
    await page.locator('#tab-symptoms').click();
    await page.locator('.calm').waitFor();
    await page.locator('#examples').click();
    await page.locator('.menu button').first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#settings').click();
    await page.locator('#settings-text').waitFor();
  } finally {
    await visited.close({
      allow: [/ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED|Failed to fetch|Failed to load resource|sw\.js/],
    });
  }
});
