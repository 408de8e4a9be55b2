// The page of a review: node target/browser/review.mjs write > FILE.mat writes a match to review, and without a word the page of it is
// looked at, ADEPT_URL/review.html.

import { base, check, checkAxe, finish, launch, open } from './browser.mjs';

/** A name that would be more than text if it were not escaped, and a match with errors of both players and a double. */
const NAME = '<img src=x onerror=alert(1)>';
const MATCH = ` 3 point match

 Game 1
 ${NAME} : 0        Bo : 0
  1) 31: 24/23 13/10       42: 8/4 6/4
  2) 65: 24/13             Doubles => 2
  3) Drops                   Wins 1 point

 Game 2
 ${NAME} : 0        Bo : 1
  1)                     31: 8/5 6/5
  2) 66: 24/18(2) 13/7(2)  32: 24/22 13/10
  3) 21: 13/11 6/5
`;

if (process.argv[2] === 'write') {
  process.stdout.write(MATCH);
  process.exit(0);
}

const text = (page, selector) => page.locator(selector).first().innerText();

const browser = await launch();
for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 320], ['dark', 320]]) {
  const name = `review, ${colorScheme}, ${width}`;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  const page = await open(context);
  await page.goto(`${base}/review.html`);
  await page.waitForSelector('.bg-board');
  check(`${name}: title`, (await text(page, 'h1')) === `${NAME} – Bo`, await text(page, 'h1'));
  check(`${name}: no element of a name`, (await page.locator('img').count()) === 0);
  check(`${name}: errors on the graph`, (await page.locator('.slip').count()) > 0);
  const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  check(`${name}: fits the window`, fits);
  await checkAxe(page, name);
  // All actions, from the first to the last by the keyboard.
  await page.locator('select').first().selectOption('all');
  const start = page.getByRole('button', { name: 'First', exact: true });
  if (await start.isEnabled()) await start.click();
  const all = Number(/of (\d+)/.exec(await text(page, '.step-count'))[1]);
  const seen = new Set();
  for (let n = 0; n < all; n += 1) {
    seen.add(await text(page, '.status'));
    await page.keyboard.press('ArrowRight');
  }
  check(`${name}: every action has a text of its own`, seen.size === all && all > 9, `${seen.size} of ${all}`);
  check(`${name}: the double`, [...seen].some((status) => status.includes('Bo: double')), [...seen].join('\n'));
  check(`${name}: the drop`, [...seen].some((status) => status.includes(': pass')), [...seen].join('\n'));
  // The graph and the list lead to positions.
  await page.locator('.slip').first().dispatchEvent('click');
  const first = await text(page, '.status');
  check(`${name}: an error has arrows`, (await page.locator('.arrows path').count()) > 0, first);
  await page.getByRole('button', { name: 'Turn the board' }).click();
  check(`${name}: the same decision from the other side`, (await text(page, '.status')) === first);
  check(`${name}: pips are known`, /\d+ pips/.test(await text(page, '.player-line')), await text(page, '.player-line'));
  await context.close();
}
await finish(browser, 'review');
