// Training runs: a list that stays up to date, and their curves beside each other.

import { get } from './api.js';
import { h, put, svg } from './dom.js';

const EVERY = 2000;
const STATES = new Set(['running', 'finished', 'stopped']);
const HEIGHT = 320;
const PAD = { left: 60, right: 20, top: 14, bottom: 46 };

/** What runs learn from. */
const LEARNED = 'games or samples';

/** A run from the list, with the number to show: of the last checkpoint, or of the best one so far. */
const readRun = (run) => ({ ...run, value: run.final ?? run.best });

/** The curves of a run by figure: lists of pairs. */
function readCurves({ measure, curve, loss }) {
  const all = new Map([[measure ?? 'figure', curve], ['loss', loss]]);
  return new Map([...all].filter(([, points]) => points.length > 0));
}

export async function runsView(root, _, signal, query) {
  const view = new RunsView(root, signal, (query.get('run') ?? '').split(',').filter(Boolean));
  view.take((await get('/runs', signal)).runs);
  view.watch();
  return 'Training';
}

class RunsView {
  constructor(root, signal, chosen) {
    this.signal = signal;
    this.chosen = new Set(chosen);
    this.curves = new Map();
    this.figure = null;
    this.list = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Runs' });
    this.chart = h('section', { class: 'panel stack', hidden: true });
    put(root, h('h1', null, 'Training'), h('div', { class: 'stack' }, this.list, this.chart));
    addEventListener('resize', () => this.drawChart(), { signal });
  }

  /** Asks again while the page is seen. */
  watch() {
    const timer = setInterval(async () => {
      if (document.hidden || this.isAsking) return;
      this.isAsking = true;
      try {
        this.take((await get('/runs', this.signal)).runs);
      } catch {
        // The next try may do.
      } finally {
        this.isAsking = false;
      }
    }, EVERY);
    this.signal.addEventListener('abort', () => clearInterval(timer));
  }

  take(runs) {
    const said = JSON.stringify(runs);
    if (said === this.said) return;
    this.said = said;
    this.runs = runs.map(readRun);
    this.drawList();
    this.load();
  }

  drawList() {
    const held = document.activeElement?.getAttribute('data-key');
    if (this.runs.length === 0) {
      put(this.list, h('p', { class: 'quiet' }, 'There are no runs yet. `adept train CONFIG` begins one.'));
      return;
    }
    const heads = ['run', 'state', 'trained', 'time', 'figure'];
    put(this.list, h(
      'table',
      { class: 'runs' },
      h('thead', null, h('tr', null, heads.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, this.runs.map((run) => this.row(run))),
    ));
    if (held) this.list.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
  }

  row(run) {
    const check = h('input', {
      type: 'checkbox',
      checked: this.chosen.has(run.id),
      'data-key': run.id,
      onchange: () => this.choose(run.id, check.checked),
    });
    const { status } = run;
    return h(
      'tr',
      null,
      h('th', { scope: 'row' }, h('label', { class: 'check' }, check, run.id)),
      h('td', null, h('span', { class: `state ${STATES.has(status) ? status : 'stopped'}` }, status)),
      h('td', null, run.step === run.games ? count(run.step) : `${count(run.step)} of ${count(run.games)}`),
      h('td', null, duration(run.seconds)),
      h('td', null, run.value === null ? '–' : `${run.figure} ${number(run.value)}`),
    );
  }

  choose(id, isChosen) {
    if (isChosen) this.chosen.add(id);
    else this.chosen.delete(id);
    history.replaceState(null, '', this.chosen.size ? `#/runs?run=${[...this.chosen].map(encodeURIComponent).join(',')}` : '#/runs');
    this.load();
  }

  /** Loads the curves of chosen runs that have changed. */
  async load() {
    const wanted = this.runs.filter((run) => this.chosen.has(run.id));
    await Promise.all(wanted.map(async (run) => {
      if (this.curves.get(run.id)?.step === run.step) return;
      const found = await get(`/runs/${encodeURIComponent(run.id)}`, this.signal).catch(() => null);
      if (found) this.curves.set(run.id, { ...run, config: found.config, curves: readCurves(found) });
    }));
    this.drawChart();
  }

  /** Pixels of the chart, so that its text keeps its size. */
  width() {
    return Math.min(960, Math.max(260, document.getElementById('main').clientWidth - 72));
  }

  shown() {
    return [...this.chosen].map((id) => this.curves.get(id)).filter(Boolean);
  }

  drawChart() {
    const runs = this.shown();
    this.chart.hidden = runs.length === 0;
    if (runs.length === 0) return;
    const names = [...new Set(runs.flatMap((run) => [...run.curves.keys()]))];
    if (!names.includes(this.figure)) [this.figure] = names;
    const held = document.activeElement?.id;
    const wasOpen = this.chart.querySelector('details')?.open;
    const series = runs.map((run) => ({ name: run.id, points: run.curves.get(this.figure) ?? [] }));
    put(
      this.chart,
      names.length > 1 && choice('figure', 'Figure', names, this.figure, (figure) => this.set({ figure })),
      lineChart(series, LEARNED, this.figure ?? '', this.width()),
      h('ul', { class: 'legend' }, runs.map((run, i) => h('li', null, svg('svg', { class: 'key', viewBox: '0 0 30 12', 'aria-hidden': 'true' }, svg('path', { class: `line s${i % 6}`, d: 'M0 6H30' })), run.id))),
      h('details', { open: wasOpen }, h('summary', null, 'The numbers as a table'), numberTable(series)),
      runs.map((run) => run.config && h('details', null, h('summary', null, `Config of ${run.id}`), h('pre', { class: 'plain', tabindex: '0' }, run.config))),
    );
    if (held) this.chart.querySelector(`#${CSS.escape(held)}`)?.focus();
  }

  set(change) {
    Object.assign(this, change);
    this.drawChart();
  }
}

function choice(id, label, options, value, onchange) {
  const select = h('select', { id, onchange: () => onchange(select.value) }, options.map((name) => h('option', { value: name, selected: name === value }, name)));
  return h('label', { class: 'field' }, h('span', null, label), select);
}

const count = (value) => (value ?? 0).toLocaleString('en');

/** Four significant digits. */
const number = (value) => (value === 0 ? '0' : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4))));

