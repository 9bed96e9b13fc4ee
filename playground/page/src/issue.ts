// Findings as Markdown.

import type { App } from './app.ts';

/** Formats files, findings and an optional link as Markdown, to paste into an issue. */
export function asMarkdown(app: App, link = ''): string {
  const fence = (text: string) =>
    '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const lines: string[] = [];
  for (const { name, text } of app.state.files) {
    const ticks = fence(text);
    lines.push(`**${name.replace(/[\\`*_[\]<>]/g, '\\$&')}**`, '', `${ticks}yaml`, text.replace(/\n$/, ''), ticks, '');
  }
  for (const { severity, rule, kind, name, line, file, message: text, help, url } of app.report?.findings ?? []) {
    const object = `${kind}/${name}`.replaceAll('`', "'");
    lines.push(
      `- **${severity}** [${rule}](${url}) \`${object}\`, ${file.replace(/[\\`*_[\]<>]/g, '\\$&')} line ${line}: ${text}${help ? `; ${help}` : ''}`,
    );
  }
  lines.push(
    '',
    `Karpwarden ${app.report?.version ?? ''}, Karpenter ${app.report?.karpenterVersion ?? ''}${link ? `, [open](${link})` : ''}`,
  );
  return `${lines.join('\n')}\n`;
}
