// Reviews on the page: of a game that was played here, and of a file that somebody opens or drops.

import { agents, follow, get, remove, sendFile } from './api.js';
import { titleOf } from './boards.js';
import { button, h, plural, put } from './dom.js';
import { announce, ask } from './frame.js';
import { Reviewing, choice } from './reviewing.js';
import { panel } from './tables.js';

const ENDINGS = '.mat,.txt,.sgf,.xg,.games';

export async function reviewsView(root, [id], signal, query) {
  return id ? reviewPlay(root, id, signal, query.get('by')) : reviewFiles(root, signal);
}

/** Shows a review from the worst decision on, of the person if one is known. */
function showReview(root, data, { me, signal, title, about, tools }) {
  const review = new Reviewing(data, { me, filter: 'decisions' });
  const { entries } = review;
  const worst = review.worst(me);
  put(
    root,
    h('h1', { tabindex: '-1' }, title),
    entries.length === 0 ? h('p', { class: 'quiet' }, 'There are no decisions.') : review.element,
    h('div', { class: 'row' }, tools, h('span', { class: 'quiet' }, about)),
    entries.length > 0 && panel('Players', review.sums()),
    data.faults?.length > 0 && panel('Faults', h('p', { class: 'quiet' }, 'Each game was read up to its fault.'), h('ul', { class: 'prose' }, data.faults.map(({ why }) => h('li', null, why)))),
  );
  if (entries.length === 0) return;
  review.show((worst ?? entries[review.found(0, 1) ?? 0]).at);
  review.listen(signal);
  announce(worst ? 'The worst mistake is shown.' : 'There are no mistakes. The first decision is shown.');
}

const judgedBy = ({ by, exact, references }) => `judged by ${by}${exact ? ', whose values are exact' : ''}${references?.length > 0 ? ` and, where they know the value, ${references.join(', ')}` : ''}`;

/** The review of a finished game. */
async function reviewPlay(root, id, signal, by) {
  const asked = by ? `?by=${encodeURIComponent(by)}` : '';
  const [play, found] = await Promise.all([get(`/plays/${id}`, signal), get(`/plays/${id}/analysis${asked}`, signal)]);
  const judges = (await agents(play.game).catch(() => [])).filter((agent) => agent.values);
  const players = [1, 2].map((player) => (player === play.seat ? 'You' : 'Opponent'));
  const { game, result, steps } = found;
  const data = { ...found, played: [{ game: 1, rules: game, players, result, steps }] };
  const title = `${titleOf(game)}: review`;
  const judge = choice('Judge', judges.map((agent) => [agent.id, agent.id]), found.by, (name) => {
    location.hash = `#/review/${id}?by=${encodeURIComponent(name)}`;
  });
  showReview(root, data, { me: play.seat, signal, title, about: judgedBy(found), tools: [h('a', { class: 'button', href: `#/play/${id}` }, 'Back to the game'), judges.length > 1 && judge] });
  return title;
}

/** The view in which files are opened. */
function reviewFiles(root, signal) {
  const input = h('input', { type: 'file', class: 'unseen', accept: ENDINGS, 'aria-label': 'File of games', onchange: () => input.files[0] && start(input.files[0]) });
  const news = h('div', { class: 'stack', role: 'status' });
  const zone = h(
    'div',
    { class: 'drop-zone' },
    h('p', null, 'Drop a file here, or'),
    h('label', { class: 'button main' }, input, 'Open a file'),
    h('p', { class: 'quiet' }, 'Backgammon: .mat, .txt, .sgf of GNU Backgammon and .xg of eXtreme Gammon. Other games: .games. The file is analysed on this server and deleted there at once.'),
  );
  const begin = () => put(root, h('h1', null, 'Review games'), zone, news);

  async function start(file) {
    const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the review' });
    const stop = button('Stop', () => ask(stop, () => remove(`/jobs/${job}`)));
    let job = null;
    input.value = '';
    put(news, h('p', null, `${file.name} is analysed …`), h('div', { class: 'row' }, bar, stop));
    const said = await sendFile(`/reviews?name=${encodeURIComponent(file.name)}`, file, signal).catch((error) => ({ error }));
    job = said.id;
    const ended = job ? await follow(job, ({ share }) => { bar.value = share; }, signal).catch((error) => ({ error })) : said;
    if (signal.aborted) return;
    if (ended.error || !ended.result) {
      put(news, h('p', { class: ended.error ? 'fault' : 'quiet' }, ended.error?.message ?? 'The review was stopped.'));
      return;
    }
    const { result } = ended;
    const tools = [button('Another file', begin)];
    put(news);
    showReview(root, result, { me: null, signal, title: result.players.map(({ name }) => name).join(' – '), about: `${plural(result.played.length, 'game')} of ${titleOf(result.game)} in ${file.name}, ${judgedBy(result)}`, tools });
    scrollTo(0, 0);
    root.querySelector('h1').focus({ preventScroll: true });
  }

  root.addEventListener('dragover', (event) => {
    event.preventDefault();
    zone.classList.add('is-over');
  });
  root.addEventListener('dragleave', () => zone.classList.remove('is-over'));
  root.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('is-over');
    const [file] = event.dataTransfer.files;
    if (!file) return;
    begin();
    start(file);
  });
  begin();
  return 'Review games';
}
