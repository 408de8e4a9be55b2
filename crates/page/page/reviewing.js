// A review of games: every decision on a board with what was played and what was best, the course of the value, and one's mistakes as questions.

import { boardFor } from './boards.js';
import { axes } from './chart.js';
import { button, h, percent, put, signed, svg } from './dom.js';
import { stakesOf } from './stakes.js';
import { copied, panel, table } from './tables.js';

const MARKS = ['?!', '?', '??'];
const MARK_WORDS = ['doubtful', 'bad', 'very bad'];
/** Radius of the dot of an error: without a mark, and with each mark. */
const DOTS = [4, 4, 5.5, 7];
/** Letters of a name beside the graph. */
const NAME = 16;
/** Pixels of the narrowest and the widest graph. */
const WIDTHS = [260, 1480];
/** A loss in points or units that counts as none. */
const NOTHING = 5e-4;

const chance = (utility) => (1 + utility) / 2;

/** The last part of a path. */
export const fileName = (path) => path.split(/[\\/]/).at(-1);

/** Words for the actions of the cube. */
function spoken(entry, action) {
  if (entry.kind === 'double') return { roll: 'no double' }[action] ?? action;
  return entry.kind === 'answer' ? { drop: 'pass' }[action] ?? action : action;
}

/** Whether a decision is an error: in points only those with a mark are. */
export const isError = (entry) => (entry.points === undefined ? entry.verdict === 'wrong' : entry.mark !== undefined);

/** A list to choose from. */
export function choice(label, options, value, onchange) {
  const element = h('select', { 'aria-label': label, onchange: () => onchange(element.value) }, options.map(([key, name]) => h('option', { value: key, selected: key === value }, name)));
  return element;
}

/**
 * The view of a review. `data` are `{by, then, unit, unit_size, played}`; each game played is `{file, game, rules, players, result, steps}`.
 * `me` is the number of the person among the players of each game, if one is. `onshow` gets each decision that is shown.
 */
export class Reviewing {
  constructor(data, { me = null, filter = null, onshow = () => {} } = {}) {
    this.data = data;
    this.me = me;
    this.onshow = onshow;
    this.judges = [data.by, ...(data.then ?? [])];
    /** Results without a unit are those of matches, or of games that are won or lost: their utility is twice the chance to win, less 1. */
    this.isMatch = !data.unit;
    this.gather();
    this.errors = this.entries.filter(isError);
    this.state = { at: 0, filter: filter ?? (this.errors.length > 0 ? 'errors' : 'decisions'), who: '', seat: me ?? 1, peek: null };
    this.quiz = null;
    this.parts = {
      status: h('div', { class: 'status verdict', role: 'status' }),
      board: h('div', { class: 'review-board' }),
      steps: h('div', { class: 'row steps', role: 'group', 'aria-label': 'Step through the decisions' }),
      candidates: h('div', { class: 'stack' }),
      facts: h('div', { class: 'stack' }),
      title: h('h2', null),
      graph: h('div', null),
      controls: h('div', { class: 'row no-paper' }),
      story: h('p', { class: 'story' }),
    };
    new ResizeObserver(() => this.drawGraph()).observe(this.parts.graph);
    this.element = this.layout();
    this.drawControls();
  }

  /** Every action of a player, in order, with the chance event before it; and the games that follow each other in one file. */
  gather() {
    this.entries = [];
    this.groups = [];
    for (const game of this.data.played) {
      let roll = null;
      game.entries = [];
      for (const step of game.steps) {
        if (step.kind === 'chance') {
          roll = step;
          continue;
        }
        // Of one player alone, the actions of the other are left out.
        const entry = { ...step, game, roll: roll?.place === step.place - 1 ? roll : null, at: this.entries.length };
        entry.number = step.number > 0 ? step.number : game.entries.length + 1;
        roll = null;
        game.entries.push(entry);
        this.entries.push(entry);
      }
      // A file may hold matches of several players.
      const before = this.groups.at(-1);
      if (!before || before.file !== game.file || before.games[0].players.join('\n') !== game.players.join('\n')) this.groups.push({ file: game.file, games: [] });
      this.groups.at(-1).games.push(game);
      game.group = this.groups.at(-1);
    }
  }

