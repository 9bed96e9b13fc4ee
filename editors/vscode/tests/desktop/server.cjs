// The server of VS Code in the package code-server, on loopback, without the login of code-server: `node server.cjs FOLDER [VSIX]`. With a package, it
// installs the package and ends. FOLDER has the settings and the extensions.
// Source: `loadVSCode` in src/node/routes/vscode.ts and `runCodeCli` in src/node/main.ts of coder/code-server at v4.93.1.

const { createServer } = require('node:http');
const { dirname, join } = require('node:path');

const [folder, vsix] = process.argv.slice(2);
const server = join(dirname(require.resolve('code-server/package.json')), 'lib/vscode/out/server-main');
const options = {
  _: [],
  'accept-server-license-terms': true,
  compatibility: '1.64',
  'without-connection-token': true,
  'user-data-dir': join(folder, 'data'),
  'server-data-dir': join(folder, 'data'),
  'extensions-dir': join(folder, 'extensions'),
  'telemetry-level': 'off',
  'disable-telemetry': true,
  'disable-update-check': true,
  'disable-workspace-trust': true,
  // The PATH of the test, not the one of a login.
  'force-disable-user-env': true,
};

async function main() {
  const code = await require(server).loadCodeWithNls();
  if (vsix) return code.spawnCli({ ...options, 'install-extension': [vsix] });
  const workbench = await code.createServer(null, options);
  const http = createServer((request, response) => workbench.handleRequest(request, response));
  http.on('upgrade', (request, socket) => workbench.handleUpgrade(request, socket));
  http.listen(0, '127.0.0.1', () => process.send(http.address().port));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
