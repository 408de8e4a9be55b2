// Draws a review of games from the data in its file: the players, the value over the games, and every decision on a board.

import { boardFor, titleOf } from './boards.js';
import { axes } from './chart.js';
import { button, h, percent, plural, put, signed, svg } from './dom.js';
import { chart, copied, data, date, drawCharts, main, panel, table } from './parts.js';
import { stakesOf } from './stakes.js';

const MARKS = ['?!', '?', '??'];
const MARK_WORDS = ['doubtful', 'bad', 'very bad'];
/** Radius of the dot of an error: without a mark, and with each mark. */
const DOTS = [4, 4, 5.5, 7];
/** Letters of a name beside the graph. */
const NAME = 16;
/** Pixels of the widest graph. */
const WIDEST = 1480;
/** Most errors in the list, and on paper. */
const LISTED = 500;
const PRINTED = 100;

/** Results without a unit are those of matches: their utility is twice the chance to win, less 1. */
const isMatch = !data.unit;
const judges = [data.by, ...data.then];

const chance = (utility) => (1 + utility) / 2;
const fileName = (path) => path.split(/[\\/]/).at(-1);
/** A share of a utility: percent of a match, or units. */
const inUnits = (utility, digits = 3) => (isMatch ? `${signed(50 * utility, 2)} %` : signed(utility / data.unit_size, digits));

/** Every action of a player, in order. `roll` is the chance event before it. */
const entries = [];
for (const game of data.played) {
  let roll = null;
  game.entries = [];
  for (const step of game.steps) {
    if (step.kind === 'chance') {
      roll = step;
      continue;
    }
    // Of one player alone, the actions of the other are left out.
    const entry = { ...step, game, roll: roll?.place === step.place - 1 ? roll : null, at: entries.length };
    roll = null;
    game.entries.push(entry);
    entries.push(entry);
  }
}

/** Games that follow each other in one file. */
const groups = [];
for (const game of data.played) {
  // A file may hold matches of several players.
  const before = groups.at(-1);
  if (before?.file !== game.file || before.games[0].players.join('\n') !== game.players.join('\n')) groups.push({ file: game.file, games: [] });
  groups.at(-1).games.push(game);
  game.group = groups.at(-1);
}

const isError = (entry) => (entry.points === undefined ? entry.verdict === 'wrong' : entry.mark !== undefined);
const lossOf = (entry) => entry.points ?? entry.loss / data.unit_size;
const nameOf = ({ game, player }) => game.players[player - 1];
const errors = entries.filter(isError);
const placeOf = ({ game, number }) => `${groups.length > 1 ? `${fileName(game.file)}, ` : ''}game ${game.game}${number > 0 ? `, move ${number}` : ''}`;

/** Words for the actions of the cube. */
const spoken = (entry, action) => {
  if (entry.kind === 'double') return { roll: 'no double' }[action] ?? action;
  return entry.kind === 'answer' ? { drop: 'pass' }[action] ?? action : action;
};

const bestOf = ({ candidates }) => candidates[0].action;
const actionsOf = (entry) => ({ played: spoken(entry, entry.played), best: entry.candidates && spoken(entry, bestOf(entry)) });

/** The mark of an error with its words, such as `?? very bad: missed double`. */
function judgement(entry) {
  if (!entry.candidates) return 'forced';
  if (entry.verdict === 'undecided') return 'undecided: the loss lies within the error of the estimates';
  if (entry.verdict === 'right') return 'best';
  const mark = entry.mark === undefined ? '' : `${MARKS[entry.mark]} ${MARK_WORDS[entry.mark]}`;
  return [mark, entry.name].filter(Boolean).join(': ') || 'not the best';
}

/** What a decision lost: in points as players count, of a match also in chance to win it. */
function lossText(entry) {
  if (!(entry.loss > 0) || entry.verdict === 'right') return '';
  const error = entry.error > 0 ? ` ± ${(1.96 * entry.error / (entry.points === undefined ? data.unit_size : entry.point)).toFixed(3)}` : '';
  const share = isMatch && entry.points !== undefined ? ` (${percent(entry.loss / 2, 2)} of the match)` : '';
  return `${lossOf(entry).toFixed(3)}${error} ${entry.points === undefined ? data.unit ?? 'utility' : 'points'}${share}`;
}

/* Players and games */

