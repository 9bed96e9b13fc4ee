// Measures what the page weighs over the wire and how soon a keystroke is answered, against the budget of the design.
// Nothing fails on a number: the table says what is over its budget.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { dist, paste, visit } from './tests/browser.mjs';

const KIB = 1024;
const gzip = (url) => {
  const path = new URL(url).pathname;
  return gzipSync(readFileSync(join(dist, path.endsWith('/') ? `${path}index.html` : path)), { level: 9 }).length;
};
const weigh = (urls) => [...new Set(urls)].filter((url) => url.startsWith('http')).reduce((sum, url) => sum + gzip(url), 0);
const say = (what, value, budget, unit) =>
  console.log(`${what.padEnd(52)} ${value.padStart(8)} ${unit}   budget ${String(budget).padStart(4)}   ${Number(value) <= budget ? 'met' : 'OVER'}`);

// What has arrived when the first finding shows. The connection is slow enough to tell before from after.
const slow = await visit({ path: 'nothing', unchecked: true });
const session = await slow.context.newCDPSession(slow.page);
await session.send('Network.enable');
await session.send('Network.emulateNetworkConditions', { offline: false, latency: 20, downloadThroughput: 1_000_000, uploadThroughput: 1_000_000 });
const arrived = [];
slow.context.on('requestfinished', (request) => arrived.push(request.url()));
arrived.length = 0;
await slow.page.goto(slow.server.address);
await slow.page.locator('.finding').first().waitFor();
const untilFinding = weigh(arrived);
await slow.close({ allow: [/404/] });

const visited = await visit();
const { page, sent } = visited;
await page.waitForFunction(() => performance.getEntriesByType('resource').some((entry) => entry.name.includes('examples')), null, { timeout: 60_000 });
await page.waitForTimeout(1500);
const inAll = weigh(sent);
// What comes only where its tab is opened.
const before = new Set(sent);
await page.locator('#tab-symptoms').click();
await page.getByText('No log, event or status yet').waitFor();
await page.waitForTimeout(500);
const onDemand = weigh(sent.filter((url) => !before.has(url)));
const heaviest = [...new Set(sent)].map((url) => [gzip(url), new URL(url).pathname]).sort(([one], [other]) => other - one);

// A thousand lines: from a key to the mark under it, in frames as a person sees them.
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
  // The list and the marks are drawn in one go.
  const marked = () => [...document.querySelectorAll('.finding .rule')].some((rule) => rule.textContent === 'instance-profile-is-arn');
  const until = (wanted) =>
    new Promise((resolve) => {
      const look = () => (marked() === wanted ? resolve(performance.now()) : requestAnimationFrame(look));
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
await visited.close();

console.log('the playground, gzip -9');
for (const [bytes, path] of heaviest.slice(0, 16)) console.log(`  ${(bytes / KIB).toFixed(1).padStart(7)} KiB  ${path}`);
say('over the wire until a finding shows', (untilFinding / KIB).toFixed(1), 400, 'KiB');
console.log(`${'with the tab of symptoms opened, more'.padEnd(52)} ${(onDemand / KIB).toFixed(1).padStart(8)} KiB`);
say('over the wire in all', (inAll / KIB).toFixed(1), 700, 'KiB');
say('1,000 lines, keystroke to squiggle, median', times[7].toFixed(1), 50, 'ms ');
