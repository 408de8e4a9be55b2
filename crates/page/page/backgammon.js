// The board of backgammon, hypergammon and the bear-off, on which moves are made checker by checker.
// Places are pressed one after the other, or a checker is dragged.

import { Board, moveButtons } from './board.js';
import { Steps, checkersOf, largest, partsOf, pips, placeName, seenBy, targets } from './checkers.js';
import { die } from './die.js';
import { button, calm, h, kept, plural, pressable, put, roving, svg } from './dom.js';

const W = 40; // width of a point
const R = 18; // radius of a checker
const EDGE = 18; // room for the numbers
const HALF = 205; // height of a half of the board
const MIDDLE = 52; // room for the dice
const TRAY = 52;
const BAR = 25;
const STACK = 5;
const DRAG = 6; // pixels after which a press becomes a drag
const HEIGHT = 2 * (EDGE + HALF) + MIDDLE;

/** Where the places of a board are drawn: `column` is the left edge, `isTop` the half. */
class Layout {
  constructor(game) {
    this.isHome = game.startsWith('bearoff');
    this.columns = this.isHome ? 6 : 12;
    this.barWidth = this.isHome ? 0 : W + 4;
    this.width = this.trayX() + TRAY - 4;
  }

  x(column) {
    return 4 + column * W + (!this.isHome && column >= 6 ? this.barWidth : 0);
  }

  trayX() {
    return this.x(this.columns) + 4;
  }

  /** The place of a side's point on the board, as `{x, isTop}`; `isMine` tells whose numbering it is. */
  point(place, isMine) {
    if (this.isHome) return { x: this.x(6 - place), isTop: !isMine };
    const mine = isMine ? place : BAR - place;
    return mine <= 12 ? { x: this.x(12 - mine), isTop: false } : { x: this.x(mine - 13), isTop: true };
  }

  barX() {
    return this.x(5) + W + this.barWidth / 2;
  }

  /** The middle of the n-th checker of a place. */
  spot(place, isMine, n) {
    const level = Math.min(n, STACK - 1);
    if (place === BAR) {
      const away = MIDDLE / 2 + R + 8 + level * (R + 6);
      return [this.barX(), HEIGHT / 2 + (isMine ? away : -away)];
    }
    if (place === 0) return [this.trayX() + TRAY / 2 - 4, isMine ? HEIGHT - EDGE - HALF / 2 : EDGE + HALF / 2];
    const { x, isTop } = this.point(place, isMine);
    const away = EDGE + R + 1 + level * (2 * R + 1);
    return [x + W / 2, isTop ? away : HEIGHT - away];
  }
}

const checker = (isMine, x, y, extra = '') => svg(
  'g',
  { class: `checker ${isMine ? 'mine' : 'theirs'} ${extra}` },
  svg('circle', { cx: x, cy: y, r: R }),
  svg('circle', { class: 'inner', cx: x, cy: y, r: isMine ? R - 5 : 5 }),
);

export class BackgammonBoard extends Board {
  constructor(options) {
    super(options);
    this.layout = new Layout(options.game.name);
    this.mark = roving(this.element);
    this.element.addEventListener('keydown', (event) => this.cancel(event));
    this.element.addEventListener('pointerdown', (event) => this.grasp(event));
    // The click after a drag presses nothing.
    this.element.addEventListener('click', (event) => this.held?.isDragged && event.stopPropagation(), true);
  }

  begin(scene) {
    this.chosen = null;
    this.path = [];
    this.rolled = null;
    const position = this.read(scene);
    const isUsed = scene.active && scene.moves.length > 0 && position?.dice;
    this.steps = isUsed ? new Steps(position, scene.moves, this.game.name) : null;
  }

  read(scene) {
    return seenBy(this.seat, scene.next, scene.position, this.game.name);
  }

  /** Where the person's own move stands. */
  get node() {
    return this.path.at(-1)?.node ?? this.steps.root;
  }

  draw(scene) {
    const position = this.read(scene);
    if (!position) {
      put(this.element, h('pre', { class: 'plain' }, scene.board ?? scene.position));
      return;
    }
    const node = this.isActive && this.steps ? this.node : null;
    const shown = node ?? position;
    this.ways = node && this.chosen !== null ? targets(node, this.chosen) : new Map();
    put(
      this.element,
      this.line(false, shown, position),
      svg(
        'svg',
        { class: `bg-board${this.layout.isHome ? ' home' : ''}`, viewBox: `0 0 ${this.layout.width} ${HEIGHT}`, role: 'group', 'aria-label': 'Board' },
        this.ground(),
        this.cells(shown, node),
        this.marks(scene, position),
        this.dice(scene, position, node),
      ),
      this.line(true, shown, position),
      node && this.controls(scene, node),
    );
    this.mark();
  }

