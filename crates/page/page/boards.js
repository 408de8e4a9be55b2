// Which board belongs to which game, with the games' names, pictures and seats.

import { BackgammonBoard } from './backgammon.js';
import { PlainBoard } from './board.js';
import { CardBoard } from './cards.js';
import { nativeText, readPosition } from './checkers.js';
import { DiceBoard } from './dice.js';
import { die } from './die.js';
import { svg } from './dom.js';
import { ColumnBoard, SquareBoard, rowsOf } from './grid.js';

const family = (name) => name.split(':')[0];

const BOARDS = {
  tictactoe: SquareBoard,
  'connect-four': ColumnBoard,
  backgammon: BackgammonBoard,
  hypergammon: BackgammonBoard,
  bearoff: BackgammonBoard,
  'liars-dice': DiceBoard,
  holdem: CardBoard,
  leduc: CardBoard,
  kuhn: CardBoard,
};

const kindOf = (game) => BOARDS[family(game)];

/** The board of a game; games without one of their own get squares if their positions are rows. */
export function boardFor(options, position) {
  const Kind = kindOf(options.game.name) ?? (rowsOf(position) ? SquareBoard : PlainBoard);
  return new Kind(options);
}

/** Whether a board can draw this text of a position. */
export function canDraw(game, position) {
  const Kind = kindOf(game);
  if (Kind === BackgammonBoard) return readPosition(nativeText(position), game) !== null;
  if (Kind === SquareBoard || Kind === ColumnBoard) return rowsOf(position) !== null;
  return true;
}

export const isCheckers = (game) => kindOf(game) === BackgammonBoard;

const TITLES = {
  tictactoe: 'Tic-tac-toe',
  'connect-four': 'Connect Four',
  backgammon: 'Backgammon',
  hypergammon: 'Hypergammon',
  bearoff: 'Bear-off',
  'liars-dice': "Liar's dice",
  holdem: "Hold'em",
  leduc: 'Leduc poker',
  kuhn: 'Kuhn poker',
};

/** The name of a game for people. */
export function titleOf(name) {
  const [head, ...rest] = name.split(':');
  if (head === 'declared' || head === 'file') {
    const said = rest.join(':').replace(/\.(game|kif)$/, '').replaceAll('-', ' ').replace(/(\d)x(\d)/, '$1×$2');
    return said.charAt(0).toUpperCase() + said.slice(1);
  }
  return TITLES[head] ?? name;
}

/** What tells rule sets of a game apart. */
export function variantOf(name) {
  const [head, ...rest] = name.split(':');
  if (head === 'holdem') return `fixed limit, ${rest[1]} players`;
  const dice = /^soar:(\d+)x(\d+)$/.exec(rest.join(':'));
  if (dice) return `${dice[1]} players, ${dice[2]} dice each`;
  if (/^(bearoff|backgammon):\d+$/.test(name)) return `${rest[0]} checkers a side`;
  const match = /^match-(\d+)$/.exec(rest[0] ?? '');
  if (match) return match[1] === '1' ? 'match to 1 point' : `match to ${match[1]} points`;
  if (/^money/.test(rest[0] ?? '')) return `money game${rest[0].includes('no-jacoby') ? ', without the Jacoby rule' : ''}${rest[0].includes('beavers') ? ', with beavers' : ''}`;
  return head === 'declared' || head === 'file' ? '' : rest.join(':');
}

/** What an opponent is called: a level, or an agent that may look ahead. */
export function opponentTitle(id) {
  const [, plies, agent] = /^search:(\d+)\b[^:]*:(.*)$/.exec(id) ?? [];
  return agent ? `${agent}, which looks ${plies} plies ahead` : id;
}

/** A text with results in big blinds, as players count one hand: their thousandths are for averages. */
export const inBlinds = (text) => text.replace(/([-−+]?)(\d+(?:\.\d+)?) mbb/g, (_, sign, number) => {
  const blinds = (number / 1000).toFixed(2).replace(/\.?0+$/, '');
  return `${sign.replace('-', '−')}${blinds} big ${blinds === '1' ? 'blind' : 'blinds'}`;
});

