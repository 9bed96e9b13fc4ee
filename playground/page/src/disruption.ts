// The Disruption tab: when Karpenter may disrupt nodes, and what blocks each node. Loaded when the tab opens.

import './week-style.ts';
import { assumedList } from './assumed.ts';
import { nodeList } from './disruption-nodes.ts';
import { weekOf } from './disruption-week.ts';
import { count, h, icon } from './dom.ts';
import { message } from './message.ts';
import { placementWorker } from './placement-client.ts';
import { redraw } from './redraw.ts';
import { utcTime } from './times.ts';
import type { DisruptionOverview, FieldPlace, SourceFile } from './types.ts';
import type { ViewHost } from './view-host.ts';
import { WorkerStopped } from './worker-client.ts';

/** Time limit in milliseconds. */
const LIMIT = 20_000;
const MINUTE = 60_000;

/** A NodePool with a budget for business hours, and one for a night that is not long enough. */
const EXAMPLE: SourceFile = {
  name: 'disruption.yaml',
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
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 5m
    budgets:
      - nodes: "10%"
      - nodes: "0"
        reasons: ["Underutilized", "Drifted"]
        schedule: "0 8 * * mon-fri"
        duration: 10h
      - nodes: "2"
        reasons: ["Drifted"]
        schedule: "0 16 * * mon-fri"
        duration: 4h
`,
};

export class DisruptionView {
  #view: HTMLElement | undefined;
  #answer = h('div', { id: 'disruption' });
  #tools = h('div', { class: 'tools', hidden: true });
  #time = h('input', { type: 'datetime-local', id: 'disruption-at', required: true });
  /** The start of the week that the visitor chose, in milliseconds; by default the current minute. */
  #chosen: number | undefined;
  /** Input of the last answer. */
  #input = '';
  #running = false;
  #result: DisruptionOverview | undefined;
  #problem = '';
  #ms = 0;

  constructor(private readonly app: ViewHost) {
    const now = h('button', { type: 'button', class: 'small', id: 'disruption-now' }, 'Now');
    this.#tools.append(h('label', {}, 'From', this.#time, 'UTC'), now);
    this.#time.addEventListener('change', () => this.#choose(Date.parse(`${this.#time.value}Z`)));
    now.addEventListener('click', () => this.#choose(Number.NaN));
  }

  async render(view: HTMLElement): Promise<void> {
    this.#view = view;
    if (!this.#answer.isConnected) {
      view.replaceChildren(this.#tools, this.#answer);
      // Opening the tab tries again after an error. An answer may have come while another tab was open.
      if (this.#problem) this.#input = '';
      else this.#draw();
    }
    await this.#judge();
  }

  #choose(time: number): void {
    this.#chosen = Number.isNaN(time) ? undefined : time;
    void this.#judge();
  }

  /** The start of the week, in milliseconds. */
  #at(): number {
    return this.#chosen ?? Math.floor(Date.now() / MINUTE) * MINUTE;
  }

  /** Judges the current input, and again if it changes meanwhile. */
  async #judge(): Promise<void> {
    if (this.#running) return;
    const { app } = this;
    const [files, release] = [app.manifests, app.state.settings.karpenterVersion];
    const input = () => JSON.stringify([app.manifests, app.state.settings.karpenterVersion, this.#chosen]);
    const now = input();
    const at = this.#at();
    const key = `${at} ${now}`;
    if (key === this.#input) return;
    this.#input = key;
    this.#running = true;
    const late = setTimeout(
      () => !this.#result && this.#answer.replaceChildren(h('p', { class: 'calm' }, 'Loading the instance types')),
      200,
    );
    try {
      const { result, ms } = await placementWorker.call(
        'disruption',
        [files, release, new Date(at).toISOString()],
        LIMIT,
      );
      this.#result = result;
      this.#ms = ms;
      this.#problem = '';
    } catch (error) {
      this.#result = undefined;
      const isLate = error instanceof WorkerStopped && error.why === 'time';
      this.#problem = isLate
        ? `This took longer than ${LIMIT / 1000} s and was cancelled. Judge fewer nodes.`
        : (error as Error).message;
    } finally {
      clearTimeout(late);
      this.#running = false;
    }
    if (app.state.tab !== 'disruption') return;
    this.#draw();
    if (input() !== now) await this.#judge();
  }

  /** Asks about single nodes of an answer. */
  #alone({ at }: DisruptionOverview): (node: string) => Promise<string | null> {
    const { app } = this;
    const [files, release] = [app.manifests, app.state.settings.karpenterVersion];
    return (node) => placementWorker.call('alone', [files, release, at, node], LIMIT);
  }

  #draw(): void {
    if (!this.#view || !(this.#result || this.#problem)) return;
    const result = this.#result;
    this.#tools.hidden = !result || isEmpty(result);
    if (result && document.activeElement !== this.#time)
      this.#time.value = new Date(Date.parse(result.at)).toISOString().slice(0, 16);
    redraw(this.#view, this.#answer, result ? this.#parts(result) : [calm('Not judged', this.#problem)]);
  }

  #parts(result: DisruptionOverview): Node[] {
    if (isEmpty(result)) {
      const example = h(
        'button',
        { type: 'button', onclick: () => this.app.addFiles([{ ...EXAMPLE }]) },
        'Add an example',
      );
      return [
        calm(
          'No NodePool',
          'Add a NodePool to see when Karpenter may disrupt its nodes, and a snapshot of the cluster to see what blocks each node.',
          example,
        ),
      ];
    }
    const go = ({ file, offset, endOffset }: FieldPlace) => this.app.goTo(file, offset, endOffset, true);
    const parts: Node[] = [];
    if (result.nodes.length > 0) {
      parts.push(
        h(
          'p',
          { class: 'verdict disruption-verdict', id: 'disruption-verdict' },
          icon('info'),
          h('span', {}, `Now: ${result.verdict}`),
        ),
      );
      this.app.announce(result.verdict, 1000);
    }
    parts.push(...result.pools.map((pool) => weekOf(pool, go)));
    if (result.morePools > 0)
      parts.push(h('p', { class: 'part digest' }, `${count(result.morePools, 'more NodePool')}.`));
    parts.push(legend());
    // Without nodes nothing depends on zones and prices.
    if (result.nodes.length > 0) {
      parts.push(
        nodeList(result, go, this.#alone(result)),
        h('div', { class: 'part' }, h('h3', {}, 'Assumed'), assumedList(result.assumptions)),
      );
    }
    const time = `Judged for Karpenter ${result.karpenterVersion} at ${utcTime(Date.parse(result.at))} UTC in ${Math.max(1, Math.round(this.#ms))} ms.`;
    parts.push(h('p', { class: 'part digest', id: 'disruption-time', 'data-ms': this.#ms.toFixed(1) }, time));
    return parts;
  }
}

const isEmpty = ({ pools, nodes }: DisruptionOverview) => pools.length === 0 && nodes.length === 0;

function legend(): HTMLElement {
  const text =
    'The higher a bar, the more nodes may be disrupted at once; a thin line means no node. Karpenter reads schedules in UTC. ';
  return h(
    'p',
    { class: 'part digest' },
    text,
    h('span', { id: 'week-keys' }, 'Arrow keys move along a week, and Enter shows the budget that decides.'),
  );
}

function calm(title: string, text: string, action?: HTMLElement): HTMLElement {
  return h('div', { class: 'calm' }, h('strong', {}, title), h('span', {}, ...message(text)), action);
}
