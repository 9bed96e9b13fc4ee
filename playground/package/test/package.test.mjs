// Packs the package, installs the tarball in an empty project and uses it in Node.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { here, install, root } from '../install.mjs';

test('checks a manifest from an installed tarball', (context) => {
  const { folder, packed, remove } = install();
  context.after(remove);
  const names = packed.files.map((file) => file.path);
  assert.deepEqual(
    names.filter((name) => /test|assemble|install/.test(name)),
    [],
  );
  const text = readFileSync(join(root, 'examples/nodeclass-bad.yaml'), 'utf8');
  writeFileSync(join(folder, 'nodeclass.yaml'), text);
  writeFileSync(
    join(folder, 'main.js'),
    `import { readFile } from 'node:fs/promises';
     import { load } from 'karpwarden';
     const karpwarden = await load();
     const files = [{ name: 'nodeclass.yaml', text: await readFile('nodeclass.yaml', 'utf8') }];
     const report = karpwarden.check(files, { karpenterVersion: '1.8' });
     const range = karpwarden.check(files, {}, { range: '1.0..1.14' });
     const { files: [fixed], applied } = karpwarden.fix(files);
     let refusal;
     try { karpwarden.check('a: 1', { clustername: 'x' }) } catch (error) { refusal = error.message }
     const unknown = await karpwarden.explain('constructor').catch((error) => error.message);
     console.log(JSON.stringify({
       version: karpwarden.version, report, accepted: range.accepted, applied, fixed,
       again: karpwarden.check([fixed]).findings.length,
       rules: karpwarden.rules().length, text: await karpwarden.explain('instance-profile-is-arn'),
       settings: karpwarden.settings('rules: {storage: loud}').problems, policy: karpwarden.policy({ clusterName: 'a' }),
       refusal, unknown, json: karpwarden.checkJson('x: 1'), sarif: await karpwarden.sarif(files),
     }));`,
  );
  const said = JSON.parse(execFileSync('node', ['main.js'], { cwd: folder, encoding: 'utf8' }));
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  assert.equal(said.version, manifest.version);
  const [finding] = said.report.findings;
  assert.equal(finding.rule, 'instance-profile-is-arn');
  assert.equal(
    text.slice(finding.offset, finding.endOffset),
    'arn:aws:iam::111122223333:instance-profile/KarpenterNodeProfile-prod',
  );
  assert.deepEqual(said.accepted, [{ file: 'nodeclass.yaml', document: 0, releases: '1.0 to 1.14' }]);
  assert.equal(said.applied, 1);
  assert.match(said.fixed.text, /instanceProfile: KarpenterNodeProfile-prod\n/);
  assert.equal(said.again, 0);
  assert.ok(said.rules > 0);
  assert.match(said.text, /^## What it does/);
  assert.equal(said.settings[0].path, 'rules.storage');
  assert.match(said.policy, /clusterName: a/);
  assert.match(said.refusal, /clusterName/);
  assert.equal(said.unknown, 'there is no rule `constructor`');
  const [{ results, tool }] = JSON.parse(said.sarif).runs;
  assert.equal(results[0].ruleId, 'instance-profile-is-arn');
  assert.equal(tool.driver.rules[0].help.markdown, said.text);
  assert.equal(JSON.parse(said.json).summary.skipped, 1);
});
