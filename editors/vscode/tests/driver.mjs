// The folder of the tests in a workbench, and what a person does there.

import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const vsix = fileURLToPath(new URL('../karpwarden.vsix', import.meta.url));
const screenshots = new URL('../screenshots/', import.meta.url);
const example = (name) => readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');

const POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  template:
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          values: ["on-demand"]
        - key: karpenter.k8s.aws/instance-cpu
          operator: In
          values: ["4"]
`;
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 6
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: nginx:1.27
          resources:
            requests: {cpu: "1", memory: 1Gi}
`;
export const FILES = {
  'karpwarden.yaml': 'karpenterVersion: "1.14"\nrules:\n  storageclass-immediate: warn\n',
  'prod/class.yaml': example('nodeclass-bad.yaml'),
  'prod/pool.yaml': POOL,
  'prod/web.yaml': WEB,
};

export const DESKTOP = { width: 1400, height: 850 };

export async function quickInput(page, key, text) {
  await page.keyboard.press(key);
  const input = page.locator('.quick-input-widget input[type=text]');
  await input.waitFor();
  await page.keyboard.type(text);
  await page.locator('.quick-input-list .monaco-list-row.focused').waitFor();
  await page.keyboard.press('Enter');
}

export const command = (page, text) => quickInput(page, 'F1', `Karpwarden: ${text}`);

export async function open(page, name) {
  const row = page.locator('.explorer-folders-view .monaco-list-row');
  if ((await row.filter({ hasText: name }).count()) === 0) await row.filter({ hasText: 'prod' }).click();
  await row.filter({ hasText: name }).dblclick();
  await page.locator('.monaco-editor .view-line').first().waitFor();
}

/** Waits for the engine: the status bar has the release of karpwarden.yaml. */
export const engine = (page) => page.locator('.statusbar-item', { hasText: 'Karpenter 1.14' }).waitFor();
export const viewOf = (page) => page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
export const shot = (page, name) => {
  mkdirSync(screenshots, { recursive: true });
  return page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, screenshots)) });
};
