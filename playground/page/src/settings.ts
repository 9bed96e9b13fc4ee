// Settings dialog: the keys of karpwarden.yaml as a form and as text. The engine validates them.

import type { App } from './app.ts';
import { dialog } from './dialog.ts';
import { copy, h } from './dom.ts';
import { install } from './install.ts';
import { releaseOptions } from './release-options.ts';
import { settingsOf } from './state.ts';
import type { Exception, Level, PlacedProblem, Rule, Settings } from './types.ts';

const LIMIT = 10_000;

export function settingsDialog(app: App): void {
  const form = new Form(app);
  dialog('Settings', form.body);
  void form.validate();
}

class Form {
  readonly body = h('div', { class: 'dialog-body-inner' });
  #settings: Settings;
  #problems = h('ul', { class: 'problem', hidden: true });
  #exceptions = h('div', { class: 'exceptions' });
  #text = h('textarea', { 'aria-label': 'karpwarden.yaml', spellcheck: 'false', id: 'settings-text' });
  #policy = h('pre');
  #copyPolicy = h(
    'button',
    {
      type: 'button',
      class: 'small',
      id: 'copy-policy',
      onclick: () => void copy(this.#policy.textContent ?? '', this.#copyPolicy, (text) => this.app.announce(text)),
    },
    'Copy',
  );
  #latest = 0;
  #rules: Rule[] = [];
  #aboutRules = 'Loading the rules';

