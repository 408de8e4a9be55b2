// What reports share: their data, panels, tables, texts to copy, and charts as wide as the window.

import { button, h, put } from './dom.js';

const LEAST_WIDTH = 260;
const MOST_WIDTH = 960;
const PANEL = 40;

export const main = document.querySelector('main');
export const data = JSON.parse(document.getElementById('data').textContent);

export const date = (ms) => (ms ? `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC` : '–');

export const panel = (title, ...content) => h('section', { class: 'panel' }, h('h2', null, title), content);

const cell = (value) => (value?.tagName ? h('td', { class: 'text' }, value) : h('td', null, value));

/** A table whose first column names its rows. */
export function table(name, heads, rows, attributes = () => null) {
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
    h(
      'table',
      null,
      h('thead', null, h('tr', null, heads.map((head, i) => h('th', { scope: 'col', class: (i === 0 || rows[0]?.[i]?.tagName) && 'text' }, head)))),
      h('tbody', null, rows.map(([first, ...rest], i) => h('tr', attributes(i), h('th', { scope: 'row', class: 'text' }, first), rest.map(cell)))),
    ),
  );
}

const charts = [];

/** What is drawn again when the window has another width. `draw` gets pixels, at most `most`. */
export function chart(draw, most = MOST_WIDTH) {
  const place = h('div', null);
  charts.push(() => put(place, draw(Math.min(most, Math.max(LEAST_WIDTH, (place.clientWidth || main.clientWidth - PANEL))))));
  return place;
}

/** Draws all charts. */
export const drawCharts = () => charts.forEach((draw) => draw());

/** Text to copy. A page from a file may have no clipboard; then the text is selected. */
export function copied(text, what) {
  const pre = h('pre', { class: 'plain', tabindex: '0' }, text);
  const said = h('span', { role: 'status' });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      put(said, 'Copied.');
    } catch {
      getSelection().selectAllChildren(pre);
      put(said, 'Selected: copy it with the keyboard.');
    }
  };
  return [pre, h('p', { class: 'row' }, button('Copy', copy, { 'aria-label': `Copy ${what}` }), said)];
}

addEventListener('resize', drawCharts);