function playersTable() {
  const count = data.players.every((player) => player.errors);
  const figures = count ? [
    ['PR', ({ errors: all }) => all.performance_rating.toFixed(2)],
    ['error rate', ({ errors: all }) => all.error_rate.toFixed(1)],
    ['grade', ({ errors: all }) => all.grade],
    ['?! / ? / ??', ({ errors: all }) => [all.doubtful, all.bad, all.very_bad].join(' / ')],
    isMatch
      ? ['lost chance', ({ errors: all }) => percent(all.lost_chance, 2)]
      : ['points lost', ({ errors: all }) => (all.lost_by_moves + all.lost_by_doubles + all.lost_by_answers).toFixed(3)],
    ['luck, points', ({ errors: all }) => signed(all.luck)],
  ] : [['wrong', (player) => percent(player.wrong_share)]];
  const columns = [
    ['games', (player) => String(player.games)],
    ['decisions', (player) => String(player.decisions)],
    ...figures,
    ['luck', ({ luck }) => inUnits(luck * data.unit_size)],
    ['result', ({ results, result }) => (results > 0 ? inUnits(result * data.unit_size) : '–')],
    ['less luck', ({ results, adjusted }) => (results > 0 ? inUnits(adjusted * data.unit_size) : '–')],
  ];
  return [
    table('Players', ['player', ...columns.map(([name]) => name)], data.players.map((player) => [player.name, ...columns.map(([, of]) => of(player))])),
    count && h('p', { class: 'quiet' }, 'PR: performance rating as eXtreme Gammon counts. Error rate: thousandths of a point per decision that counts, as GNU Backgammon counts; the grade is its name for it. ?! loses .03 points or more, ? .06, ?? .12.'),
  ];
}

function scoreBefore(game) {
  const stakes = stakesOf(game.entries[0]?.position);
  return stakes?.length > 0 ? `${stakes.scores.join('–')}${stakes.isCrawford ? ', Crawford' : ''}` : '–';
}

function gamesTable(group) {
  const { players } = group.games[0];
  const reviewed = [1, 2].filter((player) => data.players.some(({ name }) => name === players[player - 1]));
  const row = (game) => {
    const faults = (player) => game.entries.filter((entry) => entry.player === player && isError(entry)).length;
    const first = game.entries[0];
    return [
      first ? button(`Game ${game.game}`, () => show(first.at, true), { class: 'link' }) : `Game ${game.game}`,
      scoreBefore(game),
      String(game.entries.length),
      ...reviewed.map((player) => String(faults(player))),
      game.result === undefined ? '–' : inUnits(game.result, 2),
    ];
  };
  const heads = ['game', 'score', 'actions', ...reviewed.map((player) => `errors of ${players[player - 1]}`), `result for ${players[0]}`];
  return table('Games', heads, group.games.map(row));
}

/* The graph */

/** The value of each game of a group for its first player, over its actions: a line for a match, or for each game. */
function graph(group, width) {
  const all = group.games.flatMap((game) => game.entries);
  const start = all[0]?.at ?? 0;
  const scaled = (utility) => (isMatch ? 100 * chance(utility) : utility / data.unit_size);
  const points = (game) => game.entries.filter((entry) => entry.value !== undefined).map((entry) => [entry.at - start, scaled(entry.value)]);
  const lines = isMatch ? [group.games.flatMap(points)] : group.games.map(points);
  const values = lines.flat().map(([, value]) => value);
  if (values.length < 2) return h('p', { class: 'quiet' }, 'The values of the positions are not known.');
  // A match that was won or lost ends so.
  const sum = group.games.reduce((total, { result }) => total + (result ?? 0), 0);
  if (isMatch && Math.abs(Math.abs(sum) - 1) < 1e-3) lines[0].push([all.length, scaled(Math.sign(sum))]);
  const [low, high] = isMatch ? [0, 100] : [Math.min(...values, -0.5), Math.max(...values, 0.5)];
  const [first, second] = group.games[0].players;
  const name = first.length > NAME ? `${first.slice(0, NAME - 1)}…` : first;
  const up = isMatch ? `chance of ${name}, %` : `value for ${name}, ${data.unit ?? 'utility'}`;
  const height = Math.max(220, Math.min(320, width / 3));
  const cursor = svg('line', { class: 'cursor', 'stroke-dasharray': '2 3' });
  let place;
  const drawing = axes({ across: 'action', up, width, height, right: Math.max(1, all.length), low, high, log: false, label: `${up} over the actions of ${fileName(group.file)}` }, (x, y) => {
    place = x;
    const [top, bottom] = [y(high), y(low)];
    const path = (line) => line.map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
    const border = (game) => game.entries.length > 0 && [
      svg('line', { class: 'rule', x1: x(game.entries[0].at - start), x2: x(game.entries[0].at - start), y1: top, y2: bottom }),
      svg('text', { x: x(game.entries[0].at - start) + 3, y: top + 11 }, String(game.game)),
    ];
    for (const [name, value] of [['y1', top], ['y2', bottom]]) cursor.setAttribute(name, value);
    const middle = isMatch ? 50 : 0;
    return [
      svg('line', { class: 'middle', x1: x(0), x2: x(Math.max(1, all.length)), y1: y(middle), y2: y(middle) }),
      group.games.map(border),
      lines.map((line) => svg('path', { class: 'line s0', d: path(line) })),
      cursor,
      all.filter((entry) => isError(entry) && entry.value !== undefined).map((entry) => dot(entry, x(entry.at - start), y(scaled(entry.value)))),
    ];
  });
  drawing.addEventListener('click', (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse()).x;
    const best = all.reduce((a, b) => (Math.abs(place(b.at - start) - at) < Math.abs(place(a.at - start) - at) ? b : a));
    show(best.at, true);
  });
  mark = () => {
    const { at } = state;
    cursor.setAttribute('visibility', entries[at]?.game.group === group ? 'visible' : 'hidden');
    for (const name of ['x1', 'x2']) cursor.setAttribute(name, place(at - start));
  };
  mark();
  return [drawing, h('p', { class: 'quiet' }, `Errors: discs of ${first}, squares of ${second}; the larger, the worse. Press one, or any place of the graph, to see the position.`)];
}