  constructor(private readonly app: App) {
    this.#settings = structuredClone(app.state.settings);
    this.body.append(
      this.#basics(),
      this.#levels(),
      this.#exceptionFields(),
      this.#asText(),
      this.#asPolicy(),
      this.#device(),
    );
    this.body.prepend(h('div', { 'aria-live': 'polite' }, this.#problems));
    this.#text.addEventListener('input', () => void this.#readText());
    void this.#listRules();
  }

  /** Lists the rules. The engine that knows all of them loads on its first use. */
  async #listRules(): Promise<void> {
    try {
      this.#rules = await this.app.engine.call('rules', [], LIMIT);
      this.#aboutRules = 'No rule matches.';
    } catch (error) {
      this.#aboutRules = `The rules could not be loaded: ${(error as Error).message}`;
    }
    this.body.children[2]?.replaceWith(this.#levels());
    this.#drawExceptions();
  }

  #set(change: (settings: Settings) => void): void {
    change(this.#settings);
    void this.validate(true);
  }

  #basics(): HTMLElement {
    const settings = this.#settings;
    const release = h(
      'select',
      {
        id: 'settings-release',
        onchange: () =>
          this.#set((one) => {
            if (release.value) one.karpenterVersion = release.value;
            else delete one.karpenterVersion;
          }),
      },
      ...releaseOptions(this.app),
    );
    release.value = settings.karpenterVersion ?? '';
    const text = (key: 'kubernetesVersion' | 'clusterName', label: string, help: string, placeholder: string) => {
      const input = h('input', {
        id: `settings-${key}`,
        placeholder,
        autocomplete: 'off',
        spellcheck: 'false',
        oninput: () =>
          this.#set((one) => {
            if (input.value.trim()) one[key] = input.value.trim();
            else delete one[key];
          }),
      });
      input.value = settings[key] ?? '';
      return h('label', { class: 'stack' }, label, input, h('span', { class: 'help' }, help));
    };
    const truth = (key: 'completeInventory' | 'allowIgnoreAnnotation' | 'fix', label: string, help: string) => {
      const input = h('input', {
        type: 'checkbox',
        id: `settings-${key}`,
        onchange: () =>
          this.#set((one) => {
            if (input.checked) one[key] = true;
            else delete one[key];
          }),
      });
      input.checked = settings[key] === true;
      return h('label', { class: 'check' }, input, h('span', {}, label, h('span', { class: 'help' }, ` ${help}`)));
    };
    return h(
      'fieldset',
      {},
      h(
        'div',
        { class: 'two' },
        h(
          'label',
          { class: 'stack' },
          'Karpenter release',
          release,
          h('span', { class: 'help' }, 'Rules and limits differ between releases.'),
        ),
        text(
          'kubernetesVersion',
          'Kubernetes version',
          'Needed by some rules, such as those on AMI families.',
          'for example 1.33',
        ),
        text('clusterName', 'Cluster name', 'Objects that name another cluster are reported.', 'for example prod-eu-1'),
      ),
      truth(
        'completeInventory',
        'The files contain every NodePool and node class.',
        'References to other objects are errors.',
      ),
      truth(
        'allowIgnoreAnnotation',
        'Authors may suppress findings in the cluster',
        'with the annotation karpwarden/ignore.',
      ),
      truth('fix', 'The policy applies safe fixes', 'instead of rejecting the request.'),
    );
  }

  #levels(): HTMLElement {
    const rules = this.#rules;
    const list = h('div', { class: 'levels', role: 'group', 'aria-label': 'Levels', tabindex: 0 });
    const filter = h('input', {
      placeholder: 'Find a rule',
      'aria-label': 'Find a rule',
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => fill(),
    });
    const row = (name: string, summary: string, unset: string) => {
      const select = h('select', {
        'aria-label': `Level of ${name}`,
        onchange: () =>
          this.#set((one) => {
            const levels = { ...one.rules };
            if (select.value) levels[name] = select.value as Level;
            else delete levels[name];
            if (Object.keys(levels).length > 0) one.rules = levels;
            else delete one.rules;
          }),
      });
      for (const [value, label] of [
        ['', unset],
        ['deny', 'deny'],
        ['warn', 'warn'],
        ['info', 'info'],
        ['off', 'off'],
      ]) {
        select.append(h('option', { value }, label));
      }
      select.value = this.#settings.rules?.[name] ?? '';
      return h(
        'div',
        { class: summary ? 'level' : 'level family' },
        h('span', { class: 'mono' }, name),
        summary && h('span', { class: 'help' }, summary),
        select,
      );
    };
    const defaults = { error: 'deny (default)', warning: 'warn (default)', info: 'info (default)' };
    const fill = () => {
      const wanted = filter.value.trim().toLowerCase();
      const rows = Object.keys(this.#settings.rules ?? {})
        .filter((name) => this.#isUnlisted(name) && name.toLowerCase().includes(wanted))
        .map((name) => row(name, 'Set, but not in this list, for example a former family.', 'not set'));
      let family = '';
      for (const rule of rules) {
        if (wanted && !`${rule.name} ${rule.family} ${rule.summary}`.toLowerCase().includes(wanted)) continue;
        if (rule.family !== family) rows.push(row(rule.family, '', 'default of each rule'));
        family = rule.family;
        rows.push(row(rule.name, rule.summary, rule.enabled === 'opt-in' ? 'off (default)' : defaults[rule.severity]));
      }
      list.replaceChildren(...(rows.length > 0 ? rows : [h('p', { class: 'level' }, this.#aboutRules)]));
    };
    fill();
    return h('fieldset', {}, h('legend', {}, 'Levels of rules and families'), filter, list);
  }

  /** Whether the settings may contain a name that the list of rules lacks: a former family, or an unknown one. */
  #isUnlisted(name: string): boolean {
    return this.#rules.length > 0 && !this.#rules.some((rule) => rule.name === name || rule.family === name);
  }

  #exceptionFields(): HTMLElement {
    this.#drawExceptions();
    const add = () => {
      const exceptions = [...(this.#settings.exceptions ?? []), { rule: '', reason: '' }];
      this.#set((one) => (one.exceptions = exceptions));
      this.#drawExceptions();
      this.#exceptions.querySelector<HTMLElement>('.exception:last-child select')?.focus();
    };
    return h(
      'fieldset',
      {},
      h('legend', {}, 'Exceptions'),
      this.#exceptions,
      h('div', {}, h('button', { type: 'button', class: 'small', onclick: add }, 'Add an exception')),
    );
  }

  #drawExceptions(): void {
    const exceptions = this.#settings.exceptions ?? [];
    this.#exceptions.replaceChildren(
      ...exceptions.map((exception, index) => {
        const field = (key: keyof Exception, label: string, type = 'text') => {
          const input = h('input', {
            type,
            autocomplete: 'off',
            spellcheck: 'false',
            oninput: () => this.#set(() => assign(exception, key, input.value)),
          });
          input.value = exception[key] ?? '';
          return h('label', {}, label, input);
        };
        const rule = h(
          'select',
          { onchange: () => this.#set(() => (exception.rule = rule.value)) },
          h('option', { value: '' }, 'choose'),
        );
        for (const family of new Set(this.#rules.map((one) => one.family))) {
          const group = h('optgroup', { label: family }, h('option', { value: family }, `${family} (all)`));
          group.append(
            ...this.#rules
              .filter((one) => one.family === family)
              .map((one) => h('option', { value: one.name }, one.name)),
          );
          rule.append(group);
        }
        if (exception.rule && this.#isUnlisted(exception.rule))
          rule.append(h('option', { value: exception.rule }, `${exception.rule} (not in this list)`));
        rule.value = exception.rule;
        const remove = () => {
          exceptions.splice(index, 1);
          this.#set((one) => {
            if (exceptions.length === 0) delete one.exceptions;
          });
          this.#drawExceptions();
        };
        return h(
          'div',
          { class: 'exception', role: 'group', 'aria-label': `Exception ${index + 1}` },
          h('label', {}, 'Rule', rule),
          field('kind', 'Kind'),
          field('namespace', 'Namespace'),
          field('name', 'Name, may contain *'),
          field('reason', 'Reason'),
          field('until', 'Until', 'date'),
          h('button', { type: 'button', class: 'small', onclick: remove }, 'Remove'),
        );
      }),
    );
  }

  #asText(): HTMLElement {
    return h(
      'fieldset',
      {},
      h('legend', {}, 'As karpwarden.yaml'),
      h('p', { class: 'help' }, 'Paste a file here, or drop it on the page. The command line reads the same file.'),
      this.#text,
    );
  }

  #asPolicy(): HTMLElement {
    return h(
      'fieldset',
      {},
      h('legend', {}, 'As manifests for the cluster'),
      h('p', { class: 'help' }, ...install()),
      h('div', { class: 'block', tabindex: 0, role: 'group', 'aria-label': 'Manifests for the cluster' }, this.#policy),
      h('div', {}, this.#copyPolicy),
    );
  }

  #device(): HTMLElement {
    const input = h('input', {
      type: 'checkbox',
      id: 'settings-remember',
      onchange: () => {
        this.app.state.remember = input.checked;
        this.app.keeping = !this.app.embedded;
        this.app.keepNow();
      },
    });
    input.checked = this.app.state.remember;
    return h(
      'fieldset',
      {},
      h('legend', {}, 'This device'),
      h(
        'label',
        { class: 'check' },
        input,
        h(
          'span',
          {},
          'Remember files and settings in this browser.',
          h('span', { class: 'help' }, ' Otherwise closing the page discards them.'),
        ),
      ),
    );
  }

  /** Validates the settings. Valid settings take effect at once. */
  async validate(changed = false): Promise<void> {
    const request = ++this.#latest;
    const settings = settingsOf(this.#settings);
    const { engine } = this.app;
    const { problems } = await engine.call('settings', [JSON.stringify(settings)], LIMIT);
    if (request !== this.#latest) return;
    this.#showProblems(problems, false);
    if (problems.length > 0) return;
    if (changed) this.app.change(settings);
    void this.#showPolicy(settings, request);
    this.#text.placeholder = 'Loading the text';
    const text = await engine.call('settingsAsYaml', [settings], LIMIT).catch(() => undefined);
    this.#text.placeholder = '';
    if (request !== this.#latest || text === undefined) return;
    if (document.activeElement !== this.#text) this.#text.value = text;
  }

  /** Shows the settings as manifests. The engine that writes them loads on its first use. */
  async #showPolicy(settings: Settings, request: number): Promise<void> {
    this.#copyPolicy.disabled = true;
    this.#policy.textContent ||= 'Loading the manifests';
    try {
      const policy = await this.app.engine.call('policy', [settings, 'monitor'], LIMIT);
      if (request !== this.#latest) return;
      this.#policy.textContent = policy;
      this.#copyPolicy.disabled = false;
    } catch (error) {
      if (request === this.#latest)
        this.#policy.textContent = `The manifests could not be written: ${(error as Error).message}`;
    }
  }

  async #readText(): Promise<void> {
    const request = ++this.#latest;
    const { problems, settings } = await this.app.engine.call('settings', [this.#text.value], LIMIT);
    if (request !== this.#latest) return;
    this.#showProblems(problems, true);
    if (!settings) return;
    this.#settings = settingsOf(settings);
    this.app.change(structuredClone(this.#settings));
    const [basics, levels] = [this.#basics(), this.#levels()];
    this.body.children[1]?.replaceWith(basics);
    this.body.children[2]?.replaceWith(levels);
    this.#drawExceptions();
    void this.#showPolicy(this.#settings, request);
  }

  #showProblems(problems: readonly PlacedProblem[], text: boolean): void {
    const items = problems.map(({ path, message, line, column }) =>
      h('li', {}, `${text ? `line ${line}, column ${column}: ` : ''}${path ? `${path}: ` : ''}${message}`),
    );
    this.#problems.replaceChildren(...items);
    this.#problems.hidden = items.length === 0;
  }
}

function assign(exception: Exception, key: keyof Exception, value: string): void {
  if (value || key === 'rule' || key === 'reason') exception[key] = value;
  else delete exception[key];
}
