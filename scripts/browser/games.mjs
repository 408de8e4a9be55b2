// Plays every game to its end: with the mouse, then with keys alone; drags checkers, and plays by touch on a phone.

import { base, check, checkAxe, finish, goTo, launch, open, post } from './browser.mjs';

/** Game, opponent, seat. */
const GAMES = [
  ['tictactoe', 'ttt', 1],
  ['connect-four', 'random', 2],
  ['bearoff', 'hme-4x16', 1],
  ['hypergammon', 'td-128-32', 2],
  ['backgammon', 'small-88-24', 1],
  ['backgammon:match-3', 'random', 1],
  ['hypergammon:money-beavers', 'random', 2],
  ['liars-dice:soar:2x5', 'soar-net', 1],
  ['leduc', 'random', 2],
  ['holdem:limit:2', 'limit-2', 1],
  ['holdem:limit:6', 'limit-6', 4],
  ['declared:breakthrough', 'random', 1],
  ['declared:nim', 'random', 1],
];
const LONGEST = 240_000;

/** A player that chooses at random, the same way in every run. */
class Player {
  constructor(page, how) {
    this.page = page;
    this.how = how;
    this.salt = 11;
  }

  pick(n) {
    this.salt = (this.salt * 1103515245 + 12345) % 2147483648;
    return Math.floor((this.salt / 2147483648) * n);
  }

  async press(target, key) {
    if (this.how === 'touch') return target.tap();
    if (this.how !== 'keys') return target.click();
    await target.focus();
    return this.page.keyboard.press(key);
  }

  /** Presses one of these; false if there is none. */
  async pressOne(targets, key) {
    const count = await targets.count();
    if (count > 0) await this.press(targets.nth(this.pick(count)), key);
    return count > 0;
  }

  /** Drags a checker to a place where it can go: at first away from the board, then on; false if none can move. */
  async dragChecker() {
    const { page } = this;
    const checkers = page.locator('.checker.is-movable');
    const count = await checkers.count();
    if (count === 0) return false;
    const middle = async (target) => {
      const { x, y, width, height } = await target.boundingBox();
      return [x + width / 2, y + height / 2];
    };
    await page.mouse.move(...(await middle(checkers.nth(this.pick(count)))));
    await page.mouse.down();
    await page.mouse.move(5, 5, { steps: 3 });
    check('a dragged checker is drawn', (await page.locator('.dragged').count()) === 1);
    const places = page.locator('.place.target');
    await page.mouse.move(...(await middle(places.nth(this.pick(await places.count())).locator('.landing'))), { steps: 3 });
    await page.mouse.up();
    return true;
  }

  /** Moves checkers step by step, with second thoughts, until the move can be confirmed. */
  async moveCheckers(confirm) {
    if (this.how === 'drag') {
      while (!(await confirm.isEnabled()) && (await this.dragChecker()));
      return this.press(confirm, 'Enter');
    }
    for (let n = 0; n < 30 && !(await confirm.isEnabled()); n += 1) {
      if (!(await this.pressOne(this.page.locator('.place.source.can'), ' '))) break;
      if (this.pick(5) === 0) {
        await this.page.keyboard.press('Escape');
        continue;
      }
      await this.pressOne(this.page.locator('.place.target'), 'Enter');
      if (this.pick(6) === 0) await this.press(this.page.locator('[data-key=undo-step]'), 'Enter');
    }
    return this.press(confirm, 'Enter');
  }

  /** Makes a bid; false if these parts are none. */
  async bid() {
    const { page } = this;
    await this.pressOne(page.locator('[data-key^=face]'), 'Enter');
    const more = page.locator('[data-key=more]');
    if (this.pick(2) === 1 && (await more.isEnabled())) await this.press(more, 'Enter');
    const bid = page.locator('[data-key=bid]');
    if (!(await bid.isEnabled())) return false;
    await this.press(bid, 'Enter');
    return true;
  }

  async move() {
    const { page } = this;
    const confirm = page.locator('[data-key=confirm]');
    if (await confirm.count()) return this.moveCheckers(confirm);
    if ((await page.locator('.builder').count()) && this.pick(3) > 0 && (await this.bid())) return undefined;
    if (await this.pressOne(page.locator('.board [role=button].can'), ' ')) {
      return this.pressOne(page.locator('.square.target.can'), 'Enter');
    }
    if (await page.locator('.builder').count()) {
      return this.pressOne(page.locator('.board .controls > .row:last-child button'), 'Enter');
    }
    return this.pressOne(page.locator('.board .controls button:not(:disabled), .moves-list button'), 'Enter');
  }
}

const isOver = async (page) => /won|lost|drawn/.test(await page.locator('.status').getAttribute('class'));

async function begin(page, [game, opponent, seat]) {
  await page.goto('about:blank');
  await page.goto(`${base}/#/new/${encodeURIComponent(game)}`);
  await page.waitForSelector('form.begin');
  const others = page.locator('.agents:not([open]) > summary');
  if (await others.count()) await others.click();
  await page.check(`input[name=opponent][value="${opponent}"]`);
  await page.check(`input[name=seat][value="${seat}"]`);
  await page.locator('summary', { hasText: 'More' }).click();
  await page.fill('input[name=seed]', '7');
  await page.click('form.begin button[type=submit]');
  await page.waitForSelector('.board > *');
}

