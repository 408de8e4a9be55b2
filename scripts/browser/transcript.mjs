// What a screen reader says in a game that is played with keys alone, as Markdown: node target/browser/transcript.mjs, beside a server as in
// run.sh. Each line is what the accessibility tree of Chromium holds about the focused element (its name, role and states), or what a live
// region has announced. docs/screen-reader.md is its output.

import { base, launch, open } from './browser.mjs';

const GAME = 'tictactoe';
const OPPONENT = 'ttt';
/** The squares to try, as steps of the arrow keys from the middle. */
const WANTED = ['1.1', '0.0', '1.0', '1.2', '0.2', '2.0', '2.2', '0.1', '2.1'];
const STATES = ['checked', 'pressed', 'selected', 'disabled', 'required'];
const MOST = 60;

const browser = await launch();
const page = await open(await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' }));
const devtools = await page.context().newCDPSession(page);
const lines = [];
const note = (key, said) => lines.push(`| ${key} | ${said.replaceAll('|', '\\|')} |`);

/** What is said of the focused element. */
async function focused() {
  const { result } = await devtools.send('Runtime.evaluate', { expression: 'document.activeElement' });
  const { nodes } = await devtools.send('Accessibility.getPartialAXTree', { objectId: result.objectId, fetchRelatives: false });
  const [{ role, name, properties = [], value }] = nodes;
  const isOpen = properties.find(({ name: state }) => state === 'expanded')?.value.value;
  const kind = role?.value === 'DisclosureTriangle' ? (isOpen ? 'details, open' : 'details, closed') : role?.value;
  const states = properties.filter(({ name: state, value: is }) => STATES.includes(state) && is.value !== false && is.value !== 'false').map(({ name: state, value: is }) => (is.value === 'mixed' ? `${state} in part` : state));
  return [name?.value, kind, value?.value, ...states].filter(Boolean).join(', ');
}

/** Notes what live regions announce, with their words as they stand a moment later. */
await page.addInitScript(() => {
  window.announced = [];
  const regions = '#live, #message, #banner';
  addEventListener('DOMContentLoaded', () => {
    for (const region of document.querySelectorAll(regions)) {
      new MutationObserver(() => region.textContent.trim() && !region.hidden && window.announced.push(region.textContent.trim())).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
});

async function announcements() {
  await page.waitForTimeout(400);
  for (const said of await page.evaluate(() => window.announced.splice(0))) note('', `*announced:* ${said}`);
}

/** Notes where the focus is in a new view, unless that was noted with the key. */
async function arrived() {
  const said = await focused();
  if (!lines.slice(-2).some((line) => line.includes(said))) note('', said);
}

async function press(key) {
  await page.keyboard.press(key);
  await page.waitForTimeout(60);
  note(`\`${key}\``, await focused());
}

/** Presses Tab until the focus is on what a test accepts. */
async function tabTo(test) {
  for (let i = 0; i < MOST; i += 1) {
    await press('Tab');
    if (await page.evaluate(test)) return;
  }
  throw new Error('the focus does not get there');
}

const isOver = () => page.evaluate(() => document.querySelector('.status')?.matches('.won, .lost, .drawn') ?? false);

/** Goes to a square by arrow keys, and fills it. */
async function fill(square) {
  const place = (key) => key.split('.').map(Number);
  const at = () => page.evaluate(() => document.activeElement.getAttribute('data-key'));
  const [row, col] = place(square);
  for (let i = 0; i < 4; i += 1) {
    const [r, c] = place(await at());
    if (r !== row) await press(r < row ? 'ArrowDown' : 'ArrowUp');
    else if (c !== col) await press(c < col ? 'ArrowRight' : 'ArrowLeft');
  }
  await press('Enter');
  await page.waitForFunction(() => !document.querySelector('.waits'));
  await announcements();
}

await page.goto(`${base}/#/`);
await page.waitForSelector('.card');
note('', `*page:* ${await page.title()}`);
await tabTo(`document.activeElement.getAttribute('href') === '#/new/${GAME}'`);
await press('Enter');
await page.waitForSelector('form.begin');
await announcements();
await arrived();
await page.waitForSelector(`input[value="${OPPONENT}"]`, { state: 'attached' });
await tabTo(`document.activeElement.name === 'opponent'`);
for (let i = 0; i < MOST && !(await page.evaluate(`document.activeElement.value === '${OPPONENT}'`)); i += 1) await press('ArrowDown');
await tabTo(`document.activeElement.type === 'submit'`);
await press('Enter');
await page.waitForSelector('.square');
await announcements();
await arrived();
await tabTo(`document.activeElement.closest('.square') !== null`);
for (const square of WANTED) {
  if (await isOver()) break;
  if (await page.locator(`.square[data-key="${square}"].can`).count()) await fill(square);
}
await page.waitForFunction(() => document.querySelector('.status')?.matches('.won, .lost, .drawn'));
note('', `*status:* ${await page.textContent('.status')}`);

console.log(`# What does a screen reader say?

A whole game of tic-tac-toe with keys alone, from the first page to the result. The left column is the key, the right one what is said then: the
name, the role and the states of the element with the focus, from the accessibility tree of Chromium, and what live regions announce.
\`scripts/browser/transcript.mjs\` plays the game and writes this page.

| key | said |
|---|---|
${lines.join('\n')}
`);
await browser.close();
