// Tasks that people do on the page.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { copied, drop, onPage, opened, pack, paste, root, rules, settled, shared, text } from './browser.mjs';

const example = (name) => readFileSync(join(root, 'examples', name), 'utf8');
const BAD = example('nodeclass-bad.yaml');
const GOOD = example('nodeclass-good.yaml');

onPage('first visit shows an example with its finding and fix', async (page) => {
  assert.deepEqual(await rules(page), ['instance-profile-is-arn']);
  assert.match(await page.locator('#count').textContent(), /1 error/);
  assert.equal(
    await page.locator('.cm-lintRange-error').textContent(),
    'arn:aws:iam::111122223333:instance-profile/KarpenterNodeProfile-prod',
  );
  assert.equal(await page.locator('.cm-lint-marker-error').count(), 1);
  assert.match(await page.locator('#timing').textContent(), /^checked 1 document in [\d.]+ ms$/);
});

onPage('a manifest pasted anywhere replaces the first example', async (page) => {
  const send = (text) =>
    page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData('text/plain', text);
      document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, text);
  await send(GOOD);
  await page.getByText('Nothing to report').waitFor();
  assert.deepEqual((await shared(page)).files, [{ name: 'manifest.yaml', text: GOOD }]);
  await send(BAD);
  assert.equal(await text(page), GOOD, "the visitor's own text is not replaced");
});

