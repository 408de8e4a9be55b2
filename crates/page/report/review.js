// Draws a review of games from the data in its file: the players, the value over the games, and every decision on a board.

import { titleOf } from './boards.js';
import { button, h, percent, plural, put, signed } from './dom.js';
import { data, date, main } from './parts.js';
import { stakesOf } from './stakes.js';
import { Reviewing, choice, fileName, isError } from './reviewing.js';
import { copied, panel, table } from './tables.js';

/** Most errors in the list, and on paper. */
const LISTED = 500;
const PRINTED = 100;

const games = h('div', { class: 'stack' });
const paper = h('section', { class: 'paper' });
let shownGroup = null;
let files = null;

const review = new Reviewing(data, {
  onshow: ({ at, game: { group } }) => {
    if (group !== shownGroup) put(games, gamesTable(group));
    shownGroup = group;
    if (files) files.value = String(groups.indexOf(group));
    try {
      history.replaceState(null, '', `#${at + 1}`);
    } catch {
      // A page in a frame may have no history.
    }
  },
});
const { entries, errors, groups, isMatch } = review;

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
    ['luck', ({ luck }) => review.inUnits(luck * data.unit_size)],
    ['result', ({ results, result }) => (results > 0 ? review.inUnits(result * data.unit_size) : '–')],
    ['less luck', ({ results, adjusted }) => (results > 0 ? review.inUnits(adjusted * data.unit_size) : '–')],
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
      first ? button(`Game ${game.game}`, () => review.show(first.at, true), { class: 'link' }) : `Game ${game.game}`,
      scoreBefore(game),
      String(game.entries.length),
      ...reviewed.map((player) => String(faults(player))),
      game.result === undefined ? '–' : review.inUnits(game.result, 2),
    ];
  };
  const heads = ['game', 'score', 'actions', ...reviewed.map((player) => `errors of ${players[player - 1]}`), `result for ${players[0]}`];
  return table('Games', heads, group.games.map(row));
}

function errorsTable() {
  if (errors.length === 0) return h('p', { class: 'quiet' }, 'No errors.');
  const sorted = errors.toSorted((a, b) => review.loss(b) - review.loss(a)).slice(0, LISTED);
  const row = (entry) => {
    const { played, best } = review.actions(entry);
    return [
      button(review.place(entry), () => review.show(entry.at, true), { class: 'link' }),
      ...[review.name(entry), played, best, review.judgement(entry)].map((text) => h('span', null, text)),
      review.loss(entry).toFixed(3),
    ];
  };
  return [
    h('div', { class: 'long' }, table('Errors', ['place', 'player', 'played', 'best', 'error', errors[0].points === undefined ? 'lost' : 'points lost'], sorted.map(row))),
    errors.length > LISTED && h('p', { class: 'quiet' }, `The ${LISTED} worst of ${errors.length}.`),
  ];
}

/** On paper, the worst errors have a board each. */
function drawPaper() {
  const worst = errors.toSorted((a, b) => review.loss(b) - review.loss(a)).slice(0, PRINTED).sort((a, b) => a.at - b.at);
  const figure = (entry) => {
    const board = review.boardOf(entry, review.state.seat);
    board.show(review.sceneOf(entry, null));
    return h('figure', null, h('figcaption', null, h('p', null, review.statusOf(entry))), board.element, review.candidatesTable(entry, null), h('p', { class: 'quiet' }, entry.position));
  };
  put(paper, h('h2', null, errors.length > PRINTED ? `Positions of the ${PRINTED} worst errors` : 'Positions'), worst.map(figure));
}

const title = data.players.length <= 2 ? data.players.map(({ name }) => name).join(' – ') : plural(data.players.length, 'player');
const names = groups.map(({ file, games: [game] }, i) => [String(i), `${file}: ${game.players.join(' – ')}`]);
if (groups.length > 1) files = choice('Match', names, '0', (i) => review.show(groups[i].games.flatMap((game) => game.entries)[0]?.at ?? null));
const references = data.references.length > 0 ? ` and, where they know the value, ${data.references.join(', ')}` : '';

document.title = `${title} – adept`;
put(
  main,
  h('h1', null, title),
  h('p', { class: 'quiet' }, `${plural(data.played.length, 'game')} of ${titleOf(data.game)}${data.files.length === 1 ? ` in ${fileName(data.files[0])}` : ''}, reviewed by ${data.by}${references} on ${date(data.made)} with ${data.program}.`),
  data.then.length > 0 && h('p', { class: 'quiet' }, `What seems wrong was judged again by ${data.then.join(', then by ')}.`),
  !data.finished && h('p', { class: 'notice' }, 'The review was stopped before the end: some games are missing.'),
  files && h('label', { class: 'field no-paper' }, h('span', null, 'Match'), files),
  entries.length === 0 ? h('p', { class: 'quiet' }, 'There are no decisions.') : review.element,
  panel('Players', playersTable()),
  entries.length > 0 && [panel('Errors', errorsTable()), panel('Games', games)],
  data.faults.length > 0 && panel('Faults', h('p', { class: 'quiet' }, 'Each game was read up to its fault.'), h('ul', { class: 'prose' }, data.faults.map(({ why }) => h('li', null, why)))),
  panel('To repeat', copied(data.command, 'the command of this review')),
  paper,
);

if (entries.length > 0) {
  const wanted = Number(location.hash.slice(1)) - 1;
  review.show(entries[wanted] ? wanted : review.found(0, 1) ?? 0);
  review.listen();
  addEventListener('beforeprint', drawPaper);
  addEventListener('afterprint', () => put(paper));
}
