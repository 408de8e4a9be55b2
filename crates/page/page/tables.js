// Panels, tables whose first column names their rows, and texts to copy.

import { button, h, put } from './dom.js';

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
