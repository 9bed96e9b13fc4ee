// The Placement tab: where Karpenter would place the pods, and why not. Loaded when the tab opens, or for a requirement's tip.

import style from '../placement.css';
import type { App } from './app.ts';
import { assumedList } from './assumed.ts';
import { h, icon } from './dom.ts';
import { message } from './message.ts';
import { placementWorker } from './placement-client.ts';
import { nodeCards } from './placement-nodes.ts';
import { ReplicaSlider } from './placement-replicas.ts';
import { unplacedList } from './placement-unplaced.ts';
import { redraw } from './redraw.ts';
import type { FieldPlace, TypesOfPool, SimulationAnswer, SourceFile } from './types.ts';
import type { ViewHost } from './view-host.ts';
import { WorkerStopped } from './worker-client.ts';

/** Time limit of a simulation in milliseconds. */
const LIMIT = 20_000;
/** Pools shown. */
const MOST = 50;

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets.push(sheet);

/** NodePool, node class and two workloads, for a page without pods. */
const EXAMPLE: SourceFile = {
  name: 'placement.yaml',
  text: `apiVersion: karpenter.sh/v1
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
        - key: karpenter.k8s.aws/instance-category
          operator: In
          values: ["c", "m", "r"]
        - key: karpenter.k8s.aws/instance-cpu
          operator: In
          values: ["4", "8"]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: KarpenterNodeRole-prod
  amiSelectorTerms:
    - alias: al2023@v20250807
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: prod
  securityGroupSelectorTerms:
    - tags:
        karpenter.sh/discovery: prod
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 12
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: nginx:1.27
          resources:
            requests:
              cpu: "1"
              memory: 1Gi
---
apiVersion: batch/v1
kind: Job
metadata:
  name: report
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: report
          image: busybox:1.37
          resources:
            requests:
              cpu: "12"
              memory: 4Gi
`,
};

export class PlacementView {
  #view: HTMLElement | undefined;
  #replicas: ReplicaSlider;
  #answer = h('div', { id: 'placement' });
  /** Input of the last simulation. */
  #input = '';
  #running = false;
  #result: SimulationAnswer | undefined;
  #problem = '';
  #ms = 0;

  constructor(private readonly app: ViewHost) {
    this.#replicas = new ReplicaSlider(() => void this.#simulate());
  }

