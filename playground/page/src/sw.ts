// Service worker. It caches every asset of this build, whose names contain a hash, and serves the cached page only when
// the network fails.

declare const BUILD: string;
declare const KEPT: string[];

const worker = self as unknown as ServiceWorkerGlobalScope;
interface ServiceWorkerGlobalScope {
  clients: { claim(): Promise<void> };
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}
interface ExtendableEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

const NAME = `karpwarden-${BUILD}`;

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(KEPT)));
});

worker.addEventListener('activate', (event) => {
  const old = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith('karpwarden-') && name !== NAME) await caches.delete(name);
    }
    await worker.clients.claim();
  };
  event.waitUntil(old());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(page(request));
  else if (url.pathname.includes('/assets/')) event.respondWith(asset(request));
});

/** Fetches a page. Offline, every address shows the cached playground; a rule page opens its article there. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request);
    if (answer.ok) return answer;
  } catch {
    // The network failed.
  }
  const rule = /\/rules\/([\w-]+)(\.html)?$/.exec(new URL(request.url).pathname)?.[1];
  if (rule) return Response.redirect(new URL(`../?rule=${rule}`, request.url));
  return (await caches.match('./', { cacheName: NAME, ignoreSearch: true })) ?? Response.error();
}

async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(NAME);
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}