  line(isMine, shown, position) {
    const player = isMine ? this.seat : 3 - this.seat;
    const side = isMine ? shown.mine : shown.theirs;
    const toMove = position.dice && position.isMine === isMine;
    return h(
      'p',
      { class: `player-line${toMove ? ' to-move' : ''}` },
      h('span', { class: `chip ${isMine ? 'mine' : 'theirs'}` }),
      h('strong', null, this.who(player)),
      h('span', null, plural(pips(side), 'pip')),
      h('span', null, `${side[0]} off`),
      toMove && !this.names && h('span', { class: 'quiet' }, 'to move'),
    );
  }

  ground() {
    const { layout } = this;
    const half = (first, last) => {
      const x = layout.x(first);
      return svg('rect', { class: 'felt', x, y: EDGE, width: layout.x(last) + W - x, height: HEIGHT - 2 * EDGE });
    };
    const tray = (y) => svg('rect', { class: 'tray', x: layout.trayX(), y, width: TRAY - 8, height: HALF, rx: 3 });
    return [
      svg('rect', { class: 'frame', width: layout.width, height: HEIGHT, rx: 8 }),
      layout.isHome ? half(0, 5) : [half(0, 5), half(6, 11)],
      tray(EDGE),
      tray(HEIGHT - EDGE - HALF),
      svg('g', { 'aria-hidden': 'true' }, this.numbers()),
    ];
  }

  numbers() {
    const { layout } = this;
    const places = Array.from({ length: layout.isHome ? 6 : 24 }, (_, i) => i + 1);
    const number = (place, isMine) => {
      const { x, isTop } = layout.point(place, isMine);
      return svg('text', { class: 'number', x: x + W / 2, y: isTop ? EDGE - 5 : HEIGHT - 5 }, String(place));
    };
    return places.flatMap((place) => [number(place, true), layout.isHome && number(place, false)]);
  }

  /** All places in the order of the arrow keys. */
  cells(shown, node) {
    const { layout } = this;
    const cells = [];
    if (layout.isHome) {
      for (let place = 6; place >= 1; place -= 1) {
        cells.push(this.point(shown, node, place, false, 0, 6 - place), this.point(shown, node, place, true, 1, 6 - place));
      }
    } else {
      for (let column = 0; column < 12; column += 1) {
        const at = column < 6 ? column : column + 1;
        cells.push(this.point(shown, node, 13 + column, true, 0, at), this.point(shown, node, 12 - column, true, 1, at));
      }
      cells.push(this.bar(shown, node, false), this.bar(shown, node, true));
    }
    cells.push(this.tray(shown, node, false), this.tray(shown, node, true));
    return cells;
  }

  /** One place as something to press; `place` is in the person's numbering unless it belongs to the other side. */
  cell({ key, row, col, name, place, node }, ...children) {
    const use = node && place !== null ? this.use(node, place) : { kind: '', text: '' };
    return svg(
      'g',
      {
        class: `place ${use.kind}${use.act ? ' can' : ''}`,
        role: 'button',
        'aria-disabled': use.act ? null : 'true',
        'aria-label': name + use.text,
        'data-key': key,
        'data-place': place,
        'data-row': row,
        'data-col': col,
        onclick: (event) => use.act?.(event),
        onkeydown: (event) => this.press(event, use),
      },
      ...children,
    );
  }

  press(event, use) {
    if (event.key === 'Enter' && use.quick) {
      event.preventDefault();
      this.take(use.quick);
    } else {
      pressable(() => use.act?.(event)).onkeydown(event);
    }
  }

  point(shown, node, place, isMine, row, col) {
    const { x, isTop } = this.layout.point(place, isMine);
    const edge = isTop ? EDGE : HEIGHT - EDGE;
    const tip = isTop ? EDGE + HALF - 14 : HEIGHT - EDGE - HALF + 14;
    const mine = isMine ? shown.mine[place] : 0;
    const theirs = shown.theirs[this.layout.isHome ? (isMine ? -1 : place) : BAR - place] ?? 0;
    const cell = { key: `${isMine ? 'p' : 'o'}${place}`, row, col, place: isMine ? place : null, node };
    cell.name = `${isMine ? 'point' : "opponent's point"} ${place}: ${mine ? `${plural(mine, 'checker')} of yours` : theirs ? `${plural(theirs, 'checker')} of the opponent's` : 'empty'}`;
    return this.cell(
      cell,
      svg('rect', { class: 'hit', x, y: isTop ? 0 : HEIGHT / 2, width: W, height: HEIGHT / 2 }),
      svg('path', { class: `point ${(place + (this.layout.isHome && !isMine ? 1 : 0)) % 2 ? 'odd' : 'even'}`, d: `M${x + 2} ${edge}L${x + W / 2} ${tip}L${x + W - 2} ${edge}Z` }),
      this.stack(place, true, mine, node),
      this.stack(this.layout.isHome ? place : BAR - place, false, theirs, node),
      isMine && this.landing(place, mine + theirs),
    );
  }