onPage('a fix shows its change, is applied on request, and can be undone', async (page) => {
  await page.locator('.fix').click();
  assert.match(await page.locator('.row.removed').textContent(), /− 7.*instanceProfile: arn:aws/s);
  assert.match(await page.locator('.row.added').textContent(), /\+ 7.*instanceProfile: KarpenterNodeProfile-prod$/s);
  assert.match(await text(page), /arn:aws/, 'the preview changes nothing');
  await page.getByRole('button', { name: 'Apply the fix' }).click();
  await page.getByText('Nothing to report').waitFor();
  assert.equal(await text(page), BAD.replace(/arn:.*\//, ''));
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Z');
  await page.locator('.finding').waitFor();
  assert.equal(await text(page), BAD);
});

onPage('one button applies all safe fixes in every file', async (page) => {
  await page.locator('#add').click();
  await paste(page, BAD.replace('name: default', 'name: other'));
  assert.equal((await rules(page)).filter((rule) => rule === 'instance-profile-is-arn').length, 2);
  await page.locator('#fix-all').click();
  await page.waitForFunction(() => !document.getElementById('fix-all'));
  for (const { text } of (await shared(page)).files) assert.match(text, /instanceProfile: KarpenterNodeProfile-prod\n/);
});

onPage('Ctrl+. offers the fix at the cursor', async (page) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('F8');
  await page.keyboard.press('Control+.');
  await page.waitForFunction(() => document.activeElement.textContent === 'Apply the fix');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing to report').waitFor();
});

onPage('typing adds and removes a squiggle', async (page) => {
  await paste(page, GOOD);
  await page.getByText('Nothing to report').waitFor();
  assert.equal(await page.locator('.cm-lintRange').count(), 0);
  await page.locator('.cm-line', { hasText: 'instanceProfile' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type('/x');
  await page.locator('.cm-lintRange-error').waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.getByText('Nothing to report').waitFor();
});

onPage('F8 and Shift F8 step through the findings of all files and announce them', async (page) => {
  await page.locator('#add').click();
  await paste(page, BAD.replace('name: default', 'name: other'));
  const line = () => page.evaluate(() => document.querySelector('.finding.selected .where').textContent);
  await page.locator('.file .tab').first().click();
  await page.keyboard.press('F8');
  assert.match(await line(), /EC2NodeClass\/default/);
  await page.keyboard.press('F8');
  assert.match(await line(), /EC2NodeClass\/other/);
  assert.match(await page.locator('.file [aria-current]').textContent(), /manifest\.yaml/);
  await page.keyboard.press('Shift+F8');
  assert.match(await line(), /EC2NodeClass\/default/);
  await page.waitForFunction(() =>
    /1 of 2: error, instance-profile-is-arn, line 7/.test(document.getElementById('live').textContent),
  );
});

onPage('the list and the editor share their selection', async (page) => {
  await page.locator('.finding .jump').click();
  const selected = await page.evaluate(() => document.querySelector('.finding').classList.contains('selected'));
  assert.ok(selected);
  await page.locator('.cm-line').first().click();
  await page.locator('.cm-lintRange-error').click();
  assert.equal(await page.locator('.finding.selected').count(), 1);
});

onPage('hovering shows the message, the fix and a link to the documentation', async (page) => {
  await page.locator('.cm-lintRange-error').hover();
  const tip = page.locator('.cm-tooltip .tip').first();
  await tip.waitFor();
  assert.match(
    await tip.textContent(),
    /error: instance-profile-is-arn.*is an ARN.*Fix: write the profile's name.*Why/s,
  );
  await tip.getByRole('button', { name: 'Why' }).click();
  await page.getByRole('heading', { name: 'Why it is bad' }).waitFor();
});

onPage('hovering a field says what a change of it does, and loads the engine only then', async (page, { sent }) => {
  const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {cpu: 10}
  template:
    metadata:
      labels:
        team: web
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`;
  await paste(page, text);
  const loaded = () => sent.some((url) => /engine[^/]*\.wasm$/.test(url));
  const hover = (word) =>
    page.locator('.cm-line', { hasText: word }).locator('span', { hasText: word }).first().hover();
  await hover('kind');
  assert.equal(loaded(), false);
  await hover('team');
  const tip = page.locator('.tip-field');
  await tip.waitFor();
  assert.equal(
    await tip.textContent(),
    'a change of spec.template.metadata.labels replaces every nodepart of the hash: changing it replaces every node of this NodePool',
  );
  assert.equal(loaded(), true);
  await hover('limits');
  await page.locator('.tip-field', { hasText: 'spec.limits' }).waitFor();
  assert.match(await tip.textContent(), /^a change of spec\.limits acts at once; no node drifts/);
});

onPage('the documentation of a rule opens in the panel, and its example in the editor', async (page) => {
  await page.getByRole('button', { name: 'Why instance-profile-is-arn' }).click();
  for (const heading of ['What it does', 'Why it is bad', 'Example', 'Use instead', 'Fix safety', 'References']) {
    await page.getByRole('heading', { name: heading }).waitFor();
  }
  await page.getByRole('button', { name: 'Open in the editor' }).first().click();
  assert.match(await page.locator('.file [aria-current]').textContent(), /instance-profile-is-arn\.yaml/);
  await page.getByRole('button', { name: 'Findings', exact: true }).first().click();
  await page.locator('.finding').first().waitFor();
});

onPage('Admission shows the output of kubectl, the response, the digest and the manifest', async (page) => {
  await page.locator('#tab-admission').click();
  await page.locator('#verdict').waitFor();
  assert.equal(await page.locator('#verdict').textContent(), 'Denied');
  const terminal = await page.locator('.terminal').textContent();
  assert.match(
    terminal,
    /^\$ kubectl apply -f nodeclass-bad.yaml\nError from server: error when creating "nodeclass-bad.yaml": admission webhook "kw.cap.karpwarden-karpenter-objects.kubewarden.admission" denied the request: 1 error in EC2NodeClass\/default/,
  );
  const { response } = JSON.parse(await page.locator('#admission-response pre').textContent());
  assert.equal(response.allowed, false);
  assert.match(await page.locator('#digest').textContent(), /^sha256:[0-9a-f]{64}$/);
  assert.match(
    await page.locator('#admission-policy pre').textContent(),
    /module: registry:\/\/ghcr.io\/karpwarden\/policies\/karpenter:v/,
  );
  await page.locator('#admission-mode').selectOption('monitor');
  await page.waitForFunction(() => document.getElementById('verdict')?.textContent.startsWith('Allowed'));
  // As the manifests set it: errors are warnings in mode monitor only.
  assert.match(
    await page.locator('.terminal').textContent(),
    /Warning: would be rejected: instance-profile-is-arn at spec\.instanceProfile/,
  );
  assert.doesNotMatch(terminal, /would be rejected/);
  await page.locator('#admission-mode').selectOption('protect');
  await page.locator('#admission-operation').selectOption('DELETE');
  await page.getByText('Not sent').waitFor();
  await page.locator('#admission-operation').selectOption('UPDATE');
  await page.locator('#verdict').waitFor();
  assert.match(await page.locator('.terminal').textContent(), /kubectl replace/);
});

onPage('Admission shows a refusal by the API server in its words, before the policy is called', async (page) => {
  await paste(page, example('labels-bad.yaml'));
  await page.locator('#tab-admission').click();
  await page.locator('#verdict').waitFor();
  assert.equal(await page.locator('#verdict').textContent(), 'Refused by the API server');
  // Recorded from kube-apiserver 1.36 with the definitions of Karpenter 1.14.
  const refused = [
    '$ kubectl apply -f manifest.yaml',
    'The NodePool "batch" is invalid: ',
    '* spec.template.metadata.labels: Invalid value: label domain "karpenter.sh" is restricted',
    '* spec.template.spec.requirements[1].key: Invalid value: "karpenter.k8s.aws/instance-famly": label domain "karpenter.k8s.aws" is restricted',
  ];
  assert.equal(await page.locator('.terminal').textContent(), refused.join('\n'));
  assert.equal(await page.locator('#admission-response').count(), 0, 'the policy was not called');
  // The objects are the NodePool, the Namespace and the Deployment.
  await page.locator('#admission-object').selectOption({ index: 2 });
  await page.waitForFunction(() =>
    /denied the request|created/.test(document.querySelector('.terminal')?.textContent ?? ''),
  );
  await paste(page, BAD.replace('instanceProfile', 'instanceProfil'));
  await page.waitForFunction(() => /BadRequest/.test(document.querySelector('.terminal')?.textContent ?? ''));
  assert.match(
    await page.locator('.terminal').textContent(),
    /Error from server \(BadRequest\): error when creating "manifest.yaml": EC2NodeClass in version "v1" cannot be handled as a EC2NodeClass: strict decoding error: unknown field "spec.instanceProfil"$/,
  );
});

onPage('Admission applies the definitions of the chosen release', async (page) => {
  await paste(
    page,
    example('labels-bad.yaml')
      .replace('karpenter.sh/team: batch', 'team.k8s.io/name: batch')
      .replace('instance-famly', 'instance-family'),
  );
  await page.locator('#tab-admission').click();
  await page.locator('#admission-response').waitFor();
  await page.locator('#release').selectOption('1.8');
  await page.getByText('Refused by the API server').waitFor();
  assert.match(
    await page.locator('.terminal').textContent(),
    /is invalid: spec\.template\.metadata\.labels: Invalid value: label domain "k8s\.io" is restricted$/,
  );
});

onPage(
  'Admission applies the definitions of the release that the folder of the file pins',
  async (page, { context, server }) => {
    const chart = (version) => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: karpenter, namespace: kube-system}
spec:
  chart: {spec: {chart: karpenter, version: "${version}", sourceRef: {kind: HelmRepository, name: karpenter}}}
`;
    const pool = example('labels-bad.yaml')
      .replace('karpenter.sh/team: batch', 'team.k8s.io/name: batch')
      .replace('instance-famly', 'instance-family');
    const folder = (name, version) => [
      [`${name}/chart.yaml`, chart(version)],
      [`${name}/pool.yaml`, pool],
    ];
    page = await context.newPage();
    await page.goto(
      `${server.address}#${pack({ f: [...folder('blue', '1.14.0'), ...folder('green', '1.8.1'), ...folder('greenish', '1.14.0')] })}`,
    );
    await settled(page);
    await page.locator('#tab-admission').click();
    const choose = async (file) => {
      const option = page.locator('#admission-object option', { hasText: `NodePool/batch (${file}` });
      await page.locator('#admission-object').selectOption(await option.getAttribute('value'));
    };
    await choose('green/pool.yaml');
    await page.getByText('It has the definitions of Karpenter 1.8.1.').waitFor();
    for (const file of ['blue/pool.yaml', 'greenish/pool.yaml']) {
      await choose(file);
      await page.waitForFunction((file) => document.querySelector('.terminal')?.textContent.includes(file), file);
      assert.notEqual(await page.locator('#verdict').textContent(), 'Refused by the API server');
    }
  },
);

onPage(
  'the manifests for the cluster are those of policies/karpenter, in mode monitor and with the settings',
  async (page) => {
    const install = readFileSync(join(root, 'policies/karpenter/monitor.yaml'), 'utf8');
    const body = (text) => text.slice(text.indexOf('apiVersion:'));
    await page.locator('#tab-admission').click();
    const shown = page.locator('#admission-policy pre');
    await shown.waitFor();
    assert.equal(body(await shown.textContent()), body(install));
    await page.locator('#cluster').fill('prod-eu-1');
    await page.waitForFunction(() =>
      /clusterName: prod-eu-1/.test(document.querySelector('#admission-policy pre').textContent),
    );
    const withoutSettings = (text) => body(text).replace(/^  settings:.*(\n {4}.*)*$/gm, '  settings');
    assert.equal(withoutSettings(await shown.textContent()), withoutSettings(install));
    await page.locator('#settings').click();
    await page.waitForFunction(() =>
      /clusterName: prod-eu-1/.test(document.querySelector('dialog .block pre')?.textContent),
    );
    assert.equal(await page.locator('dialog .block pre').textContent(), await shown.textContent());
  },
);

onPage('Admission with `fix` shows the patch of the policy', async (page) => {
  await page.locator('#settings').click();
  await page.locator('#settings-fix').check();
  await page.keyboard.press('Escape');
  await page.locator('#tab-admission').click();
  await page.locator('#admission-patch').waitFor();
  const patch = JSON.parse(await page.locator('#admission-patch pre').textContent());
  assert.deepEqual(patch, [{ op: 'replace', path: '/spec/instanceProfile', value: 'KarpenterNodeProfile-prod' }]);
  assert.match(await page.locator('.terminal').textContent(), /ec2nodeclass\.karpenter\.k8s\.aws\/default created/);
});

onPage('Admission without access to the cluster', async (page) => {
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: b}], nodeSelector: {karpenter.sh/nodepool: other}}
`;
  await paste(page, pod);
  await page.locator('#tab-admission').click();
  const calls = page.locator('.notes-plain li');
  await calls.filter({ hasText: 'NodePool: answered' }).waitFor();
  await page.locator('#admission-connected').uncheck();
  await calls.filter({ hasText: 'NodePool: Policy has not been granted access' }).waitFor();
  assert.equal(await calls.filter({ hasText: 'answered' }).count(), 0);
});

onPage('Releases shows a strip for each document and the changes of an upgrade', async (page) => {
  await paste(
    page,
    `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    metadata:
      labels:
        node-role.kubernetes.io/worker: "true"
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`,
  );
  await page.locator('#tab-releases').click();
  await page.locator('.strip tbody').waitFor();
  const releases = await page.locator('.strip thead .cell').allTextContents();
  assert.ok(releases.length > 15);
  assert.equal(await page.locator('.strip tbody .cell').count(), releases.length);
  assert.match(await page.locator('.strip tbody th').textContent(), /^NodePool\/a: accepted by/);
  const upgrade = page.locator('#upgrade');
  assert.match(await upgrade.textContent(), new RegExp(`From 1\\.0 to ${releases.at(-1)}`));
  assert.match(await upgrade.textContent(), /restricted-label gone since 1\.9/);
  await page.locator('.strip thead .cell', { hasText: /^1\.2$/ }).click();
  await page.locator('.strip thead .cell', { hasText: /^1\.5$/ }).click();
  assert.match(await upgrade.textContent(), /From 1\.2 to 1\.5.*Nothing changes.*1 finding occurs/s);
});

onPage('settings can be edited as a form or as text, and mistakes are reported', async (page) => {
  await page.locator('#settings').click();
  await page.locator('#settings-clusterName').fill('prod-eu-1');
  await page.getByLabel('Level of instance-profile-is-arn').selectOption('warn');
  await page.waitForFunction(() => /instance-profile-is-arn/.test(document.getElementById('settings-text').value));
  assert.equal(
    await page.locator('#settings-text').inputValue(),
    'clusterName: prod-eu-1\nrules:\n  instance-profile-is-arn: warn\n',
  );
  await page.locator('#settings-text').fill('clustername: x\nrules: {storage: loud}\n');
  await page.getByText('line 1, column 1: clustername: unknown key (did you mean `clusterName`?)').waitFor();
  await page.getByText('line 2, column 18: rules.storage: must be one of deny, warn, info, off').waitFor();
  await page.locator('#settings-text').fill('karpenterVersion: "1.8"\nrules: {nodeclass: off}\n');
  await page.waitForFunction(() => document.getElementById('release').value === '1.8');
  await page.keyboard.press('Escape');
  await page.getByText('Nothing to report').waitFor();
  assert.deepEqual((await shared(page)).settings, { karpenterVersion: '1.8', rules: { nodeclass: 'off' } });
});

onPage('settings: a former family has a row, and can be removed', async (page) => {
  await page.locator('#settings').click();
  const text = 'rules: {controller: off, nodeclass: warn}\nexceptions: [{rule: controller, reason: known}]\n';
  await page.locator('#settings-text').fill(text);
  const level = (name) => page.getByLabel(`Level of ${name}`, { exact: true });
  await level('controller').waitFor();
  assert.equal(await level('controller').inputValue(), 'off');
  assert.equal(await level('nodeclass').count(), 1);
  assert.equal(await page.locator('.exception select').inputValue(), 'controller');
  await level('controller').selectOption('');
  await page.locator('.exception').getByRole('button', { name: 'Remove' }).click();
  await page.waitForFunction(() => document.getElementById('settings-text').value === 'rules:\n  nodeclass: warn\n');
  await page.getByLabel('Find a rule').fill('controller');
  await level('controller').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  assert.deepEqual((await shared(page)).settings, { rules: { nodeclass: 'warn' } });
});

onPage('settings: an unknown name of a link has a row, and can be removed', async (page, { context, server }) => {
  page = await context.newPage();
  await page.goto(`${server.address}#${pack({ f: [['a.yaml', GOOD]], s: { rules: { mistyped: 'off' } } })}`);
  await settled(page);
  await page.locator('#settings').click();
  await page.locator('.problem', { hasText: 'rules.mistyped' }).waitFor();
  await page.getByLabel('Level of mistyped').selectOption('');
  await page.waitForFunction(() => document.querySelector('.problem').hidden);
  await page.keyboard.press('Escape');
  await page.getByText('Nothing to report').waitFor();
  assert.deepEqual((await shared(page)).settings, {});
});

