// Time to the first board in fresh browser contexts, which have nothing in their caches: node target/browser/first.mjs, beside a server
// as in run.sh. Milliseconds from the start of the navigation to the frame after the board has come, on this machine as it is, and as on a
// phone: Lighthouse's slow 4G, which its older versions called fast 3G (562.5 ms a request, 1.44 Mbit/s down, 675 kbit/s up), and a processor
// that is four times as slow.

import { base, check, finish, launch, post } from './browser.mjs';

const TIMES = 6;
const LIMITS = { 'on this machine': 200, 'on a phone': 1500 };

const { id } = await post('/plays', { game: 'backgammon', opponent: 'random', seat: 1 });
const browser = await launch();

/** Makes a page as slow as a phone. */
async function slowDown(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const kbits = (rate) => (rate * 1000) / 8;
  await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 562.5, downloadThroughput: kbits(1440), uploadThroughput: kbits(675) });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

async function once(path, wanted, isSlow) {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (isSlow) await slowDown(page);
  await page.addInitScript((selector) => {
    const watch = new MutationObserver(() => {
      if (!document.querySelector(selector)) return;
      watch.disconnect();
      requestAnimationFrame(() => { window.firstBoard = performance.now(); });
    });
    watch.observe(document, { subtree: true, childList: true });
  }, wanted);
  await page.goto(base + path);
  const time = await (await page.waitForFunction(() => window.firstBoard)).jsonValue();
  if (process.env.VERBOSE) {
    const found = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, startTime, responseEnd, encodedBodySize }) => [new URL(name).pathname, startTime, responseEnd, encodedBodySize]));
    for (const [name, from, to, bytes] of found) console.log(`  ${name} ${from.toFixed(0)} to ${to.toFixed(0)} ms, ${bytes} bytes`);
  }
  await context.close();
  return Math.round(time);
}

for (const [where, limit] of Object.entries(LIMITS)) {
  for (const [what, path, wanted] of [['games to choose', '/#/', '.card'], ['backgammon', `/#/play/${id}`, '.board-side svg'], ['a position', '/#/position/backgammon', '.board-side svg']]) {
    const times = [];
    for (let i = 0; i < TIMES; i += 1) times.push(await once(path, wanted, where !== 'on this machine'));
    times.sort((a, b) => a - b);
    const median = times[TIMES / 2];
    console.log(`${what} ${where}: median ${median} ms of ${times.join(' ')}`);
    check(`${what} ${where} within ${limit} ms`, median <= limit, `${median} ms`);
  }
}
await finish(browser, 'first boards');
