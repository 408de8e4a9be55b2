// Lost connections, lost answers, two tabs, forgotten games, positions, and rollouts that are stopped.

import { base, check, finish, goTo, launch, open, post } from './browser.mjs';

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
const page = await open(context);
const count = () => page.textContent('.step-count');

/** Moves checkers until the move can be confirmed. */
async function ready() {
  while (await page.locator('[data-key=confirm]').isDisabled()) await page.locator('.place.source.can').first().dblclick();
}

/** Waits until the game has gone on and it is the person's turn again. */
async function wentOn(before) {
  const moved = (step) =>
    document.querySelector('.status').textContent.startsWith('Your turn') && document.querySelector('.step-count').textContent !== step;
  await page.waitForFunction(moved, before, { timeout: 20_000 });
}

const { id } = await post('/plays', { game: 'backgammon', opponent: 'small-88-24', seat: 1, seed: 5 });
await page.goto(`${base}/#/play/${id}`);
await page.waitForSelector('.bg-board');

// A connection that is lost while a move is made.
let before = await count();
await ready();
await context.setOffline(true);
await page.click('[data-key=confirm]');
await page.waitForSelector('#banner:not([hidden])');
check('the banner says so', (await page.textContent('#banner')).includes('No connection'));
await context.setOffline(false);
await wentOn(before);

// An answer that is lost: the move was made, and the page has not heard of it.
let drops = true;
await page.route('**/moves', async (route) => {
  if (!drops) return route.continue();
  drops = false;
  await route.fetch();
  return route.abort('connectionreset');
});
before = await count();
await ready();
await page.click('[data-key=confirm]');
await wentOn(before);
await page.unroute('**/moves');

// Back and forth.
await page.click('[data-key="First position"]');
check('an earlier position', (await page.textContent('.status')).startsWith('An earlier'));
await page.click('text=Back to the current position');
before = await count();
await page.click('[data-key=undo]');
await page.waitForFunction((step) => document.querySelector('.step-count').textContent !== step, before);
await page.reload();
await page.waitForSelector('.bg-board');

// Two tabs of a game agree.
const other = await open(context);
await other.goto(`${base}/#/play/${id}`);
await other.waitForSelector('.bg-board');
before = await count();
await other.bringToFront();
await other.click('[data-key=undo]');
await page.waitForFunction((step) => document.querySelector('.step-count').textContent !== step, before);
check('two tabs agree', (await count()) === (await other.textContent('.step-count')));
await other.close();

// A move elsewhere, of which this tab has not heard: its own move comes too late, and it says so.
await page.bringToFront();
await ready();
const seen = await (await fetch(`${base}/api/v1/plays/${id}`)).json();
await post(`/plays/${id}/moves`, { move: seen.moves.at(-1).move });
await page.click('[data-key=confirm]');
await page.waitForSelector('#message:not([hidden])');
const said = await page.textContent('#message');
check('a late move says so', said.includes('another tab') || (await page.locator('.event.mine').last().textContent()).includes(seen.moves.at(-1).move), said);

// A game that the server has forgotten comes back from this browser, and goes on with the move.
await page.reload();
await page.waitForSelector('.bg-board');
const forget = () => fetch(`${base}/api/v1/plays/${id}`, { method: 'DELETE' });
await forget();
before = await count();
await ready();
await page.click('[data-key=confirm]');
await wentOn(before);
check('the same game goes on', page.url().endsWith(id));
await forget();
await page.reload();
await page.waitForSelector('.bg-board');

// One of which there is no copy.
await forget();
await page.evaluate((name) => localStorage.removeItem(name), `adept.play.${id}`);
await ready();
await page.click('[data-key=confirm]');
await page.waitForSelector('h1:has-text("no longer there")');
await page.click('text=with the same settings');
await page.waitForSelector('.bg-board');
check('a new game with the same settings', !page.url().includes(id));

