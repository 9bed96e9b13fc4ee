// Workers of the view. A view may not load a worker from the files of the extension, so each starts from a copy in memory, and so do
// the modules, which a worker of such a copy could not fetch.

/** The addresses of the files of the extension. */
export type Assets = Record<string, string>;

async function copyOf(address: string, type: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: HTTP status ${response.status}`);
  return URL.createObjectURL(new Blob([await response.arrayBuffer()], { type }));
}

/** The address of a worker with its modules, by the names that `define` in build.mjs gives them. */
export async function workerOf(assets: Assets, script: string, modules: Record<string, string>): Promise<string> {
  const addressOf = (name: string) => {
    const address = assets[name];
    if (!address) throw new Error(`the view has no ${name}`);
    return address;
  };
  const copies = Object.entries(modules).map(async ([name, file]) => [
    name,
    await copyOf(addressOf(file), file.endsWith('.wasm') ? 'application/wasm' : 'application/json'),
  ]);
  const [code, ...named] = await Promise.all([fetch(addressOf(script)).then((one) => one.text()), ...copies]);
  const names = JSON.stringify(Object.fromEntries(named as [string, string][]));
  return URL.createObjectURL(new Blob([`self.MODULES = ${names};\n${code}`], { type: 'text/javascript' }));
}
