// The board of a review of backgammon: with the cube, the score, the numbers of the player to move, and arrows for several moves.

import { BackgammonBoard } from './backgammon.js';
import { nativeText, partsOf, seenBy } from './checkers.js';
import { h, svg } from './dom.js';

const BAR = 25;
const CUBE = 32; // width of the cube
const APART = 4; // pixels by which two arrows lie beside their way
const HEAD = 11; // length of the head of an arrow

/** Whose turn it is, the cube and the score in an XGID; null of other texts. Players are 1 and 2. */
export function stakesOf(text) {
  const found = /^XGID=[-A-Oa-o]{26}:(\d+):(-?[01]):(-?1):([^:]*):(\d+):(\d+):(\d+):(\d+)/.exec(text ?? '');
  if (!found) return null;
  const [doublings, owner, turn, , first, second, rules, length] = found.slice(1).map(Number);
  const player = (sign) => (sign === 1 ? 1 : 2);
  return {
    turn: player(turn),
    owner: owner === 0 ? null : player(owner),
    doublings,
    // A double, a beaver or a raccoon that waits for an answer.
    offered: ' DBR'.indexOf(found[4]),
    scores: [first, second],
    length,
    isCrawford: length > 0 && rules % 2 === 1,
  };
}

/** Scenes have besides: `arrows`, a list of `{ move, kind }` by the player `mover`, drawn on the position before. */
export class ReviewBoard extends BackgammonBoard {
  read({ position, next }) {
    const stakes = stakesOf(position);
    // The native text of an XGID begins with the player whose turn it is.
    const found = seenBy(this.seat, stakes?.turn ?? next, nativeText(position), this.game.name);
    return found && { ...found, stakes };
  }

  line(isMine, shown, position) {
    const line = super.line(isMine, shown, position);
    const { stakes } = position;
    const player = isMine ? this.seat : 3 - this.seat;
    if (stakes?.length > 0) line.append(h('span', null, `${stakes.scores[player - 1]} of ${stakes.length}`));
    if (stakes?.isCrawford && isMine) line.append(h('span', null, 'Crawford game'));
    return line;
  }

  /** Moves are written in the numbers of the player who makes them. */
  numbers() {
    const numbers = super.numbers();
    if (this.layout.isHome || this.scene.mover === this.seat) return numbers;
    for (const number of numbers.filter(Boolean)) number.textContent = String(BAR - Number(number.textContent));
    return numbers;
  }

  marks({ arrows, mover }, position) {
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

  dice(scene, position, node) {
    // Nothing rolls when a position of the past is shown.
    this.rolled = `${scene.key} ${position.dice}`;
    return [super.dice(scene, position, node), position.stakes && this.cube(position.stakes)];
  }

  /** In the middle, at the side of its owner, or before the player to whom it is offered. */
  cube({ turn, owner, doublings, offered, isCrawford }) {
    if (isCrawford) return null;
    const { layout } = this;
    const height = (place, isMine) => layout.spot(place, isMine, 0)[1];
    let [x, y] = [layout.barX(), (height(1, true) + height(1, false)) / 2];
    if (offered > 0) x = layout.x(turn === this.seat ? 9 : 3);
    else if (owner) y = height(1, owner === this.seat);
    const value = 2 ** (doublings + Math.max(0, offered));
    const square = { x: x - CUBE / 2, y: y - CUBE / 2, width: CUBE, height: CUBE, rx: 5 };
    return svg('g', { class: 'cube', role: 'img', 'aria-label': `cube at ${value}` }, svg('rect', square), svg('text', { x, y }, String(value)));
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
