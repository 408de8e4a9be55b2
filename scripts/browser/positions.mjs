// Edits positions with the mouse, by touch and with keys; pastes and copies IDs; saves pictures.

import { readFileSync } from 'node:fs';
import { base, check, checkAxe, finish, goTo, launch, open, post } from './browser.mjs';

const START = '24:2 13:5 8:3 6:5';
const XGID = 'XGID=-b----E-C---eE---c-e----B-:1:-1:-1:31:2:3:0:7:10';

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', hasTouch: true, bypassCSP: true, acceptDownloads: true });
const page = await open(context);
const text = () => page.inputValue('#position');
const place = (key) => page.locator(`.place[data-key="${key}"]`);
const id = async (label) => page.locator('.id-row', { has: page.locator('span', { hasText: new RegExp(`^${label}$`) }) }).locator('code').textContent();

/** The middle of the checker next to the edge of a point. */
async function spot(key) {
  const { x, y, width, height } = await place(key).locator('.hit').boundingBox();
  const isTop = Number(key.slice(1)) > 12;
  return [x + width / 2, isTop ? y + height * 0.15 : y + height * 0.85];
}

await goTo(page, 'position/backgammon');
await page.waitForSelector('.candidate');
await page.click('[data-key=edit]');
await page.waitForSelector('.edits .bg-board');

// The mouse drags.
await page.mouse.move(...(await spot('p6')));
await page.mouse.down();
await page.mouse.move(...(await spot('p7')), { steps: 4 });
await page.mouse.move(...(await spot('p9')), { steps: 4 });
check('a dragged checker is drawn', (await page.locator('.dragged').count()) === 1);
await page.mouse.up();
check('dragged', (await text()) === `24:2 13:5 9:1 8:3 6:4/${START} 31`, await text());

// Keys pick up and put down, add and take off. The focus stays.
await place('p6').focus();
for (const key of ['Enter', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
check('moved by keys', (await text()) === `24:2 13:5 9:1 8:3 6:3 5:1/${START} 31`, await text());
await page.keyboard.press('-');
check('taken off', (await text()) === `24:2 13:5 9:1 8:3 6:3/${START} 31`, await text());
await page.keyboard.press('+');
check('put on again', (await text()) === `24:2 13:5 9:1 8:3 6:3 5:1/${START} 31`, await text());
check('the focus stays', (await page.evaluate(() => document.activeElement.getAttribute('data-key'))) === 'p5');

// A point of the other side takes no checker.
const before = await text();
await place('p6').press('Enter');
await place('p1').press('Enter');
check('a held point stays', (await text()) === before, await text());

// A finger presses one place and then another.
await page.touchscreen.tap(...(await spot('p8')));
await page.touchscreen.tap(...(await spot('p7')));
check('tapped', (await text()).includes('8:2 7:1'), await text());
await checkAxe(page, 'the editor');

// The cube, the score and the dice are in the IDs.
await page.selectOption('[data-key=cube]', '2');
await page.locator('[data-key=length]').fill('7');
await page.locator('[data-key=length]').press('Tab');
await page.locator('[data-key=mine]').fill('3');
await page.locator('[data-key=mine]').press('Tab');
await page.selectOption('[data-key=roll]', '65');
check('all is in the XGID', (await id('XGID')).endsWith(':1:1:1:65:3:0:0:7:10'), await id('XGID'));

// The server reads what the page writes.
for (const label of ['gnubg ID', 'XGID']) {
  const read = await post('/moves', { agent: 'small-88-24', position: await id(label), count: 1 });
  check(`the server reads the ${label}`, read.position === (await text()), JSON.stringify(read).slice(0, 200));
}

// What is pasted counts for the side to roll, who is the other side here.
await page.click('[data-key=edit]');
await page.fill('#position', XGID);
await page.click('form [type=submit]');
await page.waitForFunction(() => document.querySelector('.id-row')?.textContent.includes('4HPwATDgc/ABMA'));
check('the XGID is turned', (await id('XGID')) === 'XGID=-b----E-C---eE---c-e----B-:1:1:1:31:3:2:0:7:10', await id('XGID'));
await page.click('[data-key=back]', { timeout: 5000 }).catch(() => check('there is a way back', false));

// Pictures need no style sheet.
for (const kind of ['SVG', 'PNG']) {
  const download = page.waitForEvent('download');
  await page.click(`[data-key=${kind}]`);
  const bytes = readFileSync(await (await download).path());
  if (kind === 'PNG') check('a PNG', bytes.subarray(1, 4).toString() === 'PNG' && bytes.length > 10_000, bytes.length);
  else check('an SVG', /^<svg[^>]* xmlns=/.test(bytes.toString()) && !/class=|NaN|url\(/.test(bytes.toString()), bytes.toString().slice(0, 200));
}

// A change of the cube alone is taken back alone, and a move turns cube and score to the side that is next.
await goTo(page, 'position/backgammon');
await page.waitForSelector('.candidate');
await page.click('[data-key=edit]');
await page.selectOption('[data-key=roll]', '31');
await page.locator('[data-key=length]').fill('7');
await page.locator('[data-key=length]').press('Tab');
await page.locator('[data-key=mine]').fill('3');
await page.locator('[data-key=mine]').press('Tab');
await page.selectOption('[data-key=cube]', '2');
const held = await id('XGID');
await page.click('[data-key=back]');
check('the cube is taken back', (await id('XGID')).endsWith(':0:0:1:31:3:0:0:7:10'), await id('XGID'));
await page.selectOption('[data-key=cube]', '2');
await page.click('[data-key=edit]');
await page.waitForSelector('.candidate');
await page.locator('.candidate').first().click();
await page.locator('.candidates button', { hasText: /^Play / }).first().click();
await page.waitForFunction((old) => !document.querySelector('.id-row + .id-row').textContent.includes(old), held);
check('the other side is next', (await id('XGID')).endsWith(':1:-1:1:00:0:3:0:7:10'), await id('XGID'));
await page.click('[data-key=back]');
check('and back', (await id('XGID')) === held, await id('XGID'));

// A damaged ID is no position, and no fault of the page.
await page.fill('#position', XGID.replace(':2:3:0:7:', ':x:3:0:7:'));
await page.click('form [type=submit]');
await page.waitForTimeout(300);

// A view that was left changes no address.
await goTo(page, 'position/backgammon');
await page.waitForSelector('.candidate');
await page.click('[data-key=edit]');
await place('p6').press('-');
await page.evaluate(() => { location.hash = '#/games'; });
await page.waitForSelector('h1:has-text("Your games")');
await page.waitForTimeout(700);
check('the address stays', page.url().endsWith('#/games'), page.url());

// Squares.
await goTo(page, 'position/tictactoe');
await page.waitForSelector('.candidate');
await page.click('[data-key=edit]');
await page.click('.square[data-key="0.1"]');
check('a square is filled', (await text()) === 'XX..O....', await text());
await page.click('[data-key=back]');
check('taken back', (await text()) === 'X...O....', await text());
await finish(browser, 'positions');
