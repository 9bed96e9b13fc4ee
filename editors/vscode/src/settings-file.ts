// The file with the settings, at the top of a folder.

import { Uri, window, workspace } from 'vscode';

const START = `# Settings of Karpwarden. The keys are described at https://github.com/karpwarden/karpwarden/blob/main/docs/settings.md
karpenterVersion: "latest"
`;

/** Opens karpwarden.yaml of the folder of the open file, or a new one that is not saved yet. */
export async function openSettings(): Promise<void> {
  const document = window.activeTextEditor?.document;
  const folder = (document && workspace.getWorkspaceFolder(document.uri)) ?? workspace.workspaceFolders?.[0];
  if (!folder) {
    await window.showInformationMessage('Open the folder of your manifests: karpwarden.yaml belongs there.');
    return;
  }
  const uri = Uri.joinPath(folder.uri, 'karpwarden.yaml');
  try {
    await window.showTextDocument(uri);
  } catch {
    const untitled = await workspace.openTextDocument(uri.with({ scheme: 'untitled' }));
    const editor = await window.showTextDocument(untitled);
    await editor.edit((edit) => edit.insert(editor.selection.active, START));
  }
}
