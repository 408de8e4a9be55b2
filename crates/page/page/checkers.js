// The rules of checkers and dice as far as the page needs them: positions and moves as text, and moves step by step.
//
// A side is an array: [0] borne off, [1..24] points in its own numbering, [25] the bar.

const BAR = 25;

/** Checkers of a side in a game. */
export function checkersOf(game) {
  const [name, count] = game.split(':');
  if (name === 'bearoff') return Number(count ?? 14);
  if (name === 'hypergammon') return 3;
  return /^\d+$/.test(count ?? '') ? Number(count) : 15;
}

const placeOf = (word) => (word === 'bar' ? BAR : word === 'off' ? 0 : Number(word));

function sideOf(text, total) {
  const side = new Array(26).fill(0);
  if (text.includes(',')) text.split(',').forEach((count, i) => { side[i + 1] = Number(count); });
  else {
    for (const part of text.split(/\s+/).filter(Boolean)) {
      const [place, count] = part.split(':');
      side[placeOf(place)] = Number(count);
    }
  }
  side[0] = 0;
  side[0] = Math.max(0, total - side.reduce((sum, count) => sum + count, 0));
  return side;
}

/** The start, before the opening roll. */
const START = '24:2 13:5 8:3 6:5';

/** Reads `SIDE/OTHER ROLL`: the side first in the text, the other, and the dice or null. Null if it is not a position. */
export function readPosition(text, game) {
  const total = checkersOf(game);
  let whole = (text ?? '').trim();
  if (whole === 'start') {
    const some = Array.from({ length: total }, (_, i) => `${24 - i}:1`).join(' ');
    const side = total === 15 ? START : some;
    whole = `${side}/${side}`;
  }
  const found = /^([\d:, barof]*)\/([\d:, barof]*?)(?:\s+([1-6])-?([1-6]))?$/.exec(whole);
  if (!found) return null;
  const dice = found[3] ? [Number(found[3]), Number(found[4])] : null;
  return { first: sideOf(found[1], total), other: sideOf(found[2], total), dice };
}

export const sideText = (side) => side.flatMap((count, place) => (count > 0 ? `${place === BAR ? 'bar' : place}:${count}` : [])).reverse().join(' ');

/** A gnubg Position ID: 25 places of the other side, then of the side to roll; each checker is a 1, each place ends with a 0. */
function sidesOfId(id) {
  const bits = [...atob(id)].flatMap((byte) => Array.from({ length: 8 }, (_, i) => (byte.charCodeAt(0) >> i) & 1));
  const sides = [new Array(26).fill(0), new Array(26).fill(0)];
  let at = 0;
  for (const side of sides) {
    for (let place = 1; place <= BAR; place += 1, at += 1) {
      for (; bits[at] === 1; at += 1) side[place] += 1;
    }
  }
  return sides.reverse();
}

/** The places of an XGID: capitals are the lower player's, whose turn is 1. */
function sidesOfXgid(places, turn) {
  const [upper, lower] = [new Array(26).fill(0), new Array(26).fill(0)];
  [...places].forEach((letter, place) => {
    if (/[A-O]/.test(letter)) lower[place] = letter.charCodeAt(0) - 64;
    if (/[a-o]/.test(letter)) upper[BAR - place] = letter.charCodeAt(0) - 96;
  });
  return turn < 0 ? [upper, lower] : [lower, upper];
}

/** What an XGID says, null for other texts. The scores are those of the players 1 and −1; player 1 has the capitals. */
export function fieldsOfXgid(text) {
  const found = /^(?:XGID=)?([-A-Oa-o]{26}):([^:]*):([^:]*):(-?1):([^:]*)(?::([^:]*):([^:]*):([^:]*):([^:]*))?/.exec(text ?? '');
  if (!found) return null;
  const [, places, cube, owner, turn, dice, first, second, rules, length] = found;
  return { places, cube: 2 ** cube, owner: Number(owner), turn: Number(turn), dice, scores: [Number(first), Number(second)], hasRule: (Number(rules) & 1) === 1, length: Number(length) };
}

/** The native text of a gnubg Position ID or an XGID; other texts as they are. */
export function nativeText(text) {
  const xgid = fieldsOfXgid(text);
  const gnubg = /^([A-Za-z0-9+/]{14})(?:[:\s]\S{12})?(?:\s+([1-6])-?([1-6]))?$/.exec(text);
  if (!xgid && !gnubg) return text;
  const sides = xgid ? sidesOfXgid(xgid.places, xgid.turn) : sidesOfId(gnubg[1]);
  const roll = xgid ? xgid.dice.replace(/00|[A-Z]/g, '') : `${gnubg[2] ?? ''}${gnubg[3] ?? ''}`;
  return `${sides.map(sideText).join('/')} ${roll}`.trim();
}

/** A position from the view of one player; `next` is the player whose side the text shows first. */
export function seenBy(seat, next, text, game) {
  const read = readPosition(text, game);
  if (!read) return null;
  const isMine = (next ?? seat) === seat;
  return { mine: isMine ? read.first : read.other, theirs: isMine ? read.other : read.first, dice: read.dice, isMine };
}

