// Charts as SVG, the tables beside them, and how numbers are written. Reports hold this file too.

import { h, put, svg } from './dom.js';

const HEIGHT = 320;
const PAD = { left: 66, right: 20, top: 14, bottom: 46 };
/** Room for the names beside stacked areas. */
const NAMES = 112;
/** Pixels between two names. */
const LEAST = 14;
/** Intervals that are drawn as bars; more of them are drawn as a band. */
const BARS = 40;
/** How many times the height of a picture is larger than the noise in it. */
const CALM = 6;
const TONES = ['--accent', '--text', '--bad', '--diamonds', '--edge', '--clubs'];

const colour = (i) => `var(${TONES[i % TONES.length]})`;

export const count = (value) => (value ?? 0).toLocaleString('en');

/** A number of JavaScript with real minus signs. */
const withMinus = (text) => text.replaceAll('-', '−');

/** Four significant digits. */
export const number = (value) => withMinus(value === 0 ? '0' : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4))));

/** The same for axes. */
export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e4) return size >= 1e6 ? `${number(value / 1e6)} M` : `${number(value / 1e3)} k`;
  return size > 0 && size < 1e-3 ? withMinus(Number(value.toPrecision(3)).toExponential()) : number(value);
}

export function duration(seconds) {
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

/** The same for a logarithmic scale. */
function powers(low, high) {
  const factors = high / low > 1000 ? [1] : [1, 2, 5];
  const from = Math.floor(Math.log10(low));
  const all = Array.from({ length: Math.ceil(Math.log10(high)) - from + 1 }, (_, i) => factors.map((factor) => factor * 10 ** (from + i)));
  const found = all.flat().filter((value) => value >= low && value <= high);
  return found.length > 1 ? found : ticks(low, high, 5);
}

const range = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

/** How far neighbours in the later half of a curve lie apart, and how wide its intervals are there, whichever is larger. */
function noiseOf({ points, intervals = [] }, scale) {
  const half = (list) => list.slice(Math.floor(list.length / 2));
  const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  const apart = half(points).slice(1).map(([, y], i) => Math.abs(scale(y) - scale(half(points)[i][1])));
  return Math.max(middle(apart), middle(half(intervals).map(([, low, high]) => scale(high) - scale(low))));
}

/** A range around all values, so high that noise does not fill it. */
function calmRange(values, series, log) {
  const [scale, back] = log ? [Math.log10, (value) => 10 ** value] : [Number, Number];
  const [low, high] = range(values).map(scale);
  const wanted = Math.max(CALM * Math.max(...series.map((one) => noiseOf(one, scale)).filter(Number.isFinite), 0), log ? 0.3 : 1e-9);
  const more = Math.max(0, wanted - (high - low)) / 2;
  return [back(low - more), back(high + more)];
}

const path = (points) => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/** The places of values between axes from 0 to `right` and from `low` to `high`. */
function scales({ width, height, right, low, high, log, side = PAD.right }) {
  const scale = log ? Math.log10 : (value) => value;
  const x = (value) => PAD.left + (value / right) * (width - PAD.left - side);
  const y = (value) => height - PAD.bottom - ((scale(Math.min(Math.max(value, low), high)) - scale(low)) / (scale(high) - scale(low))) * (height - PAD.top - PAD.bottom);
  return { x, y };
}

/** Axes from 0 to `right` and from `low` to `high`, and what `draw` puts between them. */
export function axes({ across, up, width, height, right, low, high, log, side = PAD.right, label }, draw) {
  const { x, y } = scales({ width, height, right, low, high, log, side });
  return svg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    (log ? powers(low, high) : ticks(low, high, 5)).map((value) => [
      svg('line', { class: 'rule', x1: PAD.left, x2: width - side, y1: y(value), y2: y(value) }),
      svg('text', { x: PAD.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, short(value)),
    ]),
    ticks(0, right, width / 110).map((value) => svg('text', { x: x(value), y: height - PAD.bottom + 18, 'text-anchor': 'middle' }, short(value))),
    svg('text', { class: 'axis', x: (PAD.left + width - side) / 2, y: height - 6, 'text-anchor': 'middle' }, across),
    svg('text', { class: 'axis', transform: `translate(14 ${(height - PAD.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, up),
    draw(x, y),
  );
}

/**
 * Lines over steps, which a pointer or the arrow keys read. `series` are `{ name, points: [[x, y]…], band?: [[x, low, high]…],
 * intervals?: [[x, low, high]…], faint?: true }`; faint ones have the colour of the full one before them. `marks` are `{ name, value }`, drawn
 * as lines across. `shown` is the part of the axis, if not all. `reading` keeps the step that is read while the chart is drawn again.
 */
export function lineChart(series, { across, up, width, height = HEIGHT, log = false, marks = [], shown, reading = {} }) {
  const all = series.map((one) => ({ ...one, points: one.points.filter(([, y]) => !log || y > 0) }));
  const ends = (list) => (list ?? []).flatMap(([, bottom, top]) => (log ? [top] : [bottom, top]));
  const values = [
    ...all.flatMap((one) => [...one.points.map(([, y]) => y), ...ends(one.band), ...ends(one.intervals)]),
    ...marks.map((mark) => mark.value),
  ].filter((value) => !log || value > 0);
  const steps = all.flatMap((one) => one.points.map(([x]) => x));
  if (steps.length === 0 || values.length === 0) return h('p', { class: 'quiet' }, 'Nothing has been measured yet.');
  const [low, high] = shown && shown[0] < shown[1] ? shown : calmRange(values, all, log);
  const right = range(steps)[1] || 1;
  const drawing = drawLines(all, { across, up, width, height, log, marks, low, high, right });
  return readable(drawing, all.filter((one) => !one.faint), { across, width, height, right, low, high, log, reading });
}

function drawLines(series, { across, up, width, height, log, marks, low, high, right }) {
  let full = -1;
  const lines = series.map((one) => ({ ...one, tone: one.faint ? Math.max(full, 0) : (full += 1) }));
  const label = `${up} over ${across} of ${series.filter((one) => !one.faint).map((one) => one.name).join(', ')}`;
  const within = (mark) => mark.value >= low && mark.value <= high;
  return axes({ across, up, width, height, right, low, high, log, label }, (x, y) => [
    lines.map(({ band, intervals, tone }) => ({ band: band ?? (intervals?.length > BARS ? intervals : []), tone })).map(({ band, tone }) => band.length > 1 && svg('path', {
      fill: colour(tone),
      'fill-opacity': 0.16,
      d: `${path([...band.map(([at, , top]) => [x(at), y(top)]), ...band.toReversed().map(([at, bottom]) => [x(at), y(bottom)])])}Z`,
    })),
    lines.filter((one) => one.faint).map((one) => svg('path', { fill: 'none', stroke: colour(one.tone), 'stroke-opacity': 0.5, d: path(one.points.map(([a, b]) => [x(a), y(b)])) })),
    marks.filter(within).map(({ name, value }, i) => [
      svg('line', { stroke: 'var(--edge)', 'stroke-dasharray': '3 3', x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value) }),
      svg('text', { x: i % 2 ? PAD.left + 4 : width - PAD.right, y: y(value) + (y(value) < 30 ? 14 : -5), 'text-anchor': i % 2 ? 'start' : 'end' }, name),
    ]),
    lines.filter(({ intervals }) => intervals?.length <= BARS).map(({ intervals, tone }) => intervals.map(([at, bottom, top]) => svg('path', {
      class: 'bar',
      stroke: colour(tone),
      d: `M${x(at) - 3} ${y(top)}h6m-3 0V${y(bottom)}m-3 0h6`,
    }))),
    lines.filter((one) => !one.faint).map(({ points, tone }) => [
      svg('path', { class: `line s${tone % 6}`, d: path(points.map(([a, b]) => [x(a), y(b)])) }),
      points.length === 1 && svg('circle', { class: `dot s${tone % 6}`, cx: x(points[0][0]), cy: y(points[0][1]), r: 4 }),
    ]),
  ]);
}

/** The value of a curve at a step or the last one before it. */
const valueAt = (points, step) => points.findLast(([at]) => at <= step) ?? points[0];

/** Lets a pointer, a finger and the arrow keys read the curves of a drawing. What they read stands below it. */
function readable(drawing, series, { across, width, height, right, low, high, log, reading }) {
  const { x, y } = scales({ width, height, right, low, high, log });
  const steps = [...new Set(series.flatMap((one) => one.points.map(([at]) => at)))].sort((a, b) => a - b);
  const said = h('p', { class: 'reading', role: 'status' });
  const cursor = svg('g', { class: 'cursor', 'aria-hidden': 'true' });
  const read = (step) => {
    reading.step = step;
    if (step === null || step === undefined) {
      put(cursor);
      put(said, h('span', { class: 'quiet' }, 'Point at the curve, or use the arrow keys, to read it.'));
      return;
    }
    const found = series.filter((one) => one.points.length > 0).map((one) => ({ ...one, at: valueAt(one.points, step) }));
    put(
      cursor,
      svg('line', { x1: x(step), x2: x(step), y1: PAD.top, y2: height - PAD.bottom }),
      found.map(({ at: [, value] }, i) => svg('circle', { class: `dot s${i % 6}`, cx: x(step), cy: y(value), r: 4.5 })),
    );
    const text = ({ name, at: [at, value], intervals = [], band = [] }) => {
      const [, bottom, top] = [...intervals, ...band].find(([place]) => place === at) ?? [];
      return [h('strong', null, number(value)), bottom !== undefined && ` (${number(bottom)} to ${number(top)})`, found.length > 1 && ` ${name}`];
    };
    put(said, `${count(step)} ${across}: `, found.map((one, i) => [i > 0 && ', ', text(one)]));
  };
  const nearest = (event) => {
    const box = drawing.getBoundingClientRect();
    const wanted = (((event.clientX - box.left) / box.width) * width - PAD.left) / (width - PAD.left - PAD.right) * right;
    read(steps.reduce((best, step) => (Math.abs(step - wanted) < Math.abs(best - wanted) ? step : best)));
  };
  const move = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity, PageUp: -10, PageDown: 10 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const from = steps.indexOf(reading.step ?? steps.at(-1));
    read(steps[Math.min(steps.length - 1, Math.max(0, (from < 0 ? steps.length - 1 : from) + by))]);
  };
  // A chart that is drawn anew takes over from the one before, which may still lose the focus.
  reading.by = drawing;
  const leave = () => reading.by === drawing && read(null);
  const on = { pointermove: nearest, pointerdown: nearest, keydown: move, pointerleave: (event) => event.pointerType === 'mouse' && document.activeElement !== drawing && leave() };
  for (const [name, act] of Object.entries({ ...on, focus: () => read(reading.step ?? steps.at(-1)), blur: leave })) drawing.addEventListener(name, act);
  const about = { tabindex: '0', role: 'application', 'aria-roledescription': 'chart', 'data-key': 'chart' };
  for (const [name, value] of Object.entries(about)) drawing.setAttribute(name, value);
  drawing.setAttribute('aria-label', `${drawing.getAttribute('aria-label')}. Arrow keys read the values.`);
  drawing.append(cursor);
  read(reading.step);
  return h('div', { class: 'stack' }, drawing, said);
}

/** Shares that add up to 1, as areas on each other. `parts` are `{ name, points: [[x, share]…] }` with the same steps. */
export function shareChart(parts, { across, up, width }) {
  const steps = parts[0]?.points.map(([at]) => at) ?? [];
  if (steps.length === 0) return h('p', { class: 'quiet' }, 'Nothing has been measured yet.');
  // A single step is drawn as wide as all.
  const right = steps.at(-1) || 1;
  const places = steps.length > 1 ? steps : [0, right];
  const tops = [places.map(() => 0)];
  for (const { points } of parts) tops.push(places.map((_, i) => tops.at(-1)[i] + points[Math.min(i, points.length - 1)][1]));
  const label = `${up} over ${across}: at the end ${parts.map((part) => `${part.name} ${(100 * part.points.at(-1)[1]).toFixed(0)} %`).join(', ')}`;
  return axes({ across, up, width, height: HEIGHT, right, low: 0, high: 1, side: NAMES, label }, (x, y) => {
    let lowest = Infinity;
    return parts.map(({ name, points }, i) => {
      const edge = (tops) => places.map((at, k) => [x(at), y(Math.min(tops[k], 1))]);
      const middle = y((tops[i].at(-1) + tops[i + 1].at(-1)) / 2);
      const isNamed = lowest - middle >= LEAST;
      if (isNamed) lowest = middle;
      return [
        svg('path', { fill: colour(i), 'fill-opacity': i % 2 ? 0.35 : 0.7, stroke: 'var(--surface)', d: `${path([...edge(tops[i + 1]), ...edge(tops[i]).toReversed()])}Z` }, svg('title', null, name)),
        isNamed && svg('text', { x: width - NAMES + 6, y: middle + 4 }, `${name}, ${(100 * points.at(-1)[1]).toFixed(0)} %`),
      ];
    });
  });
}

/** How often what was said came true. `bins` are `{ said, came, count }`; larger groups have larger dots. */
export function calibrationChart(bins, { width }) {
  const most = range(bins.map((bin) => bin.count))[1];
  const label = `Calibration: ${bins.map(({ said, came }) => `said ${said.toFixed(2)}, came ${came.toFixed(2)}`).join('; ')}`;
  return axes({ across: 'predicted probability', up: 'observed', width, height: width, right: 1, low: 0, high: 1, label }, (x, y) => [
    svg('line', { stroke: 'var(--edge)', 'stroke-dasharray': '3 3', x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    svg('path', { class: 'line s0', d: path(bins.map(({ said, came }) => [x(said), y(came)])) }),
    bins.map(({ said, came, count }) => svg('circle', { class: 'dot s0', cx: x(said), cy: y(came), r: 2.5 + 5 * Math.sqrt(count / most) })),
  ]);
}

/** The names of the full lines of a chart. */
export const legend = (names) => h('ul', { class: 'legend' }, names.map((name, i) => h(
  'li',
  null,
  svg('svg', { class: 'key', viewBox: '0 0 30 12', 'aria-hidden': 'true' }, svg('path', { class: `line s${i % 6}`, d: 'M0 6H30' })),
  name,
)));

/** The numbers of full lines, with half their bands. Tables of one page have different names. */
export function numberTable(series, across, name = 'Numbers') {
  const full = series.filter((one) => !one.faint);
  const places = [...new Set(full.flatMap((one) => one.points.map(([at]) => at)))].sort((a, b) => a - b);
  const columns = full.map(({ points, band = [] }) => {
    const spread = new Map(band.map(([at, low, high]) => [at, ` ± ${number((high - low) / 2)}`]));
    return new Map(points.map(([at, value]) => [at, number(value) + (spread.get(at) ?? '')]));
  });
  const row = (at) => h('tr', null, h('th', { scope: 'row' }, count(at)), columns.map((column) => h('td', null, column.get(at) ?? '–')));
  return h(
    'div',
    { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': name },
    h('table', { class: 'numbers' }, h('thead', null, h('tr', null, h('th', { scope: 'col' }, across), full.map((one) => h('th', { scope: 'col' }, one.name)))), h('tbody', null, places.map(row))),
  );
}