onPage('settings: an exception needs a reason', async (page) => {
  await page.locator('#settings').click();
  await page.getByRole('button', { name: 'Add an exception' }).click();
  await page.locator('.exception select').selectOption('instance-profile-is-arn');
  await page.locator('.problem', { hasText: 'exceptions[0].reason' }).waitFor();
  await page.locator('.exception').getByRole('textbox', { name: 'Reason' }).fill('known');
  await page.waitForFunction(() => document.querySelector('.problem').hidden);
  await page.keyboard.press('Escape');
  await page.getByText('1 finding is suppressed').waitFor();
});

onPage('release and cluster name in the toolbar change the settings', async (page) => {
  await page.locator('#release').selectOption('1.3');
  await page.locator('#cluster').fill('blue');
  await page.waitForFunction(() => /checked/.test(document.getElementById('timing').textContent));
  assert.deepEqual((await shared(page)).settings, { karpenterVersion: '1.3', clusterName: 'blue' });
});

onPage('the list of releases shows the version that the input pins, and a choice can be taken back', async (page) => {
  const shown = () => page.evaluate(() => document.getElementById('release').selectedOptions[0].text);
  assert.match(await shown(), /^1\.\d+ \(newest\)$/);
  const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: karpenter, namespace: kube-system}
spec:
  chart: {spec: {chart: karpenter, version: "1.8.1", sourceRef: {kind: HelmRepository, name: karpenter}}}
`;
  await paste(page, `${release}---\n${GOOD}`);
  await page.waitForFunction(() => document.getElementById('release').selectedOptions[0].text === '1.8.1 (pinned)');
  await page.locator('#release').selectOption('1.9');
  await page.waitForFunction(() => document.getElementById('release').options[0].text === 'automatic');
  await page.locator('#release').selectOption('');
  await page.waitForFunction(() => document.getElementById('release').selectedOptions[0].text === '1.8.1 (pinned)');
  assert.deepEqual((await shared(page)).settings, {});
});

onPage('a print shows every finding and nothing to operate', async (page) => {
  const pools = Array.from({ length: 250 }, (_, index) => BAD.replace('name: default', `name: class-${index}`)).join(
    '---\n',
  );
  await paste(page, pools);
  await page.waitForFunction(() => document.querySelectorAll('.finding').length === 200);
  await page.setViewportSize({ width: 700, height: 900 });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('.finding').count(), 250);
  assert.ok(await page.locator('.finding').last().isVisible());
  assert.equal(await page.evaluate(() => getComputedStyle(document.getElementById('view')).overflow), 'visible');
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollHeight > 250 * 50),
    'the page is as long as its findings',
  );
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.querySelector('.finding')).color),
    'rgb(26, 30, 36)',
    'dark text',
  );
  for (const hidden of ['#tabs', '#editor-pane', '.bar', '.tools', '.actions']) {
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  }
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await page.locator('.finding').count(), 200);
});

onPage('examples come from the repository, and the visitor can restore their own text', async (page) => {
  await paste(page, GOOD.replace('default', 'mine'));
  await page.locator('#examples').click();
  await page.locator('.menu button', { hasText: 'labels-bad.yaml' }).click();
  await settled(page);
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.finding .rule')].some((rule) => rule.textContent === 'restricted-label'),
  );
  assert.equal(await text(page), example('labels-bad.yaml'));
  await page.getByRole('button', { name: 'Restore my text' }).click();
  assert.match(await text(page), /name: mine/);
});

onPage('the examples menu works by keyboard', async (page) => {
  await page.locator('#examples').focus();
  await page.keyboard.press('Enter');
  await page.locator('.menu button').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.activeElement.id === 'examples');
});

onPage(
  'a link carries files and settings to another page and keeps the text stored there',
  async (page, { server, context }) => {
    await paste(page, BAD);
    await page.locator('#release').selectOption('1.5');
    await page.locator('#share').click();
    await page.locator('#share-settings').check();
    await page.waitForFunction(() =>
      /^\d[\d,]* characters\. The link contains your text/.test(document.getElementById('share-length').textContent),
    );
    const link = await page.locator('#share-link').inputValue();
    assert.equal(await copied(page, page.locator('#share-copy')), link);
    await page.locator('#share-files').uncheck();
    await page.waitForFunction(() =>
      /does not contain your text/.test(document.getElementById('share-length').textContent),
    );
    await page.keyboard.press('Escape');
    await paste(page, GOOD);
    await page.waitForFunction((text) => JSON.parse(localStorage.getItem('karpwarden'))?.files[0].text === text, GOOD);
    const other = await context.newPage();
    await other.goto(link);
    await other.waitForFunction(
      () => document.querySelector('.finding .rule')?.textContent === 'instance-profile-is-arn',
    );
    assert.equal(await other.locator('#release').inputValue(), '1.5');
    assert.equal(new URL(other.url()).hash, '', 'the shared data leaves the address');
    await other.getByRole('button', { name: 'Restore my text' }).click();
    await other.getByText('Nothing to report').waitFor();
    await other.close();
    await page.goto(server.address);
    await page.getByText('Nothing to report').waitFor();
  },
);

onPage('a text that is too long for a link is reported', async (page) => {
  const buffer = Buffer.from(`# ${'x'.repeat(100)}\n`.repeat(50_000));
  await page.locator('#picker').setInputFiles([{ name: 'long.yaml', mimeType: 'text/yaml', buffer }]);
  await page.waitForFunction(() => document.querySelector('.file [aria-current] .name')?.textContent === 'long.yaml');
  await page.locator('#share').click();
  await page.getByText('The text is too long for a link').waitFor();
  assert.equal(await page.locator('#share-copy').isDisabled(), true);
});