function duration(seconds) {
  if (typeof seconds !== 'number') return '–';
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Round numbers that divide a range. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

const short = (value) => (Math.abs(value) >= 1e6 ? `${number(value / 1e6)} M` : Math.abs(value) >= 1e4 ? `${number(value / 1e3)} k` : number(value));

function lineChart(series, across, up, width) {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return h('p', { class: 'quiet' }, 'Nothing has been measured yet.');
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const right = Math.max(...xs) || 1;
  let [low, high] = [Math.min(...ys), Math.max(...ys)];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const x = (value) => PAD.left + (value / right) * (width - PAD.left - PAD.right);
  const y = (value) => HEIGHT - PAD.bottom - ((value - low) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom);
  const path = (list) => list.map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
  return svg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': `${up} over ${across} of ${series.map((one) => one.name).join(', ')}` },
    ticks(low, high, 5).map((value) => [
      svg('line', { class: 'rule', x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value) }),
      svg('text', { x: PAD.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, short(value)),
    ]),
    ticks(0, right, width / 110).map((value) => svg('text', { x: x(value), y: HEIGHT - PAD.bottom + 18, 'text-anchor': 'middle' }, short(value))),
    svg('text', { class: 'axis', x: (PAD.left + width) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, across),
    svg('text', { class: 'axis', transform: `translate(14 ${(HEIGHT - PAD.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, up),
    series.map((one, i) => [
      svg('path', { class: `line s${i % 6}`, d: path(one.points) }),
      one.points.length === 1 && svg('circle', { class: `dot s${i % 6}`, cx: x(one.points[0][0]), cy: y(one.points[0][1]), r: 4 }),
    ]),
  );
}

function numberTable(series) {
  const places = [...new Set(series.flatMap((one) => one.points.map(([at]) => at)))].sort((a, b) => a - b);
  const maps = series.map((one) => new Map(one.points));
  const row = (at) => h('tr', null, h('th', { scope: 'row' }, count(at)), maps.map((map) => h('td', null, map.has(at) ? number(map.get(at)) : '–')));
  return h(
    'div',
    { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Numbers' },
    h('table', { class: 'numbers' }, h('thead', null, h('tr', null, h('th', { scope: 'col' }, LEARNED), series.map((one) => h('th', { scope: 'col' }, one.name)))), h('tbody', null, places.map(row))),
  );
}
