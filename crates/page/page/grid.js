// Boards of squares: tic-tac-toe, Connect Four, and declared games whose positions are rows of characters.

import { Board, moveButtons } from './board.js';
import { calm, h, pressable, put, roving, svg } from './dom.js';

const EMPTY = '.';
const SIZE = 60;

/** Names of what an empty square holds. */
const BLANKS = new Set(['blank', 'empty', 'none']);

/** Rows from facts such as `cell(1,2,x)`, if they tell of each square of a rectangle once and their marks differ in the first letter. */
function rowsOfFacts(text) {
  const facts = [...text.matchAll(/(\w+)\((\d+),(\d+),(\w+)\)/g)].map(([, name, row, col, mark]) => ({ name, row: Number(row), col: Number(col), mark }));
  const [height, width] = [Math.max(0, ...facts.map(({ row }) => row)), Math.max(0, ...facts.map(({ col }) => col))];
  if (height < 2 || width < 2 || facts.length !== height * width || facts.some(({ name }) => name !== facts[0].name)) return null;
  const marks = new Map(facts.map(({ mark }) => [mark, BLANKS.has(mark) ? EMPTY : mark.charAt(0).toUpperCase()]));
  if (new Set(marks.values()).size < marks.size) return null;
  const at = (row, col) => marks.get(facts.find((fact) => fact.row === row && fact.col === col)?.mark) ?? '';
  const rows = Array.from({ length: height }, (_, row) => Array.from({ length: width }, (__, col) => at(row + 1, col + 1)).join(''));
  return rows.every((row) => row.length === width) ? rows : null;
}

/** The rows of a position: `1 X../.O./...`, nine characters of tic-tac-toe, or facts of squares; null if it has none. */
export function rowsOf(position) {
  const text = (position ?? '').trim();
  if (/^[XO.]{9}(\s|$)/.test(text)) return [text.slice(0, 3), text.slice(3, 6), text.slice(6, 9)];
  const rows = text.split(/\s+/).find((word) => word.includes('/'))?.split('/');
  const fits = rows?.length > 1 && rows[0].length > 1 && rows.every((row) => row.length === rows[0].length);
  return fits ? rows : rowsOfFacts(text);
}

const keyOf = (row, col) => `${row}.${col}`;

function changes(before, after) {
  const [left, filled] = [[], []];
  before.forEach((line, row) => [...line].forEach((mark, col) => {
    if (after[row][col] === mark) return;
    (after[row][col] === EMPTY ? left : filled).push(keyOf(row, col));
  }));
  return { left, filled };
}

/**
 * Finds the squares of each move by what it changes: one square that it fills, or one that it leaves and one that it fills. Null if some
 * move changes more, or two moves change the same.
 */
function squaresOf(rows, moves) {
  const found = new Map();
  for (const { move, position } of moves) {
    const after = rowsOf(position);
    if (after?.length !== rows.length) return null;
    const { left, filled } = changes(rows, after);
    if (filled.length !== 1 || left.length > 1) return null;
    const name = [...left, ...filled].join('-');
    if (found.has(name)) return null;
    found.set(name, { move, from: left[0] ?? null, to: filled[0] });
  }
  return [...found.values()];
}

/** Squares of the lines of `length` equal marks. */
function lines(rows, length) {
  const found = new Set();
  rows.forEach((line, row) => [...line].forEach((mark, col) => {
    if (mark === EMPTY) return;
    for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      const cells = Array.from({ length }, (_, i) => [row + i * down, col + i * right]);
      if (cells.every(([r, c]) => rows[r]?.[c] === mark)) cells.forEach(([r, c]) => found.add(keyOf(r, c)));
    }
  }));
  return found;
}

const FIRST = new Set(['X', 'W', 'R', 'x', 'w']);
const SECOND = new Set(['O', 'B', 'Y', 'o', 'b']);
const CROSSES = new Set(['X', 'x', 'O', 'o']);

const sideOf = (mark) => (FIRST.has(mark) ? 'first' : SECOND.has(mark) ? 'second' : 'other');

