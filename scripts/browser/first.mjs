// Time to the first board in fresh browser contexts, which have nothing in their caches: node target/browser/first.mjs, beside a server
// as in run.sh. Milliseconds from the start of the navigation to the frame after the board has come.

import { base, launch, post } from './browser.mjs';

const TIMES = 12;

const { id } = await post('/plays', { game: 'backgammon', opponent: 'random', seat: 1 });
const browser = await launch();
for (const [what, path, wanted] of [['games to choose', '/#/', '.card'], ['backgammon', `/#/play/${id}`, '.board-side svg']]) {
  const times = [];
  for (let i = 0; i < TIMES; i += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript((selector) => {
      const watch = new MutationObserver(() => {
        if (!document.querySelector(selector)) return;
        watch.disconnect();
        requestAnimationFrame(() => { window.firstBoard = performance.now(); });
      });
      watch.observe(document, { subtree: true, childList: true });
    }, wanted);
    await page.goto(base + path);
    const time = await page.waitForFunction(() => window.firstBoard);
    times.push(Math.round(await time.jsonValue()));
    await context.close();
  }
  times.sort((a, b) => a - b);
  console.log(`${what}: median ${times[TIMES / 2]} ms of ${times.join(' ')}`);
}
await browser.close();