/** Moves the line of the action that is shown. */
let mark = () => {};

function dot(entry, x, y) {
  const r = DOTS[(entry.mark ?? -1) + 1];
  const { played, best } = actionsOf(entry);
  const shape = entry.player === 1 ? svg('circle', { cx: x, cy: y, r }) : svg('rect', { x: x - r, y: y - r, width: 2 * r, height: 2 * r });
  return svg(
    'g',
    {
      class: `slip m${entry.mark ?? 0}`,
      onclick: (event) => {
        event.stopPropagation();
        show(entry.at, true);
      },
    },
    svg('title', null, `${placeOf(entry)}, ${nameOf(entry)}: ${played}, best ${best}; ${lossText(entry)}`),
    shape,
  );
}

/* One decision */

const state = { at: 0, filter: errors.length > 0 ? 'errors' : 'decisions', who: '', seat: 1, peek: null };

let shownGroup = null;

const parts = {
  status: h('p', { class: 'status', role: 'status' }),
  board: h('div', null),
  steps: h('div', { class: 'row steps', role: 'group', 'aria-label': 'Step through the decisions' }),
  facts: h('div', { class: 'stack' }),
  graph: chart((width) => shownGroup && graph(shownGroup, width), WIDEST),
  games: h('div', { class: 'stack' }),
  paper: h('section', { class: 'paper' }),
};

const isShown = (entry) => (state.who === '' || nameOf(entry) === state.who)
  && (state.filter === 'all' || (state.filter === 'errors' ? isError(entry) : entry.candidates !== undefined));

/** The next action that is shown, from a place on in a direction; null if there is none. */
function found(from, direction) {
  for (let at = from; at >= 0 && at < entries.length; at += direction) {
    if (isShown(entries[at])) return at;
  }
  return null;
}

/** The scene of an action for a board. A candidate that is pointed at has an arrow of its own. */
function sceneOf(entry, peek) {
  const { position, side, player } = entry;
  const arrows = [];
  if (peek !== null) arrows.push({ move: peek, kind: 'best' });
  else {
    arrows.push({ move: entry.played, kind: isError(entry) ? 'played wrong' : 'played' });
    if (entry.candidates && bestOf(entry) !== entry.played) arrows.push({ move: bestOf(entry), kind: 'best' });
  }
  return { key: entry.at, position, next: side, moves: [], active: false, before: null, move: null, mover: player, arrows };
}

function boardOf(entry, seat) {
  const { game } = entry;
  const options = { game: { name: game.rules }, seat, players: 2, names: [game.players[seat - 1], game.players[2 - seat]] };
  return boardFor(options, entry.position);
}

/** The value of a candidate for the player who decides. */
const valueText = (entry, value) => (isMatch ? percent(chance(value), 2) : signed(value / (entry.point ?? data.unit_size)));

