// Liar's dice: the players with their dice, what they said, and a form to build a bid.

import { Board } from './board.js';
import { smallDie, unseen } from './die.js';
import { button, h, plural, put } from './dom.js';

/** Reads `13446/11+22x/- @2 special 2x4 3x2+22 pass`. */
function readTable(position) {
  const [hands = '', starter = '', ...acts] = (position ?? '').trim().split(/\s+/);
  const seats = hands.split('/').map((text) => {
    const [, cup, pushed, flags] = /^([\d?-]*)(?:\+(\d+))?([xo]*)$/.exec(text) ?? [null, '', '', ''];
    return { cup: cup === '-' ? [] : [...cup], pushed: [...(pushed ?? '')], isOut: cup === '-', exactUsed: flags.includes('x'), said: [] };
  });
  const isSpecial = acts[0] === 'special';
  if (isSpecial) acts.shift();
  let player = Number(starter.slice(1)) - 1;
  let bid = null;
  for (const act of acts) {
    for (let n = 0; seats[player]?.isOut && n < seats.length; n += 1) player = (player + 1) % seats.length;
    seats[player]?.said.push(act);
    if (act.includes('x')) bid = { ...readBid(act), player: player + 1 };
    player = (player + 1) % seats.length;
  }
  return { seats, bid, isSpecial };
}

/** Reads `8x2+66`; null for other moves. */
function readBid(text) {
  const found = /^(\d+)x(\d)(?:\+(\d+))?$/.exec(text);
  return found && { count: Number(found[1]), face: found[2], push: [...(found[3] ?? '')].sort().join('') };
}

const wordsOf = (faces) => (faces.length ? faces.map((face) => (face === '?' ? 'hidden' : face)).join(' ') : 'none');

function claim(text) {
  const bid = readBid(text);
  if (!bid) return h('span', { class: 'claim' }, text.replace('!', ''));
  return h(
    'span',
    { class: 'claim' },
    `${bid.count} × `,
    smallDie(bid.face),
    unseen(` ${bid.face}s`),
    bid.push && ` showing ${[...bid.push].join(' ')}`,
  );
}

export class DiceBoard extends Board {
  begin(scene) {
    const bids = scene.moves.map(({ move }) => ({ ...readBid(move), move })).filter((bid) => bid.count);
    this.bids = new Map(bids.map((bid) => [`${bid.count}x${bid.face}+${bid.push}`, bid.move]));
    this.plain = bids.filter((bid) => bid.push === '');
    this.count = this.plain[0]?.count ?? bids[0]?.count ?? 1;
    this.face = this.plain[0]?.face ?? bids[0]?.face ?? '1';
    this.pushes = new Set();
  }

  draw(scene) {
    const { seats, bid, isSpecial } = readTable(scene.position);
    put(
      this.element,
      isSpecial && h('p', { class: 'notice' }, 'Special round: nothing is wild; only players with one die can change the face.'),
      h('ol', { class: 'cups' }, seats.map((seat, i) => this.cup(seat, i + 1))),
      this.toBeat(scene, seats, bid, isSpecial),
      this.isActive && this.actions(scene, seats[this.seat - 1]),
    );
  }

  cup(seat, player) {
    const isMine = player === this.seat;
    const dice = seat.cup.map((face) => smallDie(face));
    const pushed = seat.pushed.map((face) => smallDie(face, 'pushed'));
    const described = `dice: ${wordsOf(seat.cup)}${pushed.length ? `, shown to all: ${wordsOf(seat.pushed)}` : ''}`;
    return h(
      'li',
      { class: `cup${isMine ? ' mine' : ''}${seat.isOut ? ' out' : ''}` },
      h('strong', null, this.who(player)),
      seat.isOut
        ? h('span', { class: 'quiet' }, 'out')
        : h('span', { class: 'dice-row' }, unseen(described), dice, pushed.length > 0 && h('span', { class: 'shown' }, pushed)),
      h('span', { class: 'said-row' }, seat.said.map(claim), seat.exactUsed && h('span', { class: 'quiet' }, 'exact used')),
    );
  }

