// The timeline of the Symptoms tab: what happened to each NodeClaim, and the story of one object. Reads the input again when it opens.

import { type App, LONG_LIMIT } from './app.ts';
import { h } from './dom.ts';
import { message } from './message.ts';
import type { Diagnosed, Evidence, FilesOfCluster, Lifeline, Story, StoryKind } from './types.ts';

export class TimelineView {
  readonly element: HTMLDetailsElement;
  #lives = h('div', { class: 'timeline-body' });
  #story = h('div', { id: 'story' });
  #name = h('input', { id: 'story-name', list: 'story-names', spellcheck: 'false', autocomplete: 'off' });
  #names = h('datalist', { id: 'story-names' });
  #report: Diagnosed | undefined;
  /** The report whose timeline is drawn. */
  #drawn: Diagnosed | undefined;
  #pools = new Set<string>();

  constructor(
    private readonly app: App,
    private readonly clusters: () => FilesOfCluster[],
    private readonly evidence: (line: Evidence) => HTMLElement,
  ) {
    const form = h(
      'form',
      { class: 'tell' },
      h('label', { for: 'story-name' }, 'Story of a NodeClaim, node, namespace/pod or NodePool'),
      this.#name,
      this.#names,
      h('button', { type: 'submit', class: 'small' }, 'Tell'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const name = this.#name.value.trim();
      if (name) void this.#tell(this.#kindOf(name), name);
    });
    this.element = h(
      'details',
      { class: 'part timeline', ontoggle: () => void this.#load() },
      h('summary', { id: 'timeline', 'data-keep': 'timeline' }, 'Timeline of the NodeClaims'),
      this.#lives,
      form,
      this.#story,
    );
  }

  /** Follows a new report. */
  update(report: Diagnosed): void {
    this.#report = report;
    void this.#load();
  }

  /** Draws the timeline of the report if it is open. */
  async #load(): Promise<void> {
    const report = this.#report;
    if (!this.element.open || !report || report === this.#drawn) return;
    this.#drawn = report;
    this.#story.replaceChildren();
    try {
      const [{ timelineOf }, stories] = await Promise.all([
        import('./timeline.ts'),
        this.#read('Cluster', '', this.#lives),
      ]);
      if (report !== this.#drawn) return;
      const until = Math.max(
        ...report.logs.map(({ last }) => Date.parse(last ?? '')).filter((time) => !Number.isNaN(time)),
      );
      this.#know(stories);
      this.#lives.replaceChildren(
        ...timelineOf(stories, until, ({ nodeClaim, node }: Lifeline) => void this.#tell('Node', nodeClaim || node)),
      );
    } catch (error) {
      this.#drawn = undefined;
      this.#lives.replaceChildren(`The timeline could not be read: ${(error as Error).message}.`);
    }
  }

  /** Offers the names of the timeline. */
  #know(stories: Story[]): void {
    const lives = stories.flatMap(({ lifelines }) => lifelines);
    this.#pools = new Set(lives.map(({ nodePool }) => nodePool));
    const names = new Set(
      lives.flatMap(({ nodeClaim, node, nodePool, pods }) => [nodeClaim, node, nodePool, ...pods]).filter(Boolean),
    );
    this.#names.replaceChildren(...[...names].slice(0, 1000).map((value) => h('option', { value })));
  }

  #kindOf(name: string): StoryKind {
    if (name.includes('/')) return 'Pod';
    return this.#pools.has(name) ? 'NodePool' : 'Node';
  }

  async #tell(kind: StoryKind, name: string): Promise<void> {
    this.#name.value = name;
    try {
      const [{ storyOf }, stories] = await Promise.all([import('./timeline.ts'), this.#read(kind, name, this.#story)]);
      if (this.#name.value !== name) return;
      const line = ({ file, line, message: text }: { file: string; line: number; message: string }) =>
        this.evidence({ file, line, text });
      const absent = h('p', { class: 'digest' }, ...message(`No input mentions \`${name}\`.`));
      this.#story.replaceChildren(...(stories.length > 0 ? stories.map((story) => storyOf(story, line)) : [absent]));
      this.#story.querySelector('h4')?.focus();
    } catch (error) {
      this.#story.replaceChildren(`The story could not be read: ${(error as Error).message}.`);
    }
  }

  /** Reads the stories of an object, and says so where they will stand. */
  #read(kind: StoryKind, name: string, place: HTMLElement): Promise<Story[]> {
    const status = h('p', { class: 'digest' }, 'Reading the input again');
    place.replaceChildren(status);
    const all = this.app.large.reduce((sum, { file }) => sum + file.size, 0);
    return this.app.reader.call('story', [this.clusters(), this.app.state.settings, kind, name], LONG_LIMIT, (done) => {
      status.textContent = `Reading the input again, ${Math.min(100, Math.round((done / all) * 100))} %`;
    });
  }
}
