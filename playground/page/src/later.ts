// What the first look does not need, in one piece.

export { AdmissionView } from './admission.ts';
export { ReleasesView } from './releases.ts';
export { SymptomsView } from './symptoms.ts';
export { settingsDialog } from './settings.ts';
export { downloadSarif } from './sarif.ts';
export { shareDialog } from './share-dialog.ts';
export { documentation } from './documentation.ts';
export { fetchExamples } from './examples.ts';
