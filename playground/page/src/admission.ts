// The Admission tab: runs the policy module and shows what kubectl prints.

import type { Reviewed, PolicyInfo } from './admission-worker.ts';
import type { HostCall } from './cluster/inventory.ts';
import { at, isObject, textAt } from './cluster/json.ts';
import { groupAndVersion } from './cluster/kinds.ts';
import { type Operation, admissionRequest } from './cluster/request.ts';
import { matchesRules, webhookOf } from './cluster/server.ts';
import { copy, count, h, icon } from './dom.ts';
import { install } from './install.ts';
import { pinnedRelease } from './pins.ts';
import { policySettings } from './state.ts';
import type { Json, ListedObject, Refusal } from './types.ts';
import type { ViewHost } from './view-host.ts';

const COMMAND: Record<Operation, string> = { CREATE: 'apply', UPDATE: 'replace', DELETE: 'delete' };

const ACTION: Record<Operation, string> = { CREATE: 'creating', UPDATE: 'replacing', DELETE: 'deleting' };

/** Answer to a request: from the API server itself, or from the policy. */
type Answer =
  { refused: Refusal; release: string; calls: HostCall[] } | (Reviewed & { refused: null; webhook: string });

/** Time limit of the policy in milliseconds, as in policy-server. */
const LIMIT = 10_000;

export class AdmissionView {
  #object = 0;
  #operation: Operation = 'CREATE';
  #mode: 'protect' | 'monitor' = 'protect';
  #connected = true;
  #latest = 0;

  constructor(private readonly app: ViewHost) {}