  async render(view: HTMLElement): Promise<void> {
    this.#view = view;
    if (!this.#answer.isConnected) {
      view.replaceChildren(this.#replicas.element, this.#answer);
      // Opening the tab tries again after an error. An answer may have come while another tab was open.
      if (this.#problem) this.#input = '';
      else if (this.#result) this.#draw();
    }
    await this.#simulate();
  }

  /** Simulates the current input, and again if it changes meanwhile. */
  async #simulate(): Promise<void> {
    if (this.#running) return;
    const { app } = this;
    const release = app.state.settings.karpenterVersion;
    const input = () => JSON.stringify([app.manifests, app.state.settings.karpenterVersion, this.#replicas.choices()]);
    const now = input();
    if (now === this.#input) return;
    this.#running = true;
    this.#input = now;
    const late = setTimeout(
      () => !this.#result && this.#answer.replaceChildren(h('p', { class: 'calm' }, 'Loading the instance types')),
      200,
    );
    try {
      const { json, ms } = await placementWorker.call(
        'simulate',
        [app.manifests, release, this.#replicas.choices()],
        LIMIT,
      );
      this.#result = JSON.parse(json) as SimulationAnswer;
      this.#ms = ms;
      this.#problem = '';
    } catch (error) {
      this.#result = undefined;
      this.#problem =
        error instanceof WorkerStopped && error.why === 'time'
          ? `The simulation took longer than ${LIMIT / 1000} s and was cancelled. Simulate fewer replicas.`
          : (error as Error).message;
    } finally {
      clearTimeout(late);
      this.#running = false;
    }
    if (app.state.tab !== 'placement' || !this.#view) return;
    this.#draw();
    if (input() !== now) await this.#simulate();
  }

  #draw(): void {
    const result = this.#result;
    const view = this.#view;
    if (!view) return;
    this.#replicas.update(result?.pods ?? []);
    redraw(view, this.#answer, result ? this.#parts(result) : [this.#calm('Not simulated', this.#problem)]);
  }

  #parts(result: SimulationAnswer): Node[] {
    const { summary } = result;
    if (summary.pods === 0) {
      const example = h(
        'button',
        { type: 'button', onclick: () => this.app.addFiles([{ ...EXAMPLE }]) },
        'Add an example',
      );
      const text = this.#replicas.hasChoices()
        ? 'Every workload has 0 replicas.'
        : 'Add Pods or workloads beside your NodePools to see the nodes that Karpenter would launch.';
      return [this.#calm('No pods to place', text, this.#replicas.hasChoices() ? null : example)];
    }
    this.app.announce(result.verdict, 1000);
    const verdict = h(
      'p',
      { class: 'verdict placement-verdict', id: 'placement-verdict' },
      icon(summary.unplaced + summary.ignored + summary.untried > 0 ? 'error' : 'clean'),
      h('span', {}, result.verdict),
    );
    const unplaced = unplacedList(result.pods, (place, keep) => this.#link(place, keep));
    return [verdict, ...unplaced, ...nodeCards(result), this.#requirements(), this.#assumed(result)];
  }

  #calm(title: string, text: string, action?: HTMLElement | null): HTMLElement {
    return h('div', { class: 'calm' }, h('strong', {}, title), h('span', {}, ...message(text)), action);
  }

  #link({ file, line, offset, endOffset }: FieldPlace, keep: string): HTMLElement {
    const many = this.app.state.files.length > 1;
    const go = () => this.app.goTo(file, offset, endOffset, true);
    return h(
      'button',
      { type: 'button', class: 'link', 'data-keep': keep, onclick: go },
      `${many ? `${file}, ` : ''}line ${line}`,
    );
  }

  /** The instance types that each requirement leaves, for people who do not hover over the editor. */
  #requirements(): HTMLElement {
    const list = h('div', {});
    const details = h(
      'details',
      { class: 'part types', ontoggle: () => void fill() },
      h('summary', { 'data-keep': 'types' }, 'Instance types that the requirements leave'),
      list,
    );
    const fill = async () => {
      if (!details.open) return;
      const pools = await requirementsOf(this.app).catch(() => []);
      list.replaceChildren(...pools.slice(0, MOST).map((pool) => this.#pool(pool)));
    };
    return details;
  }

  #pool({ nodePool, all, left, requirements }: TypesOfPool): HTMLElement {
    const rows = requirements.map(({ file, offset, endOffset, key, types }) => {
      const go = () => this.app.goTo(file, offset, endOffset, true);
      return h(
        'tr',
        {},
        h('th', { scope: 'row' }, h('button', { type: 'button', class: 'link mono', onclick: go }, key)),
        h('td', {}, types === null ? 'any' : types.toLocaleString('en')),
      );
    });
    const total = h(
      'tr',
      {},
      h('th', { scope: 'row' }, 'all together'),
      h('td', {}, `${left.toLocaleString('en')} of ${all.toLocaleString('en')}`),
    );
    return h('table', {}, h('caption', {}, `NodePool ${nodePool}`), h('tbody', {}, ...rows, total));
  }

  #assumed({ assumptions, karpenterVersion }: SimulationAnswer): HTMLElement {
    const time = `Simulated for Karpenter ${karpenterVersion} in ${Math.max(1, Math.round(this.#ms))} ms.`;
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, 'Assumed'),
      assumedList(assumptions),
      h('p', { class: 'digest', id: 'placement-time', 'data-ms': this.#ms.toFixed(1) }, time),
    );
  }
}

let asked = '';
let answer: Promise<TypesOfPool[]> = Promise.resolve([]);

/** The instance types that the requirements of the current files leave. */
function requirementsOf(app: ViewHost): Promise<TypesOfPool[]> {
  const release = app.state.settings.karpenterVersion;
  const input = JSON.stringify([app.manifests, release]);
  if (input !== asked) {
    asked = input;
    answer = placementWorker.call('requirements', [app.manifests, release], LIMIT);
    answer.catch(() => (asked = ''));
  }
  return answer;
}

/** Describes the instance types that the requirement at an offset of the open file leaves. */
export async function typesLeft(app: App, offset: number): Promise<string | null> {
  const { name } = app.file;
  for (const { nodePool, all, left, requirements } of await requirementsOf(app)) {
    const one = requirements.find((each) => each.file === name && each.offset <= offset && offset <= each.endOffset);
    if (!one) continue;
    const number = (value: number) => value.toLocaleString('en');
    const alone =
      one.types === null
        ? `Instance types have no label \`${one.key}\`, so it excludes none of ${number(all)}.`
        : `\`${one.key}\` leaves ${number(one.types)} of ${number(all)} instance types.`;
    return `${alone} All requirements of NodePool \`${nodePool}\` together leave ${number(left)}.`;
  }
  return null;
}
