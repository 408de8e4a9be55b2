// A server that is killed in the midst of games, and started again: none is lost. Files that are damaged or gone come back from the
// browser. ADEPT is the program, and SERVED the folder in which it runs.

import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, launch } from './browser.mjs';

const { ADEPT, SERVED } = process.env;
const KINDS = [
  ['backgammon', 'small-88-24'],
  ['tictactoe', 'minimax'],
  ['holdem:limit:2', 'limit-2'],
  ['liars-dice:soar:2x5', 'soar-net'],
  ['backgammon:match-5', 'strong'],
  ['connect-four', 'random'],
  ['declared:breakthrough', 'random'],
  ['bearoff', 'hme-4x16'],
];
const GAMES = 50;

let server = null;
let address = '127.0.0.1:0';

/** Starts the server, at the address that it had. */
async function start() {
  server = spawn(ADEPT, ['serve', 'http', '--listen', address], { cwd: SERVED, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  for await (const part of server.stdout) {
    said += part;
    const found = /^listening on (.*)$/m.exec(said);
    if (found) {
      [, address] = found;
      return;
    }
  }
  throw new Error(`the server did not start: ${said}`);
}

function kill() {
  const ended = new Promise((resolve) => { server.once('exit', resolve); });
  server.kill('SIGKILL');
  return ended;
}
process.on('exit', () => server?.kill('SIGKILL'));

async function ask(method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`http://${address}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error.message), { status: answer.status });
  return found;
}

/** Plays a game until it is over or the server is gone: moves, and now and then something else. Keeps every answer. */
async function play(game, known, times) {
  let last = game;
  try {
    for (let n = 1; ; n += 1) {
      // A game that hides something is not taken back when all of it was shown.
      if (last.over && !last.can_undo) return;
      const begun = performance.now();
      if (last.over || (n % 7 === 0 && last.can_undo)) last = await ask('POST', `/plays/${last.id}/undo`, {});
      else if (n % 23 === 0 && last.resignations.length > 0) last = await ask('POST', `/plays/${last.id}/resign`, {});
      else last = await ask('POST', `/plays/${last.id}/moves`, { move: last.moves[(n * 5) % last.moves.length].move, turn: last.turn });
      times.push(performance.now() - begun);
      known.set(last.id, last);
    }
  } catch (error) {
    check('only the end of the server stops games', error.status === undefined, error.message);
  }
}

await start();
const known = new Map();
for (let i = 0; i < GAMES; i += 1) {
  const [game, opponent] = KINDS[i % KINDS.length];
  const begun = await ask('POST', '/plays', { game, opponent, seat: 1 + (i % 2), seed: i });
  known.set(begun.id, begun);
}
for (const time of [700, 1300, 2000]) {
  const times = [];
  const games = [...known.values()].map((game) => play(game, known, times));
  await new Promise((resolve) => { setTimeout(resolve, time); });
  await kill();
  await Promise.all(games);
  await start();
  let same = 0;
  for (const [id, game] of known) {
    const found = await ask('GET', `/plays/${id}`).catch((error) => error);
    // The last change may have been made, and its answer lost.
    const isSame = JSON.stringify(found) === JSON.stringify(game);
    same += isSame;
    check(`${game.game} after kill -9`, isSame || found.turn > game.turn, found.message ?? `turn ${found.turn}, was ${game.turn}`);
    if (found.id) known.set(id, found);
  }
  times.sort((a, b) => a - b);
  if (process.env.VERBOSE) console.log(`${times.length} changes, median ${times[times.length >> 1].toFixed(1)} ms; ${same} of ${known.size} games as last told`);
}
const { plays } = await ask('GET', '/status');
check('all games are in memory', plays === GAMES, String(plays));

// In the browser.
const base = `http://${address}`;
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', acceptDownloads: true });
const page = await context.newPage();
page.on('pageerror', (error) => check('a fault of the page', false, error.stack));
const { id } = await ask('POST', '/plays', { game: 'backgammon', opponent: 'small-88-24', seat: 1, seed: 5 });
const file = join(SERVED, 'checkpoints', 'plays', `${id}.json`);
const count = () => page.textContent('.step-count');

/** Makes a move, while something happens after the click. */
async function move(meanwhile) {
  const before = await count();
  while (await page.locator('[data-key=confirm]').isDisabled()) await page.locator('.place.source.can').first().dblclick();
  await page.click('[data-key=confirm]');
  await meanwhile?.();
  const moved = (step) => document.querySelector('.status').textContent.startsWith('Your turn') && document.querySelector('.step-count').textContent !== step;
  await page.waitForFunction(moved, before, { timeout: 30_000 });
}

await page.goto(`${base}/#/play/${id}`);
await page.waitForSelector('.bg-board');
await move();
await kill();
await move(start);
check('the file has the game', JSON.parse(readFileSync(file)).actions.length > 2);

// A damaged file, then a folder that is gone.
for (const harm of [() => writeFileSync(file, '{"format":'), () => rmSync(join(SERVED, 'checkpoints', 'plays'), { recursive: true })]) {
  await kill();
  harm();
  await start();
  await move();
  check('a lost game is written again', JSON.parse(readFileSync(file)).actions.length > 2);
}

// An older file, as after a failure of the whole machine.
const older = readFileSync(file);
await move();
await kill();
writeFileSync(file, older);
await start();
const newest = await count();
await page.reload();
await page.waitForSelector('.bg-board');
check('the browser has the last moves', (await count()) === newest);
check('no other game is there', readdirSync(join(SERVED, 'checkpoints', 'plays')).length === 1);

// The list of games: files, the link, and the end of a game.
await page.goto(`${base}/#/games`);
await page.getByRole('button', { name: /^Share and save/ }).click();
check('the link', (await page.inputValue('dialog input')).endsWith(id));
for (const [text, begin] of [['Save as .mat', ' Game 1'], ['Save as JSON', '"adept-game-1"']]) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`text=${text}`)]);
  const saved = readFileSync(await download.path(), 'utf8');
  check(text, saved.includes(begin), saved.slice(0, 80));
  if (text.endsWith('JSON')) {
    await page.keyboard.press('Escape');
    await page.setInputFiles('input[type=file]', { name: 'game.json', mimeType: 'application/json', buffer: Buffer.from(saved) });
    await page.waitForSelector('.bg-board');
    check('a file is another game', !page.url().includes(id));
  }
}
await page.goto(`${base}/#/games`);
await page.waitForFunction(() => document.querySelectorAll('.saved > li').length === 2);
for (const left of [1, 0]) {
  await page.getByRole('button', { name: /^Delete:/ }).first().click();
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForFunction((many) => document.querySelectorAll('.saved > li').length === many, left);
}
check('no file is left', readdirSync(join(SERVED, 'checkpoints', 'plays')).length === 0);
await finish(browser, 'games of a killed server');
