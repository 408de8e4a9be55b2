// What the scripts share: the browser, questions to the server, and a count of what went wrong.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const base = process.env.ADEPT_URL ?? 'http://127.0.0.1:8080';

let faults = 0;

/** Notes whether something is as it should be. */
export function check(name, isRight, more = '') {
  if (!isRight) faults += 1;
  if (!isRight || process.env.VERBOSE) console.log(isRight ? 'ok  ' : 'FAIL', name, more);
}

/** Ends the script: with an error if anything went wrong. */
export async function finish(browser, name) {
  await browser.close();
  console.log(faults === 0 ? `${name}: all is well` : `${name}: ${faults} faults`);
  process.exit(faults === 0 ? 0 : 1);
}

export function launch() {
  const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', ...quiet],
  });
}

/** A page whose faults, and requests to elsewhere, are counted. */
export async function open(context) {
  const page = await context.newPage();
  page.on('pageerror', (error) => check('a fault of the page', false, error.stack));
  page.on('request', (request) => {
    const url = request.url();
    check('a request to elsewhere', url.startsWith(base) || url.startsWith('data:') || url === 'about:blank', url);
  });
  return page;
}

/** Posts to the API. */
export async function post(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${base}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Counts what axe finds on a page. */
export async function checkAxe(page, name) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const found of violations) check(`${name}: axe`, false, `${found.id} ${found.nodes[0].html.slice(0, 160)}`);
}

export async function goTo(page, hash) {
  await page.goto('about:blank');
  await page.goto(`${base}/#/${hash}`);
}