function candidatesTable(entry, onpeek) {
  const { candidates, played } = entry;
  if (!candidates) return h('p', { class: 'quiet' }, `${played} is the only action.`);
  const lost = ({ loss, points }) => (loss > 0 ? signed(-(points ?? loss / data.unit_size)) : '–');
  const row = (one, i) => {
    const name = [spoken(entry, one.action), one.action === played && h('span', { class: 'tag' }, 'played'), i === 0 && h('span', { class: 'tag' }, 'best')];
    const shown = onpeek && one.action.includes('/') ? button(name, () => onpeek(one.action), { class: 'link', 'aria-pressed': state.peek === one.action }) : h('span', null, name);
    return [shown, valueText(entry, one.value), lost(one)];
  };
  const heads = ['action', isMatch ? 'chance to win' : 'equity', entry.point === undefined ? 'lost' : 'points lost'];
  return table('Candidates', heads, candidates.map(row), (i) => candidates[i].action === played && { class: 'is-played' });
}

function factsOf(entry) {
  const { game, roll, value, judge } = entry;
  const [first] = game.players;
  const lucky = roll?.luck !== undefined && (entry.player === 1 ? roll.luck : -roll.luck);
  const inPoints = roll?.point ? `${signed(lucky / roll.point)} points` : inUnits(lucky);
  return [
    // Before the opening roll stands who begins.
    roll && h('p', null, `Roll ${roll.played.replace(/^[12] /, '')}${lucky === false ? '' : `: luck of ${nameOf(entry)} ${inPoints}`}`),
    value !== undefined && h('p', null, isMatch ? `Chance of ${first} to win the match: ${percent(chance(value), 2)}` : `Value for ${first}: ${inUnits(value)} ${data.unit ?? ''}`),
    entry.candidates && h('p', { class: 'quiet' }, `Judged by ${judges[judge ?? 0]}${entry.shortfall ? `: ${entry.shortfall}` : ''}`),
  ];
}

function statusOf(entry) {
  const { played, best } = actionsOf(entry);
  const isBest = !entry.candidates || entry.verdict === 'right';
  return [
    h('span', { class: 'quiet' }, `${placeOf(entry)} · `),
    `${nameOf(entry)}: ${played}`,
    !isBest && `, best ${best}`,
    h('span', { class: isError(entry) ? 'bad-word' : 'quiet' }, ` – ${judgement(entry)}${isBest ? '' : `, ${lossText(entry)}`}`),
  ];
}

let shownBoard = null;

function drawEntry() {
  const entry = entries[state.at];
  const kind = `${entry.game.rules} ${state.seat} ${entry.game.players.join('\n')}`;
  if (shownBoard?.kind !== kind) {
    shownBoard = { kind, board: boardOf(entry, state.seat) };
    put(parts.board, shownBoard.board.element);
  }
  shownBoard.board.show(sceneOf(entry, state.peek));
  put(parts.status, statusOf(entry));
  const peek = (action) => {
    state.peek = state.peek === action ? null : action;
    drawEntry();
    parts.facts.querySelector('[aria-pressed="true"]')?.focus();
  };
  put(parts.facts, candidatesTable(entry, peek), factsOf(entry), h('h3', null, 'Position'), copied(entry.position, 'the position'));
  drawSteps();
}

