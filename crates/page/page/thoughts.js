// What an agent thinks of a position: classes of results as a bar, candidate moves, gates of mixtures, learned cells, advice
// in words.

import { inBlinds } from './boards.js';
import { Cells } from './cells.js';
import { button, h, percent, plural, put, signed, words } from './dom.js';
import { candidateName } from './stakes.js';

const FEW = 8;

/** A strip of shares, each with a class of its own for colour and pattern. */
function strip(parts) {
  const segments = parts.filter(({ share }) => share > 0.0005).map(({ share, kind }) => {
    const segment = h('span', { class: `part ${kind}` });
    segment.style.flexGrow = String(share);
    return segment;
  });
  return h('div', { class: 'strip', 'aria-hidden': 'true' }, segments);
}

const WINS = ['win', 'win_gammon', 'win_backgammon'];
const LOSSES = ['loss', 'loss_gammon', 'loss_backgammon'];
const KINDS = new Map([...WINS.map((name, i) => [name, `w${i}`]), ...LOSSES.map((name, i) => [name, `l${i}`]), ['draw', 'draw']]);

const kindOf = (name) => KINDS.get(name) ?? (name.startsWith('win') ? 'w0' : name.startsWith('loss') ? 'l0' : 'draw');

/** Counts a backgammon as a gammon, and both as a win, as players do. */
function cumulative(classes, names) {
  return names.map((_, i) => names.slice(i).reduce((sum, name) => sum + (classes[name] ?? 0), 0));
}