  layout() {
    const { parts } = this;
    return h(
      'div',
      { class: 'play review no-paper' },
      h('div', { class: 'board-side' }, parts.status, parts.board, parts.steps),
      h(
        'div',
        { class: 'text-side' },
        h('div', { class: 'panel candidates-panel' }, parts.candidates),
        h('section', { class: 'panel stack' }, parts.title, parts.graph, parts.story, parts.controls),
        panel('Decision', parts.facts),
      ),
    );
  }

  /* Words */

  name({ game, player }) {
    return game.players[player - 1];
  }

  place({ game, number }) {
    const file = this.groups.length > 1 ? `${fileName(game.file)}, ` : '';
    const which = this.data.played.length > 1 || game.file ? `game ${game.game}, ` : '';
    return `${file}${which}move ${number}`;
  }

  /** A share of a utility: percent of a match, or units. */
  inUnits(utility, digits = 3) {
    return this.isMatch ? `${signed(50 * utility, 2)} %` : signed(utility / this.data.unit_size, digits);
  }

  loss(entry) {
    return entry.points ?? entry.loss / this.data.unit_size;
  }

  actions(entry) {
    return { played: spoken(entry, entry.played), best: entry.candidates && spoken(entry, entry.candidates[0].action) };
  }

  /** The mark of an error with its words, such as `?? very bad: missed double`. */
  judgement(entry) {
    if (!entry.candidates) return 'forced';
    if (entry.verdict === 'undecided') return 'undecided: the loss lies within the error of the estimates';
    if (entry.verdict === 'right') return 'best';
    const mark = entry.mark === undefined ? '' : `${MARKS[entry.mark]} ${MARK_WORDS[entry.mark]}`;
    return [mark, entry.name].filter(Boolean).join(': ') || 'not the best';
  }

  /** What a decision lost: in points as players count, of a match also in chance to win it. */
  lossText(entry) {
    return entry.loss > 0 && entry.verdict !== 'right' ? this.lostText(entry, entry) : '';
  }

  /** What an action of a decision loses, with the error of an estimate of what was played. */
  lostText(entry, { loss, points }) {
    const isSampled = entry.error > 0;
    if (points === undefined && this.isMatch) return `${percent(loss / 2, 1)}${isSampled ? ` ± ${percent(0.98 * entry.error, 1)}` : ''} of the chance to win`;
    const size = points === undefined ? this.data.unit_size : entry.point;
    const error = isSampled ? ` ± ${(1.96 * entry.error / size).toFixed(3)}` : '';
    const share = this.isMatch ? ` (${percent(loss / 2, 2)} of the match)` : '';
    return `${(points ?? loss / this.data.unit_size).toFixed(3)}${error} ${points === undefined ? this.data.unit : 'points'}${share}`;
  }

  statusOf(entry) {
    const { played, best } = this.actions(entry);
    const isBest = !entry.candidates || entry.verdict === 'right';
    return [
      h('span', { class: 'quiet' }, `${this.place(entry)} · `),
      `${this.name(entry)}: ${played}`,
      !isBest && `, best ${best}`,
      h('span', { class: isError(entry) ? 'bad-word' : 'quiet' }, ` – ${this.judgement(entry)}${isBest ? '' : `, ${this.lossText(entry)}`}`),
    ];
  }

