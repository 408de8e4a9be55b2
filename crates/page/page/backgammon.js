// The board of backgammon, hypergammon and the bear-off, on which moves are made checker by checker.
// Places are pressed one after the other, or a checker is dragged.

import { Board, moveButtons } from './board.js';
import { Steps, checkersOf, largest, nativeText, partsOf, pips, placeName, played, seenBy, targets } from './checkers.js';
import { die } from './die.js';
import { button, h, plural, pressable, put, roving, svg } from './dom.js';
import { flights, glide } from './glide.js';
import { pace, setting } from './settings.js';
import { actorOf, cubeQuestion, cubeWords, stakesOf, valueOf } from './stakes.js';

const W = 40; // width of a point
const R = 18; // radius of a checker
const EDGE = 18; // room for the numbers
const HALF = 205; // height of a half of the board
const MIDDLE = 52; // room for the dice
const TRAY = 52;
const BAR = 25;
const STACK = 5;
const CUBE = 32; // width of the cube
const APART = 4; // pixels by which two arrows lie beside their way
const HEAD = 11; // length of the head of an arrow
const DRAG = 6; // pixels after which a press becomes a drag
const HEIGHT = 2 * (EDGE + HALF) + MIDDLE;

/** Where the places of a board are drawn: columns are counted towards the tray, which is on the right or on the left. */
class Layout {
  constructor(game) {
    this.isHome = game.startsWith('bearoff');
    this.columns = this.isHome ? 6 : 12;
    this.barWidth = this.isHome ? 0 : W + 4;
    this.width = this.before(this.columns) + TRAY;
    this.isTurned = setting('bears-off') === 'left';
  }

  /** All that lies before a column. */
  before(column) {
    return 4 + column * W + (!this.isHome && column >= 6 ? this.barWidth : 0);
  }

  /** The left edge of a part of the board. */
  turned(x, width) {
    return this.isTurned ? this.width - x - width : x;
  }

  x(column) {
    return this.turned(this.before(column), W);
  }

  /** The border between a column and the one before. */
  border(column) {
    return this.turned(this.before(column), 0);
  }

  trayX() {
    return this.turned(this.before(this.columns) + 4, TRAY - 8);
  }

  /** The place of a side's point on the board, as `{x, isTop}`; `isMine` tells whose numbering it is. */
  point(place, isMine) {
    if (this.isHome) return { x: this.x(6 - place), isTop: !isMine };
    const mine = isMine ? place : BAR - place;
    return mine <= 12 ? { x: this.x(12 - mine), isTop: false } : { x: this.x(mine - 13), isTop: true };
  }

