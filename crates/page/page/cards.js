// Poker tables: hold'em and the small games of three ranks.

import { Board } from './board.js';
import { unseen } from './die.js';
import { button, h, put, svg } from './dom.js';

const SUITS = {
  s: ['spades', 'M20 4C24 12 34 17 34 25C34 30 27 33 22 28C22 33 24 35 26 37H14C16 35 18 33 18 28C13 33 6 30 6 25C6 17 16 12 20 4Z'],
  h: ['hearts', 'M20 36C15 29 5 22 5 13C5 6 15 4 20 12C25 4 35 6 35 13C35 22 25 29 20 36Z'],
  d: ['diamonds', 'M20 3L33 20L20 37L7 20Z'],
  c: ['clubs', 'M20 4C27 4 29 11 25 16C31 13 36 18 34 24C32 30 24 29 22 24C22 31 24 35 26 37H14C16 35 18 31 18 24C16 29 8 30 6 24C4 18 9 13 15 16C11 11 13 4 20 4Z'],
};
const TEN = { textLength: 30, lengthAdjust: 'spacingAndGlyphs' };
const RANKS = { T: '10', J: 'jack', Q: 'queen', K: 'king', A: 'ace' };

function cardName(card) {
  if (card === '?') return 'hidden card';
  const rank = RANKS[card[0]] ?? card[0];
  return card[1] ? `${rank} of ${SUITS[card[1]][0]}` : rank;
}

/** A card such as `Ah`, `K` or `?`. */
function drawCard(card) {
  const hidden = card === '?';
  const [name, shape] = SUITS[card[1]] ?? ['plain', null];
  const suit = shape && svg('g', { transform: 'translate(15 44) scale(1)' }, svg('path', { d: shape }));
  return [
    unseen(`${cardName(card)} `),
    svg(
      'svg',
      { class: `card ${hidden ? 'back' : name}`, viewBox: '0 0 70 96', 'aria-hidden': 'true' },
      svg('rect', { x: 1, y: 1, width: 68, height: 94, rx: 8 }),
      hidden
        ? svg('path', { class: 'pattern', d: 'M12 12H58V84H12ZM12 12L58 84M58 12L12 84M35 12L58 48L35 84L12 48Z' })
        : [
          // The suit stands beside the rank, so 10 is no wider than other ranks.
          svg('text', { class: 'card-rank', x: shape ? 10 : 35, y: shape ? 36 : 60, 'text-anchor': shape ? 'start' : 'middle', ...(card[0] === 'T' && TEN) }, card[0] === 'T' ? '10' : card[0]),
          card[1] && svg('text', { class: 'letter', x: 60, y: 28, 'text-anchor': 'end' }, card[1]),
          suit,
        ],
    ),
  ];
}

const pairs = (text) => text.match(/../g) ?? [];

function readHoldem(position) {
  const [, cards = ''] = position.split(':');
  const [hands = '', ...rounds] = cards.split('/');
  return {
    hands: hands.split('|').map((hand) => (hand === '-' ? [] : hand && !hand.includes('?') ? pairs(hand) : ['?', '?'])),
    table: rounds.flatMap(pairs),
  };
}

function readSmall(position, players) {
  const [hands = '', table = ''] = position.split(/\s+/)[0].split('/');
  return { hands: Array.from({ length: players }, (_, i) => [hands[i]].filter((card) => card && card !== '-')), table: [...table] };
}

const PLAYER = /^player (\d+)(.*?): .*?has paid (\d+)(.*)$/;

/** What each has paid, and the sentences below, from the drawing in plain text. */
function readAmounts(board) {
  const players = new Map();
  const notes = [];
  for (const line of (board ?? '').split('\n')) {
    const found = PLAYER.exec(line);
    if (found) players.set(Number(found[1]), { role: found[2].trim(), paid: Number(found[3]), isFolded: found[4].includes('folded'), acts: found[4].includes('to act') });
    else if (/^to call/.test(line)) notes.push(line);
  }
  const pot = Number(/pot (\d+)/.exec(board ?? '')?.[1] ?? [...players.values()].reduce((sum, { paid }) => sum + paid, 0));
  return { players, notes, pot, toCall: Number(/to call: (\d+)/.exec(board ?? '')?.[1] ?? 0) };
}

const ORDER = ['fold', 'check', 'call', 'bet', 'raise'];

export class CardBoard extends Board {
  draw(scene) {
    const isHoldem = this.game.name.startsWith('holdem');
    const { hands, table } = isHoldem ? readHoldem(scene.position) : readSmall(scene.position, this.players);
    const amounts = readAmounts(scene.board);
    const missing = Math.max(0, (isHoldem ? 5 : this.game.name.startsWith('leduc') ? 1 : 0) - table.length);
    const seats = hands.map((hand, i) => this.place(hand, i + 1, amounts.players.get(i + 1)));
    const [mine, ...others] = [...seats.slice(this.seat - 1), ...seats.slice(0, this.seat - 1)];
    put(
      this.element,
      h(
        'div',
        { class: 'poker' },
        h('div', { class: 'seats' }, others),
        h(
          'div',
          { class: 'table' },
          h('div', { class: 'hand' }, unseen(table.length ? 'On the table: ' : 'No card on the table yet.'), table.map(drawCard), Array.from({ length: missing }, slot)),
          amounts.pot > 0 && h('p', { class: 'pot' }, `Pot ${amounts.pot}`),
        ),
        mine,
      ),
      amounts.notes.map((note) => h('p', { class: 'quiet' }, note)),
      this.isActive && this.actions(scene, amounts.toCall),
    );
  }

  place(hand, player, amount) {
    const classes = ['seat', player === this.seat && 'mine', amount?.isFolded && 'folded', amount?.acts && 'acts'];
    return h(
      'div',
      { class: classes.filter(Boolean).join(' ') },
      h('strong', null, this.who(player)),
      h('div', { class: 'hand' }, hand.map(drawCard)),
      amount && h(
        'span',
        { class: 'quiet' },
        [amount.role, `paid ${amount.paid}`, amount.isFolded && 'folded', amount.acts && 'to act'].filter(Boolean).join(' · '),
      ),
    );
  }

  actions(scene, toCall) {
    const order = ({ move }) => (ORDER.indexOf(move) + 1 || 9);
    const label = (move) => move[0].toUpperCase() + move.slice(1) + (move === 'call' && toCall ? ` ${toCall}` : '');
    const moves = [...scene.moves].sort((a, b) => order(a) - order(b));
    return h(
      'div',
      { class: 'controls row' },
      moves.map(({ move }) => button(label(move), () => this.onmove(move), { class: 'move wide', 'data-key': move })),
    );
  }
}

const slot = () => svg('svg', { class: 'card slot', viewBox: '0 0 70 96', 'aria-hidden': 'true' }, svg('rect', { x: 2, y: 2, width: 66, height: 92, rx: 8 }));
