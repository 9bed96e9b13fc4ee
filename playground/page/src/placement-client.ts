// The worker of the Placement, Disruption and Change tabs, which use the same module.

import type { PlacementMethods } from './types.ts';
import { WorkerClient } from './worker-client.ts';

declare const PLACEMENT_WORKER: string;

export const placementWorker = new WorkerClient<PlacementMethods>(PLACEMENT_WORKER);
