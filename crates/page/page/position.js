// One position: its drawing, what an agent thinks of it, and rollouts.

import { agents, follow, gameInfo, games, post, remove } from './api.js';
import { boardFor, canDraw, isCheckers, titleOf } from './boards.js';
import { checkersOf, nativeText, pips } from './checkers.js';
import { button, h, keepFocus, percent, put, signed } from './dom.js';
import { EditBoard, EditControls, EditSquares, hasStakes, textOf } from './editor.js';
import { announce, ask, copyText, tell } from './frame.js';
import { rowsOf } from './grid.js';
import { bareId, matchIdOf, nativeOf, positionIdOf, readAnyPosition, xgidOf } from './ids.js';
import { savePng, saveSvg } from './picture.js';
import { Thoughts, outcomes, unitOf } from './thoughts.js';

const EXAMPLES = {
  tictactoe: 'X...O....',
  'connect-four': '......./......./......./......./......./...X...',
  backgammon: '24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31',
  hypergammon: '24:1 23:1 22:1/24:1 23:1 22:1 31',
  bearoff: '2,2,2,3,3,2/2,2,2,3,3,2 65',
};

/** Milliseconds without a change after which an edited position is evaluated. */
const REST = 500;
const SIDES = ['To move', 'Other'];
const TRIALS = [324, 1296, 5184];

export async function positionView(root, [name], signal, query) {
  const all = await games();
  const game = name ?? all.find((one) => !one.hides && one.name === 'backgammon')?.name ?? all[0].name;
  const [info, found] = await Promise.all([gameInfo(game), agents(game)]);
  const view = new PositionView(root, { info, all, signal, agents: found.filter((agent) => agent.values) });
  view.start(query.get('p') ?? EXAMPLES[game.split(':')[0]] ?? '', query.get('agent'));
  return `Position of ${titleOf(game)}`;
}

class PositionView {
  constructor(root, options) {
    Object.assign(this, options);
    this.root = root;
    this.past = [];
    this.thoughts = new Thoughts({ game: this.info, onpeek: (move) => this.peek(move), onpick: (move) => this.play(move) });
  }