  bar(shown, node, isMine) {
    const count = (isMine ? shown.mine : shown.theirs)[BAR];
    const name = `bar: ${plural(count, 'checker')} of ${isMine ? 'yours' : "the opponent's"}`;
    return this.cell(
      { key: isMine ? 'bar' : 'bar-o', row: isMine ? 1 : 0, col: 6, name, place: isMine ? BAR : null, node },
      svg('rect', { class: 'hit', x: this.layout.x(5) + W, y: isMine ? HEIGHT / 2 : 0, width: this.layout.barWidth, height: HEIGHT / 2 }),
      this.stack(BAR, isMine, count, node),
    );
  }

  tray(shown, node, isMine) {
    const side = isMine ? shown.mine : shown.theirs;
    const count = side[0];
    const x = this.layout.trayX();
    const thick = Math.min(13, (HALF - 6) / checkersOf(this.game.name));
    const slab = (_, i) => svg('rect', {
      class: `slab ${isMine ? 'mine' : 'theirs'}`,
      x: x + 3,
      y: isMine ? HEIGHT - EDGE - 3 - (i + 1) * thick : EDGE + 3 + i * thick,
      width: TRAY - 14,
      height: thick - 1.5,
      rx: 2,
    });
    return this.cell(
      {
        key: isMine ? 'off' : 'off-o',
        row: isMine ? 1 : 0,
        col: 13,
        name: `${isMine ? 'your' : "opponent's"} checkers off: ${count}`,
        place: isMine ? 0 : null,
        node,
      },
      svg('rect', { class: 'hit', x, y: isMine ? HEIGHT / 2 : 0, width: TRAY - 8, height: HEIGHT / 2 }),
      Array.from({ length: count }, slab),
      isMine && this.landing(0, 0),
    );
  }

  stack(place, isMine, count, node) {
    const drawn = Array.from({ length: Math.min(count, STACK) }, (_, n) => {
      const [x, y] = this.layout.spot(place, isMine, n);
      const isTop = n === Math.min(count, STACK) - 1;
      const state = isMine && isTop && node ? (this.chosen === place ? 'is-chosen' : node.steps.some((step) => step.from === place) ? 'is-movable' : '') : '';
      return checker(isMine, x, y, state);
    });
    if (count <= STACK) return drawn;
    const [x, y] = this.layout.spot(place, isMine, STACK - 1);
    return [drawn, svg('text', { class: `count ${isMine ? 'mine' : 'theirs'}`, 'aria-hidden': 'true', x, y }, String(count))];
  }

  /** Marks a place to which the chosen checker can go. */
  landing(place, count) {
    if (!this.ways.has(place)) return null;
    const [x, y] = this.layout.spot(place, true, count);
    return svg('circle', { class: 'landing', cx: x, cy: y, r: R - 4 });
  }

  /** What pressing a place does. */
  use(node, place) {
    const way = this.ways.get(place);
    if (way) return { kind: 'target', text: ', the chosen checker can go here', act: () => this.take(...way) };
    const quick = largest(node, place);
    if (!quick) return { kind: '', text: '' };
    const goals = [...targets(node, place).keys()].map(placeName).join(' or ');
    const isChosen = this.chosen === place;
    return {
      kind: isChosen ? 'chosen' : 'source',
      text: `${isChosen ? ', chosen' : ''}, can move to ${goals}`,
      quick,
      act: (event) => (isChosen ? this.again(event, quick) : this.choose(place)),
    };
  }

  /** A second press: soon after the first it plays the larger die, later it lets the checker go. */
  again(event, quick) {
    if (event.detail > 1) this.take(quick);
    else this.choose(null);
  }

  choose(place) {
    this.chosen = place;
    this.redraw();
  }

  take(...steps) {
    this.path.push(...steps);
    this.chosen = null;
    const { move, steps: more } = this.node;
    if (move && more.length === 0 && kept.get('no-confirm', false)) this.onmove(move);
    else this.redraw();
  }

  takeBack() {
    this.path.pop();
    this.chosen = null;
    this.redraw();
  }

  /** Takes hold of the person's checker under the pointer, if it can move. */
  grasp(event) {
    const place = event.target.closest('.checker.mine')?.closest('.source, .chosen')?.getAttribute('data-place');
    if (!place || !event.isPrimary || event.button !== 0) return;
    this.letGo();
    const end = new AbortController();
    const { signal } = end;
    this.held = { place: Number(place), x: event.clientX, y: event.clientY, end };
    addEventListener('pointermove', (moved) => this.drag(moved), { signal });
    addEventListener('pointerup', (up) => this.drop(up), { signal });
    addEventListener('pointercancel', () => this.letGo(), { signal });
  }

