// Starts the page: chooses the view that belongs to the address.

import { takeToken } from './api.js';
import { h, put } from './dom.js';
import { announce, watchConnection } from './frame.js';
import { playView } from './play.js';
import { newView, startView } from './start.js';

/** Views; those that begin no game are loaded when they are shown. */
const VIEWS = {
  '': startView,
  new: newView,
  play: playView,
  position: async (...args) => (await import('./position.js')).positionView(...args),
  games: async (...args) => (await import('./games.js')).gamesView(...args),
  review: async (...args) => (await import('./reviews.js')).reviewsView(...args),
  runs: async (...args) => (await import('./runs.js')).runsView(...args),
  api: async (...args) => (await import('./documented.js')).apiView(...args),
};

const main = document.getElementById('main');
let leaving = null;

function readAddress() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = '', ...rest] = path.split('/').map(decodeURIComponent);
  return { name, parts: rest.filter(Boolean), query: new URLSearchParams(query) };
}

function markNavigation(name) {
  for (const link of document.querySelectorAll('nav a')) {
    const isHere = link.getAttribute('data-views').split(' ').includes(name);
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function showError(root, error) {
  put(root, h('h1', null, 'This did not work'), h('p', null, error.message), h('p', null, h('a', { class: 'button', href: '#/' }, 'Choose a game')));
  return 'An error';
}

/** Shows the view of the address. The old view is told by its signal that it has ended. */
async function show(isFirst) {
  leaving?.abort();
  const leave = (leaving = new AbortController());
  const { name, parts, query } = readAddress();
  const root = h('div', { class: 'view' });
  markNavigation(name);
  const view = VIEWS[name] ?? startView;
  let title;
  try {
    title = await view(root, parts, leave.signal, query);
  } catch (error) {
    if (leave.signal.aborted) return;
    title = showError(root, error);
  }
  if (leave.signal.aborted) return;
  put(main, root);
  document.title = `${title} – adept`;
  if (isFirst) return;
  scrollTo(0, 0);
  announce(title);
  const heading = root.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}

document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
main.after(h('footer', { class: 'foot' }, h('a', { href: '#/api' }, 'HTTP API for programs')));
takeToken();
watchConnection();
addEventListener('hashchange', () => show(false));
show(true);
