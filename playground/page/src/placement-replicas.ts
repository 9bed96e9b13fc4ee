// Slider for the replicas of a workload.

import { h } from './dom.ts';
import type { PlacedPod } from './types.ts';

/** Smallest upper end of the slider. */
const END = 50;

export class ReplicaSlider {
  readonly element: HTMLElement;
  /** The numbers of pods that the files give. */
  #written = new Map<string, number>();
  /** The numbers that the visitor chose instead. */
  #chosen = new Map<string, number>();
  #workload = h('select', { id: 'workload' });
  #slider = h('input', { type: 'range', id: 'replicas', min: 0, step: 1, 'aria-label': 'Replicas' });
  #number = h('output', { class: 'mono', for: 'replicas' });
  #reset = h('button', { type: 'button', class: 'small', id: 'replicas-reset' }, 'As written');

  constructor(changed: () => void) {
    this.element = h(
      'div',
      { class: 'tools replicas', hidden: true },
      h('label', {}, 'Replicas of', this.#workload),
      this.#slider,
      this.#number,
      this.#reset,
    );
    this.#workload.addEventListener('change', () => this.#show());
    this.#slider.addEventListener('input', () => {
      this.#chosen.set(this.#workload.value, Number(this.#slider.value));
      this.#label();
      changed();
    });
    this.#reset.addEventListener('click', () => {
      this.#chosen.delete(this.#workload.value);
      this.#show();
      this.#slider.focus();
      changed();
    });
  }

  /** The chosen numbers, one `KIND/NAME=N` a line. */
  choices(): string {
    return [...this.#chosen].map(([workload, number]) => `${workload}=${number}`).join('\n');
  }

  hasChoices(): boolean {
    return this.#chosen.size > 0;
  }

  /** Shows the workloads of a result. A workload with 0 chosen replicas stays, although it has no pods. */
  update(pods: PlacedPod[]): void {
    const found = new Map<string, number>();
    for (const { workload } of pods)
      if (!workload.startsWith('Pod/')) found.set(workload, (found.get(workload) ?? 0) + 1);
    for (const [workload, number] of this.#chosen) {
      if (number > 0 && pods.length > 0 && !found.has(workload)) this.#chosen.delete(workload);
      else found.set(workload, this.#written.get(workload) ?? number);
    }
    this.#written = found;
    const names = [...found.keys()];
    const options = [...this.#workload.options].map(({ value }) => value);
    if (names.join('\n') !== options.join('\n')) {
      const before = this.#workload.value;
      this.#workload.replaceChildren(...names.map((name) => h('option', { value: name }, name)));
      if (found.has(before)) this.#workload.value = before;
    }
    this.element.hidden = names.length === 0;
    // A slider that is being dragged keeps its range and its value.
    if (document.activeElement !== this.#slider) this.#show();
    else this.#label();
  }

  #show(): void {
    const written = this.#written.get(this.#workload.value) ?? 0;
    const value = this.#chosen.get(this.#workload.value) ?? written;
    this.#slider.max = String(Math.max(END, 2 * written, value));
    this.#slider.value = String(value);
    this.#label();
  }

  #label(): void {
    const { value } = this.#slider;
    this.#number.textContent = value;
    this.#slider.setAttribute('aria-valuetext', `${value} of ${this.#workload.value}`);
    this.#reset.disabled = !this.#chosen.has(this.#workload.value);
  }
}
