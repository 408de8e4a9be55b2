// The first page, with all games, and the page on which a game is begun.

import { agents, gameInfo, games, get } from './api.js';
import { opponentTitle, picture, seatName, titleOf, variantOf } from './boards.js';
import { h, kept, plural, prose, put } from './dom.js';
import { ask } from './frame.js';
import { beginPlay } from './play.js';
import { copyOf, isLost, knownPlays } from './saves.js';

const link = (name) => `#/new/${encodeURIComponent(name)}`;

const SUGGESTIONS = [
  'backgammon:2', 'bearoff:15', 'liars-dice:soar:3x5', 'liars-dice:soar:2x1', 'holdem:limit:3',
  'declared:breakthrough', 'declared:hexapawn-4x4', 'declared:tic-tac-toe-4x4', 'declared:nim', 'declared:pig', 'declared:small-backgammon', 'declared:eight-puzzle',
  'declared:merlin',
];

export async function startView(root, _, signal) {
  const all = await games();
  const families = Map.groupBy(all, ({ name }) => titleOf(name));
  const other = h('input', { type: 'text', id: 'other', list: 'others', placeholder: 'such as backgammon:2', autocomplete: 'off', required: true });
  put(
    root,
    h('h1', null, 'Choose a game'),
    h('div', { class: 'resume row' }),
    h('ul', { class: 'cards' }, [...families.values()].map(card)),
    h(
      'form',
      { class: 'row other', onsubmit: (event) => {
        event.preventDefault();
        location.hash = link(other.value.trim());
      } },
      h('label', { for: 'other' }, 'Another rule set'),
      other,
      h('datalist', { id: 'others' }, SUGGESTIONS.map((value) => h('option', { value }))),
      h('button', { type: 'submit' }, 'Choose'),
    ),
  );
  offerResume(root.querySelector('.resume'), signal);
  return 'Choose a game';
}

/** The first clause of what the server says about a game, as a sentence. */
const aboutOf = ({ name, about }) => {
  if (/^(back|hyper)gammon$/.test(name)) return 'One game, or with the cube: a money game or a match';
  const said = variantOf(name) || about.split(';')[0];
  return said.charAt(0).toUpperCase() + said.slice(1);
};

/** A game with its rule sets. */
const card = ([first, ...variants]) => h(
  'li',
  { class: 'card' },
  h('a', { href: link(first.name) }, picture(first.name), h('strong', null, titleOf(first.name)), h('span', { class: 'quiet' }, aboutOf(first))),
  variants.length > 0 && h('p', { class: 'variants' }, variants.map((one) => h('a', { href: link(one.name) }, aboutOf(one)))),
);

/** Offers the last game that is not over, if the server has it or this browser can restore it. */
async function offerResume(place, signal) {
  const all = knownPlays();
  const last = all.find((play) => !play.over && !play.lost);
  const play = last && await get(`/plays/${last.id}`, signal).catch((error) => isLost(error) && copyOf(last.id));
  if (!all.length) return;
  put(
    place,
    play && !play.over && h('a', { class: 'button', href: `#/play/${last.id}` }, `Go on with ${titleOf(play.game)} against ${opponentTitle(play.opponent)}`),
    h('a', { class: 'button', href: '#/games' }, `Your games (${all.length})`),
  );
}

/** What a game with the cube may be played for: the ends of names of rule sets. */
const STAKES = [['', 'one game without the cube'], [':money', 'a money game with the cube'], ...[1, 3, 5, 7, 11].map((n) => [`:match-${n}`, `a match to ${plural(n, 'point')}`])];

export async function newView(root, [name], signal, query) {
  await drawNew(root, name, signal, query);
  return titleOf(name);
}

async function drawNew(root, name, signal, query) {
  const [info, opponents] = await Promise.all([gameInfo(name), agents(name)]);
  const before = kept.get(`choice.${name}`, {});
  const players = info.players ?? Number(/:(\d+)(?:x|$)/.exec(name)?.[1] ?? 2);
  const form = h(
    'form',
    { class: 'begin' },
    stakesField(root, name, signal, query),
    opponentField(opponents, before.opponent),
    players > 1 && seatField(name, players, before.seat),
    h(
      'details',
      { open: query.has('from') },
      h('summary', null, 'More'),
      h('div', { class: 'stack' },
        field('From a position', h('input', { type: 'text', name: 'from', value: query.get('from') ?? '', placeholder: 'the beginning', autocomplete: 'off' })),
        field('Seed of dice and cards', h('input', { type: 'text', name: 'seed', inputmode: 'numeric', pattern: '[0-9]{1,15}', placeholder: 'another each time', autocomplete: 'off' }))),
    ),
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, 'Begin'), !info.hides && h('a', { class: 'button', href: `#/position/${encodeURIComponent(name)}` }, 'Look at positions')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    begin(form, name, players, opponents, signal);
  });
  put(
    root,
    h('header', { class: 'page-head with-picture' }, picture(name), h('div', null, h('h1', null, titleOf(name)), h('p', { class: 'quiet' }, aboutOf(info)))),
    h('div', { class: 'two' }, form, info.rules && h('section', { class: 'panel prose' }, h('h2', null, 'Rules'), prose(info.rules))),
  );
}