export const pips = (side) => side.reduce((sum, count, place) => sum + count * place, 0);

/** The parts of a move: `8/5(2)` becomes `{places: [8, 5], hits: [false, false], count: 2}`. */
export function partsOf(move) {
  const parts = [];
  for (const part of (move ?? '').split(/\s+/)) {
    const found = /^([^(]+\/[^(]+?)(?:\((\d)\))?(\*?)$/.exec(part);
    if (!found) continue;
    const words = (found[1] + found[3]).split('/');
    parts.push({
      places: words.map((word) => placeOf(word.replace('*', ''))),
      hits: words.map((word) => word.includes('*')),
      count: Number(found[2] ?? 1),
    });
  }
  return parts;
}

/** A checker goes from one place to another; hits what stands there alone. */
function moved({ mine, theirs }, from, to, meets) {
  const after = { mine: [...mine], theirs: [...theirs] };
  after.mine[from] -= 1;
  after.mine[to] += 1;
  const hit = meets && to > 0 && theirs[BAR - to] === 1;
  if (hit) {
    after.theirs[BAR - to] = 0;
    after.theirs[BAR] += 1;
  }
  return { ...after, hit };
}

/** The position after a move, from its text alone. */
export function played(position, move, meets) {
  let after = position;
  for (const { places, count } of partsOf(move)) {
    for (let n = 0; n < count; n += 1) {
      for (let i = 1; i < places.length; i += 1) after = moved(after, places[i - 1], places[i], meets);
    }
  }
  return after;
}

const keyOf = ({ mine, theirs }) => `${mine.join()}|${theirs.join()}`;

const without = (dice, die) => dice.filter((_, i) => i !== dice.indexOf(die));

/**
 * The ways to play a roll step by step. A node has `mine`, `theirs`, the dice that are left, `move` (the legal move that leads here, if
 * one does) and `steps` to later nodes: `{from, to, die, hit, node}`. Only steps from which a legal move can still be reached are kept, so
 * the list of legal moves decides what is legal; the rules of single steps here only find candidates.
 */
export class Steps {
  constructor(position, moves, game) {
    this.meets = !game.startsWith('bearoff');
    this.moves = new Map(moves.map(({ move, position: after }) => [this.after(position, move, after, game), move]));
    this.nodes = new Map();
    const [a, b] = position.dice ?? [];
    this.root = this.node(position, a === b ? [a, a, a, a] : [a, b]) ?? { ...position, dice: [], steps: [], move: null };
  }

  after(position, move, text, game) {
    const read = text && readPosition(text, game);
    return keyOf(read ? { mine: read.other, theirs: read.first } : played(position, move, this.meets));
  }

  /** Null if no legal move can be reached from there. */
  node({ mine, theirs }, dice) {
    const key = `${keyOf({ mine, theirs })}|${dice.join()}`;
    if (this.nodes.has(key)) return this.nodes.get(key);
    const node = { key, mine, theirs, dice, steps: [], move: this.moves.get(keyOf({ mine, theirs })) ?? null };
    for (const die of new Set(dice)) {
      for (const step of this.candidates(node, die)) {
        const after = moved(node, step.from, step.to, this.meets);
        const next = this.node(after, without(dice, die));
        if (next) node.steps.push({ ...step, die, hit: after.hit, node: next });
      }
    }
    const found = node.move !== null || node.steps.length > 0 ? node : null;
    this.nodes.set(key, found);
    return found;
  }

  candidates({ mine, theirs }, die) {
    const found = [];
    const farthest = mine.findLastIndex((count, place) => place > 0 && count > 0);
    const places = mine[BAR] > 0 ? [BAR] : mine.map((_, place) => place).filter((place) => place > 0 && mine[place] > 0);
    for (const from of places) {
      const to = from - die;
      if (to > 0 && (!this.meets || theirs[BAR - to] < 2)) found.push({ from, to });
      else if (to <= 0 && farthest <= 6 && (to === 0 || from === farthest)) found.push({ from, to: 0 });
    }
    return found;
  }
}

/** Where a checker can go from a place, by one die or several: places to lists of steps. Ways that end differently are left out. */
export function targets(node, from) {
  const found = new Map();
  const ends = new Map();
  const walk = (at, place, steps) => {
    for (const step of at.steps.filter((candidate) => candidate.from === place)) {
      const way = [...steps, step];
      const known = ends.get(step.to);
      if (!known) {
        found.set(step.to, way);
        ends.set(step.to, step.node.key);
      } else if (known !== step.node.key && way.length === found.get(step.to).length && way.length > 1) {
        found.delete(step.to);
      }
      if (step.to > 0) walk(step.node, step.to, way);
    }
  };
  walk(node, from, []);
  return found;
}

/** The step of a checker with the larger die, as a click twice plays it. */
export function largest(node, from) {
  const steps = node.steps.filter((step) => step.from === from);
  return steps.sort((a, b) => b.die - a.die)[0] ?? null;
}

export const placeName = (place) => (place === 0 ? 'off' : place === BAR ? 'bar' : String(place));
