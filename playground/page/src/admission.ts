// The Admission tab: runs the policy module and shows what kubectl prints.

import type { App } from './app.ts';
import type { Reviewed, PolicyInfo } from './admission-worker.ts';
import { groupAndVersion } from './cluster/kinds.ts';
import type { Operation } from './cluster/request.ts';
import { copy, count, h, icon } from './dom.ts';
import type { KubeObject } from './types.ts';

const COMMAND: Record<Operation, string> = { CREATE: 'apply', UPDATE: 'replace', DELETE: 'delete' };

/** Time limit of the policy in milliseconds, as in policy-server. */
const LIMIT = 10_000;

export class AdmissionView {
  #object = 0;
  #operation: Operation = 'CREATE';
  #mode: 'protect' | 'monitor' = 'protect';
  #connected = true;
  #latest = 0;

  constructor(private readonly app: App) {}

  async render(view: HTMLElement): Promise<void> {
    const { app } = this;
    const request = ++this.#latest;
    const files = app.manifests;
    if (!view.querySelector('.choices')) view.replaceChildren(h('p', { class: 'calm' }, 'Loading the policy module'));
    try {
      const [objects, loaded, manifest] = await Promise.all([
        app.engine.call('documents', [files, true], LIMIT),
        app.admission.call('load', [], 60_000),
        app.engine.call('policy', [app.state.settings, this.#mode], LIMIT),
      ]);
      if (objects.length === 0) {
        if (request === this.#latest) view.replaceChildren(h('div', { class: 'calm' }, h('strong', {}, 'No Kubernetes object found'), 'The API server sends Kubernetes objects to the policy. Paste a manifest.'));
        return;
      }
      this.#object = Math.min(this.#object, objects.length - 1);
      const object = objects[this.#object] as KubeObject;
      const old = this.#old(objects, object);
      const reviewed = await app.admission.call(
        'review',
        [
          {
            operation: this.#operation,
            object: object.object ?? null,
            oldObject: old,
            others: objects.filter((other) => this.#operation !== 'CREATE' || other !== object).map((other) => other.object ?? null),
            settings: app.state.settings as never,
            mode: this.#mode,
            mutating: app.state.settings.fix === true,
            connected: this.#connected,
          },
        ],
        LIMIT,
      );
      if (request !== this.#latest || app.state.tab !== 'admission') return;
      this.#draw(view, objects, object, loaded, reviewed, manifest);
    } catch (error) {
      if (request !== this.#latest || app.state.tab !== 'admission') return;
      view.replaceChildren(
        h('div', { class: 'calm' }, h('strong', {}, 'The policy did not answer'), (error as Error).message,
          h('button', { type: 'button', onclick: () => void this.render(view) }, 'Try again')),
      );
    }
  }

  /** The object before an update: from the AdmissionReview, or another document of the same name. */
  #old(objects: KubeObject[], object: KubeObject) {
    if (object.oldObject) return object.oldObject;
    const same = (other: KubeObject) =>
      other !== object && other.kind === object.kind && other.namespace === object.namespace && other.name === object.name;
    return objects.find(same)?.object ?? object.object ?? null;
  }

  #draw(view: HTMLElement, objects: KubeObject[], object: KubeObject, loaded: PolicyInfo, reviewed: Reviewed, manifest: string): void {
    const again = () => void this.render(view);
    const scroll = view.scrollTop;
    const focused = document.activeElement?.id;
    view.replaceChildren(
      this.#choices(objects, again),
      this.#verdict(object, loaded, reviewed),
      this.#calls(reviewed),
      this.#source(loaded, manifest),
    );
    view.scrollTop = scroll;
    if (focused?.startsWith('admission-')) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #choices(objects: KubeObject[], again: () => void): HTMLElement {
    const select = (id: string, label: string, options: [string, string][], value: string, change: (value: string) => void) => {
      const box = h('select', { id: `admission-${id}`, onchange: () => (change(box.value), again()) });
      box.append(...options.map(([value, text]) => h('option', { value }, text)));
      box.value = value;
      return h('label', id === 'object' ? { class: 'wide' } : {}, label, box);
    };
    const many = this.app.state.files.length > 1;
    const name = (object: KubeObject) =>
      `${object.kind}/${[object.namespace, object.name].filter(Boolean).join('/')} (${many ? `${object.file}, ` : ''}line ${object.line})`;
    const connected = h('input', { type: 'checkbox', id: 'admission-connected', onchange: () => ((this.#connected = connected.checked), again()) });
    connected.checked = this.#connected;
    return h(
      'div',
      { class: 'choices' },
      select('object', 'Object', objects.map((object, index) => [String(index), name(object)]), String(this.#object), (value) => (this.#object = Number(value))),
      select('operation', 'Operation', [['CREATE', 'create'], ['UPDATE', 'update'], ['DELETE', 'delete']], this.#operation, (value) => (this.#operation = value as Operation)),
      select('mode', 'Mode of the policy', [['protect', 'protect'], ['monitor', 'monitor']], this.#mode, (value) => (this.#mode = value as 'protect')),
      h('label', { class: 'check wide' }, connected, 'The policy may read the other documents as objects of the cluster'),
    );
  }

  #verdict(object: KubeObject, loaded: PolicyInfo, { response }: Reviewed): HTMLElement {
    if (!response) {
      return h('div', { class: 'part' }, h('p', { class: 'verdict' }, 'Not sent'),
        h('p', {}, 'The API server does not send this to the policy: no rule of its manifest matches this kind and operation.'));
    }
    const warned = (response.warnings ?? []).length > 0;
    const word = !response.allowed ? 'Denied' : warned ? 'Allowed, with warnings' : 'Allowed';
    const mark = !response.allowed ? 'error' : warned ? 'warning' : 'clean';
    const json = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }, null, 2);
    const patch = response.patch ? new TextDecoder().decode(Uint8Array.from(atob(response.patch), (letter) => letter.charCodeAt(0))) : '';
    return h(
      'div',
      { class: 'part' },
      h('p', { class: 'verdict', id: 'verdict' }, icon(mark), word),
      this.#kubectl(object, loaded, response),
      this.#block('AdmissionResponse', json, 'response'),
      patch && this.#block('Decoded patch', JSON.stringify(JSON.parse(patch), null, 2), 'patch'),
    );
  }

  /** Output of kubectl: warnings first, then the result. */
  #kubectl(object: KubeObject, loaded: PolicyInfo, response: NonNullable<Reviewed['response']>): HTMLElement {
    const verb = COMMAND[this.#operation];
    const [group] = groupAndVersion(object.apiVersion);
    const named = `${object.kind.toLowerCase()}${group ? `.${group}` : ''}`;
    const pre = h('pre', {}, h('span', { class: 'prompt' }, `$ kubectl ${verb} -f ${object.file}\n`));
    for (const warning of response.warnings ?? []) pre.append(h('span', { class: 'warned' }, `Warning: ${warning}\n`));
    if (response.allowed) {
      const done = { CREATE: 'created', UPDATE: 'replaced', DELETE: 'deleted' }[this.#operation];
      pre.append(this.#operation === 'DELETE' ? `${named} "${object.name}" deleted` : `${named}/${object.name} ${done}`);
    } else {
      // Wording: ToStatusErr in k8s.io/apiserver, AddSourceToErr and checkErr in kubectl.
      const reason = response.status?.message;
      const denied = `admission webhook "${loaded.webhook}" denied the request${reason ? `: ${reason}` : ' without explanation'}`;
      const when = { CREATE: 'creating', UPDATE: 'replacing', DELETE: 'deleting' }[this.#operation];
      pre.append(h('span', { class: 'denied' }, `Error from server: error when ${when} "${object.file}": ${denied}`));
    }
    return h('div', { class: 'block wrap terminal', role: 'group', 'aria-label': 'Output of kubectl', tabindex: 0 }, pre);
  }

  #block(title: string, text: string, id: string): HTMLElement {
    const button = h('button', { type: 'button', class: 'small quiet', id: `admission-copy-${id}`, onclick: () => void copy(text, button, (result) => this.app.announce(result)) }, 'Copy');
    return h('div', { id: `admission-${id}` }, h('div', { class: 'head part-head' }, h('h3', {}, title), button), h('div', { class: 'block', tabindex: 0, role: 'group', 'aria-label': title }, h('pre', {}, text)));
  }

  #calls({ calls }: Reviewed): HTMLElement {
    if (calls.length === 0) return h('div', { hidden: true });
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, 'Queries of the policy to the cluster'),
      h('ul', { class: 'notes-plain' }, ...calls.map((call) => h('li', {}, `${call.operation} ${call.apiVersion} ${call.kind}: ${call.refusal ?? 'answered'}`))),
    );
  }

  #source(loaded: PolicyInfo, manifest: string): HTMLElement {
    return h(
      'div',
      { class: 'part' },
      this.#block('ClusterAdmissionPolicy with these settings', manifest, 'policy'),
      h('p', { class: 'digest' }, `The page runs the same module as clusters: ${loaded.title} ${loaded.version}, ${count(Math.round(loaded.bytes / 1024), 'KiB', 'KiB')}, `, h('code', { id: 'digest' }, loaded.digest)),
    );
  }
}
