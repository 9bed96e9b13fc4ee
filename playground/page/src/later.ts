// Parts that the first view does not need, loaded as one script.

export { AdmissionView } from './admission.ts';
export { ReleasesView } from './releases.ts';
export { SymptomsView } from './symptoms.ts';
export { settingsDialog } from './settings.ts';
export { shareDialog } from './share-dialog.ts';
