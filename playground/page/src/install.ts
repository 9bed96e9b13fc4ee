// Explanation beside the manifests that install the policies.

import { h } from './dom.ts';

const GUIDE = 'https://github.com/karpwarden/karpwarden/blob/main/docs/install.md';

/** Says what to apply first. */
export function install(): (Node | string)[] {
  const guide = h('a', { href: GUIDE, target: '_blank', rel: 'noopener noreferrer' }, 'Install in a cluster');
  return [
    'The policies have their own policy server and start in mode monitor, which rejects nothing. ',
    guide,
    ' explains each step, and when to change the mode to protect.',
  ];
}