onPage('the state survives a reload unless remembering is off', async (page) => {
  await paste(page, GOOD.replace('default', 'kept'));
  await page.locator('#release').selectOption('1.4');
  await page.locator('#tab-releases').click();
  await page.reload();
  await settled(page);
  assert.match(await text(page), /name: kept/);
  assert.equal(await page.locator('#release').inputValue(), '1.4');
  assert.equal(await page.locator('#tab-releases').getAttribute('aria-selected'), 'true');
  await page.locator('#settings').click();
  await page.locator('#settings-remember').uncheck();
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await page.evaluate(() => localStorage.getItem('karpwarden')), /kept/);
  await page.reload();
  await settled(page);
  assert.equal(await text(page), BAD);
});

onPage('files can be added, renamed and closed by mouse and by key', async (page) => {
  await page.locator('#add').click();
  await page.locator('.file [aria-current]').dblclick();
  await page.locator('.rename').fill('pools/a.yaml');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.file [aria-current] .name').textContent(), 'pools/a.yaml');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.locator('.file [aria-current] .name').textContent(), 'nodeclass-bad.yaml');
  await page.keyboard.press('Delete');
  assert.equal(await page.locator('.file').count(), 1);
  await page.getByRole('button', { name: 'Close pools/a.yaml' }).click();
  assert.equal(await page.locator('.file .name').textContent(), 'manifest.yaml');
  await page.getByText('Nothing to check yet').waitFor();
});