/** A cross, a ring, or a disc with its letter. */
function piece(mark, x, y, asDisc) {
  const side = sideOf(mark);
  if (!asDisc && CROSSES.has(mark)) {
    const r = SIZE * 0.27;
    return side === 'first'
      ? svg('path', { class: 'mark first', d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}` })
      : svg('circle', { class: 'mark second', cx: x, cy: y, r });
  }
  if (side === 'other') return svg('text', { class: 'letter', x, y }, mark);
  return svg(
    'g',
    { class: `disc ${side}` },
    svg('circle', { cx: x, cy: y, r: SIZE * 0.38 }),
    asDisc ? svg('circle', { class: 'inner', cx: x, cy: y, r: SIZE * (side === 'first' ? 0.24 : 0.1) }) : svg('text', { x, y }, mark),
  );
}

/** The marks of what was played and what is best, on the squares that `squareOf` finds: `arrows` are `{ move, kind }`. */
function adviceMarks(arrows, squareOf) {
  const mark = ({ move, kind }) => {
    const square = squareOf(move);
    if (!square) return null;
    const [x, y] = square.map((at) => (at + 0.5) * SIZE);
    const r = SIZE * 0.4;
    return svg('g', { class: kind }, kind === 'best'
      ? svg('circle', { cx: x, cy: y, r: r * 0.72 })
      : svg('rect', { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 6 }));
  };
  return svg('g', { class: 'advised', 'aria-hidden': 'true' }, (arrows ?? []).map(mark));
}

class Squares extends Board {
  constructor(options) {
    super(options);
    this.mark = roving(this.element);
  }

  middle(row, col) {
    return [col * SIZE + SIZE / 2, row * SIZE + SIZE / 2];
  }

  /** Squares whose content is new in this scene. */
  fresh(scene, rows) {
    const before = rowsOf(scene.before);
    return new Set(before?.length === rows.length ? changes(before, rows).filled : []);
  }

  frame(rows, name, ...children) {
    const [width, height] = [rows[0].length * SIZE, rows.length * SIZE];
    const across = Math.min(40, (rows[0].length / rows.length) * 34);
    const drawing = svg(
      'svg',
      { class: 'grid-board', viewBox: `-3 -3 ${width + 6} ${height + 6}`, role: 'group', 'aria-label': name },
      ...children,
    );
    drawing.style.maxInlineSize = `${across}rem`;
    return drawing;
  }
}

const contents = (mark) => (mark === EMPTY ? 'empty' : mark);

/** The column and row of a square that is named by its number from the top left, as in tic-tac-toe; null for other names. */
const squareNamed = ([{ length: width }], move) => (/^\d+$/.test(move) ? [(move - 1) % width, Math.floor((move - 1) / width)] : null);

/** A board on whose squares moves are made: one press to fill a square, two to move a piece. */
export class SquareBoard extends Squares {
  begin(scene) {
    this.from = null;
    const rows = rowsOf(scene.position);
    this.ways = rows && scene.moves.length > 0 ? squaresOf(rows, scene.moves) : null;
  }

  draw(scene) {
    const rows = rowsOf(scene.position);
    const fresh = this.fresh(scene, rows);
    const wins = this.game.name === 'tictactoe' ? lines(rows, 3) : new Set();
    const cells = rows.flatMap((line, row) => [...line].map((mark, col) => this.cell(rows, row, col, mark, { fresh, wins })));
    const unclear = this.isActive && !this.ways;
    put(
      this.element,
      this.frame(rows, 'Board', ...cells, adviceMarks(scene.arrows, (move) => squareNamed(rows, move))),
      this.isActive && this.from && h('p', { class: 'quiet' }, 'Choose where it goes. Escape cancels.'),
      unclear && moveButtons(scene.moves, this.onmove),
    );
    this.mark();
  }

  cell(rows, row, col, mark, { fresh, wins }) {
    const key = keyOf(row, col);
    const [x, y] = this.middle(row, col);
    const use = this.use(key);
    const classes = ['square', fresh.has(key) && 'fresh', wins.has(key) && 'wins', use.kind, use.act && 'can'];
    return svg(
      'g',
      {
        class: classes.filter(Boolean).join(' '),
        role: 'button',
        'aria-disabled': use.act ? null : 'true',
        'aria-label': `column ${col + 1}, row ${rows.length - row}: ${contents(mark)}${use.text}`,
        'data-key': key,
        'data-row': row,
        'data-col': col,
        ...pressable(() => use.act?.()),
        onkeyup: (event) => event.key === 'Escape' && this.choose(null),
      },
      svg('rect', { x: col * SIZE + 1, y: row * SIZE + 1, width: SIZE - 2, height: SIZE - 2, rx: 4 }),
      mark === EMPTY ? use.kind === 'target' && svg('circle', { class: 'hint', cx: x, cy: y, r: 9 }) : piece(mark, x, y, false),
    );
  }

  /** What pressing a square does. */
  use(key) {
    const ways = this.isActive && this.ways ? this.ways : [];
    const way = ways.find(({ from, to }) => to === key && from === this.from);
    if (way) return { kind: way.from ? 'target' : 'place', text: ', you can move here', act: () => this.onmove(way.move) };
    if (key === this.from) return { kind: 'chosen', text: ', chosen', act: () => this.choose(null) };
    if (ways.some(({ from }) => from === key)) return { kind: 'source', text: ', can move', act: () => this.choose(key) };
    return { kind: '', text: '', act: null };
  }

  choose(key) {
    if (this.from === key) return;
    this.from = key;
    this.redraw();
  }
}

/** Connect Four: a press on a column drops a disc. */
export class ColumnBoard extends Squares {
  draw(scene) {
    const rows = rowsOf(scene.position);
    const wins = lines(rows, 4);
    const fresh = this.fresh(scene, rows);
    const columns = [...rows[0]].map((_, col) => this.column(scene, rows, col, { wins, fresh }));
    const [width, height] = [rows[0].length * SIZE, rows.length * SIZE];
    const wall = svg('rect', { class: 'frame', x: -3, y: -3, width: width + 6, height: height + 6, rx: 10 });
    put(this.element, this.frame(rows, 'Board', wall, ...columns, adviceMarks(scene.arrows, (move) => [move - 1, rows.map((line) => line[move - 1]).lastIndexOf(EMPTY)])));
    this.mark();
  }

  column(scene, rows, col, { wins, fresh }) {
    const move = this.isActive ? scene.moves.find((legal) => legal.move === String(col + 1)) : null;
    const marks = rows.map((line) => line[col]);
    const landing = marks.lastIndexOf(EMPTY);
    const cells = marks.map((mark, row) => {
      const [x, y] = this.middle(row, col);
      const key = keyOf(row, col);
      const hole = svg('circle', { class: 'hole', cx: x, cy: y, r: SIZE * 0.4 });
      if (mark === EMPTY) return [hole, move && row === landing && svg('circle', { class: 'ghost', cx: x, cy: y, r: SIZE * 0.34 })];
      const disc = piece(mark, x, y, true);
      if (fresh.has(key) && !calm()) this.drop(disc, row);
      return [hole, disc, wins.has(key) && svg('circle', { class: 'ring', cx: x, cy: y, r: SIZE * 0.42 })];
    });
    return svg(
      'g',
      {
        class: `column${move ? ' can' : ''}`,
        role: 'button',
        'aria-disabled': move ? null : 'true',
        'aria-label': this.columnName(marks, col),
        'data-key': `c${col}`,
        'data-row': 0,
        'data-col': col,
        ...pressable(() => move && this.onmove(move.move)),
      },
      svg('rect', { x: col * SIZE, y: 0, width: SIZE, height: rows.length * SIZE }),
      cells,
    );
  }

  columnName(marks, col) {
    const mine = this.seat === 1 ? 'X' : 'O';
    const discs = marks.filter((mark) => mark !== EMPTY).reverse().map((mark) => (mark === mine ? 'yours' : "the opponent's"));
    return `column ${col + 1}: ${discs.length ? `from below ${discs.join(', ')}` : 'empty'}`;
  }

  drop(disc, row) {
    disc.classList.add('drop');
    disc.style.setProperty('--height', `${-(row + 1) * SIZE}px`);
    disc.style.setProperty('--time', `${0.14 + 0.05 * row}s`);
  }
}