  /** Luck and skill of the games of a group, as one sentence. */
  storyOf(group) {
    if (group.games.some(({ result }) => result === undefined || result === null)) return '';
    const player = this.me ?? 1;
    const sign = player === 1 ? 1 : -1;
    const sum = (of) => group.games.flatMap(({ steps }) => steps).reduce((total, step) => total + (of(step) || 0), 0);
    const lost = (of) => sum((step) => step.player === of && step.verdict === 'wrong' && step.loss);
    const result = sign * group.games.reduce((total, game) => total + game.result, 0);
    const [luck, own, theirs] = [sign * sum((step) => step.luck), lost(player), lost(3 - player)];
    const hasLuck = group.games.some(({ steps }) => steps.some((step) => step.kind === 'chance'));
    const amount = (utility) => (this.isMatch ? percent(Math.abs(utility) / 2, 1) : `${Math.abs(utility / this.data.unit_size).toFixed(2)} ${this.data.unit}`);
    const who = this.me ? 'You' : group.games[0].players[0];
    const [whose, other] = this.me ? ['your', 'your opponent’s'] : ['own', `${group.games[0].players[1]}’s`];
    const skill = theirs - own;
    const way = Math.sign(result);
    const byLuck = way * luck > Math.max(0, way * skill);
    const bySkill = !byLuck && way * skill > 0;
    const why = byLuck ? ' by luck' : bySkill ? (way > 0 ? ' by playing better' : ' by mistakes') : '';
    const outcome = Math.abs(result) < 1e-9 ? `${who} drew` : `${who} ${way > 0 ? 'won' : 'lost'}${why}`;
    const dice = hasLuck && `the dice ${luck >= 0 ? 'gave' : 'cost'} ${this.me ? 'you' : 'them'} ${amount(luck)}`;
    const mistakes = own === 0 && theirs === 0 ? 'nobody made a mistake' : `${whose} mistakes cost ${amount(own)}, ${other} ${amount(theirs)}`;
    return `${outcome}: ${[dice, mistakes].filter(Boolean).join(', ')}.`;
  }

  /* One decision */

  isShown(entry) {
    const { who, filter } = this.state;
    return (who === '' || this.name(entry) === who)
      && (filter === 'all' || (filter === 'errors' ? isError(entry) : entry.candidates !== undefined));
  }

  /** The next action that is shown, from a place on in a direction; null if there is none. */
  found(from, direction) {
    for (let at = from; at >= 0 && at < this.entries.length; at += direction) {
      if (this.isShown(this.entries[at])) return at;
    }
    return null;
  }

  /** The worst error of a player, or of all; null if there is none. */
  worst(player = null) {
    const wrong = this.entries.filter((entry) => entry.verdict === 'wrong' && (!player || entry.player === player));
    return wrong.length > 0 ? wrong.reduce((a, b) => (this.loss(b) > this.loss(a) ? b : a)) : null;
  }

  /** The scene of an action for a board. A candidate that is pointed at has an arrow of its own. */
  sceneOf(entry, peek, isQuestion = false) {
    const { position, side, player, candidates } = entry;
    const arrows = [];
    if (peek !== null) arrows.push({ move: peek, kind: 'best' });
    else if (!isQuestion) {
      arrows.push({ move: entry.played, kind: isError(entry) ? 'played wrong' : 'played' });
      if (candidates && candidates[0].action !== entry.played) arrows.push({ move: candidates[0].action, kind: 'best' });
    }
    return { key: entry.at, position, next: side, moves: [], active: false, before: null, move: null, mover: player, arrows };
  }

  boardOf(entry, seat) {
    const { game } = entry;
    const options = { game: { name: game.rules }, seat, players: 2, names: [game.players[seat - 1], game.players[2 - seat]] };
    return boardFor(options, entry.position);
  }

  draw() {
    const { parts, state, quiz } = this;
    const entry = this.entries[state.at];
    const asks = quiz !== null && quiz.chosen === null;
    const kind = `${entry.game.rules} ${state.seat} ${entry.game.players.join('\n')}`;
    if (this.board?.kind !== kind) {
      this.board = { kind, board: this.boardOf(entry, state.seat) };
      put(parts.board, this.board.board.element);
    }
    this.board.board.show(this.sceneOf(entry, state.peek, asks));
    put(parts.status, quiz ? this.quizStatus(entry) : this.statusOf(entry));
    put(parts.candidates, asks ? this.question(entry) : this.candidatesTable(entry, (action) => this.peek(action)), quiz && this.quizControls());
    put(parts.facts, asks ? h('p', { class: 'quiet' }, 'After your answer.') : [this.factsOf(entry), h('h3', null, 'Position'), copied(entry.position, 'the position')]);
    this.drawSteps();
  }