  toBeat(scene, seats, bid, isSpecial) {
    const total = seats.reduce((sum, seat) => sum + seat.cup.length + seat.pushed.length, 0);
    const wild = /(\d)s are wild/.exec(scene.board ?? '')?.[1] ?? (this.game.name.includes(':soar:') && !isSpecial ? '1' : null);
    return h(
      'p',
      { class: 'to-beat' },
      bid ? ['Bid to beat: ', h('strong', null, claim(`${bid.count}x${bid.face}`)), ` by ${this.who(bid.player)}`] : 'No bid yet',
      h('span', { class: 'quiet' }, ` · ${plural(total, 'die', 'dice')} in play${wild ? ` · ${wild}s are wild` : ''}`),
    );
  }

  actions(scene, seat) {
    const others = scene.moves.filter(({ move }) => !readBid(move));
    return h(
      'div',
      { class: 'controls' },
      this.bids.size > 0 && this.builder(seat),
      h('div', { class: 'row' }, others.map(({ move }) => button(move[0].toUpperCase() + move.slice(1), () => this.onmove(move), { 'data-key': move }))),
    );
  }

  /** Counts that can be bid for a face. */
  counts(face) {
    return this.plain.filter((bid) => bid.face === face).map((bid) => bid.count).sort((a, b) => a - b);
  }

  set(change) {
    Object.assign(this, change);
    this.redraw();
  }

  chooseFace(face) {
    const counts = this.counts(face);
    this.set({ face, count: counts.includes(this.count) ? this.count : counts[0] });
  }

  builder(seat) {
    const counts = this.counts(this.face);
    const lower = counts.findLast((count) => count < this.count);
    const higher = counts.find((count) => count > this.count);
    const faces = [...new Set(this.plain.map((bid) => bid.face))].sort();
    const push = [...this.pushes].map((i) => seat.cup[i]).sort().join('');
    const move = this.bids.get(`${this.count}x${this.face}+${push}`);
    const face = (value) => button([smallDie(value), unseen(`${value}s`)], () => this.chooseFace(value), {
      class: 'face',
      'aria-pressed': String(value === this.face),
      'data-key': `face${value}`,
    });
    return h(
      'div',
      { class: 'builder', role: 'group', 'aria-label': 'Your bid' },
      h(
        'div',
        { class: 'row' },
        button('−', () => this.set({ count: lower }), { class: 'step', 'aria-label': 'Fewer', disabled: !lower, 'data-key': 'fewer' }),
        h('output', { class: 'count-out' }, String(this.count)),
        button('+', () => this.set({ count: higher }), { class: 'step', 'aria-label': 'More', disabled: !higher, 'data-key': 'more' }),
        h('span', { 'aria-hidden': 'true' }, '×'),
        h('div', { class: 'faces' }, faces.map(face)),
      ),
      this.canPush() && this.pushRow(seat),
      h(
        'div',
        { class: 'row' },
        button(['Bid ', claim(`${this.count}x${this.face}${push && `+${push}`}`)], () => move && this.onmove(move), {
          class: 'main',
          disabled: !move,
          'data-key': 'bid',
        }),
        !move && h('span', { class: 'quiet' }, push ? 'You cannot show these dice with this bid.' : 'This bid does not beat the last one.'),
      ),
    );
  }

  canPush() {
    return this.bids.size > this.plain.length;
  }

  pushRow(seat) {
    const toggle = (face, i) => button([smallDie(face), unseen(face)], () => this.togglePush(i), {
      class: 'face',
      'aria-pressed': String(this.pushes.has(i)),
      'data-key': `push${i}`,
    });
    return h(
      'div',
      { class: 'row', role: 'group', 'aria-label': 'Dice to show' },
      h('span', { class: 'quiet' }, 'Show, and roll the others again:'),
      h('div', { class: 'faces' }, seat.cup.map(toggle)),
    );
  }

  togglePush(i) {
    if (!this.pushes.delete(i)) this.pushes.add(i);
    this.redraw();
  }
}