function gammonTable(classes, mover, other) {
  const row = (who, names) => h(
    'tr',
    null,
    h('th', { scope: 'row' }, h('span', { class: `swatch ${kindOf(names[0])}` }), who),
    cumulative(classes, names).map((share) => h('td', null, percent(share))),
  );
  return h(
    'table',
    { class: 'numbers' },
    h('thead', null, h('tr', null, h('td'), ['wins', 'gammons', 'backg.'].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, row(mover, WINS), row(other, LOSSES)),
  );
}

const classList = (classes) => h(
  'ul',
  { class: 'classes' },
  Object.entries(classes).reverse().map(([name, share]) => h('li', null, h('span', { class: `swatch ${kindOf(name)}` }), `${words(name)} ${percent(share)}`)),
);

/** The classes of results as a bar and as numbers; `mover` and `other` are the names of the sides. */
export function outcomes(classes, mover, other) {
  const order = Object.keys(classes).reverse();
  return [
    strip(order.map((name) => ({ share: classes[name], kind: kindOf(name) }))),
    'win_gammon' in classes ? gammonTable(classes, mover, other) : classList(classes),
  ];
}

/** A bar that is filled to a share. */
function track(share) {
  const bar = h('span', { class: 'gate-bar' });
  bar.style.inlineSize = `${100 * share}%`;
  return h('span', { class: 'gate-track', 'aria-hidden': 'true' }, bar);
}

/** The shares of experts, and those of the mixtures inside them. `figure` writes a value as it writes that of the whole. */
function gates(node, figure) {
  const rows = node.gates.map((share, i) => {
    const expert = node.experts?.[i];
    return h(
      'li',
      null,
      h('span', { class: 'gate-name' }, `expert ${i + 1}`),
      track(share),
      h('span', { class: 'gate-share' }, percent(share, 0)),
      typeof expert?.value === 'number' && h('span', { class: 'quiet' }, `says ${figure(expert.equity ?? expert.value)}`),
      expert?.gates && gates(expert, figure),
    );
  });
  const used = rows.filter((_, i) => node.gates[i] > 0.005);
  const idle = rows.length - used.length;
  return h('ul', { class: 'gates' }, used, idle > 0 && h('li', { class: 'quiet' }, `${plural(idle, 'other expert')} without a share`));
}

/** How far a search looked, and what is missing. */
function reach({ plies, solved, shortfall }) {
  if (shortfall) return `The search ${shortfall}.`;
  return solved ? 'Searched to the end of the game.' : `Searched ${plural(plies, 'ply', 'plies')} deep.`;
}

/** Figures of a position in words of the game, and what to do: values of the cube, and chances. */
function read({ advice, figures }) {
  const row = ([name, figure]) => h('tr', null, h('th', { scope: 'row' }, name), h('td', null, /^win|from$/.test(name) ? percent(figure) : signed(figure, 3)));
  return [
    h('p', null, `Right: ${advice}.`),
    h('table', { class: 'numbers' }, h('tbody', null, Object.entries(figures).map(row))),
  ];
}

/** What the values of an agent are, if not results of the game. Its name stands last in others, such as `search:2:soar-net`. */
export const unitOf = (agents, by) => agents.find(({ id }) => by === id || by.endsWith(`:${id}`))?.unit ?? null;

/**
 * A list of candidates. `onpeek` gets a move that is looked at, or null; `onpick` a move to play, if moves can be played.
 */
export class Thoughts {
  constructor({ game, onpeek, onpick }) {
    Object.assign(this, { game, onpeek, onpick });
    this.element = h('div', { class: 'thoughts' });
    this.cells = new Cells();
  }

  peek(move) {
    this.onpeek(move);
    this.cells.peek(move);
  }

  say(text) {
    put(this.element, h('p', { class: 'quiet' }, text));
  }

  /**
   * Shows values; `mover` and `other` name the sides, `done` is a move that was played, `text` advice in words, `by` the agent, `unit` what
   * its values are if not results of the game.
   */
  show({ value, text, mover, other, by, unit = null, done = null, canPick = false }) {
    this.done = done;
    this.unit = unit;
    this.canPick = canPick && this.onpick;
    this.names = [mover, other];
    const moves = value?.moves ?? [];
    this.best = moves[0];
    put(
      this.element,
      value && this.summary(value),
      moves.length > 0 && this.candidates(moves),
      text && h('pre', { class: 'advice', tabindex: '0' }, inBlinds(text.trim())),
      this.cells.element,
      !value && !text && h('p', { class: 'quiet' }, 'This agent gives no hints here.'),
    );
    this.cells.show(by, this.game.name, value);
  }

  /** A value as players say it. */
  figure(value) {
    if (this.game.unit === 'mbb') return signed(value / 1000, 2);
    return signed(value, Math.abs(value) >= 100 || this.game.scale >= 100 ? 0 : 3);
  }

  summary(value) {
    const best = this.best ?? value;
    const classes = value.classes ?? best.classes;
    const equity = value.equity ?? best.equity;
    const named = this.unit ?? value.unit ?? best.unit ?? this.game.unit;
    const unit = named === 'mbb' ? 'big blinds' : named;
    const wins = value.win_probability ?? best.win_probability;
    const said = [
      typeof equity === 'number' && `${unit ? `${this.figure(equity)} ${unit}` : `value ${this.figure(equity)}`} for ${this.names[0] === 'To move' ? 'the side to move' : this.names[0].toLowerCase()}`,
      typeof wins === 'number' && !classes && `wins ${percent(wins)}`,
    ].filter(Boolean).join(' · ');
    const share = typeof wins === 'number' ? wins : !this.unit && Math.abs(value.value) <= 1 && this.game.zero_sum && this.game.scale === 1 && equity !== undefined ? (value.value + 1) / 2 : null;
    return h(
      'div',
      { class: 'summary' },
      said && h('p', { class: 'equity' }, said),
      value.search && h('p', { class: 'quiet' }, reach(value.search)),
      value.reading && read(value.reading),
      classes ? outcomes(classes, ...this.names) : share !== null && strip([{ share, kind: 'w0' }, { share: 1 - share, kind: 'l0' }]),
    );
  }

  candidates(moves) {
    const list = h('ol', { class: 'candidates' }, moves.slice(0, FEW).map((move, i) => this.candidate(move, i)));
    const played = moves.findIndex(({ move }) => move === this.done);
    if (played >= FEW) list.append(this.candidate(moves[played], played));
    const more = moves.length > FEW && button(`Show all ${moves.length} moves`, () => {
      put(list, moves.slice(0, 300).map((move, i) => this.candidate(move, i)));
      more.remove();
    }, { class: 'link' });
    return h('div', { onmouseleave: () => this.peek(null) }, list, more);
  }

  candidate(move, rank) {
    const row = button(
      [
        h('span', { class: 'rank' }, `${rank + 1}`),
        h('span', { class: 'move-name' }, candidateName(move.move, this.game.name), move.move === this.done && h('span', { class: 'tag' }, 'played')),
        ...this.figures(move, rank),
      ],
      () => this.toggle(item, row, move),
      {
        class: 'candidate',
        'aria-expanded': 'false',
        onmouseenter: () => this.peek(move),
        onfocus: () => this.peek(move),
        onblur: () => this.peek(null),
      },
    );
    const item = h('li', null, row);
    return item;
  }

  figures(move, rank) {
    if (typeof move.probability === 'number') {
      return [track(move.probability), h('span', { class: 'figure' }, percent(move.probability))];
    }
    const equity = move.equity ?? move.value;
    if (typeof equity !== 'number') return [];
    const lost = (this.best.equity ?? this.best.value) - equity;
    return [
      h('span', { class: 'figure' }, this.figure(equity), typeof move.ci95 === 'number' && h('span', { class: 'quiet' }, ` ± ${this.figure(move.ci95).replace('+', '')}`)),
      h('span', { class: 'figure quiet' }, rank === 0 || lost === 0 ? 'best' : this.figure(-lost)),
    ];
  }

  toggle(item, row, move) {
    const open = row.getAttribute('aria-expanded') === 'true';
    row.setAttribute('aria-expanded', String(!open));
    item.querySelector('.more')?.remove();
    if (open) return;
    item.append(h(
      'div',
      { class: 'more' },
      move.classes && outcomes(move.classes, ...this.names),
      typeof move.win_probability === 'number' && !move.classes && h('p', null, `wins ${percent(move.win_probability)}`),
      move.gates && [h('p', { class: 'quiet' }, 'Shares of the experts'), gates(move, (value) => this.figure(value))],
      this.canPick && button(`Play ${move.move}`, () => this.onpick(move.move)),
      !move.classes && !move.gates && !this.canPick && typeof move.win_probability !== 'number' && h('p', { class: 'quiet' }, 'No further details of this move.'),
    ));
  }
}
