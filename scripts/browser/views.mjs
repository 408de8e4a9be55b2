// Every view, light and dark, narrow and wide: no finding of axe, nothing wider than the window, nothing too small to touch. And what the
// page asks for.

import { base, check, checkAxe, finish, goTo, launch, open, post } from './browser.mjs';

const PLAYS = [
  ['backgammon', 'small-88-24', 1],
  ['tictactoe', 'random', 1],
  ['connect-four', 'random', 1],
  ['bearoff', 'hme-4x16', 1],
  ['liars-dice:soar:4x5', 'soar-net-four', 1],
  ['leduc', 'random', 1],
  ['holdem:limit:6', 'limit-6', 4],
  ['declared:breakthrough', 'random', 1],
];

/** The places of all views in the address, with their names. */
async function views() {
  const all = [['', 'start'], ['new/backgammon', 'new'], ['position/backgammon', 'position'], ['runs', 'runs'], ['api', 'api'], ['play/none', 'gone']];
  for (const [game, opponent, seat] of PLAYS) {
    const { id } = await post('/plays', { game, opponent, seat, seed: 5 });
    all.push([`play/${id}`, game]);
  }
  const { id } = await post('/plays', { game: 'backgammon', opponent: 'small-88-24', seat: 1, seed: 5 });
  await post(`/plays/${id}/resign`, {});
  // The list has the games that were looked at before.
  all.push([`play/${id}`, 'over'], ['games', 'games']);
  return all;
}

/** What is smaller than a finger, in the page. */
const small = () =>
  [...document.querySelectorAll('button, a, select, input:not([type=checkbox]):not([type=radio]), summary')]
    .filter((element) => element.offsetParent && !element.closest('.skip'))
    .filter((element) => Math.min(element.getBoundingClientRect().height, element.getBoundingClientRect().width) < 39.5)
    .map((element) => `${element.tagName} ${element.textContent.slice(0, 20)}`);

async function look(page, [hash, name], where) {
  await goTo(page, hash);
  await page.waitForSelector('main h1, .board > *, form');
  await page.waitForTimeout(200);
  const scroll = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(`${name} fits ${where}`, scroll <= 0, `${scroll} pixels too wide`);
  await checkAxe(page, `${name} ${where}`);
  const tiny = await page.evaluate(small);
  check(`${name} ${where}: targets`, tiny.length === 0, tiny.slice(0, 4).join(' | '));
}

/** The page asks for nothing more, but for a script for a view that is loaded later. */
async function countRequests(browser) {
  for (const [hash, file] of [['', null], ['position/backgammon', 'position.js'], ['runs', 'runs.js'], ['games', 'games.js'], ['api', 'documented.js']]) {
    const context = await browser.newContext();
    const page = await open(context);
    const asked = [];
    page.on('request', (request) => asked.push(request.url().slice(base.length)));
    await page.goto(`${base}/#/${hash}`);
    await page.waitForSelector('main h1');
    await page.waitForLoadState('networkidle');
    const files = asked.filter((path) => path.startsWith('/page/')).sort();
    const wanted = [file].filter(Boolean).map((name) => `/page/${name}`).sort();
    check(`files of ${hash || 'start'}`, files.join(' ') === wanted.join(' '), files.join(' '));
    await context.close();
  }
}

/** On phones, what begins a game or moves is in the first window, upright and on the side. */
async function checkFold(browser) {
  const { id } = await post('/plays', { game: 'backgammon', opponent: 'random', seat: 1, seed: 5 });
  const wanted = [['', '.card >> nth=3'], ['new/backgammon', 'form.begin [type=submit]'], [`play/${id}`, '.bg-board'], [`play/${id}`, '[data-key=confirm]'], ['position/backgammon', '.bg-board'], ['position/backgammon', '.candidate >> nth=0']];
  for (const viewport of [{ width: 390, height: 844 }, { width: 844, height: 390 }]) {
    const page = await open(await browser.newContext({ viewport, reducedMotion: 'reduce', hasTouch: true }));
    for (const [hash, selector] of wanted) {
      await goTo(page, hash);
      await page.waitForSelector(selector);
      await page.waitForTimeout(200);
      const { y, height } = await page.locator(selector).boundingBox();
      const isLow = selector.startsWith('.candidate') && viewport.width > viewport.height;
      check(`${hash || 'start'} in ${viewport.width} × ${viewport.height}: ${selector}`, isLow || y + height / 2 <= viewport.height, `${y} + ${height}`);
    }
    await page.context().close();
  }
}

const browser = await launch();
await countRequests(browser);
await checkFold(browser);
const all = await views();
for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 768, 1280, 2560]) {
    const viewport = { width, height: Math.max(740, Math.round(width * 0.56)) };
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce', bypassCSP: true });
    // The blank page between two views keeps nothing.
    await context.addInitScript(() => location.protocol === 'http:' && localStorage.setItem('adept.thinks', 'true'));
    const page = await open(context);
    for (const view of all) await look(page, view, `${colorScheme}, ${width} pixels`);
    await context.close();
  }
}
await finish(browser, 'all views');