  start(text, agent) {
    const { info } = this;
    this.input = h('textarea', { id: 'position', rows: '2', spellcheck: 'false', autocomplete: 'off' });
    this.input.value = text;
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.look();
    });
    this.select = h('select', { id: 'agent', 'aria-label': 'Agent', onchange: () => this.look() }, this.agents.map(({ id }) => h('option', { value: id }, id)));
    if (agent && ![...this.select.options].some(({ value }) => value === agent)) this.select.append(h('option', { value: agent }, agent));
    if (agent) this.select.value = agent;
    const choice = h('select', { id: 'game', 'aria-label': 'Game', onchange: () => { location.hash = `#/position/${encodeURIComponent(choice.value)}`; } },
      [...new Set([info.name, ...this.all.filter((one) => !one.hides).map((one) => one.name)])].map((one) => h('option', { value: one, selected: one === info.name }, titleOf(one))));
    this.input.addEventListener('paste', () => setTimeout(() => {
      this.input.value = bareId(this.input.value);
      this.look();
    }));
    this.place = h('div', { class: 'stack board-place' });
    this.tools = h('div', { class: 'row tools' });
    this.share = h('div', { class: 'stack' });
    this.rollout = h('div', { class: 'stack' });
    put(
      this.root,
      h('header', { class: 'page-head' }, h('h1', null, 'A position'), h('div', { class: 'row' }, choice, this.agents.length > 0 && this.select)),
      h(
        'div',
        { class: 'play' },
        h('div', { class: 'board-side' }, this.place, this.tools),
        h(
          'div',
          { class: 'text-side' },
          h('section', { class: 'panel', 'aria-label': 'Evaluation' }, this.thoughts.element),
          h(
            'form',
            { class: 'panel stack', onsubmit: (event) => {
              event.preventDefault();
              this.look();
            } },
            h('label', { class: 'field' }, h('span', null, isCheckers(info.name) ? 'Position, gnubg Position ID or XGID, with the roll' : 'Position'), this.input),
            h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, 'Look')),
          ),
          h('section', { class: 'panel stack' }, h('h2', null, 'Share'), this.share),
          this.actions(),
        ),
      ),
    );
    this.drawTools();
    this.drawShare();
    if (this.agents.length === 0) this.thoughts.say('No agent on this server has values of this game.');
    if (text) this.look();
  }

  /** What can be done with the board. */
  drawTools() {
    const { name } = this.info;
    const canEdit = isCheckers(name) || /^[XO.]{9}$/.test(this.text);
    keepFocus(this.tools, () => put(
      this.tools,
      canEdit && button(this.editing ? 'Done' : 'Edit', () => this.toggleEdit(), { 'aria-pressed': String(Boolean(this.editing)), 'data-key': 'edit' }),
      !canEdit && rowsOf(this.text) && button('Empty board', () => this.set(EXAMPLES[name] ? rowsOf(this.text).map((row) => '.'.repeat(row.length)).join('/') : this.text), { 'data-key': 'empty' }),
      button('Take back', () => this.takeBack(), { disabled: this.past.length === 0, 'data-key': 'back' }),
      button('Play from here', () => { location.hash = `#/new/${encodeURIComponent(name)}?from=${encodeURIComponent(this.text)}`; }, { 'data-key': 'play' }),
    ));
  }

  toggleEdit() {
    this.editing = this.editing ? null : this.editor();
    this.drawTools();
    if (this.editing) this.edit();
    else this.look();
    announce(this.editing ? 'Editing' : 'Done');
  }

  /** The editor of this game: a board, and controls if it has dice. */
  editor() {
    const { info } = this;
    const options = { game: info, seat: 1, players: 2, names: SIDES };
    if (!isCheckers(info.name)) return { board: new EditSquares({ ...options, onedit: (text) => this.set(text) }), take: (board, text) => board.edit(text) };
    const onedit = (position) => {
      const before = this.position;
      this.position = position;
      this.set(textOf(position, info.name), before);
    };
    const controls = new EditControls({ game: info.name, total: checkersOf(info.name), onchange: onedit });
    return {
      board: new EditBoard({ ...options, onedit }),
      controls,
      take: (board) => {
        board.edit(this.position);
        controls.show(this.position);
      },
    };
  }

  /** Shows the position in the editor. */
  edit() {
    const { board, controls, take } = this.editing;
    take(board, this.text);
    if (this.place.firstChild !== board.element) put(this.place, board.element, controls?.element);
    this.board = board;
  }

  /** Goes on to another position from one with this cube and score, which a text of the game's own kind does not have. */
  set(text, before = this.position) {
    if (text !== this.text || JSON.stringify(before) !== JSON.stringify(this.position)) this.past.push({ text: this.text, position: before });
    this.show(text);
  }

  /** Shows a position in place of the one before. */
  show(text) {
    this.input.value = text;
    if (!this.editing) {
      this.look();
      return;
    }
    this.position = this.kept(text);
    this.edit();
    this.drawTools();
    this.drawShare();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.look(), REST);
  }

  takeBack() {
    const { text, position } = this.past.pop();
    this.position = position;
    this.show(text);
    this.drawTools();
  }

  /** The position of a text. Cube and score stay as they were if the text has none. */
  kept(text) {
    const read = isCheckers(this.info.name) ? readAnyPosition(text, this.info.name) : null;
    const hasOwn = /:.*:|^[A-Za-z0-9+/]{14}/.test(bareId(text)) && bareId(text) !== nativeText(bareId(text));
    if (!read || hasOwn || !this.position) return read;
    const { mine, theirs, dice } = read;
    return { ...this.position, mine, theirs, dice };
  }

  /** The IDs of the position to copy, a link, and pictures. */
  drawShare() {
    const { name } = this.info;
    const { position } = this;
    const ids = !position ? [] : hasStakes(name)
      ? [['gnubg ID', `${positionIdOf(position)}:${matchIdOf(position)}`], ['XGID', xgidOf(position)], ['Native', nativeOf(position, name)]]
      : [['Native', nativeOf(position, name)]];
    const shown = ids.length > 0 ? ids : [['Position', this.text]];
    const row = ([label, id]) => h('div', { class: 'id-row' }, h('span', { class: 'quiet' }, label), h('code', null, id), button('Copy', () => this.copy(id, label === 'Native' ? 'The position' : `The ${label}`), { 'aria-label': `Copy ${label}`, 'data-key': `copy-${label}` }));
    keepFocus(this.share, () => put(
      this.share,
      shown.map(row),
      h(
        'div',
        { class: 'row' },
        button('Copy link', () => this.copy(new URL(this.link(), location.href).href, 'The link'), { 'data-key': 'link' }),
        this.picture('SVG', saveSvg),
        this.picture('PNG', savePng),
        button('Print', () => print(), { 'data-key': 'print' }),
      ),
    ));
  }

  picture(kind, saved) {
    return button(`Picture (${kind})`, () => {
      const drawing = this.board?.element.querySelector('svg');
      if (!drawing) tell('This position has no drawing.');
      else Promise.resolve(saved(drawing, this.info.name.replace(/[^a-z0-9]+/gi, '-'), this.caption())).catch((error) => tell(error.message));
    }, { 'data-key': kind });
  }

  /** One line about the position, below its picture. */
  caption() {
    const { position } = this;
    if (!position) return `${titleOf(this.info.name)}: ${this.text}`;
    const { mine, theirs, dice } = position;
    return [dice ? `Roll ${dice[0]}-${dice[1]}` : 'Before the roll', `pips ${pips(mine)} and ${pips(theirs)}`, hasStakes(this.info.name) ? xgidOf(position) : this.text].join(' · ');
  }

  actions() {
    const trials = h('select', { 'aria-label': 'Games to play out' }, TRIALS.map((count) => h('option', { value: String(count) }, `${count} games`)));
    const go = button('Roll out', () => this.rollOut(Number(trials.value), go));
    return this.agents.length > 0 && h('section', { class: 'panel stack' }, h('h2', null, 'Roll out'), h('div', { class: 'row' }, trials, go), this.rollout);
  }

  get text() {
    return this.input.value.trim();
  }

  link() {
    const query = new URLSearchParams({ agent: this.select.value, p: this.text });
    return `#/position/${encodeURIComponent(this.info.name)}?${query}`;
  }

  async copy(text, what) {
    if (!(await copyText(text, what))) tell(text, false);
  }

  async look() {
    const { text } = this;
    // A view that was left has nothing to show, and its address is no longer that of the page.
    if (!text || this.signal.aborted) return;
    const by = this.select.value;
    const asked = (this.asked = `${by} ${text}`);
    history.replaceState(null, '', this.link());
    this.position = this.kept(text);
    this.drawTools();
    this.drawShare();
    if (this.editing && (this.position || !isCheckers(this.info.name))) this.edit();
    else if (this.isDrawn(text)) this.draw({ position: text, to_move: null, moves: [] });
    if (!by) return;
    this.thoughts.say('Thinking …');
    try {
      const found = await this.ask(text);
      if (this.asked !== asked) return;
      if (!this.editing) this.draw(found);
      this.thoughts.show({ value: found, by, unit: unitOf(this.agents, by), mover: SIDES[0], other: SIDES[1], canPick: !this.editing });
    } catch (error) {
      if (this.asked === asked && !this.signal.aborted) this.thoughts.say(error.message);
    }
  }

  /** The moves of a position, or before a roll its value alone. */
  async ask(text) {
    const question = { agent: this.select.value, game: this.info.name };
    if (isCheckers(this.info.name) && !/\s[1-6]-?[1-6]$/.test(nativeText(text))) {
      return (await post('/evaluate', { ...question, positions: [text] }, this.signal)).values[0];
    }
    return post('/moves', { ...question, position: text }, this.signal);
  }

  isDrawn(text) {
    return canDraw(this.info.name, isCheckers(this.info.name) ? nativeText(text) : text);
  }

  draw(found) {
    const position = isCheckers(this.info.name) ? nativeText(found.position) : found.position;
    if (!canDraw(this.info.name, position)) {
      put(this.place, h('p', { class: 'quiet' }, 'This text is valid, but only its native form can be drawn.'));
      return;
    }
    const seat = found.to_move ?? 1;
    const moves = (found.moves ?? []).map(({ move, afterstate }) => ({ move, position: afterstate }));
    this.scene = { key: `${position} ${moves.length}`, position, next: seat, board: null, moves, active: moves.length > 0, before: null, move: null, mover: null };
    this.board = boardFor({ game: this.info, seat, players: this.info.players ?? 2, names: SIDES, onmove: (move) => this.play(move) }, position);
    put(this.place, this.board.element);
    this.board.show(this.scene);
  }

  peek(move) {
    if (this.editing) return;
    if (!this.board || !move?.afterstate) this.board?.peek(null);
    else this.board.peek({ ...this.scene, position: move.afterstate, next: 3 - this.board.seat, moves: [], active: false, before: this.scene.position, move: move.move, mover: this.board.seat });
  }

  /** Goes on to the position after a move. */
  play(move) {
    const after = this.scene.moves.find((one) => one.move === move)?.position;
    if (!after || this.editing) return;
    const before = this.position;
    // The other side comes first now.
    if (before) this.position = { ...before, owner: 0 - before.owner, scores: before.scores.toReversed() };
    this.set(after, before);
  }

  async rollOut(trials, control) {
    const started = await ask(control, () => post('/jobs', { kind: 'rollout', agent: this.select.value, game: this.info.name, position: this.text, trials, truncate: null, seed: 1 }, this.signal));
    if (!started) return;
    const bar = h('progress', { max: '1', value: '0', 'aria-label': 'Progress of the rollout' });
    put(this.rollout, h('div', { class: 'row' }, bar, button('Cancel', () => remove(`/jobs/${started.id}`).catch((error) => tell(error.message)))));
    control.disabled = true;
    try {
      const job = await follow(started.id, ({ share }) => { bar.value = share; }, this.signal);
      put(this.rollout, outcome(job));
    } catch (error) {
      if (!this.signal.aborted) put(this.rollout, h('p', null, error.message));
    } finally {
      control.disabled = false;
    }
  }
}

function outcome(job) {
  if (job.state === 'failed') return h('p', null, job.error?.message ?? 'The rollout failed.');
  const [found] = job.result?.rollouts ?? [];
  if (!found) return h('p', { class: 'quiet' }, 'The rollout was stopped.');
  const [low, high] = found.ci95 ?? [];
  return [
    h('p', { class: 'equity' }, `${signed(found.equity)} ${found.unit ?? ''}`),
    h('p', { class: 'quiet' }, [
      `${found.trials} games`,
      low !== undefined && `${percent(0.95, 0)} interval ${signed(low)} to ${signed(high)}`,
      job.state === 'stopped' && 'stopped early',
    ].filter(Boolean).join(' · ')),
    found.classes && Object.keys(found.classes).length > 0 && outcomes(found.classes, ...SIDES),
  ];
}
