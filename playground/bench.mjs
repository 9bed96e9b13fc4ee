// Measures what a visitor downloads and how soon a keystroke is answered. Fails if a budget is exceeded. Sizes are gzip -9,
// because every static host compresses at least with gzip.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { dist, drop, opened as fileOpened, paste, visit } from './tests/visit.mjs';
import { EDITED, POOL, cluster as clusterOf } from './tests/change-input.mjs';

const KIB = 1024;
const gzip = (url) => {
  const path = new URL(url).pathname;
  return gzipSync(readFileSync(join(dist, path.endsWith('/') ? `${path}index.html` : path)), { level: 9 }).length;
};
const weigh = (urls) =>
  [...new Set(urls)].filter((url) => url.startsWith('http')).reduce((sum, url) => sum + gzip(url), 0);
/** Prints a row. A value above the limit fails the program; a goal for later is only shown. */
const row = (what, value, unit, { limit, later } = {}) => {
  const over = value > limit;
  if (over) process.exitCode = 1;
  const budget = limit ?? later;
  const goal = limit === undefined ? 'later: ≤ 1' : `≤ 1${over ? ' OVER' : ''}`;
  const compared =
    budget === undefined ? '|  |  |' : `budget ${budget} ${unit} | ${(value / budget).toFixed(3)} | ${goal} |`;
  console.log(`| page: ${what} | ${value.toFixed(1)} ${unit} | ${compared}`);
};
const size = (what, bytes, budget) => row(what, bytes / KIB, 'KiB', budget);

/**
 * Opens the page for the first time until a finding shows, over a throttled connection or over loopback. Returns the time, and the
 * requests that were finished by then. The page itself records that moment: a test that polls would notice it later.
 */
async function firstFinding(network) {
  const { page, context, server, close } = await visit({ path: 'nothing', unchecked: true });
  if (network) {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, uploadThroughput: 1_000_000, ...network });
  }
  const finished = [];
  context.on('requestfinished', (request) => finished.push({ url: request.url(), at: request.timing() }));
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('.finding')) globalThis.findingShown ??= Date.now();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(server.address);
  await page.locator('.finding').first().waitFor();
  const [shown, start] = await page.evaluate(() => [globalThis.findingShown, performance.timeOrigin]);
  await close({ allow: [/404/] });
  return {
    time: shown - start,
    before: finished.filter(({ at }) => at.startTime + at.responseEnd <= shown).map(({ url }) => url),
  };
}
// The throttled connection separates the requests before the first finding from later ones.
const slow = await firstFinding({ latency: 20, downloadThroughput: 1_000_000 });
const untilFinding = weigh(slow.before);
const fast = [];
for (let index = 0; index < 5; index++) fast.push((await firstFinding()).time);

// Everything that a visit without a click downloads, and what the service worker keeps for offline use.
const visited = await visit({ context: { serviceWorkers: 'allow' } });
const { page, sent } = visited;
await page.locator('#offline').waitFor();
const kept = await page.evaluate(async () => {
  const caches = await Promise.all((await globalThis.caches.keys()).map((name) => globalThis.caches.open(name)));
  return (await Promise.all(caches.map((cache) => cache.keys()))).flat().map(({ url }) => url);
});
const withoutClick = new Set([...sent, ...kept]);
const opened = async (tab, ready) => {
  const before = new Set(sent);
  await page.locator(`#tab-${tab}`).click();
  await page.locator(ready).waitFor();
  return sent.filter((url) => !before.has(url));
};
const forAdmission = await opened('admission', '#verdict');
const forPlacement = await opened('placement', '#placement .calm');
const forSymptoms = await opened('symptoms', '.calm');

// From a key press to its mark, in a manifest of a thousand lines, in frames as a person sees them.
const pool = (index) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool-${index}}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
---
`;
const nodeClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  instanceProfile: nodes
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
---
`;
await page.locator('#tab-findings').click();
await paste(page, nodeClass + Array.from({ length: 110 }, (_, index) => pool(index)).join(''));
await page.locator('.cm-line', { hasText: 'instanceProfile' }).click();
await page.keyboard.press('End');
const times = await page.evaluate(async () => {
  // The list and the marks are drawn in one frame.
  const isMarked = () =>
    [...document.querySelectorAll('.finding .rule')].some((rule) => rule.textContent === 'instance-profile-is-arn');
  const until = (wanted) =>
    new Promise((resolve) => {
      const look = () => (isMarked() === wanted ? resolve(performance.now()) : requestAnimationFrame(look));
      look();
    });
  const times = [];
  for (let index = 0; index < 15; index++) {
    const before = performance.now();
    document.execCommand('insertText', false, '/');
    times.push((await until(true)) - before);
    document.execCommand('delete');
    await until(false);
  }
  return times.sort((one, other) => one - other);
});

// From an edit to the drawn placement: 200 pods without constraints and 5 NodePools with all instance types, as in the benchmark of
// Karpenter's scheduler. Another row has the time of the worker alone.
const nodePool = (index) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool-${index}}
spec:
  weight: ${10 * (index + 1)}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: Exists}