  async render(view: HTMLElement): Promise<void> {
    const { app } = this;
    const request = ++this.#latest;
    const files = app.manifests;
    if (!view.querySelector('.choices')) view.replaceChildren(h('p', { class: 'calm' }, 'Loading the policy module'));
    try {
      const [objects, loaded, manifest] = await Promise.all([
        app.engine.call('documents', [files, true], LIMIT),
        app.admission.call('load', [], 60_000),
        app.engine.call('policy', [app.state.settings, 'monitor'], LIMIT),
      ]);
      if (objects.length === 0) {
        if (request === this.#latest)
          view.replaceChildren(
            h(
              'div',
              { class: 'calm' },
              h('strong', {}, 'No Kubernetes object found'),
              'The API server sends Kubernetes objects to the policy. Paste a manifest.',
            ),
          );
        return;
      }
      this.#object = Math.min(this.#object, objects.length - 1);
      const object = objects[this.#object] as ListedObject;
      const answer = await this.#answer(objects, object, manifest);
      if (request !== this.#latest || app.state.tab !== 'admission') return;
      this.#draw(view, objects, object, loaded, answer, manifest);
    } catch (error) {
      if (request !== this.#latest || app.state.tab !== 'admission') return;
      view.replaceChildren(
        h(
          'div',
          { class: 'calm' },
          h('strong', {}, 'The policy did not answer'),
          (error as Error).message,
          h('button', { type: 'button', onclick: () => void this.render(view) }, 'Try again'),
        ),
      );
    }
  }

  /** Sends the object to the API server, which validates it after the mutating and before the validating webhooks. */
  async #answer(objects: ListedObject[], object: ListedObject, manifest: string): Promise<Answer> {
    const { engine, admission, state } = this.app;
    const old = this.#old(objects, object);
    const mutating = state.settings.fix === true;
    const release = this.#releaseOf(object.file);
    const refused = await this.#refusal(object, object.object ?? null, old, release);
    if (refused && !(mutating && refused.isDecoded)) return { refused, release, calls: [] };
    const policies = await engine.call('documents', [[{ name: 'policies.yaml', text: manifest }], true], LIMIT);
    const policy = policyFor(policies, object, this.#operation);
    if (!policy) return { response: null, object: object.object ?? null, calls: [], refused: null, webhook: '' };
    const reviewed = await admission.call(
      'review',
      [
        {
          policy: specOf(policy),
          operation: this.#operation,
          object: object.object ?? null,
          oldObject: old,
          others: objects
            .filter((other) => this.#operation !== 'CREATE' || other !== object)
            .map((other) => other.object ?? null),
          settings: policySettings(state.settings, this.#mode) as never,
          mode: this.#mode,
          mutating,
          connected: this.#connected,
        },
      ],
      LIMIT,
    );
    const after = reviewed.response?.allowed && (await this.#refusal(object, reviewed.object, old, release));
    if (after) return { refused: after, release, calls: reviewed.calls };
    return { ...reviewed, refused: null, webhook: webhookOf(policy.name) };
  }

  /** The refusal of an object by the API server with the definitions of a release. */
  async #refusal(source: ListedObject, object: Json, oldObject: Json, release: string): Promise<Refusal | null> {
    if (this.#operation === 'DELETE') return null;
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { operation: 'UPDATE', object, oldObject },
    };
    const sent = this.#operation === 'UPDATE' ? review : object;
    return this.app.engine.call('refusal', [sent, release, source.file, ACTION[this.#operation]], LIMIT);
  }

  /** The release whose definitions the API server has: of the settings, of the file or its nearest folder, or the newest. */
  #releaseOf(file: string): string {
    const { about, report, state } = this.app;
    return (
      state.settings.karpenterVersion ?? pinnedRelease(report?.pins ?? [], file) ?? about?.releases.at(-1)?.name ?? ''
    );
  }

  /** The object before an update: from the AdmissionReview, or another document of the same name. */
  #old(objects: ListedObject[], object: ListedObject) {
    if (object.oldObject) return object.oldObject;
    const same = (other: ListedObject) =>
      other !== object &&
      other.kind === object.kind &&
      other.namespace === object.namespace &&
      other.name === object.name;
    return objects.find(same)?.object ?? object.object ?? null;
  }

  #draw(
    view: HTMLElement,
    objects: ListedObject[],
    object: ListedObject,
    loaded: PolicyInfo,
    answer: Answer,
    manifest: string,
  ): void {
    const again = () => void this.render(view);
    const scroll = view.scrollTop;
    const focused = document.activeElement?.id;
    view.replaceChildren(
      this.#choices(objects, again),
      answer.refused ? this.#refused(object, answer.refused, answer.release) : this.#verdict(object, answer),
      this.#calls(answer),
      this.#source(loaded, manifest),
    );
    view.scrollTop = scroll;
    if (focused?.startsWith('admission-')) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #choices(objects: ListedObject[], again: () => void): HTMLElement {
    const select = (
      id: string,
      label: string,
      options: [string, string][],
      value: string,
      change: (value: string) => void,
    ) => {
      const box = h('select', { id: `admission-${id}`, onchange: () => (change(box.value), again()) });
      box.append(...options.map(([value, text]) => h('option', { value }, text)));
      box.value = value;
      return h('label', id === 'object' ? { class: 'wide' } : {}, label, box);
    };
    const many = this.app.state.files.length > 1;
    const name = (object: ListedObject) =>
      `${object.kind}/${[object.namespace, object.name].filter(Boolean).join('/')} (${many ? `${object.file}, ` : ''}line ${object.line})`;
    const connected = h('input', {
      type: 'checkbox',
      id: 'admission-connected',
      onchange: () => ((this.#connected = connected.checked), again()),
    });
    connected.checked = this.#connected;
    return h(
      'div',
      { class: 'choices' },
      select(
        'object',
        'Object',
        objects.map((object, index) => [String(index), name(object)]),
        String(this.#object),
        (value) => (this.#object = Number(value)),
      ),
      select(
        'operation',
        'Operation',
        [
          ['CREATE', 'create'],
          ['UPDATE', 'update'],
          ['DELETE', 'delete'],
        ],
        this.#operation,
        (value) => (this.#operation = value as Operation),
      ),
      select(
        'mode',
        'Mode of the policy',
        [
          ['protect', 'protect'],
          ['monitor', 'monitor'],
        ],
        this.#mode,
        (value) => (this.#mode = value as 'protect'),
      ),
      h(
        'label',
        { class: 'check wide' },
        connected,
        'The policy may read the other documents as objects of the cluster',
      ),
    );
  }

  #refused(object: ListedObject, { output, isDecoded }: Refusal, release: string): HTMLElement {
    const mutating = isDecoded && this.app.state.settings.fix === true;
    const pre = h('pre', {}, this.#prompt(object), h('span', { class: 'denied' }, output));
    return h(
      'div',
      { class: 'part' },
      h('p', { class: 'verdict', id: 'verdict' }, icon('error'), 'Refused by the API server'),
      terminal(pre),
      h(
        'p',
        {},
        mutating
          ? 'The API server refuses the object even with the fixes of the policy.'
          : 'The API server refuses the object before it calls the policy.',
        ` It has the definitions of Karpenter ${release}.`,
      ),
    );
  }

  #verdict(object: ListedObject, { response, webhook }: Exclude<Answer, { refused: Refusal }>): HTMLElement {
    if (!response) {
      return h(
        'div',
        { class: 'part' },
        h('p', { class: 'verdict' }, 'Not sent'),
        h(
          'p',
          {},
          'The API server does not send this to the policy: no rule of its manifest matches this kind and operation.',
        ),
      );
    }
    const warned = (response.warnings ?? []).length > 0;
    const word = !response.allowed ? 'Denied' : warned ? 'Allowed, with warnings' : 'Allowed';
    const mark = !response.allowed ? 'error' : warned ? 'warning' : 'clean';
    const json = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }, null, 2);
    const patch = response.patch
      ? new TextDecoder().decode(Uint8Array.from(atob(response.patch), (letter) => letter.charCodeAt(0)))
      : '';
    return h(
      'div',
      { class: 'part' },
      h('p', { class: 'verdict', id: 'verdict' }, icon(mark), word),
      this.#kubectl(object, webhook, response),
      this.#block('AdmissionResponse', json, 'response'),
      patch && this.#block('Decoded patch', JSON.stringify(JSON.parse(patch), null, 2), 'patch'),
    );
  }

  /** Output of kubectl: warnings first, then the result. */
  #kubectl(object: ListedObject, webhook: string, response: NonNullable<Reviewed['response']>): HTMLElement {
    const [group] = groupAndVersion(object.apiVersion);
    const named = `${object.kind.toLowerCase()}${group ? `.${group}` : ''}`;
    const pre = h('pre', {}, this.#prompt(object));
    for (const warning of response.warnings ?? []) pre.append(h('span', { class: 'warned' }, `Warning: ${warning}\n`));
    if (response.allowed) {
      const done = { CREATE: 'created', UPDATE: 'replaced', DELETE: 'deleted' }[this.#operation];
      pre.append(
        this.#operation === 'DELETE' ? `${named} "${object.name}" deleted` : `${named}/${object.name} ${done}`,
      );
    } else {
      // Wording: ToStatusErr in k8s.io/apiserver, AddSourceToErr and checkErr in kubectl.
      const reason = response.status?.message;
      const denied = `admission webhook "${webhook}" denied the request${reason ? `: ${reason}` : ' without explanation'}`;
      pre.append(
        h(
          'span',
          { class: 'denied' },
          `Error from server: error when ${ACTION[this.#operation]} "${object.file}": ${denied}`,
        ),
      );
    }
    return terminal(pre);
  }

  #prompt(object: ListedObject): HTMLElement {
    return h('span', { class: 'prompt' }, `$ kubectl ${COMMAND[this.#operation]} -f ${object.file}\n`);
  }

  #block(title: string, text: string, id: string): HTMLElement {
    const button = h(
      'button',
      {
        type: 'button',
        class: 'small quiet',
        id: `admission-copy-${id}`,
        onclick: () => void copy(text, button, (result) => this.app.announce(result)),
      },
      'Copy',
    );
    return h(
      'div',
      { id: `admission-${id}` },
      h('div', { class: 'head part-head' }, h('h3', {}, title), button),
      h('div', { class: 'block', tabindex: 0, role: 'group', 'aria-label': title }, h('pre', {}, text)),
    );
  }

  #calls({ calls }: Answer): HTMLElement {
    if (calls.length === 0) return h('div', { hidden: true });
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, 'Queries of the policy to the cluster'),
      h(
        'ul',
        { class: 'notes-plain' },
        ...calls.map((call) =>
          h('li', {}, `${call.operation} ${call.apiVersion} ${call.kind}: ${call.refusal ?? 'answered'}`),
        ),
      ),
    );
  }

  #source(loaded: PolicyInfo, manifest: string): HTMLElement {
    return h(
      'div',
      { class: 'part' },
      this.#block('Manifests for the cluster, with these settings', manifest, 'policy'),
      h('p', { class: 'digest' }, ...install()),
      h(
        'p',
        { class: 'digest' },
        `The page runs the same module as clusters: ${loaded.title} ${loaded.version}, ${count(Math.round(loaded.bytes / 1024), 'KiB', 'KiB')}, `,
        h('code', { id: 'digest' }, loaded.digest),
      ),
    );
  }
}

function terminal(pre: HTMLElement): HTMLElement {
  return h('div', { class: 'block wrap terminal', role: 'group', 'aria-label': 'Output of kubectl', tabindex: 0 }, pre);
}

/** The installed policy that the API server asks about an object. */
function policyFor(
  manifests: ListedObject[],
  { object }: ListedObject,
  operation: Operation,
): ListedObject | undefined {
  const request = admissionRequest(operation, isObject(object) ? object : null, null);
  const policies = manifests.filter(({ kind }) => kind === 'ClusterAdmissionPolicy');
  return policies.find(
    (one) =>
      matchesRules(specOf(one), request) &&
      selects(at(specOf(one), 'objectSelector'), at(object, 'metadata', 'labels')),
  );
}

const specOf = (policy: ListedObject): Json => at(policy.object, 'spec') ?? null;

/** Whether a label selector with `matchLabels`, or expressions with `NotIn`, selects these labels. */
function selects(selector: Json | undefined, labels: Json | undefined): boolean {
  const wanted = Object.entries(at(selector, 'matchLabels') ?? {});
  const excluded = at(selector, 'matchExpressions');
  const isExcluded = (one: Json) =>
    textAt(one, 'operator') === 'NotIn' && (at(one, 'values') as string[]).includes(textAt(labels, textAt(one, 'key')));
  return (
    wanted.every(([key, value]) => textAt(labels, key) === value) &&
    !(Array.isArray(excluded) && excluded.some(isExcluded))
  );
}
