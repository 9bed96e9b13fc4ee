// Groups of pods in the result of a simulation.

import type { PlacedPod } from './types.ts';

/** Pods of a workload with the same result. */
export interface Group {
  workload: string;
  namespace: string;
  number: number;
  pod: PlacedPod;
}

/** Groups pods by a key, in the order of the first pod of each group. */
export function grouped(pods: PlacedPod[], key: (pod: PlacedPod) => string): Group[] {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    const group = groups.get(key(pod));
    if (group) group.number++;
    else groups.set(key(pod), { workload: pod.workload, namespace: pod.namespace, number: 1, pod });
  }
  return [...groups.values()];
}

/** The pods without a node; pods of one workload with the same message form a group. */
export function unplacedGroups(pods: PlacedPod[]): Group[] {
  const unplaced = pods.filter(({ placed }) => placed === 'no' || placed === 'ignored' || placed === 'untried');
  return grouped(unplaced, (pod) => `${pod.namespace} ${pod.workload} ${pod.message}`);
}

/** The pods by workload. */
export function byWorkload(pods: PlacedPod[]): Group[] {
  return grouped(pods, (pod) => `${pod.namespace} ${pod.workload}`);
}