---
`;
const CPUS = ['100m', '250m', '500m', '1', '1500m'];
const MEMORIES = ['100Mi', '256Mi', '512Mi', '1Gi', '2Gi', '4Gi'];
const pod = (index) => `apiVersion: v1
kind: Pod
metadata: {name: g${index}}
spec: {containers: [{name: c, image: img, resources: {requests: {cpu: ${CPUS[index % 5]}, memory: ${MEMORIES[index % 6]}}}}]}
---
`;
const input = (pods) =>
  Array.from({ length: 5 }, (_, index) => nodePool(index)).join('') +
  Array.from({ length: pods }, (_, index) => pod(index)).join('');
/** Times of edits until an answer of a tab is drawn. Each input differs from the last one, so it is parsed and judged again. */
async function editTimes(tab, inputOf) {
  await page.locator(`#tab-${tab}`).click();
  await paste(page, inputOf(0));
  await page.locator(`#${tab}-time`).waitFor();
  const times = [];
  for (let index = 1; index <= 15; index++) {
    await page.locator('#editor .cm-content').click();
    await page.keyboard.press('Control+A');
    times.push(await page.evaluate(editTime, { id: `${tab}-time`, text: inputOf(index) }));
  }
  return times;
}

/** Time of one edit, measured in the page. */
async function editTime({ id, text }) {
  const content = document.getElementById('editor').shadowRoot.querySelector('.cm-content');
  const old = document.getElementById(id);
  const before = performance.now();
  const data = new DataTransfer();
  data.setData('text/plain', text);
  content.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }),
  );
  for (;;) {
    await new Promise(requestAnimationFrame);
    const now = document.getElementById(id);
    if (now && now !== old) return { all: performance.now() - before, worker: Number(now.dataset.ms) };
  }
}
const placements = await editTimes('placement', (index) => input(200).replace('name: g0', `name: h${index}`));

// The same for the disruption of 100 nodes with 1,000 pods, and budgets with schedules.
const claim = (index) => `apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: c${index}, labels: {karpenter.sh/nodepool: pool, karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: m5.2xlarge, topology.kubernetes.io/zone: us-east-1a}}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}
status:
  nodeName: n${index}
  providerID: aws:///us-east-1a/i-${index}
  conditions: [{type: Launched, status: 'True'}, {type: Registered, status: 'True'}, {type: Initialized, status: 'True'}, {type: Consolidatable, status: 'True'}]
---
apiVersion: v1
kind: Node
metadata: {name: n${index}, labels: {karpenter.sh/nodepool: pool, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: m5.2xlarge, topology.kubernetes.io/zone: us-east-1a}}
spec: {providerID: aws:///us-east-1a/i-${index}}
status: {conditions: [{type: Ready, status: 'True'}], capacity: {cpu: '8', memory: 32Gi, pods: '58'}, allocatable: {cpu: 7910m, memory: 30Gi, pods: '58'}}
---
`;
const running = (index) => `apiVersion: v1
kind: Pod
metadata: {name: r${index}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]}
spec: {nodeName: n${index % 100}, containers: [{name: c, image: img, resources: {requests: {cpu: 700m, memory: 1Gi}}}]}
status: {phase: Running}
---
`;
const budgeted = (index) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool}
spec:
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}
  disruption:
    consolidateAfter: 0s
    budgets: [{nodes: '${index + 1}'}, {nodes: '0', schedule: 0 8 * * mon-fri, duration: 10h}, {nodes: '5', schedule: '@hourly', duration: 10m}]
---
`;
const many = (number, one) => Array.from({ length: number }, (_, index) => one(index)).join('');
const cluster = nodeClass.replace('instanceProfile: nodes', 'role: nodes') + many(100, claim) + many(1000, running);
const disruptions = await editTimes('disruption', (index) => budgeted(index) + cluster);

// The same for a change that replaces 200 nodes. The other file would have the same node class.
await paste(page, 'a: b\n');
await drop(page, [{ name: 'team.yaml', text: POOL + clusterOf(200) }]);
await fileOpened(page, 'team.yaml');
const plans = await editTimes('change', (index) => EDITED.replace('compute', `t${index}`) + clusterOf(200));
const middle = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];
await visited.close();

console.log('files of the page, gzip -9');
const heaviest = [...new Set([...withoutClick, ...forAdmission, ...forPlacement, ...forSymptoms])]
  .filter((url) => url.startsWith('http'))
  .map((url) => [gzip(url), new URL(url).pathname])
  .sort(([one], [other]) => other - one);
for (const [bytes, path] of heaviest.slice(0, 16))
  console.log(`  ${(bytes / KIB).toFixed(1).padStart(7)} KiB  ${path}`);
size('until a finding shows', untilFinding, { limit: 700 });
size('without a click, kept for offline use', weigh([...withoutClick]));
size('the Admission tab, when opened', weigh(forAdmission));
size('the Placement or the Disruption tab, when opened', weigh(forPlacement));
size('the Symptoms tab, when opened', weigh(forSymptoms));
row('first finding of a first visit, 1 MB/s and 20 ms latency', slow.time, 'ms');
row('first finding of a first visit, loopback, median', middle(fast), 'ms');
row('1,000 lines, keystroke to squiggle, median', times[7], 'ms', { later: 20 });
row('200 pods, simulated, median', middle(placements.map(({ worker }) => worker)), 'ms', { limit: 50 });
row('200 pods, edit to drawn placement, median', middle(placements.map(({ all }) => all)), 'ms');
row('100 nodes, disruption judged, median', middle(disruptions.map(({ worker }) => worker)), 'ms');
row('200 nodes, change planned, median', middle(plans.map(({ worker }) => worker)), 'ms', { limit: 500 });
row('200 nodes, edit to drawn plan, median', middle(plans.map(({ all }) => all)), 'ms');
row('100 nodes, edit to drawn disruption, median', middle(disruptions.map(({ all }) => all)), 'ms');
