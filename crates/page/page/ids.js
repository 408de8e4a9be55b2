// Positions of checkers as text of every kind: native, gnubg Position ID with Match ID, XGID; with cube and score.

import { fieldsOfXgid, nativeText, readPosition, sideText } from './checkers.js';

/** A money game with the cube in the middle. `owner` is 1 for the side to roll, −1 for the other; `scores` are theirs in this order. */
const MONEY = { cube: 1, owner: 0, length: 0, scores: [0, 0], crawford: false, jacoby: false };

const BITS = { cube: [0, 4], owner: [4, 2], turn: [6, 1], crawford: [7, 1], state: [8, 3], actor: [11, 1], low: [15, 3], high: [18, 3], length: [21, 15], first: [36, 15], second: [51, 15], noJacoby: [66, 1] };

/** Bits of an ID from the first on, and back. */
const bitsOf = (id) => [...atob(id)].reduce((sum, byte, i) => sum | (BigInt(byte.charCodeAt(0)) << BigInt(8 * i)), 0n);
const idOf = (bits, bytes) => btoa(String.fromCharCode(...Array.from({ length: bytes }, (_, i) => Number((bits >> BigInt(8 * i)) & 255n)))).replace(/=+$/, '');

function stakesOfXgid({ cube, owner, turn, dice, scores, hasRule, length }) {
  return {
    cube,
    owner: owner * turn,
    length,
    scores: turn > 0 ? scores : scores.toReversed(),
    crawford: length > 0 && hasRule,
    jacoby: length === 0 && hasRule,
    dice: /^[1-6]{2}$/.test(dice) ? [...dice].map(Number) : null,
  };
}

function stakesOfMatchId(id) {
  const all = bitsOf(id);
  const { cube, owner, turn, crawford, low, high, length, first, second, noJacoby } = Object.fromEntries(
    Object.entries(BITS).map(([name, [at, width]]) => [name, Number((all >> BigInt(at)) & ((1n << BigInt(width)) - 1n))]),
  );
  const scores = [first, second];
  return {
    cube: 2 ** cube,
    owner: owner > 1 ? 0 : owner === turn ? 1 : -1,
    length,
    scores: turn === 0 ? scores : scores.reverse(),
    crawford: length > 0 && crawford === 1,
    jacoby: length === 0 && noJacoby === 0,
    dice: low > 0 && high > 0 ? [low, high] : null,
  };
}

/** An ID without what programs write around it, such as `Position ID: … Match ID: …`. */
export function bareId(text) {
  const gnubg = /Position ID\s*:?\s*([A-Za-z0-9+/]{14})(?:[\s\S]*?Match ID\s*:?\s*([A-Za-z0-9+/]{12}))?/i.exec(text);
  if (gnubg) return gnubg.slice(1).filter(Boolean).join(':');
  const xgid = /(?:XGID=)?[-A-Oa-o]{26}(?::[^:\s]*){9}/.exec(text);
  return xgid ? xgid[0] : text.trim();
}

/** A position of checkers with its dice, cube and score, from text of any kind; null if it is none. */
export function readAnyPosition(text, game) {
  const bare = bareId(text);
  const read = readPosition(nativeText(bare), game);
  if (!read) return null;
  const xgid = fieldsOfXgid(bare);
  const match = /^[A-Za-z0-9+/]{14}[:\s]([A-Za-z0-9+/]{12})/.exec(bare);
  const stakes = xgid ? stakesOfXgid(xgid) : match ? stakesOfMatchId(match[1]) : {};
  const { cube, owner, length, scores } = { ...MONEY, ...stakes };
  // Damaged IDs have fields that are not numbers.
  if (![cube, owner, length, ...scores].every(Number.isInteger)) return null;
  return { ...MONEY, ...stakes, mine: read.first, theirs: read.other, dice: read.dice ?? stakes.dice ?? null };
}

const digits = ({ dice }) => (dice ? dice.toSorted((a, b) => b - a).join('') : '');

/** The text of the game's own kind, without cube and score. */
export function nativeOf(position, game) {
  const side = (counts) => (game.startsWith('bearoff') ? counts.slice(1, 7).join(',') : sideText(counts.with(0, 0)));
  return `${side(position.mine)}/${side(position.theirs)} ${digits(position)}`.trim();
}

export function positionIdOf({ mine, theirs }) {
  const places = [theirs, mine].flatMap((side) => side.slice(1));
  let [bits, at] = [0n, 0n];
  for (const count of places) {
    for (let n = 0; n < count; n += 1, at += 1n) bits |= 1n << at;
    at += 1n;
  }
  return idOf(bits, 10);
}

export function matchIdOf({ cube, owner, length, scores, crawford, jacoby, dice }) {
  const [low, high] = dice ?? [0, 0];
  const values = { cube: Math.log2(cube), owner: owner === 0 ? 3 : owner > 0 ? 0 : 1, crawford: Number(crawford), state: 1, low, high, length, first: scores[0], second: scores[1], noJacoby: Number(!jacoby) };
  return idOf(Object.entries(values).reduce((all, [name, value]) => all | (BigInt(value) << BigInt(BITS[name][0])), 0n), 9);
}

/** The side to roll has the capital letters. */
export function xgidOf(position) {
  const { mine, theirs, cube, owner, length, scores, crawford, jacoby } = position;
  const letter = (place) => (mine[place] > 0 ? String.fromCharCode(64 + mine[place]) : theirs[25 - place] > 0 ? String.fromCharCode(96 + theirs[25 - place]) : '-');
  // The places 0 and 25 are the bars: that of the other side, and that of the side to roll.
  const inner = Array.from({ length: 24 }, (_, i) => letter(i + 1)).join('');
  const bar = (count, base) => (count > 0 ? String.fromCharCode(base + count) : '-');
  const rules = Number(crawford || jacoby);
  return `XGID=${bar(theirs[25], 96)}${inner}${bar(mine[25], 64)}:${Math.log2(cube)}:${owner}:1:${digits(position) || '00'}:${scores.join(':')}:${rules}:${length}:10`;
}
