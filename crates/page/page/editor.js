// The editor of positions: checkers that are dragged or moved by keyboard, and squares that are pressed.

import { BackgammonBoard } from './backgammon.js';
import { nativeOf, readAnyPosition, xgidOf } from './ids.js';
import { button, h, keepFocus, plural, svg } from './dom.js';
import { announce } from './frame.js';
import { SquareBoard, rowsOf } from './grid.js';

const BAR = 25;
const DRAG = 6; // pixels after which a press becomes a drag
const CUBES = [1, 2, 4, 8, 16, 32, 64];
const LONGEST = 25;

/** Whether positions of a game have a cube and a score. */
export const hasStakes = (game) => /^(back|hyper)gammon/.test(game);

/** The text that the server reads: native, or with cube and score where the rules have them. */
export const textOf = (position, game) => (/gammon:m/.test(game) ? xgidOf(position) : nativeOf(position, game));

/** The places of both sides that an element of the board stands for, by its key. */
function placesOf(key, isHome) {
  if (key === 'bar' || key === 'bar-o') return key === 'bar' ? { mine: BAR } : { theirs: BAR };
  if (key === 'off' || key === 'off-o') return key === 'off' ? { mine: 0 } : { theirs: 0 };
  const place = Number(key.slice(1));
  if (key.startsWith('o')) return { theirs: place };
  return isHome ? { mine: place } : { mine: place, theirs: BAR - place };
}

const SIDES = { mine: 'to roll', theirs: 'other side' };

/** A board on which any checker goes anywhere. `onedit` gets the new position. */
export class EditBoard extends BackgammonBoard {
  constructor(options) {
    super(options);
    this.isHome = this.game.name.startsWith('bearoff');
    this.picked = null;
    this.element.classList.add('edits');
    this.element.addEventListener('click', (event) => this.pressed(event));
    this.element.addEventListener('keydown', (event) => this.keyed(event));
  }

  /** Shows a position that is edited. */
  edit(position) {
    this.position = position;
    this.show({ key: 'edit', position: nativeOf(position, this.game.name), next: this.seat, moves: [], active: false, before: null, move: null, mover: null, board: null });
  }

  draw(scene) {
    super.draw(scene);
    for (const place of this.element.querySelectorAll('.place')) {
      const key = place.getAttribute('data-key');
      const isPicked = key === this.picked;
      place.classList.add('can');
      place.classList.toggle('picked', isPicked);
      place.removeAttribute('aria-disabled');
      const side = this.sideAt(key);
      const use = this.picked && !isPicked ? ', put the checker here' : isPicked ? ', picked up' : side ? ', pick up a checker' : '';
      place.setAttribute('aria-label', place.getAttribute('aria-label') + use);
    }
  }

  /** Whose checkers stand at a place; null if it is empty. */
  sideAt(key) {
    const places = placesOf(key, this.isHome);
    return ['mine', 'theirs'].find((side) => places[side] !== undefined && this.position[side][places[side]] > 0) ?? null;
  }

  /** Moves a checker of the side at one place to another, if that side may stand there. */
  carry(from, to) {
    const side = this.sideAt(from);
    const [start, goal] = [placesOf(from, this.isHome)[side], placesOf(to, this.isHome)[side] ?? (to.startsWith('off') ? 0 : to.startsWith('bar') ? BAR : undefined)];
    this.picked = null;
    if (goal === undefined || start === goal) return this.redraw();
    const other = side === 'mine' ? 'theirs' : 'mine';
    if (goal > 0 && goal < BAR && !this.isHome && this.position[other][BAR - goal] > 0) {
      announce('The other side holds this point.');
      return this.redraw();
    }
    const counts = [...this.position[side]];
    counts[start] -= 1;
    counts[goal] += 1;
    announce(`${goal === 0 ? 'Off' : goal === BAR ? 'Bar' : `Point ${goal}`}, ${SIDES[side]}: ${plural(counts[goal], 'checker')}`);
    return this.onedit({ ...this.position, [side]: counts });
  }

