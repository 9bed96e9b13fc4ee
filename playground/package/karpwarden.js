// The engine behind a small interface: text in, objects out.

import init, * as engine from './engine/karpwarden.js';

const day = () => new Date().toISOString().slice(0, 10);
const textOf = (settings) => (typeof settings === 'string' ? settings : JSON.stringify(settings ?? {}));
const filesOf = (files) => JSON.stringify(typeof files === 'string' ? [{ name: '-', text: files }] : files);

/** Refusals come as text from the engine. */
function asked(run) {
  try {
    return run();
  } catch (refusal) {
    throw typeof refusal === 'string' ? new Error(refusal) : refusal;
  }
}

export async function start(source, rulesText) {
  await init({ module_or_path: source });
  const checkJson = (files, settings, { range, today = day() } = {}) =>
    asked(() => engine.check(filesOf(files), textOf(settings), range, today));
  return {
    ...JSON.parse(engine.about()),
    check: (files, settings, options) => JSON.parse(checkJson(files, settings, options)),
    checkJson,
    sarif: async (files, settings, { range, today = day() } = {}) => {
      const texts = await rulesText();
      return asked(() => engine.sarif(filesOf(files), textOf(settings), range, today, texts));
    },
    fix: (files, settings, { today = day() } = {}) =>
      JSON.parse(asked(() => engine.fix(filesOf(files), textOf(settings), today))),
    documents: (files) => JSON.parse(asked(() => engine.documents(filesOf(files), true))),
    rules: () => JSON.parse(engine.rules()),
    settings: (text) => JSON.parse(engine.settings(textOf(text))),
    policy: (settings, mode = 'protect') => asked(() => engine.policy(textOf(settings), mode)),
    async explain(rule) {
      const text = JSON.parse(await rulesText())[rule];
      if (text === undefined) throw new Error(`there is no rule \`${rule}\``);
      return text;
    },
  };
}