  drag(event) {
    const { held } = this;
    if (!event.isPrimary || !this.isActive) return;
    if (!held.isDragged) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < DRAG) return;
      held.isDragged = true;
      this.element.setPointerCapture(event.pointerId);
      this.choose(held.place);
    }
    const drawing = this.element.querySelector('.bg-board');
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    drawing.querySelector('.dragged')?.remove();
    drawing.append(checker(true, x, y, 'dragged'));
  }

  /** Moves the dragged checker to the place under the pointer, if it can go there. */
  drop(event) {
    if (!event.isPrimary) return;
    const { held } = this;
    held.end.abort();
    if (!held.isDragged) return;
    // The click that may follow still finds it; the next checker may be held before.
    setTimeout(() => {
      if (this.held === held) this.held = null;
    });
    const place = document.elementFromPoint(event.clientX, event.clientY)?.closest('.place')?.getAttribute('data-place');
    const way = this.isActive && place ? this.ways.get(Number(place)) : null;
    if (way) this.take(...way);
    else this.choose(null);
  }

  letGo() {
    this.held?.end.abort();
    if (this.held?.isDragged) this.choose(null);
    this.held = null;
  }

  cancel(event) {
    if (!this.isActive || !this.steps) return;
    if (event.key === 'Escape') {
      if (this.held?.isDragged) this.letGo();
      else if (this.chosen !== null) this.choose(null);
      else if (this.path.length > 0) this.takeBack();
    }
  }

  controls(scene, node) {
    if (this.steps.root.steps.length === 0 && !this.steps.root.move) return moveButtons(scene.moves, this.onmove);
    const said = this.path.map(({ from, to, hit }) => `${placeName(from)}/${placeName(to)}${hit ? '*' : ''}`).join(' ');
    const isPass = node.move === 'pass';
    const text = isPass ? 'No checker can move.' : said || 'Choose a checker. A double click or Enter plays the larger die.';
    const auto = h('input', {
      type: 'checkbox',
      checked: kept.get('no-confirm', false),
      onchange: () => kept.set('no-confirm', auto.checked),
    });
    return h(
      'div',
      { class: 'controls' },
      h('p', { class: said ? 'said' : 'quiet' }, text),
      h(
        'div',
        { class: 'row' },
        button('Undo step', () => this.takeBack(), { disabled: this.path.length === 0, 'data-key': 'undo-step' }),
        button(isPass ? 'Pass' : 'Confirm move', () => this.onmove(node.move), {
          class: 'main',
          disabled: node.move === null,
          'data-key': 'confirm',
        }),
        h('label', { class: 'check' }, auto, 'without confirming'),
      ),
    );
  }

  /** Dice of the side that is to move: on the right for the person, on the left for the opponent. */
  dice(scene, position, node) {
    if (!position.dice) return null;
    const key = `${scene.key} ${position.dice}`;
    const isNew = !this.glimpse && this.rolled !== key;
    if (!this.glimpse) this.rolled = key;
    const [a, b] = position.dice;
    const all = a === b ? [a, a, a, a] : [a, b];
    const left = [...(node ? node.dice : all)];
    const size = 34;
    const at = this.layout.isHome ? this.layout.x(3) : position.isMine ? this.layout.x(9) : this.layout.x(3);
    return svg('g', { class: 'dice', 'aria-hidden': 'true' }, all.map((number, i) => {
      const used = left.indexOf(number) < 0;
      if (!used) left.splice(left.indexOf(number), 1);
      const x = at + (i - (all.length - 1) / 2) * (size + 7);
      const classes = [position.isMine ? 'mine' : 'theirs', used && 'used', isNew && !calm() && 'rolls'];
      return die(number, x, HEIGHT / 2, size, classes.filter(Boolean).join(' '));
    }));
  }

  /** Arrows for the move that led here. */
  marks(scene, position) {
    if (this.isActive && this.path.length > 0) return null;
    const isMine = scene.mover === this.seat;
    const arrows = partsOf(scene.move).flatMap(({ places }) => places.slice(1).map((to, i) => {
      const [x1, y1] = this.layout.spot(places[i], isMine, 0);
      const [x2, y2] = this.layout.spot(to, isMine, Math.max(0, (isMine ? position.mine : position.theirs)[to] - 1));
      return svg('g', null, svg('line', { x1, y1, x2, y2 }), svg('circle', { cx: x2, cy: y2, r: 6 }));
    }));
    return svg('g', { class: 'arrows', 'aria-hidden': 'true' }, arrows);
  }
}
