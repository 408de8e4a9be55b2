// What reports share: their data, and charts as wide as the window.

import { h, put } from './dom.js';

const LEAST_WIDTH = 260;
const MOST_WIDTH = 960;
const PANEL = 40;

export const main = document.querySelector('main');
export const data = JSON.parse(document.getElementById('data').textContent);

export const date = (ms) => (ms ? `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC` : '–');

const charts = [];

/** What is drawn again when the window has another width. `draw` gets pixels, at most `most`. */
export function chart(draw, most = MOST_WIDTH) {
  const place = h('div', null);
  charts.push(() => put(place, draw(Math.min(most, Math.max(LEAST_WIDTH, (place.clientWidth || main.clientWidth - PANEL))))));
  return place;
}

/** Draws all charts. */
export const drawCharts = () => charts.forEach((draw) => draw());

addEventListener('resize', drawCharts);
