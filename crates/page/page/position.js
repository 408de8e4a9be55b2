// One position: its drawing, what an agent thinks of it, and rollouts.

import { agents, follow, gameInfo, games, post, remove } from './api.js';
import { boardFor, canDraw, isCheckers, titleOf } from './boards.js';
import { nativeText } from './checkers.js';
import { button, h, percent, put, signed } from './dom.js';
import { ask, tell } from './frame.js';
import { Thoughts, outcomes, unitOf } from './thoughts.js';

const EXAMPLES = {
  tictactoe: 'X...O....',
  'connect-four': '......./......./......./......./......./...X...',
  backgammon: '24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31',
  hypergammon: '24:1 23:1 22:1/24:1 23:1 22:1 31',
  bearoff: '2,2,2,3,3,2/2,2,2,3,3,2 65',
};

const ROLLS = [1, 2, 3, 4, 5, 6].flatMap((a) => [1, 2, 3, 4, 5, 6].filter((b) => b <= a).map((b) => `${a}${b}`));
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
    this.select = h('select', { id: 'agent', onchange: () => this.look() }, this.agents.map(({ id }) => h('option', { value: id }, id)));
    if (agent && ![...this.select.options].some(({ value }) => value === agent)) this.select.append(h('option', { value: agent }, agent));
    if (agent) this.select.value = agent;
    const choice = h('select', { id: 'game', onchange: () => { location.hash = `#/position/${encodeURIComponent(choice.value)}`; } },
      [...new Set([info.name, ...this.all.filter((one) => !one.hides).map((one) => one.name)])].map((one) => h('option', { value: one }, titleOf(one))));
    this.place = h('div', { class: 'board-side' });
    this.rollout = h('div', { class: 'stack' });
    put(
      this.root,
      h('h1', null, 'A position'),
      h(
        'form',
        { class: 'ask', onsubmit: (event) => {
          event.preventDefault();
          this.look();
        } },
        h('label', { class: 'field' }, h('span', null, 'Game'), choice),
        h('label', { class: 'field wide' }, h('span', null, isCheckers(info.name) ? 'Position, gnubg Position ID or XGID, with the roll' : 'Position'), this.input),
        isCheckers(info.name) && h('label', { class: 'field' }, h('span', null, 'Roll'), this.rollChoice()),
        this.agents.length > 0 && h('label', { class: 'field' }, h('span', null, 'Agent'), this.select),
        h('button', { type: 'submit', class: 'main' }, 'Look'),
      ),
      h('div', { class: 'play' }, this.place, h('div', { class: 'text-side' }, h('section', { class: 'panel' }, h('h2', null, 'Evaluation'), this.thoughts.element), this.actions())),
    );
    if (this.agents.length === 0) this.thoughts.say('No agent on this server has values of this game.');
    if (text) this.look();
  }

  /** Puts a roll behind the position. */
  rollChoice() {
    const roll = h('select', null, ['–', ...ROLLS].map((value) => h('option', { value }, value)));
    roll.addEventListener('change', () => {
      const before = nativeText(this.text).replace(/\s+[1-6]-?[1-6]$/, '');
      this.input.value = ROLLS.includes(roll.value) ? `${before} ${roll.value}` : before;
      roll.value = '–';
      this.look();
    });
    return roll;
  }

  actions() {
    const trials = h('select', { 'aria-label': 'Games to play out' }, TRIALS.map((count) => h('option', { value: String(count) }, `${count} games`)));
    const go = button('Roll out', () => this.rollOut(Number(trials.value), go));
    return h(
      'section',
      { class: 'panel stack' },
      h('h2', null, 'Do more'),
      this.agents.length > 0 && h('div', { class: 'row' }, trials, go),
      this.rollout,
      h('div', { class: 'row' },
        button('Copy link', () => this.copyLink()),
        button('Play from here', () => { location.hash = `#/new/${encodeURIComponent(this.info.name)}?from=${encodeURIComponent(this.text)}`; })),
    );
  }

  get text() {
    return this.input.value.trim();
  }

  link() {
    const query = new URLSearchParams({ agent: this.select.value, p: this.text });
    return `#/position/${encodeURIComponent(this.info.name)}?${query}`;
  }

  async copyLink() {
    const url = new URL(this.link(), location.href).href;
    try {
      await navigator.clipboard.writeText(url);
      tell('The link is copied.', false);
    } catch {
      tell(url, false);
    }
  }

  async look() {
    const { text } = this;
    if (!text) return;
    const by = this.select.value;
    const asked = (this.asked = `${by} ${text}`);
    history.replaceState(null, '', this.link());
    if (this.isDrawn(text)) this.draw({ position: text, to_move: null, moves: [] });
    if (!by) return;
    this.thoughts.say('Thinking …');
    try {
      const found = await this.ask(text);
      if (this.asked !== asked) return;
      this.draw(found);
      this.thoughts.show({ value: found, by, unit: unitOf(this.agents, by), mover: SIDES[0], other: SIDES[1], canPick: true });
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
    if (!this.board || !move?.afterstate) this.board?.peek(null);
    else this.board.peek({ ...this.scene, position: move.afterstate, next: 3 - this.board.seat, moves: [], active: false, before: this.scene.position, move: move.move, mover: this.board.seat });
  }

  /** Goes on to the position after a move. */
  play(move) {
    const after = this.scene.moves.find((one) => one.move === move)?.position;
    if (!after) return;
    this.input.value = after;
    this.look();
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
