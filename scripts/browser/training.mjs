// Starts training runs, stops them and goes on with them, plays against one, and reads the page of the API. The server needs `--train`.

import { base, check, checkAxe, finish, launch, open } from './browser.mjs';

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', bypassCSP: true });
const page = await open(context);

/** Opens the form if it is closed, and fills it for tic-tac-toe. */
async function fill(games, seed, units = '10') {
  if (!(await page.isVisible('form'))) await page.click('summary:has-text("Start a run")');
  await page.selectOption('form select >> nth=0', 'tictactoe');
  await page.selectOption('form select >> nth=1', 'td');
  await page.fill('[name="learn.td.games"]', String(games));
  await page.fill('[name="evaluate.every"]', String(Math.max(500, games / 10_000)));
  await page.fill('[name="architecture.mlp.hidden"]', units);
  await page.fill('[name=seed]', String(seed));
}

/** Starts a run; returns its name. */
async function start(games, seed) {
  const answer = page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/runs'));
  await fill(games, seed);
  await page.click('text=Start the run');
  return (await (await answer).json()).id;
}

const row = (id) => page.locator('.runs tbody tr', { has: page.getByLabel(id, { exact: true }) });
const becomes = (id, state) => row(id).locator('.state', { hasText: state }).waitFor({ timeout: 60_000 });
const press = (id, text) => row(id).getByRole('button', { name: text }).click();

await page.goto(`${base}/#/runs`);
await page.waitForSelector('summary:has-text("Start a run")');

// What the server refuses is said beside the form.
const seed = Date.now() % 1e9;
await fill(2000, seed, '0');
await page.click('text=Start the run');
await page.waitForSelector('form .fault:not(:empty)');
await checkAxe(page, 'the form');

// A short run, from its start to a game against it.
const short = await start(2000, seed);
await becomes(short, 'finished');
await page.waitForSelector('.chart .line');
check('it is chosen', page.url().includes(encodeURIComponent(short)));
await checkAxe(page, 'a run');
const measured = (await row(short).locator('.quiet', { hasText: 'equity against' }).textContent()).trim();
check('the list and the chart call the measure the same', (await page.locator('.chart .axis', { hasText: measured }).count()) === 1, measured);
check('random play is in the chart', (await page.locator('.chart text', { hasText: 'random play' }).count()) === 1);

// The curve is read by the pointer and by keys, and what is read stays while it is drawn again.
const chart = page.locator('.chart').first();
const box = await chart.boundingBox();
await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
check('the pointer reads', /^[\d,]+ .*: .*\d/.test(await page.textContent('.reading')), await page.textContent('.reading'));
await page.mouse.move(1, 1);
await chart.focus();
const last = await page.textContent('.reading');
await page.keyboard.press('ArrowLeft');
const before1 = await page.textContent('.reading');
check('keys read', before1 !== last, `${last} ${before1}`);
await page.waitForTimeout(2500);
check('it stays', (await page.textContent('.reading')) === before1 && (await page.evaluate(() => document.activeElement.matches('.chart'))));

// A long one that is stopped, goes on, and is stopped again.
const long = await start(50_000_000, seed + 1);
await becomes(long, 'running');
// It moves before its first checkpoint.
const trained = () => row(long).locator('td').nth(1).textContent();
const first = await trained();
await page.waitForTimeout(2500);
check('the list moves', (await trained()) !== first, first);
await page.waitForSelector('.chart .line');
await press(long, 'Stop');
await becomes(long, 'stopped');
const before = await row(long).textContent();
await press(long, 'Go on');
await becomes(long, 'running');
// Time for a measurement on a busy machine too.
await page.waitForTimeout(2000);
await press(long, 'Stop');
await becomes(long, 'stopped');
check('it has gone on', (await row(long).textContent()) !== before, before);

// A mixture, with the shares of its experts.
await page.click('summary:has-text("Start a run")');
await page.selectOption('form select >> nth=2', 'hme');
check('the config is that of the mixture', (await page.textContent('form .plain')).includes('[architecture.hme.expert.mlp]'));
await page.fill('[name="learn.td.games"]', '2000');
await page.fill('[name="evaluate.every"]', '500');
await page.fill('[name="architecture.hme.experts"]', '3');
await page.fill('[name=seed]', String(seed + 2));
const begun = page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/runs'));
await page.click('text=Start the run');
const mixture = (await (await begun).json()).id;
await becomes(mixture, 'finished');
await page.waitForSelector('h3:has-text("Shares of the experts")');
await page.locator('summary:has-text("Config")').last().click();
check('its config is there without a reload', (await page.locator('details .plain').allTextContents()).some((text) => text.includes('experts = 3')));
await page.getByLabel(mixture, { exact: true }).uncheck();

// The mean of both seeds.
await page.getByLabel('Mean of seeds').check();
await page.waitForSelector('.legend li:only-child:has-text("mean of 2 seeds")');

// The page of the API.
await page.goto(`${base}/#/api`);
await page.waitForSelector('h1:has-text("HTTP API")');
for (const summary of await page.locator('summary').all()) await summary.click();
check('runs can be begun by curl', (await page.locator('pre').allTextContents()).some((text) => text.includes('/api/v1/runs') && text.includes('-d ')));
await checkAxe(page, 'the API');
await page.locator('.example button').first().click();
await page.waitForSelector('#message:not([hidden])');

// A game against the network of the short run.
await page.goto(`${base}/#/runs?run=${encodeURIComponent(short)}`);
await press(short, 'Play against it');
await page.waitForSelector('form.begin');
check('it is the opponent', await page.isChecked(`input[name=opponent][value="${short}"]`));
await page.click('form.begin [type=submit]');
await page.waitForSelector('.play .board > *');
await finish(browser, 'training');
