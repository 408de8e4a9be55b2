// What all boards share, and the plain board for games without a drawing of their own.

import { button, h, keepFocus, put } from './dom.js';

/**
 * Shows scenes of a game. A scene is `{key, position, next, board, moves, active, before, move, mover}`: the position as text, the side
 * that it shows first, the drawing in plain text (of earlier positions only in games that hide something), the legal moves (only if the
 * person is to move), the position before, and the move between the two with its player.
 *
 * `options` are `{game, seat, players, onmove, names}`; `onmove` gets the text of a chosen move, `names` are what the person and the other side
 * are called.
 */
export class Board {
  constructor(options) {
    Object.assign(this, options);
    this.element = h('div', { class: 'board', tabindex: '-1' });
    this.scene = null;
    this.glimpse = null;
  }

  /** Shows a scene. What was begun in it stays if it was shown before. */
  show(scene) {
    if (this.scene?.key !== scene.key) this.begin(scene);
    this.scene = scene;
    this.glimpse = null;
    this.redraw();
  }

  /** Shows another scene for a moment, or with null the own one again. */
  peek(scene) {
    if (!scene && !this.glimpse) return;
    // Controls stay where they are, so that nothing below moves.
    const controls = this.element.querySelector(':scope > .controls');
    this.glimpse = scene;
    this.redraw();
    if (!scene || !controls) return;
    controls.inert = true;
    this.element.append(controls);
  }

  redraw() {
    keepFocus(this.element, () => this.draw(this.glimpse ?? this.scene));
  }

  /** Forgets what was begun in the last scene. */
  begin() {}

  /** Whether the person can act. */
  get isActive() {
    return !this.glimpse && this.scene.active && this.scene.moves.length > 0;
  }

  who(player) {
    const [mine, other] = this.names ?? ['You', this.players === 2 ? 'Opponent' : `Player ${player}`];
    return player === this.seat ? mine : other;
  }
}

const MANY = 12;

/** Buttons for all moves, with a field to search them if there are many. */
export function moveButtons(moves, onmove) {
  const list = h('div', { class: 'moves-list' });
  const fill = (wanted) => {
    const found = moves.filter(({ move }) => move.toLowerCase().includes(wanted));
    put(
      list,
      found.slice(0, 200).map(({ move }) => button(move, () => onmove(move), { class: 'move', 'data-key': `m-${move}` })),
      found.length > 200 && h('p', { class: 'quiet' }, `and ${found.length - 200} more: search for one`),
      found.length === 0 && h('p', { class: 'quiet' }, 'no move with this text'),
    );
  };
  fill('');
  if (moves.length <= MANY) return list;
  const search = h('input', {
    type: 'search',
    'aria-label': 'Search moves',
    placeholder: `Search ${moves.length} moves`,
    oninput: () => fill(search.value.trim().toLowerCase()),
  });
  return h('div', { class: 'stack' }, search, list);
}

/** The drawing in plain text, and the moves as buttons. */
export class PlainBoard extends Board {
  draw(scene) {
    // Facts of a position without a drawing are read more easily one by one.
    const facts = scene.position.replace(/\) (?=\w+[(\s])/g, ')\n');
    const text = h('pre', { class: 'plain', tabindex: '0', role: 'img', 'aria-label': 'Position' }, scene.board ?? facts);
    put(this.element, text, this.isActive && moveButtons(scene.moves, this.onmove));
  }
}
