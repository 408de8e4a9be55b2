// The first page, with all games, and the page on which a game is begun.

import { agents, gameInfo, games, get } from './api.js';
import { picture, seatName, titleOf, variantOf } from './boards.js';
import { button, h, kept, prose, put } from './dom.js';
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
    play && !play.over && h('a', { class: 'button', href: `#/play/${last.id}` }, `Go on with ${titleOf(play.game)} against ${play.opponent}`),
    h('a', { class: 'button', href: '#/games' }, `Your games (${all.length})`),
  );
}

export async function newView(root, [name], signal, query) {
  const [info, opponents] = await Promise.all([gameInfo(name), agents(name)]);
  const before = kept.get(`choice.${name}`, {});
  const players = info.players ?? Number(/:(\d+)(?:x|$)/.exec(name)?.[1] ?? 2);
  const form = h(
    'form',
    { class: 'begin' },
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
    begin(form, name, players, signal);
  });
  put(
    root,
    h('header', { class: 'page-head with-picture' }, picture(name), h('div', null, h('h1', null, titleOf(name)), h('p', { class: 'quiet' }, aboutOf(info)))),
    h('div', { class: 'two' }, form, info.rules && h('section', { class: 'panel prose' }, h('h2', null, 'Rules'), prose(info.rules))),
  );
  return titleOf(name);
}

const field = (label, input) => h('label', { class: 'field' }, h('span', null, label), input);

const FEW = 6;

/** What an agent is, without advice for its config. */
const firstSentence = (about) => about.split(/(?<=\.)\s|: train it /)[0];

function opponentField(opponents, before) {
  const chosen = opponents.find(({ id }) => id === before)?.id ?? opponents[0]?.id;
  const option = ({ id, about }) => h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name: 'opponent', value: id, checked: id === chosen }),
    h('span', null, h('strong', null, id), h('span', { class: 'quiet' }, firstSentence(about))),
  );
  const place = opponents.findIndex(({ id }) => id === chosen);
  const shown = Math.max(FEW, place + 1);
  const rest = opponents.slice(shown);
  const more = rest.length > 0 && button(`${rest.length} more`, () => more.replaceWith(...rest.map(option)), { class: 'link' });
  return h('fieldset', null, h('legend', null, 'Opponent'), opponents.slice(0, shown).map(option), more);
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

function begin(form, name, players, signal) {
  const data = new FormData(form);
  const seat = data.get('seat') ?? 1;
  const opponent = data.get('opponent');
  kept.set(`choice.${name}`, { opponent, seat });
  const settings = { game: name, opponent, seat: seat === 'any' ? 1 + Math.floor(Math.random() * players) : Number(seat) };
  if (data.get('seed')) settings.seed = Number(data.get('seed'));
  if (data.get('from').trim()) settings.from = data.get('from').trim();
  ask(form.querySelector('[type=submit]'), () => beginPlay(settings, signal));
}
