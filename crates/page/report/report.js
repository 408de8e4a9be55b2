// Draws a report of runs from the data in its file.

import { calibrationChart, count, duration, legend, lineChart, number, numberTable, shareChart, short } from './chart.js';
import { h, percent, put, svg, words } from './dom.js';
import { chart, data, date, drawCharts, main } from './parts.js';
import { copied, panel, table } from './tables.js';

/** Pixels of the largest cells of a gate's map. */
const CELL = 16;

/** A mean and its standard deviation over seeds; of how many, if some have no figure. */
function spread(sample, runs) {
  if (!sample) return '–';
  const sd = sample.sd === null ? '' : ` ± ${sample.sd === 0 ? '0' : number(Number(sample.sd.toPrecision(2)))}`;
  return `${number(sample.mean)}${sd}${sample.n < runs ? ` (${sample.n} of ${runs})` : ''}`;
}

function runsOf({ name, about, game, encoder, unit, parameters, multiply_adds: cost, runs }) {
  const facts = [
    game,
    encoder && `inputs ${encoder}`,
    parameters && `${count(parameters)} parameters`,
    cost && `${[...new Set(cost)].map(count).join(' to ')} multiply-adds for an evaluation`,
  ];
  const state = (run) => (run.finished ? run.early ?? 'finished' : 'stopped');
  const origins = [...new Set(runs.flatMap((run) => run.init))];
  return [
    h('h3', null, name),
    about && h('p', null, about),
    h('p', { class: 'quiet' }, facts.filter(Boolean).join(' · ')),
    origins.map((origin) => h('p', { class: 'quiet' }, `Began with the weights of ${origin}`)),
    table(`Runs of ${name}`, ['run', 'seed', 'state', unit, 'time', 'last written', 'revision'], runs.map((run) => [
      run.run,
      String(run.seed),
      state(run),
      run.step === run.games ? count(run.step) : `${count(run.step)} of ${count(run.games)}`,
      duration(run.seconds),
      date(run.written),
      run.revision ?? '–',
    ])),
  ];
}

function picture({ title, up, across, log, range, series, marks, outside }) {
  const full = series.filter((one) => !one.faint);
  return panel(
    title,
    chart((width) => lineChart(series, { across, up, width, log, marks, shown: range })),
    data.experiments.length > 1 && legend(full.map((one) => one.name)),
    full.length < series.length && h('p', { class: 'quiet' }, 'Bold: mean over seeds. Band: one standard deviation. Thin: each seed.'),
    outside.length > 0 && h('p', { class: 'quiet' }, `Not in the picture: ${outside.join(', ')}.`),
    h('details', { class: 'numbers-of-curves' }, h('summary', null, 'The numbers as a table'), numberTable(series, across, `Numbers, ${title}`)),
  );
}

/** The name of a figure from its path: `equity/ttt/equity` becomes `equity, ttt`. Seats count from 1. */
const named = (name) => [...new Set(name.split('/'))].map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : words(part))).join(', ');

function figures({ main: most, recorded, measured }) {
  const heads = ['figure', ...data.experiments.map((one) => one.name)];
  const shown = (cells) => cells.map((sample, i) => spread(sample, data.experiments[i].runs.length));
  const rows = (list) => list.map(({ name, cells }) => [named(name), ...shown(cells)]);
  const several = data.experiments.some((one) => one.runs.length > 1);
  return panel(
    'Figures',
    several && h('p', { class: 'quiet' }, 'Mean ± standard deviation over seeds.'),
    most.length > 0 && table('Main figures', heads, most.map(({ name, cells, reference }) => [name, ...(reference ? cells.map((sample) => spread(sample)) : shown(cells))]), (i) => most[i].reference && { class: 'references' }),
    measured.length > 0 && [h('h3', null, 'Measured for this report'), table('Measured figures', heads, rows(measured))],
    recorded.length > 0 && h('details', { open: most.length === 0 }, h('summary', null, 'All figures of the last measurement'), table('Recorded figures', heads, rows(recorded))),
  );
}

/** How many positions each seed was measured on. */
const positions = ([least, most]) => (least === most ? count(least) : `${count(least)} to ${count(most)}`);

function errors(name, { class: kind, distributions, classes, runs }) {
  const list = (what, rows) => {
    if (rows.length === 0) return null;
    const baselines = rows[0].baselines.map(([baseline]) => baseline);
    return table(`Errors of ${name} by ${what}`, [what, 'positions', 'RMS error', 'mean abs.', 'largest', ...baselines], rows.map((row) => [
      row.name,
      positions(row.rows),
      ...[row.rms, row.mae, row.max].map((sample) => spread(sample, runs)),
      ...row.baselines.map(([, value]) => (value === null ? '–' : number(value))),
    ]));
  };
  return [
    h('h3', null, name),
    list('distribution', distributions),
    list(kind, classes),
    h('p', { class: 'quiet' }, `${runs > 1 ? `Mean ± standard deviation over ${runs} seeds; positions of each seed. ` : ''}Columns after the largest error: RMS errors without learning.`),
  ];
}

const calibration = (name, { from, runs, classes }) => [
  h('h3', null, name),
  h('p', { class: 'quiet' }, `Compared with ${from}${runs > 1 ? `, over ${runs} seeds` : ''}. Larger dots stand for more positions; on the dashed line, all is as predicted.`),
  h('div', { class: 'charts' }, classes.map((one) => h(
    'figure',
    null,
    h('figcaption', null, words(one.name)),
    chart((width) => calibrationChart(one.bins, { width }), 400),
    h('details', { class: 'numbers-of-curves' }, h('summary', null, 'Numbers'), table(`Calibration of ${one.name}`, ['predicted', 'observed', 'positions'], one.bins.map(({ said, came, count: rows }) => [number(said), number(came), count(rows)]))),
  ))),
];

