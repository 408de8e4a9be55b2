// Reviews on the page: of finished games, and of a file. In the folder of this script lies review.mat.

import { base, check, checkAxe, finish, goTo, launch, open, post } from './browser.mjs';

const get = async (path) => (await fetch(`${base}/api/v1${path}`)).json();

/** Plays a game in which the person makes the worst of the listed moves now and then. */
async function played(settings, by) {
  let play = await post('/plays', settings);
  const { id } = play;
  for (let n = 1; !play.over; n += 1) {
    const { value } = await get(`/plays/${id}/hints?by=${by}`);
    const { move } = value.moves[n % 2 === 0 ? value.moves.length - 1 : 0];
    play = await post(`/plays/${id}/moves`, { move });
  }
  return id;
}

const GAMES = {
  backgammon: await played({ game: 'backgammon', opponent: 'small-88-24', seat: 2, seed: 5 }, 'small-88-24'),
  'connect-four': await played({ game: 'connect-four', opponent: 'uct:1000', seat: 1, seed: 5 }, 'uct:1000'),
  tictactoe: await played({ game: 'tictactoe', opponent: 'uct:1000', seat: 2, seed: 5 }, 'minimax'),
};

/** Whether the first elements with these selectors lie in the window. */
const inWindow = (page, selectors) => page.evaluate((all) => all.filter((selector) => {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return !box || box.top < 0 || box.left < 0 || box.bottom > innerHeight + 1 || box.right > innerWidth + 1;
}).join(', '), selectors);

const browser = await launch();
for (const [colorScheme, width, height] of [['light', 1280, 800], ['dark', 390, 844]]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, bypassCSP: true });
  const page = await open(context);
  const status = () => page.locator('.verdict').innerText();
  for (const [game, id] of Object.entries(GAMES)) {
    const name = `review of ${game}, ${colorScheme}, ${width}`;
    await goTo(page, `play/${id}`);
    await page.getByRole('link', { name: 'Show my worst move' }).click();
    await page.waitForSelector('.review .chart');
    // One press, and no scrolling.
    const hidden = await inWindow(page, ['.verdict', '.review-board svg', '.candidates-panel tbody tr', '.candidates-panel tbody tr:nth-child(2)']);
    check(`${name}: all in the window`, hidden === '', hidden);
    check(`${name}: not scrolled`, (await page.evaluate(() => scrollY)) === 0);
    check(`${name}: fits the window`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const worst = await status();
    check(`${name}: a move of the person`, worst.includes('You: ') && worst.includes('best'), worst);
    check(`${name}: both are marked`, (await page.locator('.review-board :is(.arrows, .advised) > *').count()) === (worst.includes('– best') ? 1 : 2), worst);
    check(`${name}: the row of what was played`, (await page.locator('.candidates-panel .is-played').count()) === 1);
    check(`${name}: one sentence`, /^You (won|lost|drew).*\.$/.test(await page.locator('.story').innerText()), await page.locator('.story').innerText());
    await checkAxe(page, name);
    await page.keyboard.press('ArrowRight');
    check(`${name}: the keyboard steps`, (await status()) !== worst);
    await page.locator('.slip').first().dispatchEvent('click');
    check(`${name}: the graph leads to an error`, (await status()).includes('best'), await status());
    const learn = page.getByRole('button', { name: /^Learn from your mistakes/ });
    if ((await learn.count()) === 0) continue;
    await learn.click();
    check(`${name}: a question`, (await status()).includes('what is best?') && (await page.locator('.review-board :is(.arrows, .advised) > *').count()) === 0, await status());
    await page.locator('.answers button').first().click();
    check(`${name}: a verdict`, /Right|loses/.test(await status()), await status());
    await checkAxe(page, `${name}, verdict`);
  }
  const name = `review of a file, ${colorScheme}, ${width}`;
  await goTo(page, 'review');
  await page.waitForSelector('.drop-zone');
  await checkAxe(page, `${name}, before`);
  await page.locator('input[type=file]').setInputFiles({ name: 'bad.mat', mimeType: 'text/plain', buffer: Buffer.from('no match\n') });
  await page.waitForSelector('.fault');
  check(`${name}: a bad file is named`, (await page.locator('.fault').innerText()).includes('bad.mat'), await page.locator('.fault').innerText());
  await page.locator('input[type=file]').setInputFiles(new URL('review.mat', import.meta.url).pathname);
  await page.waitForSelector('.review .chart');
  check(`${name}: the worst decision`, (await status()).includes('very bad'), await status());
  const hidden = await inWindow(page, ['.verdict', '.review-board svg', '.candidates-panel tbody tr']);
  check(`${name}: all in the window`, hidden === '', hidden);
  check(`${name}: no element of a name`, (await page.locator('img').count()) === 0);
  check(`${name}: the score`, (await page.locator('.text-side').innerText()).includes('of 3'));
  await checkAxe(page, name);
  await context.close();
}
await finish(browser, 'reviews');