/** What a seat is called. */
export function seatName(game, seat) {
  const first = seat === 1;
  if (family(game) === 'tictactoe') return first ? 'X, moves first' : 'O, moves second';
  if (family(game) === 'connect-four') return first ? 'first disc' : 'second disc';
  return `player ${seat}`;
}

const disc = (classes, cx, cy, r = 9) => svg('circle', { class: classes, cx, cy, r });

const PICTURES = {
  tictactoe: () => [
    svg('path', { class: 'lines', d: 'M34 10V70M54 10V70M14 30H74M14 50H74' }),
    svg('path', { class: 'accent-line', d: 'M18 14L30 26M30 14L18 26M38 34L50 46M50 34L38 46' }),
    svg('circle', { class: 'lines', cx: 64, cy: 20, r: 6 }),
  ],
  'connect-four': () => [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((col) => disc(
    ['hole', 'hole', 'hole', 'accent', 'hole', 'dark', 'accent', 'dark', 'dark', 'accent', 'dark', 'accent'][row * 4 + col],
    14 + col * 20, 20 + row * 20, 8,
  ))),
  backgammon: () => [
    svg('path', { class: 'soft', d: 'M8 8L18 40L28 8ZM48 8L58 40L68 8ZM28 72L38 40L48 72ZM68 72L78 40L88 72Z' }),
    svg('path', { class: 'accent-soft', d: 'M28 8L38 40L48 8ZM8 72L18 40L28 72ZM48 72L58 40L68 72Z' }),
    disc('dark', 18, 17), disc('dark', 18, 34), disc('accent', 38, 63), disc('accent', 38, 46), disc('accent', 58, 63),
  ],
  hypergammon: () => [
    svg('path', { class: 'soft', d: 'M8 8L18 40L28 8ZM48 8L58 40L68 8ZM28 72L38 40L48 72Z' }),
    disc('accent', 18, 17), disc('accent', 38, 17), disc('accent', 58, 17), disc('dark', 38, 63),
  ],
  bearoff: () => [
    svg('path', { class: 'soft', d: 'M8 72L18 30L28 72ZM28 72L38 30L48 72ZM48 72L58 30L68 72Z' }),
    disc('accent', 18, 63), disc('accent', 38, 63), disc('accent', 38, 46), disc('accent', 58, 63),
    [0, 1, 2, 3].map((i) => svg('rect', { class: 'dark', x: 74, y: 62 - i * 10, width: 16, height: 8, rx: 2 })),
  ],
  'liars-dice': () => [
    svg('g', { transform: 'rotate(-8 30 44)' }, die(5, 30, 44, 38, '')),
    svg('g', { transform: 'rotate(10 66 40)' }, die(3, 66, 40, 38, '')),
  ],
  cards: () => [
    svg('g', { class: 'tiny-card', transform: 'rotate(-10 34 40)' }, svg('rect', { x: 18, y: 14, width: 34, height: 50, rx: 5 }), svg('text', { x: 35, y: 46 }, 'A')),
    svg('g', { class: 'tiny-card', transform: 'rotate(10 60 42)' }, svg('rect', { x: 42, y: 16, width: 34, height: 50, rx: 5 }), svg('text', { x: 59, y: 48 }, 'K')),
  ],
  rows: () => [0, 1, 2].flatMap((row) => [0, 1, 2].map((col) => svg('rect', { class: (row + col) % 2 ? 'soft' : 'faint', x: 18 + col * 20, y: 10 + row * 20, width: 20, height: 20 }))).concat(
    disc('dark', 28, 20, 7), disc('dark', 48, 20, 7), disc('accent', 28, 60, 7), disc('accent', 68, 60, 7), disc('accent', 48, 40, 7),
  ),
};

/** A small picture of a game. */
export function picture(name) {
  const head = family(name);
  const draw = PICTURES[head] ?? (BOARDS[head] === CardBoard ? PICTURES.cards : PICTURES.rows);
  return svg('svg', { class: 'picture', viewBox: '0 0 96 80', 'aria-hidden': 'true' }, draw());
}
