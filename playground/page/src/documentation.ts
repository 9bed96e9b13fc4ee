// A rule's page in the panel, from the same comment that the terminal and the reference print.

import { type App, PATIENT } from './app.ts';
import { h, icon } from './dom.ts';
import { inline, markdown } from './markdown.ts';

let texts: Promise<Record<string, string>> | undefined;

/** The documentation of the rules. */
export function documentation(app: App): Promise<Record<string, string>> {
  texts ??= app.engine.call('documentation', [], PATIENT).catch((error: unknown) => {
    texts = undefined;
    throw error;
  });
  return texts;
}

const CAUGHT_BY: Record<string, string> = {
  'api-server': 'the API server refuses it',
  controller: 'the controller fails at run time',
  nobody: 'nobody else tells',
};

export async function documentationView(app: App, name: string, view: HTMLElement, back: () => void): Promise<void> {
  const rule = app.rules.find((one) => one.name === name);
  const title = h('h2', { tabindex: -1 }, name);
  const page = h(
    'article',
    { class: 'doc', 'aria-label': `Rule ${name}` },
    h('button', { type: 'button', class: 'quiet small back', onclick: back }, icon('back'), rule ? 'Findings' : 'Symptoms'),
    title,
  );
  if (rule) {
    const releases = !rule.until ? `since ${rule.since}` : rule.since === rule.until ? rule.since : `${rule.since} to ${rule.until}`;
    const fix = { none: 'no fix', safe: 'safe fix', unsafe: 'fix to look at' }[rule.fix];
    page.append(
      h('p', {}, ...inline(`${rule.summary.charAt(0).toUpperCase()}${rule.summary.slice(1)}.`)),
      h('p', { class: 'facts' }, [rule.severity, rule.family, `Karpenter ${releases}`, CAUGHT_BY[rule.caughtBy], fix].join(' · ')),
    );
  }
  view.replaceChildren(page);
  view.scrollTop = 0;
  title.focus({ preventScroll: true });
  try {
    // The page of a symptom has its title and facts in it.
    const text = rule ? (await documentation(app))[name] : (await app.reader.call('page', [name], PATIENT)).replace(/^# .*\n/, '');
    if (!text) throw new Error('unknown');
    page.append(
      ...markdown(text, (code, language) => {
        const block = h('div', { class: 'block', tabindex: 0, role: 'group', 'aria-label': 'Example' }, h('pre', {}, code));
        if (!language.startsWith('yaml')) return block;
        const open = () => app.addFiles([{ name: `${name}.yaml`, text: `${code}\n` }]);
        return h('div', {}, block, h('button', { type: 'button', class: 'small quiet try', onclick: open }, 'Open in the editor'));
      }),
    );
  } catch {
    page.append(h('p', {}, 'The documentation could not be fetched. Check the connection and choose "Why" again; the terminal has it too: ', h('code', {}, `karpwarden explain ${name}`)));
  }
}