/** What the game is played for; another choice is another rule set, on the same page. */
function stakesField(root, name, signal, query) {
  const [, head, end = ''] = /^(backgammon|hypergammon)(:m.*)?$/.exec(name) ?? [];
  if (!head) return null;
  const known = STAKES.some(([value]) => value === end) ? STAKES : [...STAKES, [end, variantOf(name)]];
  const select = h('select', {
    name: 'stakes',
    onchange: async () => {
      const other = head + select.value;
      history.replaceState(null, '', link(other));
      await ask(select, () => drawNew(root, other, signal, query));
      root.querySelector('[name=stakes]')?.focus();
    },
  }, known.map(([value, text]) => h('option', { value, selected: value === end }, text)));
  return field('Play', select);
}

const field = (label, input) => h('label', { class: 'field' }, h('span', null, label), input);

/** Levels of play, from weak to strong, and what they do. */
const LEVELS = { easy: 'Easy', medium: 'Medium', strong: 'Strong', strongest: 'Strongest' };

/** What an agent is, without advice for its config. */
const firstSentence = (about) => about.split(/(?<=\.)\s|: train it /)[0];

/** A number as short as it says something. */
const short = (text) => (Number(text) < 0.1 ? Number(Number(text).toPrecision(2)) : Number(Number(text).toFixed(2)));

/** The names of agents keep their case. */
const sentence = (text) => `${/^\w+-\d/.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}`;

/** What an agent is, with what was measured first. */
function saidOf(about) {
  const [what, ...rest] = about.split('; ');
  const found = (rest.length > 0 ? rest.join('; ') : what)
    .replace(/([+-])([\d.]+)(?: ± ([\d.]+))? (points|mbb) a game,? against/, (_, sign, value, ci, unit) => `${sign === '+' ? 'wins' : 'loses'} ${short(value)}${ci ? ` ± ${short(ci)}` : ''} ${unit} a game against`)
    .replace(/against (strong|strongest)\b/, (_, level) => `against ${LEVELS[level]}`);
  if (!about) return '';
  return rest.length > 0 ? `${sentence(found)} (${what}).` : `${sentence(found)}.`;
}

/** The levels of play, and the other agents under a line of their own. */
function opponentField(opponents, before) {
  const ahead = /^search:2\D.*?:([^:]+)$/.exec(before ?? '');
  const wanted = ahead ? ahead[1] : before;
  const chosen = opponents.find(({ id }) => id === wanted)?.id ?? opponents[0]?.id;
  const option = (id, title, said) => h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name: 'opponent', value: id, checked: id === chosen }),
    h('span', null, h('strong', null, title), h('span', { class: 'quiet' }, said)),
  );
  const levels = Object.keys(LEVELS).map((id) => opponents.find((agent) => agent.id === id && agent.kind === 'level')).filter(Boolean);
  const level = ({ id, about }) => option(id, LEVELS[id], saidOf(about));
  const rest = opponents.filter((agent) => !levels.includes(agent)).map(({ id, about }) => option(id, id, saidOf(firstSentence(about))));
  if (levels.length === 0) return h('fieldset', null, h('legend', null, 'Opponent'), rest);
  // Where a level looks ahead, checkpoints can.
  const looks = levels.some(({ about }) => about.includes('plies ahead')) && opponents.some(({ kind }) => kind === 'checkpoint');
  const plies = looks && field('Checkpoints look ahead', h('select', { name: 'plies' },
    h('option', { value: '1' }, '1 ply: their best move at once'),
    h('option', { value: '2', selected: ahead !== null }, '2 plies: your replies too')));
  return h(
    'fieldset',
    null,
    h('legend', null, 'Opponent'),
    levels.map(level),
    rest.length > 0 && h('details', { class: 'agents', open: !levels.some(({ id }) => id === chosen) }, h('summary', null, `Other agents (${rest.length})`), h('div', { class: 'stack' }, plies, rest)),
  );
}

/** The opponent of a form: a checkpoint looks ahead if that is chosen. */
function opponentOf(data, opponents) {
  const id = data.get('opponent');
  const isCheckpoint = opponents.some((agent) => agent.id === id && agent.kind === 'checkpoint');
  return isCheckpoint && data.get('plies') === '2' ? `search:2,root=6,keep=1,margin=0:${id}` : id;
}

function seatField(name, players, before) {
  const seats = Array.from({ length: players }, (_, i) => i + 1);
  const option = (value, text) => h(
    'label',
    { class: 'option short' },
    h('input', { type: 'radio', name: 'seat', value, checked: String(before ?? 1) === String(value) }),
    h('span', null, text),
  );
  return h('fieldset', { class: 'seat-choice' }, h('legend', null, 'Your seat'), seats.map((seat) => option(seat, seatName(name, seat))), option('any', 'any'));
}

function begin(form, name, players, opponents, signal) {
  const data = new FormData(form);
  const seat = data.get('seat') ?? 1;
  const opponent = opponentOf(data, opponents);
  kept.set(`choice.${name}`, { opponent, seat });
  const settings = { game: name, opponent, seat: seat === 'any' ? 1 + Math.floor(Math.random() * players) : Number(seat) };
  if (data.get('seed')) settings.seed = Number(data.get('seed'));
  if (data.get('from').trim()) settings.from = data.get('from').trim();
  ask(form.querySelector('[type=submit]'), () => beginPlay(settings, signal));
}
