// Games that this browser knows: a list, copies that restore games which the server has lost, and news between tabs.

import { get, post } from './api.js';
import { fieldsOfXgid } from './checkers.js';
import { kept } from './dom.js';
import { tell } from './frame.js';

const LISTED = 100;
const LONGEST_COPY = 100_000;

/** The games that this browser knows, the last one first. */
export const knownPlays = () => kept.get('plays', []).filter((play) => typeof play?.id === 'string');

const list = (plays) => kept.set('plays', plays);

/** Drops the copy of the oldest game, a finished one if there is one. Says whether there was a copy to drop. */
function dropCopy(but) {
  const copied = knownPlays().filter(({ id }) => id !== but && kept.get(`play.${id}`)).reverse();
  const oldest = copied.find(({ over }) => over) ?? copied[0];
  if (oldest) kept.drop(`play.${oldest.id}`);
  return Boolean(oldest);
}

/** Keeps something for a game, in place of the copies of the oldest games if there is no room. If these do not make enough, they stay. */
function fit(key, value, id) {
  if (kept.set(key, value)) return true;
  const size = (content) => (content === null ? 0 : JSON.stringify(content).length);
  const copies = knownPlays().filter((play) => play.id !== id).map((play) => size(copyOf(play.id)));
  if (copies.reduce((sum, length) => sum + length, size(kept.get(key))) < size(value)) return false;
  while (dropCopy(id)) if (kept.set(key, value)) return true;
  return false;
}

/** The score of a match, the person's points first; null for other games. */
function scoreOf({ position, seat }) {
  const { length, scores } = fieldsOfXgid(position) ?? {};
  if (!(length > 0)) return null;
  const [first, second] = scores;
  return seat === 1 ? `${first}–${second}` : `${second}–${first}`;
}

/** Remembers a game, and what restores it. */
export function remember(play) {
  const { id, game, opponent, seat, turn, over, outcome, history, record } = play;
  const before = knownPlays();
  const known = before.find((one) => one.id === id);
  const when = known && known.turn === turn ? known.when : Date.now();
  const entry = { id, game, opponent, seat, turn, over, when, score: scoreOf(play), result: outcome?.text, utility: outcome?.utility, history, hides: record === null };
  const all = [entry, ...before.filter((one) => one.id !== id)].sort((a, b) => (b.when ?? 0) - (a.when ?? 0));
  for (const old of all.splice(LISTED)) kept.drop(`play.${old.id}`);
  fit('plays', all, id);
  // A game that hides something has no record before it is over.
  if (!record || JSON.stringify(record).length > LONGEST_COPY) kept.drop(`play.${id}`);
  else fit(`play.${id}`, record, id);
}

/** The copy of a game; null if there is none. */
export const copyOf = (id) => kept.get(`play.${id}`);

/** Forgets a game. */
export function forgetPlay(id) {
  kept.drop(`play.${id}`);
  list(knownPlays().filter((play) => play.id !== id));
}

/** Remembers that the server does not have a game: another server, or another folder, may have it. */
export const markLost = (id) => list(knownPlays().map((play) => (play.id === id ? { ...play, lost: true } : play)));

/** Whether an error says that the server does not have a game, or cannot go on with it. */
export const isLost = (error) => error.status === 404 || error.status === 410;

/** Restores a game after the error that says it is lost: 404 if it is nowhere, 410 if it cannot go on. */
export async function restorePlay(id, error, signal) {
  const record = copyOf(id);
  if (!record) throw error;
  try {
    const play = await post('/plays', { id, record }, signal);
    tell('The server had lost this game or its last moves. They are restored from this browser.', false);
    return play;
  } catch (refused) {
    // Another tab was faster.
    if (refused.status === 409) return get(`/plays/${id}`, signal);
    // The server says more about its own copy.
    if (error?.status === 410 && refused.status) throw error;
    if ([400, 404, 422].includes(refused.status)) refused.status = 410;
    throw refused;
  }
}

const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('adept.plays') : null;

/** Tells the other tabs of this browser about a game: `{ play }` as it is now, or `{ left }`, the id of a deleted one. */
export const tellTabs = (news) => tabs?.postMessage(news);

/** Hears what other tabs tell. */
export const hearTabs = (hear, signal) => tabs?.addEventListener('message', ({ data }) => hear(data), { signal });