const address = page.url();
// A full storage lists new games in place of old copies, and drops none in vain.
const [listed, copies] = await page.evaluate(async () => {
  const many = Array.from({ length: 20 }, (_, i) => ({ id: `old${i}`, game: 'tictactoe', opponent: 'random', seat: 1, turn: 1, over: true, when: i }));
  localStorage.clear();
  localStorage.setItem('adept.plays', JSON.stringify(many));
  for (const { id } of many) localStorage.setItem(`adept.play.${id}`, JSON.stringify({ text: 'x'.repeat(1000) }));
  for (let size = 4_000_000; size >= 1; size = Math.floor(size / 2)) {
    for (let n = 0; ; n += 1) {
      try {
        localStorage.setItem(`other.${size}.${n}`, 'x'.repeat(size));
      } catch {
        break;
      }
    }
  }
  return [many.length, Object.keys(localStorage).filter((key) => key.startsWith('adept.play.')).length];
});
await goTo(page, 'new/tictactoe');
await page.click('form button.main');
await page.waitForSelector('.status');
const kept = await page.evaluate(() => [JSON.parse(localStorage.getItem('adept.plays')).length, Object.keys(localStorage).filter((key) => key.startsWith('adept.play.')).length]);
check('a full storage lists a new game', kept[0] === listed + 1, kept);
check('most copies stay', kept[1] > copies - 5, kept);

// A browser that can keep nothing plays all the same.
const full = await browser.newContext({ reducedMotion: 'reduce' });
await full.addInitScript(() => {
  Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
});
const keepsNothing = await open(full);
await keepsNothing.goto(address);
await keepsNothing.waitForSelector('.bg-board');
await keepsNothing.click('text=Resign');
await keepsNothing.locator('dialog button').first().click();
await keepsNothing.waitForSelector('.status.lost');
await keepsNothing.goto(`${base}/#/games`);
await keepsNothing.waitForSelector('text=There are none yet');
await full.close();

// Errors of the server are shown.
await page.goto(`${base}/#/new/backgammon?from=nonsense`);
await page.waitForSelector('form.begin');
await page.click('form.begin [type=submit]');
await page.waitForSelector('#message:not([hidden])');
await page.goto(`${base}/#/new/nonsense`);
await page.waitForSelector('h1:has-text("did not work")');

// A position by its ID, a rollout, one that is stopped, and a game from there.
await page.goto(`${base}/#/position/backgammon?agent=small-88-24&p=${encodeURIComponent('4HPwATDgc/ABMA 31')}`);
await page.waitForSelector('.candidate');
check('the best move', (await page.locator('.candidate').first().textContent()).includes('8/5 6/5'));
await page.getByRole('button', { name: 'Roll out' }).click();
await page.waitForSelector('.text-side .equity >> nth=1', { timeout: 120_000 });
await page.selectOption('select[aria-label="Games to play out"]', '5184');
await page.getByRole('button', { name: 'Roll out' }).click();
await page.click('text=Cancel');
await page.waitForFunction(() => !document.querySelector('progress'), null, { timeout: 60_000 });
await page.click('text=Play from here');
await page.waitForSelector('input[name=from]');
await page.click('form.begin [type=submit]');
await page.waitForSelector('.play .bg-board');

// Keys on the board: arrows move between points, Enter plays the larger die, Escape takes it back.
const focused = () => page.evaluate(() => document.activeElement.getAttribute('data-key'));
await page.locator('[data-key=p8]').focus();
await page.keyboard.press('Enter');
check('Enter plays the larger die', (await page.textContent('.said')) === '8/5');
check('the focus stays', (await focused()) === 'p8');
await page.keyboard.press('Escape');
check('Escape takes it back', (await page.locator('.said').count()) === 0);
await page.keyboard.press('ArrowLeft');
check('arrows move', (await focused()) !== 'p8');
await finish(browser, 'faults and positions');