  pressed(event) {
    const key = event.target.closest?.('.place')?.getAttribute('data-key');
    if (key) this.pick(key);
  }

  /** Picks a checker up, or puts down what is picked up. */
  pick(key) {
    if (this.picked && this.picked !== key) this.carry(this.picked, key);
    else {
      this.picked = this.picked || !this.sideAt(key) ? null : key;
      this.redraw();
    }
  }

  keyed(event) {
    const key = event.target.closest?.('.place')?.getAttribute('data-key');
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape' && this.picked) {
      this.picked = null;
      this.redraw();
    }
    if (!key) return;
    const side = this.sideAt(key);
    const tray = (owner) => (owner === 'mine' ? 'off' : 'off-o');
    const act = {
      Enter: () => this.pick(key),
      ' ': () => this.pick(key),
      '+': () => this.add(side ?? 'mine', key),
      '-': () => side && this.carry(key, tray(side)),
      Delete: () => side && this.carry(key, tray(side)),
      o: () => this.add('theirs', key),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Brings a checker that is off to a place. */
  add(side, key) {
    if (this.position[side][0] > 0) this.carry(side === 'mine' ? 'off' : 'off-o', key);
    else announce('No checker of this side is off.');
  }

  cancel() {}

  grasp(event) {
    const key = event.target.closest?.('.place')?.getAttribute('data-key');
    if (!key || !event.isPrimary || event.button !== 0 || !this.sideAt(key)) return;
    this.letGo();
    const end = new AbortController();
    this.held = { key, x: event.clientX, y: event.clientY, end };
    addEventListener('pointermove', (moved) => this.drag(moved), { signal: end.signal });
    addEventListener('pointerup', (up) => this.drop(up), { signal: end.signal });
    addEventListener('pointercancel', () => this.letGo(), { signal: end.signal });
  }

  drag(event) {
    const { held } = this;
    if (!event.isPrimary) return;
    if (!held.isDragged) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < DRAG) return;
      held.isDragged = true;
      this.element.setPointerCapture(event.pointerId);
      this.picked = held.key;
      this.redraw();
    }
    const drawing = this.element.querySelector('.bg-board');
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    drawing.querySelector('.dragged')?.remove();
    drawing.append(svg('g', { class: `checker ${this.sideAt(held.key)} dragged` }, svg('circle', { cx: x, cy: y, r: 18 })));
  }

  /** A checker that is dropped beside the board is off. */
  drop(event) {
    if (!event.isPrimary) return;
    const { held } = this;
    held.end.abort();
    if (!held.isDragged) return;
    // The click that may follow still finds it; the next checker may be held before.
    setTimeout(() => {
      if (this.held === held) this.held = null;
    });
    this.element.querySelector('.dragged')?.remove();
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const to = under?.closest('.place')?.getAttribute('data-key');
    if (to || !under?.closest('.bg-board')) this.carry(held.key, to ?? (this.sideAt(held.key) === 'mine' ? 'off' : 'off-o'));
    else {
      this.picked = null;
      this.redraw();
    }
  }

  letGo() {
    this.held?.end.abort();
    if (this.held?.isDragged) this.picked = null;
    this.held = null;
  }
}

const NEXT = { '.': 'X', X: 'O', O: '.' };

/** A board on which a press changes a square: empty, first side, second side. */
export class EditSquares extends SquareBoard {
  edit(text) {
    this.text = text;
    this.show({ key: 'edit', position: text, next: 1, moves: [], active: false, before: null, move: null, mover: null, board: null });
  }

  use(key) {
    return { kind: 'place', text: ', press to change', act: () => this.change(key) };
  }

  change(key) {
    const [row, col] = key.split('.').map(Number);
    const rows = rowsOf(this.text).map((line) => [...line]);
    rows[row][col] = NEXT[rows[row][col]] ?? '.';
    this.onedit(rows.map((line) => line.join('')).join(''));
  }
}

