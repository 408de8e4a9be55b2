// Draws dice.

import { h, svg } from './dom.js';

const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

/** A die of a size around a middle. */
export function die(number, x, y, size, classes) {
  const step = size * 0.27;
  const pip = (i) => svg('circle', { cx: x + ((i % 3) - 1) * step, cy: y + (Math.floor(i / 3) - 1) * step, r: size * 0.09 });
  return svg(
    'g',
    { class: `die ${classes}` },
    svg('rect', { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: size * 0.18 }),
    PIPS[number]?.map(pip) ?? svg('text', { x, y }, number ? String(number) : ''),
  );
}

/** A die as a small picture within text; `?` is hidden. It has no name of its own: the text around it says what it shows. */
export function smallDie(face, classes = '') {
  const drawn = face === '?' ? die(0, 20, 20, 36, 'blank') : die(Number(face), 20, 20, 36, classes);
  return svg('svg', { class: 'small-die', viewBox: '0 0 40 40', 'aria-hidden': 'true' }, drawn);
}

/** Text for screen readers only. */
export const unseen = (text) => h('span', { class: 'unseen' }, text);
