// Small helpers to build elements, to move the focus inside boards, and to write numbers.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element with attributes and children. Attributes that begin with `on` are event handlers. */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const button = (text, onclick, attributes) => h('button', { type: 'button', onclick, ...attributes }, text);

/** Replaces the children of an element. */
export const put = (element, ...children) => {
  element.replaceChildren();
  fill(element, null, children);
};

const lost = new WeakMap();

/**
 * Draws anew and gives the focus back to the element with the same `data-key`. If there is none, a cell gets it or else the container,
 * which hands it on when the element is there again.
 */
export function keepFocus(container, draw) {
  const held = document.activeElement;
  const wasInside = held && container.contains(held);
  const key = held === container ? lost.get(container) : wasInside ? held.getAttribute('data-key') : null;
  draw();
  if (!wasInside) return;
  const same = key && container.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  if (!same) lost.set(container, key);
  (same || container.querySelector('[data-row][tabindex="0"]') || container).focus({ preventScroll: true });
}

const place = (cell) => [Number(cell.getAttribute('data-row')), Number(cell.getAttribute('data-col'))];

function neighbour(cells, from, key) {
  const [row, col] = place(from);
  const forward = key === 'ArrowRight' || key === 'ArrowDown';
  const along = key === 'ArrowLeft' || key === 'ArrowRight';
  const distance = (cell) => {
    const [r, c] = place(cell);
    const [main, side] = along ? [c - col, r - row] : [r - row, c - col];
    const ahead = forward ? main : -main;
    if (ahead <= 0 || (along && side !== 0)) return Infinity;
    return ahead * 100 + Math.abs(side);
  };
  const best = cells.reduce((a, b) => (distance(b) < distance(a) ? b : a), from);
  return distance(best) === Infinity ? null : best;
}

/**
 * Lets arrow keys move the focus between the cells of a container: elements with `data-key`, `data-row` and `data-col`.
 * Only one of them is reached by Tab. Returns a function to call after each drawing.
 */
export function roving(container) {
  let current = null;
  const cells = () => [...container.querySelectorAll('[data-row]')];
  const mark = () => {
    const all = cells();
    const chosen = all.find((cell) => cell.getAttribute('data-key') === current)
      ?? all.find((cell) => cell.classList.contains('can')) ?? all[0];
    for (const cell of all) cell.setAttribute('tabindex', cell === chosen ? '0' : '-1');
  };
  container.addEventListener('focusin', (event) => {
    const cell = event.target.closest('[data-row]');
    if (!cell) return;
    current = cell.getAttribute('data-key');
    mark();
  });
  container.addEventListener('keydown', (event) => {
    const cell = event.target.closest?.('[data-row]');
    if (!cell || !event.key.startsWith('Arrow') || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    neighbour(cells(), cell, event.key)?.focus();
  });
  return mark;
}

/** Handlers that make an SVG group act like a button. */
export const pressable = (act) => ({
  onclick: act,
  onkeydown: (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act(event);
  },
});

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A number with a sign, such as +0.123. */
export function signed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? '' : value < 0 ? '−' : '+') + text;
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

export const plural = (count, word, many = `${word}s`) => `${count} ${count === 1 ? word : many}`;

/** Names of classes of results in words: `win_gammon` becomes `win gammon`. */
export const words = (name) => name.replaceAll('_', ' ');

/** Text in which words between backquotes are code. */
const coded = (text) => text.split('`').map((part, i) => (i % 2 ? h('code', null, part) : part));

/** Paragraphs and lists from plain text in which items begin with `- `. */
export function prose(text) {
  return text.split(/\n\s*\n/).flatMap((block) => {
    const [intro, ...items] = block.split(/^- /m).map((part) => part.trim().replace(/\s*\n\s*/g, ' '));
    return [intro && h('p', null, coded(intro)), items.length > 0 && h('ul', null, items.map((item) => h('li', null, coded(item))))];
  });
}

/** What this browser remembers. */
export const kept = {
  get(key, otherwise = null) {
    try {
      return JSON.parse(localStorage.getItem(`adept.${key}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  /** Says whether it is remembered: storage may be full or forbidden, and the page works without it. */
  set(key, value) {
    try {
      localStorage.setItem(`adept.${key}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
  drop(key) {
    try {
      localStorage.removeItem(`adept.${key}`);
    } catch {
      // There is nothing to drop where storage is forbidden.
    }
  },
};

/** Lets the browser save content as a file. */
export function saveFile(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