const shares = ({ name, unit, experts: { over_time: overTime, ends } }) => [
  h('h3', null, name),
  h('p', { class: 'quiet' }, `Shares of the positions, seed ${overTime.seed}.`),
  chart((width) => shareChart(overTime.parts, { across: unit, up: 'share of positions', width })),
  table(`Shares of experts of ${name}`, ['seed', 'experts', 'in use', 'multiply-adds', 'shares, largest first'], ends.map((end) => {
    const sorted = end.shares.toSorted((a, b) => b - a);
    const some = sorted.slice(0, 16).map((share) => percent(share)).join(', ');
    return [
      String(end.seed),
      String(sorted.length),
      end.live === null ? '–' : String(end.live),
      end.multiply_adds === null ? '–' : count(Math.round(end.multiply_adds)),
      h('span', null, sorted.length > 16 ? `${some}, …` : some),
    ];
  })),
];

/** Which expert each pair of classes goes to. Neighbours in number differ most in colour. */
function cellMap({ channels: [down, across], cells: rows, starts }, about, room) {
  const left = 60;
  const columns = rows[0].length;
  const wide = Math.min(CELL, (room - left - 20) / columns);
  const high = Math.max(wide, Math.min(CELL, 160 / rows.length));
  const [height, width] = [rows.length * high, columns * wide];
  const tone = (expert) => `hsl(${(expert * 137.508) % 360} 60% ${45 + 12 * (expert % 4)}%)`;
  const stretches = rows.flatMap((row, r) => row.flatMap((expert, c) => {
    if (c > 0 && row[c - 1] === expert) return [];
    const next = row.findIndex((other, k) => k > c && other !== expert);
    return [svg('rect', { x: left + c * wide, y: r * high, width: ((next < 0 ? columns : next) - c) * wide, height: high, fill: tone(expert) }, svg('title', null, `expert ${expert + 1}`))];
  }));
  const quarters = (size) => [...new Set([0, 1, 2, 3, 4].map((k) => Math.floor(((size - 1) * k) / 4)))];
  return svg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${room} ${height + 40}`, role: 'img', 'aria-label': `${about}; the same as letters below` },
    stretches,
    quarters(rows.length).map((row) => svg('text', { x: left - 6, y: (row + 0.5) * high + 4, 'text-anchor': 'end' }, short(starts[0][row]))),
    quarters(columns).map((column) => svg('text', { x: left + (column + 0.5) * wide, y: height + 14, 'text-anchor': 'middle' }, short(starts[1][column]))),
    svg('text', { class: 'axis', transform: `translate(12 ${height / 2}) rotate(-90)`, 'text-anchor': 'middle' }, down),
    svg('text', { class: 'axis', x: left + width / 2, y: height + 32, 'text-anchor': 'middle' }, across),
  );
}

function cells(map) {
  const { node, channels: [down, across], experts, used, cells: rows, text } = map;
  const about = `${node ? `${node}: ` : ''}${used} of ${experts} experts in ${rows.length} × ${rows[0].length} cells; down ${down}, across ${across}`;
  return h(
    'figure',
    null,
    h('figcaption', null, about),
    chart((width) => cellMap(map, about, width)),
    h('details', { class: 'numbers-of-curves' }, h('summary', null, 'The same as letters'), h('pre', { class: 'plain', tabindex: '0' }, text)),
  );
}

const repeated = ({ name, file, config, commands, extended, changed }) => [
  h('h3', null, name),
  h('details', { class: 'config', open: data.experiments.length === 1 }, h('summary', null, `Config: save it as ${file}`), copied(config, `the config of ${name}`)),
  copied(commands.join('\n'), `the commands of ${name}`),
  extended.length > 0 && h('p', null, `These runs were made longer after ${extended.map(count).join(', ')} steps, so that a run of the whole length is similar, not the same.`),
  changed.length > 0 && h('p', null, `Settings were changed while these runs learned, so that the config alone gives other runs: ${changed.join('; ')}.`),
];

/** A section for the experiments that have something of a kind. */
function section(title, has, draw) {
  const having = data.experiments.filter(has);
  return having.length > 0 && panel(title, having.map(draw));
}

document.title = `${data.title} – adept`;
put(
  main,
  h('h1', null, data.title),
  h('p', { class: 'quiet' }, `Report of ${date(data.made)} by ${data.by}.`),
  h('div', { class: 'pictures' }, data.pictures.map(picture)),
  figures(data.table),
  section('Errors by kind of positions', (one) => one.errors, (one) => errors(one.name, one.errors)),
  section('Calibration', (one) => one.outcomes, (one) => calibration(one.name, one.outcomes)),
  section('Experts', (one) => one.experts, shares),
  section('Learned cells', (one) => one.maps.length > 0, (one) => [h('h3', null, `${one.name}, seed ${one.runs[0].seed}`), h('div', { class: 'stack' }, one.maps.map(cells))]),
  panel('Runs', data.experiments.map(runsOf)),
  panel(
    'To repeat',
    data.experiments.map(repeated),
    h('h3', null, 'This report'),
    copied(data.command, 'the command of this report'),
  ),
  data.left_out.length > 0 && panel('Not in this report', h('ul', { class: 'prose' }, data.left_out.map((what) => h('li', null, what)))),
);

drawCharts();
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details.config')) details.open = true;
});