onPage('files are opened and dropped, and karpwarden.yaml becomes the settings', async (page) => {
  await page.locator('#picker').setInputFiles([
    { name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from(`\ufeff${BAD}`) },
    { name: 'b.yaml', mimeType: 'text/yaml', buffer: Buffer.from(GOOD.replace('default', 'b')) },
    { name: 'karpwarden.yaml', mimeType: 'text/yaml', buffer: Buffer.from('karpenterVersion: "1.6"\n') },
  ]);
  await opened(page, 'b.yaml');
  await page.waitForFunction(() => document.getElementById('release').value === '1.6');
  assert.equal(await page.locator('.file').count(), 2);
  const a = (await shared(page)).files.find((file) => file.name === 'a.yaml');
  assert.equal(a.text, BAD, 'the byte order mark is removed');
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'dropped.yaml', { type: 'text/yaml' }));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document
        .getElementById('editor')
        .dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, GOOD);
  await opened(page, 'dropped.yaml');
});

onPage('export as JSON and as Markdown', async (page) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JSON' }).click(),
  ]);
  const report = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.equal(report.findings[0].rule, 'instance-profile-is-arn');
  const markdown = await copied(page, page.getByRole('button', { name: 'Copy as Markdown' }));
  assert.match(markdown, /```yaml\n# A node class.*- \*\*error\*\* \[instance-profile-is-arn\]/s);
});

onPage('export as SARIF from the list and from the share dialog', async (page) => {
  const take = async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download SARIF' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'karpwarden.sarif');
    return readFileSync(await download.path(), 'utf8');
  };
  const log = await take();
  const [run] = JSON.parse(log).runs;
  assert.equal(run.results[0].ruleId, 'instance-profile-is-arn');
  assert.match(run.tool.driver.rules[0].help.markdown, /^## What it does/);
  await page.locator('#share').click();
  await page.locator('dialog[open]').waitFor();
  assert.equal(await page.locator('dialog').getByRole('button', { name: 'Download SARIF' }).count(), 1);
});

onPage('search, folding and leaving the editor by key', async (page) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+F');
  await page.locator('.cm-search').waitFor();
  await page.keyboard.type('discovery');
  await page.locator('.cm-searchMatch').nth(1).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.cm-foldGutter .cm-gutterElement', { hasText: '⌄' }).first().click();
  await page.locator('.cm-foldPlaceholder').click();
  assert.equal(await page.locator('.cm-foldPlaceholder').count(), 0);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  assert.notEqual(await page.evaluate(() => document.activeElement.id), 'editor');
});

onPage('unreadable documents and templates are reported in place', async (page) => {
  await paste(page, 'a: [1\nb: 2\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Values.name }}}\n');
  await page.locator('.unread').waitFor();
  assert.match(await page.locator('.unread').textContent(), /Unreadable: .*line \d/);
  await page.getByText('1 document skipped: template, not checked').waitFor();
  assert.ok((await page.locator('.cm-lintRange-error').count()) >= 1);
  await paste(page, 'just: a map\n');
  await page.getByText('Nothing was checked').waitFor();
});

onPage('Terraform is recognised, and read for the manifests in it', async (page) => {
  const terraform = `resource "kubectl_manifest" "class" {\n  yaml_body = <<-YAML\n${BAD}  YAML\n}\n`;
  await paste(page, terraform);
  await page.locator('.file .name', { hasText: 'main.tf' }).waitFor();
  assert.deepEqual(await rules(page), ['instance-profile-is-arn']);
  await paste(page, GOOD);
  await page.getByText('this is Terraform').waitFor({ state: 'detached' });
  await page.locator('#add').click();
  await paste(page, 'a: 1\n');
  await paste(page, `locals {\n  a = 1\n}\n${terraform}`);
  const name = await page.locator('.file .tab[aria-current] .name').textContent();
  await page.getByText(`${name}: this is Terraform`).waitFor();
  await page.getByRole('button', { name: 'Read it as Terraform' }).click();
  await page.locator('.finding .rule', { hasText: 'instance-profile-is-arn' }).waitFor();
  assert.equal(await page.getByText('this is Terraform').count(), 0);
  await paste(page, 'variable "a" {\n  default = 1\n}\n');
});

/** A configuration whose instance profile comes from a file of variables, in a template. */
const CONFIGURATION = [
  {
    name: 'main.tf',
    text: `variable "profile" {}

resource "kubectl_manifest" "class" {
  yaml_body = templatefile("\${path.module}/class.yaml.tftpl", { profile = var.profile })
}
`,
  },
  { name: 'class.yaml.tftpl', text: BAD.replace(/arn:\S+/, '${profile}') },
  { name: 'terraform.tfvars', text: `profile = "${/arn:\S+/.exec(BAD)[0]}"\n` },
];

onPage('files of Terraform that are dropped together are one configuration', async (page) => {
  await drop(page, CONFIGURATION);
  await opened(page, CONFIGURATION.at(-1).name);
  await page.locator('.finding .rule', { hasText: 'instance-profile-is-arn' }).waitFor();
  assert.match(await page.locator('.finding').textContent(), /class\.yaml\.tftpl/);
  assert.equal(await page.locator('.unread').count(), 0);
  await page.locator('.file .tab', { hasText: 'terraform.tfvars' }).click();
  await paste(page, 'profile = "nodes"\n');
  await page.getByText('Nothing to report').waitFor();
});

onPage('the button for more findings counts the rest, and is gone without one', async (page) => {
  const bad = (number) =>
    Array.from({ length: number }, (_, index) => BAD.replace('default', `a-${index}`)).join('---\n');
  await paste(page, bad(250));
  const more = page.locator('#view .part > button');
  await more.waitFor();
  assert.equal(await more.textContent(), 'Show 50 of 50 more findings');
  await more.click();
  assert.equal(await page.locator('.finding').count(), 250);
  assert.equal(await more.isVisible(), false);
  assert.equal(await more.textContent(), '');
  await paste(page, bad(3));
  assert.equal(await more.textContent(), '');
});

onPage('settings without a field in the form stay in the file', async (page) => {
  const text =
    'announceErrors: auto\ncontext: pools\nexclude:\n  - old/\noverrides:\n  - paths:\n      - dev/**\n    clusterName: dev\nstrictUpdates: true\nkubernetesVersion: "1.33"\n';
  await page.locator('#settings').click();
  await page.locator('#settings-text').fill(text);
  // The form follows the text once the engine has read it.
  await page.waitForFunction(() => document.getElementById('settings-kubernetesVersion').value === '1.33');
  await page.locator('#settings-clusterName').fill('prod');
  await page.waitForFunction(() => /clusterName: prod/.test(document.getElementById('settings-text').value));
  const expected = {
    announceErrors: 'auto',
    context: 'pools',
    exclude: ['old/'],
    overrides: [{ paths: ['dev/**'], clusterName: 'dev' }],
    strictUpdates: true,
    kubernetesVersion: '1.33',
  };
  await page.keyboard.press('Escape');
  assert.deepEqual((await shared(page)).settings, { ...expected, clusterName: 'prod' });
  // The policy refuses the settings of the command line.
  await page.locator('#tab-admission').click();
  await page.locator('#verdict').waitFor();
  assert.doesNotMatch(await page.locator('#view').textContent(), /works only on the command line|exclude:/);
});

onPage(
  'an embedded page stores nothing, has no menus, and links to the full page',
  async (page) => {
    await page.locator('#whole').waitFor();
    for (const id of ['examples', 'settings', 'share']) assert.equal(await page.locator(`#${id}`).isVisible(), false);
    await paste(page, GOOD);
    // The page stores its state at the latest when it is left.
    await page.evaluate(() => dispatchEvent(new Event('pagehide')));
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await page.waitForFunction(() => /^\/#[\w-]+$/.test(document.getElementById('whole').getAttribute('href')));
  },
  { path: '?embed=1' },
);

onPage('the theme follows the system and the switch', async (page) => {
  const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await dark();
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await dark(), light);
  await page.locator('#theme').click();
  assert.equal(await dark(), light);
  await page.locator('#theme').click();
  await page.emulateMedia({ colorScheme: 'light' });
  assert.notEqual(await dark(), light);
});

onPage('the count is announced politely', async (page) => {
  await page.waitForFunction(() => document.getElementById('live').textContent === '1 error');
  assert.equal(await page.locator('#live').getAttribute('aria-live'), 'polite');
});

onPage('the schemas are at the addresses they name', async (page, { server }) => {
  for (const name of readdirSync(join(root, 'schemas'))) {
    const address = `schemas/${name}`;
    const schema = await (await fetch(`${server.address}${address}`)).json();
    assert.ok(schema.$id.endsWith(`/${address}`), schema.$id);
  }
});
