// JavaScript interface of the engine.

import init, * as engine from './engine/karpwarden.js';

const day = () => new Date().toISOString().slice(0, 10);
const textOf = (settings) => (typeof settings === 'string' ? settings : JSON.stringify(settings ?? {}));
const filesOf = (files) => JSON.stringify(typeof files === 'string' ? [{ name: '-', text: files }] : files);

/** Turns strings thrown by the engine into errors. */
function call(run) {
  try {
    return run();
  } catch (refusal) {
    throw typeof refusal === 'string' ? new Error(refusal) : refusal;
  }
}

export async function start(source, rulesText) {
  await init({ module_or_path: source });
  const checkJson = (files, settings, { range, today = day() } = {}) =>
    call(() => engine.check(filesOf(files), textOf(settings), range, today));
  return {
    ...JSON.parse(engine.about()),
    check: (files, settings, options) => JSON.parse(checkJson(files, settings, options)),
    checkJson,
    sarif: async (files, settings, { range, today = day() } = {}) => {
      const texts = await rulesText();
      return call(() => engine.sarif(filesOf(files), textOf(settings), range, today, texts));
    },
    fix: (files, settings, { today = day() } = {}) =>
      JSON.parse(call(() => engine.fix(filesOf(files), textOf(settings), today))),
    documents: (files) => JSON.parse(call(() => engine.documents(filesOf(files), true))),
    rules: () => JSON.parse(engine.rules()),
    settings: (text) => JSON.parse(engine.settings(textOf(text))),
    policy: (settings, mode = 'monitor') => call(() => engine.policy(textOf(settings), mode)),
    async explain(rule) {
      const texts = JSON.parse(await rulesText());
      const text = Object.hasOwn(texts, rule) ? texts[rule] : undefined;
      if (text === undefined) throw new Error(`there is no rule \`${rule}\``);
      return text;
    },
  };
}
