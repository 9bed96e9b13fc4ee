// The Placement tab: where Karpenter places the pods, and why not.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { dist, onPage, paste } from './browser.mjs';

const POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: team
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints:
        - {key: team, value: blue, effect: NoSchedule}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
`;

const workload = (name, replicas, spec) => `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  template:
    spec:
      ${spec}
`;
const WEB = workload(
  'web',
  3,
  `tolerations: [{key: team, operator: Exists}]
      containers: [{name: web, image: nginx, resources: {requests: {cpu: '1', memory: 1Gi}}}]`,
);
const PLAIN = workload('plain', 2, 'containers: [{name: plain, image: nginx}]');
const INPUT = POOL + WEB + PLAIN;

const verdict = (page) => page.locator('#placement-verdict').textContent();
const says = (page, text) =>
  page.waitForFunction((text) => document.getElementById('placement-verdict')?.textContent.includes(text), text);

async function open(page, text = INPUT) {
  await paste(page, text);
  await page.locator('#tab-placement').click();
  await page.locator('#placement-verdict').waitFor();
}

/** The lines that the selection in the editor covers. */
const selected = (page) =>
  page.evaluate(
    () =>
      document.getElementById('editor').shadowRoot.activeElement?.closest('.cm-editor') &&
      [...document.getElementById('editor').shadowRoot.querySelectorAll('.cm-activeLine')].map(
        (line) => line.textContent,
      ),
  );

onPage('loads the module when the tab opens, and nothing from elsewhere', async (page, { sent }) => {
  const loaded = () => sent.filter((url) => /\/(placement[^/]*|[^/]*placement-worker[^/]*)$/.test(url));
  await paste(page, INPUT);
  assert.deepEqual(loaded(), []);
  await page.locator('#tab-placement').click();
  await page.locator('#placement-verdict').waitFor();
  assert.equal(loaded().filter((url) => url.endsWith('.wasm')).length, 1);
});

onPage('the verdict is first, then the pods without a node', async (page) => {
  await open(page);
  assert.match(
    await verdict(page),
    /^3 of 5 pods placed on 1 new node, about \$0\.19 per hour on demand; 2 pods fit nowhere$/,
  );
  const first = await page.locator('#placement > *').evaluateAll((all) => all.slice(0, 2).map(({ id }) => id));
  assert.deepEqual(first, ['placement-verdict', 'unplaced']);
  const group = page.locator('#unplaced .unplaced');
  assert.equal(await group.count(), 1);
  assert.match(await group.textContent(), /no node for default\/plain ×2/);
  assert.match(
    await group.textContent(),
    /NodePool team taint.*Did not tolerate taint \(team=blue:NoSchedule|taint=team=blue:NoSchedule/,
  );
  assert.match(
    await group.locator('.remedy').textContent(),
    /^To fit: add a toleration for team=blue:NoSchedule to the pod\.$/,
  );
});

onPage('links select the line of the pod and the line of the NodePool', async (page) => {
  await open(page);
  const places = page.locator('.places .link');
  assert.equal(await places.count(), 2);
  const line = (number) => INPUT.split('\n')[number - 1];
  for (const index of [0, 1]) {
    const number = Number(/\d+/.exec(await places.nth(index).textContent())[0]);
    await places.nth(index).click();
    assert.deepEqual(await selected(page), [line(number)]);
  }
  assert.match(await places.nth(1).textContent(), /^line 10$/);
});

onPage('the slider changes the replicas and the number of nodes', async (page) => {
  await open(page);
  assert.equal(await page.locator('#workload').inputValue(), 'Deployment/web');
  assert.equal(await page.locator('#replicas').inputValue(), '3');
  assert.match(await page.locator('#new-nodes-title').textContent(), /^1 new node$/);
  await page.locator('#replicas').fill('9');
  await says(page, '9 of 11 pods placed on 3 new nodes');
  assert.equal(await page.locator('#new-nodes-title').textContent(), '3 new nodes');
  assert.equal(
    await page.locator('#replicas').evaluate((slider) => slider === document.activeElement || slider.isConnected),
    true,
  );
  await page.locator('#replicas').fill('0');
  await says(page, '0 of 2 pods placed');
  assert.equal(await page.locator('#workload').inputValue(), 'Deployment/web');
  await page.locator('#replicas-reset').click();
  await says(page, '3 of 5 pods placed on 1 new node');
  assert.equal(await page.locator('#replicas').inputValue(), '3');
});

onPage('a card shows the types and a bar for CPU, memory and pods', async (page) => {
  await open(page);
  const card = page.locator('#new-nodes .node');
  assert.match(await card.textContent(), /NodePool team\$0\.1920\/hm5\.xlarge/);
  const labels = await card.locator('.gauge').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  assert.equal(labels.length, 3);
  assert.match(labels[0], /^CPU: 3 of 3920m, 77 %: 3 pods of web$/);
  assert.match(labels[2], /^Pods: 3 of 58, 5 %/);
});

onPage('the keyboard reaches a card and opens its pods', async (page) => {
  await open(page);
  await page.locator('#tab-placement').focus();
  const summary = page.locator('#new-nodes summary');
  for (let presses = 0; presses < 20 && !(await summary.evaluate((one) => one === document.activeElement)); presses++)
    await page.keyboard.press('Tab');
  assert.equal(await summary.evaluate((one) => one === document.activeElement), true);
  await page.keyboard.press('Enter');
  assert.deepEqual(await page.locator('#new-nodes .pods li').allTextContents(), [
    'default/web-0 1 cpu, 1Gi memory',
    'default/web-1 1 cpu, 1Gi memory',
    'default/web-2 1 cpu, 1Gi memory',
  ]);
});

onPage('recomputes while typing and keeps open what was open', async (page) => {
  await open(page);
  await page.locator('#new-nodes summary').click();
  await paste(page, INPUT.replace('replicas: 3', 'replicas: 2'));
  await says(page, '2 of 4 pods placed');
  assert.equal(await page.locator('#new-nodes details').getAttribute('open'), '');
});

onPage('asks for pods where there are none, and an example places some', async (page) => {
  await page.locator('#tab-placement').click();
  await page.getByText('No pods to place').waitFor();
  await page.getByRole('button', { name: 'Add an example' }).click();
  await says(page, '12 of 13 pods placed');
  assert.match(
    await page.locator('#unplaced').textContent(),
    /The pod asks 12 cpu, the largest type left, \S+, allows \S+ after DaemonSets: \S+ too much/,
  );
});

onPage('the release of the settings decides', async (page) => {
  await open(page);
  await page.locator('#release').selectOption('1.4');
  await page.getByText('Simulated for Karpenter 1.4').waitFor();
});

onPage('a requirement in the editor tells how many instance types it leaves', async (page, { sent }) => {
  await paste(page, INPUT);
  const loaded = () => sent.some((url) => /placement[^/]*\.wasm$/.test(url));
  await page.locator('.cm-line', { hasText: 'kind: NodePool' }).hover();
  await page.locator('.cm-line', { hasText: 'nodeClassRef' }).hover();
  assert.equal(loaded(), false);
  await page
    .locator('.cm-line', { hasText: 'm5.xlarge' })
    .locator('span', { hasText: 'instance-type' })
    .first()
    .hover();
  const tip = page.locator('.tip-types');
  await tip.waitFor();
  assert.match(
    await tip.textContent(),
    /^node\.kubernetes\.io\/instance-type leaves 2 of [\d,]+ instance types\. All requirements of NodePool team together leave 2\.$/,
  );
  assert.equal(loaded(), true);
});

onPage('lists the instance types of each requirement for people who do not hover', async (page) => {
  await open(page);
  await page.locator('.types summary').click();
  const rows = page.locator('.types tr');
  await rows.first().waitFor();
  assert.match(
    (await rows.allTextContents()).join('\n'),
    /^karpenter\.sh\/capacity-type[\d,]+\nnode\.kubernetes\.io\/instance-type2\nall together2 of [\d,]+$/,
  );
});

onPage('names of pods and pools stay text', async (page) => {
  await open(
    page,
    INPUT.replaceAll('name: team', 'name: "<img src=x onerror=alert(1)>"').replaceAll(
      'name: plain',
      'name: "<b>plain</b>"',
    ),
  );
  assert.equal(await page.locator('#placement img, #placement b').count(), 0);
});

onPage('the service worker keeps the module, so that the tab opens offline', async () => {
  const module = readdirSync(join(dist, 'assets')).find((name) => /^placement-.*\.wasm$/.test(name));
  assert.ok(module && existsSync(join(dist, 'sw.js')));
  assert.equal(readFileSync(join(dist, 'sw.js'), 'utf8').includes(module), true);
});
