// A list of the person's games, and dialogs that share, save and delete one.

import { get, post, remove } from './api.js';
import { inBlinds, picture, titleOf, variantOf } from './boards.js';
import { button, h, keepFocus, put, saveFile } from './dom.js';
import { announce, ask, copyText, dialogOf, tell } from './frame.js';
import { copyOf, forgetPlay, isLost, knownPlays, restorePlay, tellTabs } from './saves.js';

export async function gamesView(root, _, signal) {
  draw(root, signal);
  // Games in other tabs go on.
  addEventListener('storage', ({ key }) => key === 'adept.plays' && keepFocus(root, () => draw(root, signal)), { signal });
  return 'Your games';
}

function draw(root, signal) {
  const all = knownPlays();
  const some = (title, plays) => plays.length > 0 && h('section', { class: 'stack' }, h('h2', null, `${title} (${plays.length})`), h('ul', { class: 'stack saved' }, plays.map((play) => item(play, root, signal))));
  put(
    root,
    h('header', { class: 'page-head' }, h('h1', { tabindex: '-1' }, 'Your games'), h('p', { class: 'quiet' }, 'Games that were played in this browser'), h('div', { class: 'row tools' }, fromFile(signal))),
    some('In progress', all.filter(({ over }) => !over)),
    some('Finished', all.filter(({ over }) => over)),
    all.length === 0 && h('p', { class: 'row' }, 'There are none yet.', h('a', { class: 'button', href: '#/' }, 'Choose a game')),
  );
}

function item(play, root, signal) {
  const { id, game, opponent, over, result, score, when, utility, lost } = play;
  const title = [titleOf(game), variantOf(game)].filter(Boolean).join(' · ');
  const name = `${title} against ${opponent}`;
  const label = (does) => ({ 'aria-label': `${does}: ${name}`, 'data-key': `${does} ${id}` });
  const kind = !over ? '' : utility > 0 ? 'won' : utility < 0 ? 'lost' : '';
  return h(
    'li',
    { class: 'panel' },
    picture(game),
    h(
      'div',
      null,
      h('h3', null, title),
      h('p', { class: 'quiet' }, `against ${opponent}`, !over && score && ` · score ${score}`, when && [' · ', h('time', { datetime: new Date(when).toISOString(), title: new Date(when).toLocaleString() }, ago(when))]),
      over && h('p', { class: kind }, inBlinds(result ?? 'The game is over.')),
      lost && h('p', { class: 'quiet' }, 'This server does not have it.'),
    ),
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button', href: `#/play/${id}`, ...label(over ? 'Look at' : 'Go on') }, over ? 'Look at' : 'Go on'),
      button('Share', () => sharePlay(play, signal), label('Share and save')),
      button('Delete', () => askToDelete(play, name, root, signal), label('Delete')),
    ),
  );
}

const UNITS = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60]];

/** How long ago something was, in words. */
function ago(when) {
  const seconds = (Date.now() - when) / 1000;
  const [unit, length] = UNITS.find(([, size]) => seconds >= size) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-Math.floor(seconds / length), unit).replace('this minute', 'just now');
}

/** Asks for a part of a game, which the server gets back if it has lost it. */
const part = (id, end, signal) => get(`/plays/${id}/${end}`, signal).catch(async (error) => {
  if (!isLost(error)) throw error;
  await restorePlay(id, error, signal);
  return get(`/plays/${id}/${end}`, signal);
});

const fileName = ({ game, id }, suffix) => `${game.replace(/\W+/g, '-')}-${id.slice(0, 6)}.${suffix}`;

async function saveRecord(play, signal) {
  const record = copyOf(play.id) ?? await part(play.id, 'record', signal);
  saveFile(fileName(play, 'json'), `${JSON.stringify(record, null, 1)}\n`, 'application/json');
}

async function saveHistory(play, signal) {
  const { suffix, text } = await part(play.id, 'history', signal);
  saveFile(fileName(play, suffix), text, 'text/plain');
}

/** Offers the link of a game, and its files. */
export function sharePlay(play, signal) {
  const link = h('input', { type: 'text', readonly: true, value: `${location.origin}/#/play/${play.id}`, 'aria-label': 'Link of this game', onfocus: () => link.select() });
  const copy = async () => {
    if (await copyText(link.value, 'The link')) return;
    link.focus();
    tell('Press Ctrl+C (⌘C) to copy the link.', false);
  };
  // A game from the server has a record, and one of the list says whether it hides something.
  const canSave = play.over || copyOf(play.id) || !(play.hides ?? play.record === null);
  const save = (text, work) => button(text, (event) => ask(event.target, () => work(play, signal)));
  const dialog = dialogOf(
    'Share and save',
    h('p', null, 'Anyone who opens this link can move, take back and delete in this game.'),
    h('div', { class: 'row link-row' }, link, button('Copy link', copy)),
    h('div', { class: 'row' },
      play.history && save(`Save as .${play.history}`, saveHistory),
      canSave && save('Save as JSON', saveRecord)),
    !canSave && h('p', { class: 'quiet' }, 'A game with hidden cards or dice can be saved when it is over.'),
    play.stored === false && h('p', { class: 'quiet' }, 'This server keeps games in memory only: a restart loses them.'),
    button('Close', () => dialog.close(), { class: 'main' }),
  );
}

function askToDelete(play, name, root, signal) {
  const drop = async () => {
    await remove(`/plays/${play.id}`).catch((error) => {
      if (!isLost(error)) throw error;
    });
    forgetPlay(play.id);
    tellTabs({ left: play.id });
    dialog.close();
    draw(root, signal);
    announce('The game is deleted.');
    root.querySelector('h1').focus();
  };
  const dialog = dialogOf(
    'Delete this game?',
    h('p', null, `${name}. It is deleted on the server too. Only a file that was saved as JSON brings it back.`),
    h('div', { class: 'row' }, button('Delete', (event) => ask(event.target, drop)), button('Keep', () => dialog.close(), { class: 'main', autofocus: true })),
  );
}

/** Plays on from a file of a game. */
function fromFile(signal) {
  const file = h('input', { type: 'file', accept: '.json,application/json', hidden: true, onchange: () => open(file.files[0]) });
  const open = async (chosen) => {
    file.value = '';
    const record = await chosen.text().then(JSON.parse).catch(() => null);
    if (!record) tell('This file is not a game that was saved as JSON.');
    const play = record && await ask(control, () => post('/plays', { record }, signal));
    if (play) location.hash = `#/play/${play.id}`;
  };
  const control = button('Open a JSON file', () => file.click());
  return [control, file];
}