  peek(action) {
    this.state.peek = this.state.peek === action ? null : action;
    this.draw();
    this.parts.candidates.querySelector(`[data-key="${CSS.escape(action)}"]`)?.focus();
  }

  /** The value of a candidate for the player who decides. */
  valueText(entry, value) {
    return this.isMatch ? percent(chance(value), 2) : signed(value / (entry.point ?? this.data.unit_size));
  }

  candidatesTable(entry, onpeek) {
    const { candidates, played } = entry;
    if (!candidates) return h('p', { class: 'quiet' }, `${spoken(entry, played)} is the only action.`);
    const isPercent = this.isMatch && entry.point === undefined;
    const lost = ({ loss, points }) => (loss <= 0 ? '–' : isPercent ? `−${percent(loss / 2)}` : signed(-(points ?? loss / this.data.unit_size)));
    const chosen = this.quiz?.chosen;
    const row = (one, i) => {
      const tags = [one.action === chosen && 'yours', one.action === played && 'played', i === 0 && 'best'].filter(Boolean);
      const name = [h('span', { class: 'rank' }, `${i + 1}\u00a0`), spoken(entry, one.action), tags.map((tag) => [' ', h('span', { class: `tag ${tag}` }, tag !== 'yours' && h('span', { class: 'sample' }), tag)])];
      const shown = onpeek && entry.kind !== 'double' && entry.kind !== 'answer' ? button(name, () => onpeek(one.action), { class: 'link', 'data-key': one.action, 'aria-pressed': this.state.peek === one.action }) : h('span', null, name);
      return [shown, this.valueText(entry, one.value), lost(one)];
    };
    const heads = ['action', this.isMatch ? 'chance to win' : 'equity', entry.point === undefined ? 'lost' : 'points lost'];
    return table('Candidates', heads, candidates.map(row), (i) => candidates[i].action === played && { class: 'is-played', 'aria-current': 'true' });
  }

  factsOf(entry) {
    const { game, roll, value, judge } = entry;
    const [first] = game.players;
    const lucky = roll?.luck !== undefined && (entry.player === 1 ? roll.luck : -roll.luck);
    const inPoints = roll?.point ? `${signed(lucky / roll.point)} points` : this.inUnits(lucky);
    const stakes = stakesOf(entry.position);
    return [
      stakes?.length > 0 && h('p', null, `Score ${stakes.scores.join('–')} of ${stakes.length}${stakes.isCrawford ? ', Crawford game' : ''}`),
      // Before the opening roll stands who begins.
      roll && h('p', null, `Roll ${roll.played.replace(/^[12] /, '')}${lucky === false ? '' : `: luck of ${this.name(entry)} ${inPoints}`}`),
      value !== undefined && h('p', null, this.isMatch ? `Chance of ${first} to win${stakes?.length > 0 ? ' the match' : ''}: ${percent(chance(value), 2)}` : `Value for ${first}: ${this.inUnits(value)} ${this.data.unit ?? ''}`),
      entry.candidates && h('p', { class: 'quiet' }, `Judged by ${this.judges[judge ?? 0]}${entry.shortfall ? `: ${entry.shortfall}` : ''}`),
    ];
  }

  drawSteps() {
    const { parts, state } = this;
    if (this.quiz) {
      put(parts.steps);
      return;
    }
    const held = parts.steps.contains(document.activeElement) && document.activeElement.getAttribute('aria-label');
    const places = this.entries.filter((entry) => this.isShown(entry)).map(({ at }) => at);
    const before = this.found(state.at - 1, -1);
    const after = this.found(state.at + 1, 1);
    const step = (name, label, at) => button(name, () => this.show(at), { 'aria-label': label, disabled: at === null });
    const count = places.includes(state.at) ? `${places.indexOf(state.at) + 1} of ${places.length}` : `– of ${places.length}`;
    put(
      parts.steps,
      step('«', 'First', before === null ? null : places[0]),
      step('‹', 'Previous', before),
      h('span', { class: 'quiet step-count' }, count),
      step('›', 'Next', after),
      step('»', 'Last', after === null ? null : places.at(-1)),
    );
    if (held) parts.steps.querySelector(`[aria-label="${held}"]:not(:disabled)`)?.focus();
  }