const EMPTY = (count) => [count, ...new Array(BAR).fill(0)];

/** Controls of dice, cube and score. `onchange` gets the new position. */
export class EditControls {
  constructor({ game, total, onchange }) {
    Object.assign(this, { game, total, onchange });
    this.element = h('div', { class: 'controls' });
  }

  show(position) {
    this.position = position;
    keepFocus(this.element, () => this.element.replaceChildren(...this.parts()));
  }

  change(more) {
    this.onchange({ ...this.position, ...more });
  }

  choice(key, label, options, value, act) {
    const select = h('select', { 'data-key': key, onchange: () => act(select.value) }, options.map(([name, text]) => h('option', { value: String(name), selected: String(name) === String(value) }, text)));
    return h('label', { class: 'field' }, h('span', null, label), select);
  }

  number(key, label, value, most, act) {
    const input = h('input', { type: 'number', min: '0', max: String(most), value: String(value), 'data-key': key, onchange: () => act(Math.min(most, Math.max(0, Math.round(Number(input.value)) || 0))) });
    return h('label', { class: 'field' }, h('span', null, label), input);
  }

  parts() {
    const { position } = this;
    const { mine, theirs, dice, cube, owner, length, scores, crawford, jacoby } = position;
    const rolls = [1, 2, 3, 4, 5, 6].flatMap((a) => [1, 2, 3, 4, 5, 6].filter((b) => b <= a).map((b) => [`${a}${b}`, `${a}-${b}`]));
    const roll = dice?.toSorted((a, b) => b - a).join('') ?? '';
    const set = (name, isOn, key) => {
      const box = h('input', { type: 'checkbox', checked: isOn, 'data-key': key, onchange: () => this.change({ [key]: box.checked }) });
      return h('label', { class: 'check' }, box, name);
    };
    const stakes = () => h(
      'div',
      { class: 'fields small' },
      this.choice('cube', 'Cube', CUBES.map((value) => [value, value]), cube, (value) => this.change({ cube: Number(value), owner: Number(value) === 1 ? 0 : owner || 1 })),
      cube > 1 && this.choice('owner', 'Cube of', [[1, 'side to roll'], [-1, 'other side'], [0, 'nobody']], owner, (value) => this.change({ owner: Number(value) })),
      this.number('length', 'Match to (0: money)', length, LONGEST, (value) => this.change({ length: value, scores: value > length ? scores : scores.map((score) => Math.min(score, Math.max(0, value - 1))), crawford: crawford && value > 0, jacoby: jacoby && value === 0 })),
      length > 0 && this.number('mine', 'Score, to roll', scores[0], length - 1, (value) => this.change({ scores: [value, scores[1]] })),
      length > 0 && this.number('theirs', 'Score, other', scores[1], length - 1, (value) => this.change({ scores: [scores[0], value] })),
      length > 0 ? set('Crawford game', crawford, 'crawford') : set('Jacoby rule', jacoby, 'jacoby'),
    );
    return [
      h(
        'div',
        { class: 'row' },
        this.choice('roll', 'Roll', [['', 'before the roll'], ...rolls], roll, (value) => this.change({ dice: value ? [...value].map(Number) : null })),
        button('Change sides', () => this.change({ mine: theirs, theirs: mine, owner: -owner || 0, scores: scores.toReversed() }), { 'data-key': 'swap' }),
        button('Clear', () => this.change({ mine: EMPTY(this.total), theirs: EMPTY(this.total) }), { 'data-key': 'clear' }),
        button('Start', () => this.change({ ...readAnyPosition('start', this.game), dice }), { 'data-key': 'start', hidden: this.game.startsWith('bearoff') }),
      ),
      ...(hasStakes(this.game) ? [stakes()] : []),
      h('p', { class: 'quiet' }, 'Drag checkers, or press one place and then another. Keys: Enter picks up and puts down, + adds one that is off, o one of the other side, − takes one off.'),
    ];
  }
}