async function play(page, how, named) {
  await begin(page, named);
  const player = new Player(page, how);
  const until = Date.now() + LONGEST;
  while (!(await isOver(page)) && Date.now() < until) {
    if (!(await page.locator('.status').textContent()).startsWith('Your turn')) {
      await page.waitForTimeout(20);
      continue;
    }
    const before = await page.locator('.step-count').textContent();
    await player.move();
    const moved = (step) => {
      const status = document.querySelector('.status');
      const isMine = status.textContent.startsWith('Your') || /won|lost|drawn/.test(status.className);
      return document.querySelector('.step-count')?.textContent !== step && isMine;
    };
    await page.waitForFunction(moved, before, { timeout: 15_000 }).catch(() => {});
  }
  check(`${named[0]} by ${how}`, await isOver(page), await page.locator('.status').textContent());
}

/** What is where: the board may not move while others act. */
const places = (page) => page.evaluate(() => ['.bg-board', '.controls'].map((name) => {
  const { top, height } = document.querySelector(name).getBoundingClientRect();
  return [Math.round(top), Math.round(height)].join('+');
}).join(' '));

/** The cube by a click, checkers that glide, a board that stays where it is, and its settings. */
async function cubeAndMotion(browser) {
  const page = await open(await browser.newContext({ viewport: { width: 1280, height: 900 } }));
  const { id, turn, moves } = await post('/plays', { game: 'backgammon:match-3', opponent: 'random', seat: 1, seed: 7 });
  await post(`/plays/${id}/moves`, { move: moves[0].move, turn });
  await goTo(page, `play/${id}`);
  await page.waitForSelector('.cube.can');
  await checkAxe(page, 'a match');
  check('the score', (await page.locator('.score').first().textContent()) === '0 of 3');
  const before = await places(page);
  await page.locator('.cube.can').click();
  await page.waitForFunction(() => /double to 2/.test(document.querySelector('.events').textContent));
  check('the board stays while the cube is answered', (await places(page)) === before, `${before}, then ${await places(page)}`);
  const confirm = page.locator('[data-key=confirm]');
  for (let n = 0; n < 400 && !(await confirm.count()); n += 1) {
    const roll = page.locator('[data-key=cube-roll]');
    if (await roll.count()) await roll.click().catch(() => {});
    await page.waitForTimeout(50);
  }
  await page.locator('.place.source.can').first().click();
  await page.locator('.place.target').first().click();
  check('a checker glides', (await page.locator('.flies').count()) > 0);
  await page.waitForFunction(() => !document.querySelector('.flies'));
  check('and stands where it went', (await page.locator('.checker[style*=hidden]').count()) === 0);

  const tray = () => page.locator('.tray').first().getAttribute('x');
  const right = Number(await tray());
  await page.locator('.tools button', { hasText: 'Settings' }).click();
  await checkAxe(page, 'settings');
  await page.selectOption('[data-key=set-bears-off]', 'left');
  await page.selectOption('[data-key=set-colours]', 'contrast');
  await page.selectOption('[data-key=set-pace]', 'off');
  await page.keyboard.press('Escape');
  check('the tray is on the left', Number(await tray()) < right);
  await page.locator('[data-key=undo-step]').click();
  check('nothing glides without animation', (await page.locator('.flies').count()) === 0);
  await page.reload();
  await page.waitForSelector('.bg-board');
  check('settings are kept', (await page.evaluate(() => document.documentElement.dataset.board)) === 'contrast' && Number(await tray()) < right);

  await page.locator('.tools button', { hasText: 'Resign' }).click();
  await page.locator('dialog button', { hasText: 'Single game' }).click();
  await page.waitForSelector('.game-end');
  check('the end of a game in words', /wins? game 1.*The score is/.test(await page.locator('.game-end').first().textContent()), await page.locator('.game-end').first().textContent());
}

const browser = await launch();
await cubeAndMotion(browser);
const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** The games that are played in a way of their own; all others with the mouse and with keys. */
const SOME = { drag: /^(bearoff|hypergammon)$/, touch: /^(connect-four|bearoff|backgammon:match-3|liars-dice:soar:2x5|holdem:limit:2)$/ };
for (const how of ['mouse', 'keys', 'drag', 'touch']) {
  const context = await browser.newContext({ ...(how === 'touch' ? PHONE : DESK), reducedMotion: 'reduce' });
  // By touch the page rolls for the person, who never doubles.
  if (how === 'touch') await context.addInitScript(() => location.protocol !== 'about:' && localStorage.setItem('adept.set.roll', '"go"'));
  const page = await open(context);
  for (const named of GAMES.filter(([game]) => SOME[how]?.test(game) ?? true)) await play(page, how, named);
}
await finish(browser, 'games to their ends');
