// Style of weeks, which the Disruption and the Change tab share.

import style from '../disruption.css';

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets.push(sheet);