  barX() {
    return this.turned(this.before(5) + W, this.barWidth) + this.barWidth / 2;
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

/**
 * Scenes may have besides: `arrows`, a list of `{ move, kind }` by the player `mover`, drawn on the position of the scene; and `isEnd`, that
 * the move has ended a game, so that the position is already that of the next one. The option `stays` keeps the room of the controls.
 */
export class BackgammonBoard extends Board {
  constructor(options) {
    super(options);
    this.drawn = null;
    this.moving = 0;
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
    const text = scene.isEnd ? scene.before : scene.position;
    const stakes = stakesOf(text, this.game.name);
    const found = seenBy(this.seat, stakes?.first ?? scene.next, nativeText(text), this.game.name);
    if (!found) return null;
    if (!scene.isEnd) return { ...found, stakes };
    const isMine = scene.mover === this.seat;
    const own = (side) => (isMine ? side : { mine: side.theirs, theirs: side.mine });
    return { ...found, ...own(played(own(found), scene.move, true)), dice: null, stakes: { ...stakes, turn: 0, offered: 0 } };
  }

  /** Takes over changed settings. */
  restyle() {
    this.layout = new Layout(this.game.name);
    this.drawn = null;
    this.redraw();
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
      // Those of the scene that is shown for a moment only are still there.
      !this.glimpse && (this.isActive ? this.controls(scene, position, node) : this.stays && this.idle()),
    );
    this.mark();
    this.move(scene, shown);
  }

  /** Lets the checkers glide that stand elsewhere than before. */
  move(scene, { mine, theirs }) {
    this.moving = 0;
    if (this.glimpse) return;
    const isMine = scene.active || scene.mover === this.seat;
    const all = this.drawn && pace() > 0 && !scene.arrows ? flights(this.drawn, { mine, theirs }, isMine) : [];
    // The next game of a match is set up at once.
    this.drawn = scene.isEnd ? null : { mine, theirs };
    const flying = (own) => checker(own, 0, 0, 'flies');
    this.moving = glide(this.element.querySelector('.bg-board'), all, pace(), (...place) => this.layout.spot(...place), flying);
  }

  line(isMine, shown, position) {
    const player = isMine ? this.seat : 3 - this.seat;
    const side = isMine ? shown.mine : shown.theirs;
    const { stakes } = position;
    const turn = stakes ? actorOf(stakes) : position.dice && (position.isMine ? this.seat : 3 - this.seat);
    const toMove = turn === player && !this.scene.isOver;
    return h(
      'p',
      { class: `player-line${toMove ? ' to-move' : ''}` },
      h('span', { class: `chip ${isMine ? 'mine' : 'theirs'}` }),
      h('strong', null, this.who(player)),
      stakes?.length > 0 && h('span', { class: 'score' }, `${stakes.scores[player - 1]} of ${stakes.length}`),
      h('span', null, plural(pips(side), 'pip')),
      h('span', null, `${side[0]} off`),
      stakes?.isCrawford && isMine && h('span', null, 'Crawford'),
      toMove && !this.names && h('span', { class: 'quiet' }, 'to move'),
    );
  }

  ground() {
    const { layout } = this;
    const half = (first, last) => {
      const x = Math.min(layout.x(first), layout.x(last));
      return svg('rect', { class: 'felt', x, y: EDGE, width: (last - first + 1) * W, height: HEIGHT - 2 * EDGE });
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
      // A review writes moves in the numbers of the player who makes them.
      const isTurned = this.scene.arrows && this.scene.mover !== this.seat && !layout.isHome;
      return svg('text', { class: 'number', x: x + W / 2, y: isTop ? EDGE - 5 : HEIGHT - 5 }, String(isTurned ? BAR - place : place));
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
        'data-col': this.layout.isTurned ? 13 - col : col,
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
      svg('rect', { class: 'hit', x: this.layout.barX() - this.layout.barWidth / 2, y: isMine ? HEIGHT / 2 : 0, width: this.layout.barWidth, height: HEIGHT / 2 }),
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
      'data-spot': `${isMine ? 'm' : 't'}0.${i}`,
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
      const one = checker(isMine, x, y, state);
      one.setAttribute('data-spot', `${isMine ? 'm' : 't'}${place}.${n}`);
      return one;
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
    if (move && more.length === 0 && setting('confirm') === 'go') this.onmove(move);
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
    // It need not fly to where it was put.
    if (way) this.drawn = null;
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

  controls(scene, position, node) {
    const names = scene.moves.map(({ move }) => move);
    if (position.stakes && names.every((name) => cubeWords(name, position.stakes))) return this.cubeControls(names, position.stakes);
    if (!node || (this.steps.root.steps.length === 0 && !this.steps.root.move)) return moveButtons(scene.moves, this.onmove);
    const said = this.path.map(({ from, to, hit }) => `${placeName(from)}/${placeName(to)}${hit ? '*' : ''}`).join(' ');
    const isPass = node.move === 'pass';
    return h(
      'div',
      { class: 'controls' },
      h('p', { class: said ? 'said' : 'quiet' }, isPass ? 'No checker can move.' : said || 'Choose a checker to move.'),
      h(
        'div',
        { class: 'row' },
        button('Undo step', () => this.takeBack(), { disabled: this.path.length === 0, 'data-key': 'undo-step' }),
        button(isPass ? 'Pass' : 'Confirm move', () => this.onmove(node.move), {
          class: 'main',
          disabled: node.move === null,
          'data-key': 'confirm',
        }),
      ),
    );
  }

  /** Buttons for the legal actions of the cube. */
  cubeControls(names, stakes) {
    const act = (name) => button(cubeWords(name, stakes), () => this.onmove(name), { class: name === 'roll' ? 'main' : null, 'data-key': `cube-${name}` });
    return h('div', { class: 'controls' }, h('p', { class: 'said' }, cubeQuestion(stakes, this.who(3 - this.seat))), h('div', { class: 'row' }, names.map(act)));
  }

  /** Room for the controls while there is nothing to do, so that nothing below moves. */
  idle() {
    return h('div', { class: 'controls idle', 'aria-hidden': 'true' }, h('p', null, '\u00a0'), h('div', { class: 'row' }, ['Roll', 'Double'].map((text) => button(text, null, { disabled: true }))));
  }

  /** Dice of the side that is to move: on the right for the person, on the left for the opponent. */
  dice(scene, position, node) {
    if (!position.dice) return this.cube(scene, position);
    const key = `${scene.key} ${position.dice}`;
    const isNew = !this.glimpse && !scene.arrows && this.rolled !== key;
    if (!this.glimpse) this.rolled = key;
    const [a, b] = position.dice;
    const all = a === b ? [a, a, a, a] : [a, b];
    const left = [...(node ? node.dice : all)];
    const size = 34;
    const at = this.layout.border(position.isMine && !this.layout.isHome ? 9 : 3);
    const dice = svg('g', { class: 'dice', 'aria-hidden': 'true' }, all.map((number, i) => {
      const used = left.indexOf(number) < 0;
      if (!used) left.splice(left.indexOf(number), 1);
      const x = at + (i - (all.length - 1) / 2) * (size + 7);
      const classes = [position.isMine ? 'mine' : 'theirs', used && 'used', isNew && pace() > 0 && 'rolls'];
      return die(number, x, HEIGHT / 2, size, classes.filter(Boolean).join(' '));
    }));
    return [dice, this.cube(scene, position)];
  }

  /** In the middle, at the side of its owner, or before the player to whom it is offered. */
  cube(scene, { stakes }) {
    if (!stakes || stakes.isCrawford) return null;
    const { layout } = this;
    const { owner, offered } = stakes;
    const height = (isMine) => layout.spot(1, isMine, 0)[1];
    let [x, y] = [layout.barX(), HEIGHT / 2];
    if (offered > 0) x = layout.border(actorOf(stakes) === this.seat ? 9 : 3);
    else if (owner) y = height(owner === this.seat);
    const value = valueOf(stakes);
    const square = { x: x - CUBE / 2, y: y - CUBE / 2, width: CUBE, height: CUBE, rx: 5 };
    const canDouble = this.isActive && scene.moves.some(({ move }) => move === 'double');
    const where = offered > 0 ? 'offered' : owner ? (this.names ? `of ${this.who(owner)}` : owner === this.seat ? 'yours' : "the opponent's") : 'in the middle';
    return svg(
      'g',
      { class: `cube${canDouble ? ' can' : ''}`, role: 'img', 'aria-label': `cube at ${value}, ${where}`, onclick: canDouble ? () => this.onmove('double') : null },
      svg('rect', square),
      svg('text', { x, y }, String(value)),
    );
  }

  /** Arrows for the moves of the scene, or for the move that led here. */
  marks(scene, position) {
    if (scene.arrows) return this.arrows(scene, position);
    if (this.isActive && this.path.length > 0) return null;
    const isMine = scene.mover === this.seat;
    const arrows = partsOf(scene.move).flatMap(({ places }) => places.slice(1).map((to, i) => {
      const [x1, y1] = this.layout.spot(places[i], isMine, 0);
      const [x2, y2] = this.layout.spot(to, isMine, Math.max(0, (isMine ? position.mine : position.theirs)[to] - 1));
      return svg('g', null, svg('line', { x1, y1, x2, y2 }), svg('circle', { cx: x2, cy: y2, r: 6 }));
    }));
    return svg('g', { class: 'arrows', 'aria-hidden': 'true' }, arrows);
  }

  arrows({ arrows, mover }, position) {
    const isMine = mover === this.seat;
    const drawn = arrows.map(({ move, kind }, k) => {
      const side = [...(isMine ? position.mine : position.theirs)];
      const aside = arrows.length > 1 ? APART * (2 * k - 1) : 0;
      const steps = partsOf(move).flatMap(({ places, count }) => Array.from({ length: count }, () => places.slice(1).map((to, i) => {
        const from = places[i];
        side[from] = Math.max(0, side[from] - 1);
        const ends = [this.layout.spot(from, isMine, side[from]), this.layout.spot(to, isMine, side[to])];
        side[to] += 1;
        return arrow(...ends, aside);
      })));
      return svg('g', { class: kind }, steps);
    });
    return svg('g', { class: 'arrows', 'aria-hidden': 'true' }, drawn);
  }
}

/** An arrow between two points, moved aside so that another one finds room. */
function arrow([x1, y1], [x2, y2], aside) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const at = (along, across) => [x1 + dx * along - dy * (across + aside), y1 + dy * along + dx * (across + aside)];
  const [[a, b], [c, d]] = [at(0, 0), at(Math.max(0, length - HEAD), 0)];
  const head = [at(length, 0), at(length - HEAD, HEAD / 2), at(length - HEAD, -HEAD / 2)];
  return [svg('line', { x1: a, y1: b, x2: c, y2: d }), svg('path', { d: `M${head.map((point) => point.map((n) => n.toFixed(1)).join(' ')).join('L')}Z` })];
}
