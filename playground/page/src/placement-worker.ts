// Simulates placements, judges disruption and plans changes in a separate worker, so that a large input delays neither typing nor a check.

import init, { PlacementWorld } from '../../build/placement/karpwarden.js';
import { type Handlers, serve } from './worker-server.ts';
import type {
  DisruptionOverview,
  PlacementMethods,
  PlanAnswer,
  TypesOfPool,
  ScheduleWeek,
  SourceFile,
} from './types.ts';

declare const PLACEMENT: string;

const ready = init({ module_or_path: new URL(PLACEMENT, self.location.href) });

/** The last files of an input. The slider simulates the same files again, and an edit changes one side of a plan. */
class KeptWorld {
  #known = '';
  #world: PlacementWorld | undefined;

  of(files: SourceFile[], release: string | undefined): PlacementWorld {
    const key = JSON.stringify([release, files]);
    if (this.#world && key === this.#known) return this.#world;
    this.#world?.free();
    this.#world = undefined;
    const read = new PlacementWorld(release);
    for (const { name, text } of files) read.file(name, text);
    read.evaluate();
    [this.#world, this.#known] = [read, key];
    return read;
  }
}

const current = new KeptWorld();
const before = new KeptWorld();
const worldOf = (files: SourceFile[], release: string | undefined) => current.of(files, release);

const methods: Handlers<PlacementMethods> = {
  simulate(files, release, replicas) {
    const start = performance.now();
    const json = worldOf(files, release).simulate(replicas);
    return { json, ms: performance.now() - start };
  },
  requirements: (files, release) => JSON.parse(worldOf(files, release).requirements()) as TypesOfPool[],
  disruption(files, release, at) {
    const start = performance.now();
    const result = JSON.parse(worldOf(files, release).disruption(at)) as DisruptionOverview;
    return { result, ms: performance.now() - start };
  },
  alone: (files, release, at, node) => JSON.parse(worldOf(files, release).alone(at, node)) as string | null,
  schedules: (files, release, at) => JSON.parse(worldOf(files, release).schedules(at)) as ScheduleWeek[],
  plan(old, files, release, at) {
    const start = performance.now();
    const json = worldOf(files, release).plan(before.of(old, release), at);
    return { answer: JSON.parse(json) as PlanAnswer, ms: performance.now() - start };
  },
};

serve(ready, methods);