  /** Shows an action; `comes` brings the board into view. */
  show(at, comes = false) {
    if (at === null || !this.entries[at]) return;
    if (this.quiz && this.quiz.list[this.quiz.i].at !== at) this.quiz = null;
    Object.assign(this.state, { at, peek: null });
    this.draw();
    const { group } = this.entries[at].game;
    if (group === this.group) this.mark();
    else {
      this.group = group;
      put(this.parts.story, this.storyOf(group));
      this.parts.story.hidden = this.parts.story.textContent === '';
      this.drawGraph(true);
    }
    this.onshow(this.entries[at]);
    if (comes) this.parts.status.scrollIntoView({ block: 'nearest' });
  }

  /** Keeps the action that is shown if it still is one of those, or goes to the nearest. */
  filtered(change) {
    Object.assign(this.state, change);
    const { at } = this.state;
    if (this.isShown(this.entries[at])) this.drawSteps();
    else this.show(this.found(at, 1) ?? this.found(at, -1) ?? at);
  }

  drawControls() {
    const { errors, state, parts } = this;
    const names = [...new Set(this.data.played.flatMap(({ players }) => players))];
    put(
      parts.controls,
      choice('Actions', [['errors', `errors (${errors.length})`], ['decisions', 'all decisions'], ['all', 'all actions']], state.filter, (filter) => this.filtered({ filter })),
      choice('Player', [['', 'all players'], ...names.map((name) => [name, name])], '', (who) => this.filtered({ who })),
      button('Turn the board', () => {
        this.state.seat = 3 - this.state.seat;
        this.draw();
      }),
      this.mistakes().length > 0 && button(`Learn from ${this.me ? 'your' : 'the'} mistakes (${this.mistakes().length})`, () => this.learn()),
    );
  }