function drawSteps() {
  const held = parts.steps.contains(document.activeElement) && document.activeElement.getAttribute('aria-label');
  const places = entries.filter(isShown).map(({ at }) => at);
  const before = found(state.at - 1, -1);
  const after = found(state.at + 1, 1);
  const step = (name, label, at) => button(name, () => show(at), { 'aria-label': label, disabled: at === null });
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
function show(at, comes = false) {
  if (at === null || !entries[at]) return;
  Object.assign(state, { at, peek: null });
  drawEntry();
  const { group } = entries[at].game;
  if (group === shownGroup) mark();
  else drawGroup(group);
  try {
    history.replaceState(null, '', `#${at + 1}`);
  } catch {
    // A page in a frame may have no history.
  }
  if (comes) parts.status.scrollIntoView({ block: 'nearest' });
}

function drawGroup(group) {
  shownGroup = group;
  if (parts.files) parts.files.value = String(groups.indexOf(group));
  put(parts.games, gamesTable(group));
  drawCharts();
}

const select = (label, options, value, onchange) => {
  const element = h('select', { 'aria-label': label, onchange: () => onchange(element.value) }, options.map(([key, name]) => h('option', { value: key, selected: key === value }, name)));
  return element;
};

/** Keeps the action that is shown if it still is one of those, or goes to the nearest. */
function filtered(change) {
  Object.assign(state, change);
  if (isShown(entries[state.at])) drawSteps();
  else show(found(state.at, 1) ?? found(state.at, -1) ?? state.at);
}

function controls() {
  const names = [...new Set(data.played.flatMap(({ players }) => players))];
  return h(
    'div',
    { class: 'row no-paper' },
    select('Actions', [['errors', `errors (${errors.length})`], ['decisions', 'all decisions'], ['all', 'all actions']], state.filter, (filter) => filtered({ filter })),
    select('Player', [['', 'all players'], ...names.map((name) => [name, name])], '', (who) => filtered({ who })),
    button('Turn the board', () => {
      state.seat = 3 - state.seat;
      drawEntry();
    }),
  );
}

function errorsTable() {
  if (errors.length === 0) return h('p', { class: 'quiet' }, 'No errors.');
  const sorted = errors.toSorted((a, b) => lossOf(b) - lossOf(a)).slice(0, LISTED);
  const row = (entry) => {
    const { played, best } = actionsOf(entry);
    return [
      button(placeOf(entry), () => show(entry.at, true), { class: 'link' }),
      ...[nameOf(entry), played, best, judgement(entry)].map((text) => h('span', null, text)),
      lossOf(entry).toFixed(3),
    ];
  };
  return [
    h('div', { class: 'long' }, table('Errors', ['place', 'player', 'played', 'best', 'error', errors[0].points === undefined ? 'lost' : 'points lost'], sorted.map(row))),
    errors.length > LISTED && h('p', { class: 'quiet' }, `The ${LISTED} worst of ${errors.length}.`),
  ];
}

/** On paper, the worst errors have a board each. */
function drawPaper() {
  const worst = errors.toSorted((a, b) => lossOf(b) - lossOf(a)).slice(0, PRINTED).sort((a, b) => a.at - b.at);
  const figure = (entry) => {
    const board = boardOf(entry, state.seat);
    board.show(sceneOf(entry, null));
    return h('figure', null, h('figcaption', null, h('p', null, statusOf(entry))), board.element, candidatesTable(entry, null), h('p', { class: 'quiet' }, entry.position));
  };
  put(parts.paper, h('h2', null, errors.length > PRINTED ? `Positions of the ${PRINTED} worst errors` : 'Positions'), worst.map(figure));
}

const title = data.players.length <= 2 ? data.players.map(({ name }) => name).join(' – ') : plural(data.players.length, 'player');
const files = groups.map(({ file, games }, i) => [String(i), `${file}: ${games[0].players.join(' – ')}`]);
if (groups.length > 1) parts.files = select('Match', files, '0', (i) => show(groups[i].games.flatMap((game) => game.entries)[0]?.at ?? null));
const references = data.references.length > 0 ? ` and, where they know the value, ${data.references.join(', ')}` : '';

document.title = `${title} – adept`;
put(
  main,
  h('h1', null, title),
  h('p', { class: 'quiet' }, `${plural(data.played.length, 'game')} of ${titleOf(data.game)}${data.files.length === 1 ? ` in ${fileName(data.files[0])}` : ''}, reviewed by ${data.by}${references} on ${date(data.made)} with ${data.program}.`),
  data.then.length > 0 && h('p', { class: 'quiet' }, `What seems wrong was judged again by ${data.then.join(', then by ')}.`),
  !data.finished && h('p', { class: 'notice' }, 'The review was stopped before the end: some games are missing.'),
  panel('Players', playersTable()),
  entries.length === 0
    ? h('p', { class: 'quiet' }, 'There are no decisions.')
    : [
      panel(
        isMatch ? 'Chance to win the match' : 'Value',
        parts.files && h('label', { class: 'field no-paper' }, h('span', null, 'Match'), parts.files),
        parts.graph,
      ),
      h(
        'div',
        { class: 'play no-paper' },
        h('div', { class: 'board-side' }, controls(), parts.status, parts.board, parts.steps, h('p', { class: 'quiet' }, 'Dashed arrows: played. Full arrows: best. The arrow keys ← and → step.')),
        h('div', { class: 'text-side' }, panel('Decision', parts.facts)),
      ),
      panel('Errors', errorsTable()),
      panel('Games', parts.games),
    ],
  data.faults.length > 0 && panel('Faults', h('p', { class: 'quiet' }, 'Each game was read up to its fault.'), h('ul', { class: 'prose' }, data.faults.map(({ why }) => h('li', null, why)))),
  panel('To repeat', copied(data.command, 'the command of this review')),
  parts.paper,
);

if (entries.length > 0) {
  const wanted = Number(location.hash.slice(1)) - 1;
  show(entries[wanted] ? wanted : found(0, 1) ?? 0);
  // Before boards, whose cells the arrow keys would reach.
  addEventListener('keydown', (event) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest?.('input, select, textarea, .scroll')) return;
    event.preventDefault();
    event.stopPropagation();
    show(found(state.at + direction, direction));
  }, true);
  addEventListener('beforeprint', drawPaper);
  addEventListener('afterprint', () => put(parts.paper));
}
