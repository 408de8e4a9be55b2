// Makes the pictures of the README and the book: ADEPT_URL=http://127.0.0.1:8080 node target/browser/pictures.mjs docs/pictures
//
// run.sh fills target/browser. The server has the published checkpoints, and as its only runs those that
// `adept train configs/tictactoe/hme-2x40-st3.toml --set learn.td.games=100000 --seeds 3` makes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base, check, finish, goTo, launch, open, post } from './browser.mjs';

const folder = process.argv[2] ?? '.';
const viewport = { width: 1280, height: 800 };
const LARGEST = 200_000;
const AGENT = 'expert-512-64';
const MIDDLE = '13:3 9:2 8:3 7:1 6:4 5:1 20:1/24:1 22:1 13:4 8:3 6:4 4:2 62';

const get = async (path) => (await fetch(`${base}/api/v1${path}`)).json();

async function shoot(page, name) {
  await page.mouse.move(0, 0);
  const picture = await page.screenshot({ animations: 'disabled' });
  const file = join(folder, `${name}.png`);
  writeFileSync(file, picture);
  check(`${file} is small`, picture.length < LARGEST, `${picture.length} bytes`);
}

/** A game in its middle, with the thoughts of its opponent. */
async function takePlay(page) {
  const { id } = await post('/plays', { game: 'backgammon', opponent: AGENT, seat: 1, seed: 4, from: MIDDLE });
  await goTo(page, `play/${id}`);
  await page.waitForSelector('.candidate');
  await shoot(page, 'play-backgammon');
}

/** A finished game in which the person plays the third best move now and then. */
async function takeAnalysis(page) {
  let play = await post('/plays', { game: 'hypergammon', opponent: 'td-128-32', seat: 1, seed: 12 });
  const { id } = play;
  for (let n = 1; !play.over; n += 1) {
    const { value } = await get(`/plays/${id}/hints?by=exact-256-64`);
    const { move } = value.moves[n % 3 === 0 ? Math.min(2, value.moves.length - 1) : 0];
    play = await post(`/plays/${id}/moves`, { move });
  }
  await goTo(page, `play/${id}`);
  await page.getByRole('link', { name: 'Show my worst move' }).click();
  await page.waitForSelector('.review .chart');
  await page.evaluate(() => scrollTo(0, 0));
  await shoot(page, 'analysis');
}

/** The mean of all runs, and their experts. */
async function takeTraining(page) {
  const { runs } = await get('/runs');
  check('there are runs', runs.length > 0);
  await goTo(page, `runs?run=${runs.map(({ id }) => encodeURIComponent(id)).join(',')}`);
  await page.waitForSelector('.chart');
  const mean = page.getByText('mean of seeds', { exact: false });
  if (await mean.count()) await mean.first().click();
  await shoot(page, 'training');
}

const browser = await launch();
for (const take of [takePlay, takeAnalysis, takeTraining]) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce' });
  await context.addInitScript(() => location.protocol === 'http:' && localStorage.setItem('adept.thinks', 'true'));
  await take(await open(context));
  await context.close();
}
await finish(browser, 'pictures');