  /** Steps by the arrow keys, before boards, whose cells they would reach. */
  listen(signal) {
    addEventListener('keydown', (event) => {
      const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!direction || this.quiz || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest?.('input, select, textarea, dialog')) return;
      event.preventDefault();
      event.stopPropagation();
      this.show(this.found(this.state.at + direction, direction));
    }, { capture: true, signal });
  }

  /* Mistakes as questions */

  /** The errors of the person, or of all, the worst first. */
  mistakes() {
    return this.errors.filter(({ player }) => !this.me || player === this.me).toSorted((a, b) => this.loss(b) - this.loss(a));
  }

  learn() {
    this.quiz = { list: this.mistakes(), i: 0, chosen: null, right: 0 };
    this.ask();
  }

  ask() {
    const entry = this.quiz.list[this.quiz.i];
    this.quiz.chosen = null;
    // The person sees the board from the side that decides.
    this.state.seat = entry.player;
    this.show(entry.at, true);
    this.parts.candidates.querySelector('button')?.focus({ preventScroll: true });
  }

  quizStatus(entry) {
    const { list, i, chosen } = this.quiz;
    const head = h('span', { class: 'quiet' }, `Mistake ${i + 1} of ${list.length} · `);
    if (chosen === null) return [head, `${this.name(entry)} to play${entry.roll ? ` ${entry.roll.played.replace(/^[12] /, '')}` : ''}: what is best?`];
    const own = entry.candidates.find(({ action }) => action === chosen);
    const { played, best } = this.actions(entry);
    if (this.isBest(entry, own)) return [head, `Right: ${best} is best. `, h('span', { class: 'quiet' }, `The game had ${played}, which lost ${this.lossText(entry)}.`)];
    return [
      head,
      `${spoken(entry, chosen)} loses ${this.lostText(entry, own)}: best is ${best}. `,
      h('span', { class: 'quiet' }, chosen === entry.played ? 'The same was played in the game.' : `The game had ${played}, which lost ${this.lossText(entry)}.`),
    ];
  }

  /** Whether nothing is better than an action by as much as is shown. */
  isBest(entry, { loss, points }) {
    return (points ?? loss / this.data.unit_size) < NOTHING;
  }

  question(entry) {
    // In an order that tells nothing.
    const all = entry.candidates.map(({ action }) => action).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    const choose = (action) => {
      this.quiz.chosen = action;
      if (this.isBest(entry, entry.candidates.find((one) => one.action === action))) this.quiz.right += 1;
      this.state.peek = null;
      this.draw();
      this.parts.candidates.querySelector('.go-on')?.focus({ preventScroll: true });
    };
    return h('div', { class: 'answers', role: 'group', 'aria-label': 'What is best?' }, all.map((action) => button(spoken(entry, action), () => choose(action), { 'data-key': `a-${action}` })));
  }

  quizControls() {
    const { quiz } = this;
    const isLast = quiz.i + 1 === quiz.list.length;
    const end = () => {
      this.quiz = null;
      this.draw();
    };
    const next = () => {
      quiz.i += 1;
      this.ask();
    };
    return h(
      'div',
      { class: 'row' },
      quiz.chosen !== null && !isLast && button('Next mistake', next, { class: 'main go-on' }),
      quiz.chosen !== null && isLast && h('p', null, `${quiz.right} of ${quiz.list.length} right.`),
      button(quiz.chosen !== null && isLast ? 'Back to the review' : 'End', end, { class: quiz.chosen !== null && isLast ? 'main go-on' : null }),
    );
  }

  /* The graph */

  /** Moves the line of the action that is shown. */
  mark() {}

  drawGraph(again = false) {
    const { graph } = this.parts;
    const width = Math.round(Math.min(WIDTHS[1], Math.max(WIDTHS[0], graph.clientWidth || WIDTHS[0])));
    // What is drawn changes the height alone.
    if (!this.group || (!again && width === this.drawn)) return;
    this.drawn = width;
    put(graph, this.graphOf(this.group, width));
  }

  /** The value of each game of a group for its first player, over its actions: a line for a match, or for each game. */
  graphOf(group, width) {
    const all = group.games.flatMap((game) => game.entries);
    const start = all[0]?.at ?? 0;
    // From the side of the person.
    const [side, sign] = this.me === 2 ? [1, -1] : [0, 1];
    const scaled = (utility) => (this.isMatch ? 100 * chance(utility) : utility / this.data.unit_size);
    const points = (game) => game.entries.filter((entry) => entry.value !== undefined).map((entry) => [entry.at - start, scaled(sign * entry.value)]);
    const lines = this.isMatch ? [group.games.flatMap(points)] : group.games.map(points);
    const values = lines.flat().map(([, value]) => value);
    if (values.length < 2) return h('p', { class: 'quiet' }, 'The values of the positions are not known.');
    // A match that was won or lost ends so.
    const sum = group.games.reduce((total, { result }) => total + (result ?? 0), 0);
    if (this.isMatch && Math.abs(Math.abs(sum) - 1) < 1e-3) lines[0].push([all.length, scaled(sign * Math.sign(sum))]);
    const [low, high] = this.isMatch ? [0, 100] : [Math.min(...values, -0.5), Math.max(...values, 0.5)];
    const [first, second] = group.games[0].players;
    const whole = group.games[0].players[side];
    const name = whole.length > NAME ? `${whole.slice(0, NAME - 1)}…` : whole;
    const up = this.isMatch ? 'chance, %' : this.data.unit;
    const isOfMatch = group.games.some((game) => stakesOf(game.entries[0]?.position)?.length > 0);
    const title = this.isMatch ? `${this.me ? 'Your chance' : `Chance of ${name}`} to win${isOfMatch ? ' the match' : ''}` : `Value for ${this.me ? 'you' : name}`;
    put(this.parts.title, title);
    const height = Math.max(150, Math.min(320, width / 3));
    const cursor = svg('line', { class: 'cursor', 'stroke-dasharray': '2 3' });
    let place;
    const drawing = axes({ across: 'action', up, width, height, right: Math.max(1, all.length), low, high, log: false, label: `${title} over the actions of ${fileName(group.file ?? 'the game')}` }, (x, y) => {
      place = x;
      const [top, bottom] = [y(high), y(low)];
      const path = (line) => line.map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
      const border = (game) => group.games.length > 1 && game.entries.length > 0 && [
        svg('line', { class: 'rule', x1: x(game.entries[0].at - start), x2: x(game.entries[0].at - start), y1: top, y2: bottom }),
        svg('text', { x: x(game.entries[0].at - start) + 3, y: top + 11 }, String(game.game)),
      ];
      for (const [name, value] of [['y1', top], ['y2', bottom]]) cursor.setAttribute(name, value);
      const middle = this.isMatch ? 50 : 0;
      return [
        svg('line', { class: 'middle', x1: x(0), x2: x(Math.max(1, all.length)), y1: y(middle), y2: y(middle) }),
        group.games.map(border),
        lines.map((line) => svg('path', { class: 'line s0', d: path(line) })),
        cursor,
        all.filter((entry) => isError(entry) && entry.value !== undefined).map((entry) => this.dot(entry, x(entry.at - start), y(scaled(sign * entry.value)))),
      ];
    });
    drawing.addEventListener('click', (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse()).x;
      const best = all.reduce((a, b) => (Math.abs(place(b.at - start) - at) < Math.abs(place(a.at - start) - at) ? b : a));
      this.show(best.at, true);
    });
    this.mark = () => {
      const { at } = this.state;
      cursor.setAttribute('visibility', this.entries[at]?.game.group === group ? 'visible' : 'hidden');
      for (const name of ['x1', 'x2']) cursor.setAttribute(name, place(at - start));
    };
    this.mark();
    return [drawing, h('p', { class: 'quiet' }, `Errors: ${this.me ? `yours are ${this.me === 1 ? 'discs' : 'squares'}` : `discs of ${first}, squares of ${second}`}; the larger, the worse. Press the graph to see a position.`)];
  }

  dot(entry, x, y) {
    const r = DOTS[(entry.mark ?? -1) + 1];
    const { played, best } = this.actions(entry);
    const shape = entry.player === 1 ? svg('circle', { cx: x, cy: y, r }) : svg('rect', { x: x - r, y: y - r, width: 2 * r, height: 2 * r });
    return svg(
      'g',
      {
        class: `slip m${entry.mark ?? 0}`,
        onclick: (event) => {
          event.stopPropagation();
          this.show(entry.at, true);
        },
      },
      svg('title', null, `${this.place(entry)}, ${this.name(entry)}: ${played}, best ${best}; ${this.lossText(entry)}`),
      shape,
    );
  }

  /** Errors and luck of each player, from the steps of the games. */
  sums() {
    const { players } = this.data.played[0] ?? { players: [] };
    const steps = this.data.played.flatMap((game) => game.steps);
    const count = (player, of) => String(steps.filter((step) => step.player === player && of(step)).length);
    const total = (of) => steps.reduce((sum, step) => sum + (of(step) || 0), 0);
    const hasMarks = steps.some(({ points }) => points !== undefined);
    const rows = [
      ['decisions', (player) => count(player, (step) => step.candidates)],
      ['wrong', (player) => count(player, (step) => step.verdict === 'wrong')],
      steps.some(({ verdict }) => verdict === 'undecided') && ['undecided', (player) => count(player, (step) => step.verdict === 'undecided')],
      hasMarks && ['?! / ? / ??', (player) => MARKS.map((_, i) => count(player, (step) => step.mark === i)).join(' / ')],
      ['lost by mistakes', (player) => this.inUnits(-total((step) => step.player === player && step.verdict === 'wrong' && step.loss))],
      steps.some(({ kind }) => kind === 'chance') && ['luck', (player) => this.inUnits((player === 1 ? 1 : -1) * total((step) => step.luck))],
    ].filter(Boolean);
    return table('Players', ['figure', ...players], rows.map(([name, of]) => [name, of(1), of(2)]));
  }
}
