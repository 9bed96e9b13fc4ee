// Terraform in a file whose name does not say so. By its name the engine would read it as YAML.

import type { App } from './app.ts';

const KIND = 'terraform';
/** The first line of a block of Terraform. */
const BLOCK =
  /^(?:(?:resource|data)\s+"[^"\n]+"\s+"[^"\n]+"|(?:module|provider|variable|output)\s+"[^"\n]+"|locals|terraform)\s*\{/m;
const MANIFEST = /^(?:---|apiVersion:|kind:)/m;

/** Whether a text is Terraform and no manifest. */
export function isTerraform(text: string): boolean {
  const [block, manifest] = [text.search(BLOCK), text.search(MANIFEST)];
  // The manifest of a heredoc string comes after the block that holds it.
  return block >= 0 && (manifest < 0 || block < manifest);
}

/** Whether the engine reads a file as Terraform by its name. */
function isNamedTerraform(name: string): boolean {
  return /\.(tf|tofu|hcl|tfvars)$/i.test(name);
}

/** Says that a file is Terraform, with a button that gives it the name of one. */
export function terraformHint(app: App): void {
  /** Name of the file of the last hint. The hint does not return after the visitor has dismissed it. */
  let shown = '';
  app.on('report', () => {
    const found = app.manifests.find(({ name, text }) => !isNamedTerraform(name) && isTerraform(text));
    if (!found) {
      shown = '';
      app.dismiss(KIND);
      return;
    }
    const { name } = found;
    if (name === shown) return;
    shown = name;
    app.notice(
      KIND,
      `${name}: this is Terraform, but it is read as YAML because of its name. In a .tf file the objects that its resources make are checked.`,
      [['Read it as Terraform', () => rename(app, name)]],
    );
  });
}

function rename(app: App, name: string): void {
  const index = app.state.files.findIndex((file) => file.name === name);
  app.renameFile(index, `${name.replace(/\.[^./]*$/, '')}.tf`);
}
