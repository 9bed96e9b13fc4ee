// Simulates placements and judges disruption in a separate worker, so that a large input delays neither typing nor a check.

import init, { PlacementWorld } from '../../build/placement/karpwarden.js';
import { type Handlers, serve } from './worker-server.ts';
import type { DisruptionOverview, PlacementMethods, TypesOfPool, ScheduleWeek, SourceFile } from './types.ts';

declare const PLACEMENT: string;

const ready = init({ module_or_path: new URL(PLACEMENT, self.location.href) });

let known = '';
let world: PlacementWorld | undefined;

/** Parses files, unless they are the last ones: the slider simulates the same files again. */
function worldOf(files: SourceFile[], release: string | undefined): PlacementWorld {
  const key = JSON.stringify([release, files]);
  if (world && key === known) return world;
  world?.free();
  world = undefined;
  const read = new PlacementWorld(release);
  for (const { name, text } of files) read.file(name, text);
  [world, known] = [read, key];
  return read;
}

const methods: Handlers<PlacementMethods> = {
  simulate(files, release, replicas) {
    const before = performance.now();
    const json = worldOf(files, release).simulate(replicas);
    return { json, ms: performance.now() - before };
  },
  requirements: (files, release) => JSON.parse(worldOf(files, release).requirements()) as TypesOfPool[],
  disruption(files, release, at) {
    const before = performance.now();
    const result = JSON.parse(worldOf(files, release).disruption(at)) as DisruptionOverview;
    return { result, ms: performance.now() - before };
  },
  alone: (files, release, at, node) => JSON.parse(worldOf(files, release).alone(at, node)) as string | null,
  schedules: (files, release, at) => JSON.parse(worldOf(files, release).schedules(at)) as ScheduleWeek[],
};

serve(ready, methods);
