// Declares tests that run on the built page.

import { after, test } from 'node:test';

import { launch, visit } from './visit.mjs';

export * from './visit.mjs';

/** The browser of all tests of a file: to start one takes as long as a test. */
let common;
after(async () => (await common)?.close());

/** Runs a function on a new page and then checks that the page did nothing forbidden. */
export async function withPage(options, run) {
  common ??= launch();
  const visited = await visit({ browser: await common, ...options });
  try {
    await run(visited.page, visited);
  } catch (error) {
    await visited.close({ allow: [/./] });
    throw error;
  }
  await visited.close(options);
}

/** Declares a test that runs on a new page. */
export function onPage(name, run, options = {}) {
  test(name, () => withPage(options, run));
}
