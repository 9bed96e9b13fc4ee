// State of the page: files, settings, tab, theme. It is stored on this device only, unless the visitor turns that off.

import type { Exception, Level, Override, Settings, SourceFile } from './types.ts';

export const TABS = ['findings', 'admission', 'releases', 'placement', 'disruption', 'change', 'symptoms'] as const;
export type Tab = (typeof TABS)[number];
export type Theme = 'system' | 'light' | 'dark';

export interface State {
  files: SourceFile[];
  active: number;
  settings: Settings;
  tab: Tab;
  theme: Theme;
  remember: boolean;
}

const KEY = 'karpwarden';
/** Largest number of files in a stored state or a link. */
const FILES = 500;
/** Keys with a text, in the settings and in overrides. */
const VERSIONS = ['karpenterVersion', 'kubernetesVersion', 'clusterName'] as const;
const LOOK_UPS = ['all', 'pools', 'none'] as const;

export function load(): State | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return null;
    const { files, active, settings, tab, theme, remember } = stored as Record<string, unknown>;
    const read = filesOf(files);
    return {
      files: read,
      active: typeof active === 'number' && read[active] ? active : 0,
      settings: settingsOf(settings),
      tab: TABS.find((known) => known === tab) ?? 'findings',
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      remember: remember !== false,
    };
  } catch {
    return null;
  }
}

/** Stores the state and returns whether that succeeded. */
export function save(state: State): boolean {
  try {
    const { theme, remember } = state;
    localStorage.setItem(KEY, JSON.stringify(remember ? state : { theme, remember }));
    return true;
  } catch {
    return false;
  }
}

/** Reads files from untrusted data. */
export function filesOf(value: unknown): SourceFile[] {
  if (!Array.isArray(value)) return [];
  const files: SourceFile[] = [];
  for (const entry of value.slice(0, FILES)) {
    const { name, text } = (entry ?? {}) as Record<string, unknown>;
    if (typeof name === 'string' && typeof text === 'string') {
      files.push({ name: uniqueName(files, name), text: withoutMark(text) });
    }
  }
  return files;
}

/** Returns the wanted name, with a number if another file has it. */
export function uniqueName(files: readonly SourceFile[], wanted: string): string {
  const taken = new Set(files.map((file) => file.name));
  const clean = wanted.trim().slice(0, 200) || 'manifest.yaml';
  if (!taken.has(clean)) return clean;
  const dot = clean.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [clean.slice(0, dot), clean.slice(dot)] : [clean, ''];
  for (let number = 2; ; number++) {
    const name = `${stem}-${number}${end}`;
    if (!taken.has(name)) return name;
  }
}

/** Whether a file is a log or an event table by its name. Such files are diagnosed instead of checked. */
export function isLog(name: string): boolean {
  return /\.(log|txt|out)$/i.test(name);
}

/** Removes a byte order mark, which neither the editor nor the engine counts. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * Reads settings from untrusted data. It checks only the shape; the engine reports invalid values. Keys without a field in the form
 * stay as they are, so that a file keeps them on its way through the page.
 */
export function settingsOf(value: unknown): Settings {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const given = value as Record<string, unknown>;
  const settings: Settings = {};
  for (const key of VERSIONS) {
    const text = given[key];
    if (typeof text === 'string' && text) settings[key] = text;
  }
  for (const key of ['completeInventory', 'allowIgnoreAnnotation', 'fix', 'strictUpdates'] as const) {
    const truth = given[key];
    if (typeof truth === 'boolean') settings[key] = truth;
  }
  const { announceErrors } = given;
  if (typeof announceErrors === 'boolean' || announceErrors === 'auto') settings.announceErrors = announceErrors;
  const context = LOOK_UPS.find((known) => known === given.context);
  if (context) settings.context = context;
  const rules = levelsOf(given.rules);
  if (rules) settings.rules = rules;
  if (Array.isArray(given.exceptions)) {
    const read = given.exceptions.map(exceptionOf).filter((exception) => exception !== null);
    if (read.length > 0) settings.exceptions = read;
  }
  const exclude = textsOf(given.exclude);
  if (exclude.length > 0) settings.exclude = exclude;
  if (Array.isArray(given.overrides)) {
    const read = given.overrides.map(overrideOf).filter((override) => override !== null);
    if (read.length > 0) settings.overrides = read;
  }
  return settings;
}

/**
 * The settings of the policy in a mode. It refuses the keys of the command line. The manifests announce errors in mode `monitor`,
 * because Kubewarden drops the message of a rejection there.
 */
export function policySettings(given: Settings, mode: 'monitor' | 'protect'): Settings {
  const settings: Settings = { ...given, announceErrors: mode === 'monitor' };
  if (typeof given.announceErrors === 'boolean') settings.announceErrors = given.announceErrors;
  delete settings.exclude;
  delete settings.overrides;
  return settings;
}

/** The levels of rules; YAML 1.1 reads `off` as false. */
function levelsOf(value: unknown): Record<string, Level> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const levels = Object.entries(value).map(([name, level]) => [name, level === false ? 'off' : level]);
  const known = levels.filter((entry): entry is [string, Level] =>
    ['deny', 'warn', 'info', 'off'].includes(entry[1] as string),
  );
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : [];
}

function overrideOf(value: unknown): Override | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Record<string, unknown>;
  const override: Override = { paths: textsOf(given.paths) };
  for (const key of VERSIONS) {
    const text = given[key];
    if (typeof text === 'string' && text) override[key] = text;
  }
  const rules = levelsOf(given.rules);
  if (rules) override.rules = rules;
  return override;
}

function exceptionOf(value: unknown): Exception | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Record<string, unknown>;
  const text = (key: string) => (typeof given[key] === 'string' ? (given[key] as string) : '');
  const exception: Exception = { rule: text('rule'), reason: text('reason') };
  for (const key of ['kind', 'namespace', 'name', 'until'] as const) {
    if (text(key)) exception[key] = text(key);
  }
  return exception;
}
