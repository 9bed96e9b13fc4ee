// The document of the view. It has no inline script or style, and it may load only what the extension contains.

/** The files that the view's scripts load, by name. */
export const ASSETS = [
  'engine-worker.js',
  'placement-worker.js',
  'admission-worker.js',
  'engine.wasm',
  'policy.wasm',
  'rules.json',
];

export interface ViewDocument {
  /** The source of the extension's files in a content security policy. */
  source: string;
  /** The address of a file of the extension. */
  address: (file: string) => string;
  /** The icons of the page, as markup from its own document. */
  sprite: string;
  view: string;
}

/** `blob:` is for workers and modules, which start from copies of the extension's files in memory. */
const policy = (source: string): string =>
  [
    "default-src 'none'",
    `script-src ${source} 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src ${source}`,
    `img-src ${source}`,
    `connect-src ${source} blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

export function viewHtml({ source, address, sprite, view }: ViewDocument): string {
  const assets = JSON.stringify(Object.fromEntries(ASSETS.map((name) => [name, address(name)])));
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="${escape(policy(source))}">
    <title>Karpwarden</title>
    <link rel="stylesheet" href="${escape(address('page.css'))}">
    <link rel="stylesheet" href="${escape(address('view.css'))}">
    <script type="module" src="${escape(address('view.js'))}"></script>
  </head>
  <body data-assets="${escape(assets)}" data-view="${escape(view)}">
    ${sprite}
    <div id="bar">
      <div id="tabs" role="tablist" aria-label="Answers"></div>
      <span id="base"></span>
    </div>
    <div id="notices"></div>
    <main id="view" role="tabpanel" tabindex="-1"><p class="calm">Loading the engine</p></main>
    <p id="live" class="hidden" aria-live="polite"></p>
  </body>
</html>
`;
}
