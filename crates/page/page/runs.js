// Training: a form that starts runs, a list that stays up to date, and the curves of chosen runs beside each other.

import { allAgents, gameInfo, get, post } from './api.js';
import { cellMap } from './cells.js';
import { count, duration, legend, lineChart, number, numberTable, shareChart } from './chart.js';
import { button, h, keepFocus, kept, put } from './dom.js';
import { announce, ask } from './frame.js';
import { startForm } from './start-run.js';

const EVERY = 1000;
const STATES = new Set(['running', 'finished', 'stopped', 'failed']);

/** Pixels of the chart: less where the window is low. */
const HEIGHT = Math.min(320, Math.max(200, Math.round(innerHeight * 0.45)));

/** What runs learn from. */
const LEARNED = 'games or samples';

/** A run from the list, with its state, and the number to show: of the last measurement, of the last checkpoint, or of the best one so far. */
const readRun = (run) => ({ ...run, status: run.failed ? 'failed' : run.status, value: run.latest ?? run.final ?? run.best });

/** The curves of a run by figure: `{points, intervals, marks, log}`. */
function readCurves({ measure, curve, intervals = [], marks = [], is_error: isError, loss, loss_measure: lossName = 'loss' }) {
  // A log loss cannot reach 0, so it has no place on a logarithmic scale.
  const all = [[measure, { points: curve, intervals, marks, log: isError }], [lossName, { points: loss, intervals: [], marks: [], log: lossName.startsWith('loss') }]];
  return new Map(all.filter(([name, { points }]) => name && points.length > 0));
}

/** Reference values of several runs of a figure, each once. */
function marksOf(curves) {
  const named = curves.flatMap(({ marks }) => marks).map(({ name, value }) => ({ name: `${name} ${number(value)}`, value }));
  return [...new Map(named.map((mark) => [mark.name, mark])).values()];
}

const pathOf = (id) => `/runs/${encodeURIComponent(id)}`;

/** The mean of runs with a band of one standard deviation, at the steps that all of them have reached. */
function meanOf(name, all) {
  const curves = all.map((points) => new Map(points));
  const steps = [...curves[0].keys()].filter((step) => curves.every((curve) => curve.has(step)));
  const rows = steps.map((step) => {
    const values = curves.map((curve) => curve.get(step));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return [step, mean, Math.sqrt(squares / (values.length - 1))];
  });
  return {
    name: `${name}, mean of ${curves.length} seeds`,
    points: rows.map(([step, mean]) => [step, mean]),
    band: rows.map(([step, mean, sd]) => [step, mean - sd, mean + sd]),
  };
}

export async function runsView(root, _, signal, query) {
  const view = new RunsView(root, signal, (query.get('run') ?? '').split(',').filter(Boolean));
  await view.refresh();
  await view.offerStart();
  view.watch();
  return 'Training';
}

class RunsView {
  constructor(root, signal, chosen) {
    this.signal = signal;
    this.chosen = new Set(chosen);
    this.runs = [];
    this.rows = new Map();
    this.loaded = new Map();
    this.sections = new Map();
    this.stopping = new Set();
    this.reading = {};
    this.isMean = false;
    this.start = h('div');
    this.body = h('tbody');
    const heads = ['run', 'state', 'trained', 'time', 'measured'];
    this.table = h(
      'table',
      { class: 'runs' },
      h('thead', null, h('tr', null, heads.map((name) => h('th', { scope: 'col' }, name)), h('td'))),
      this.body,
    );
    this.none = h('p', { class: 'quiet' }, 'There are no runs yet. ', h('code', null, 'adept train CONFIG'), ' begins one.');
    this.controls = h('div', { class: 'row spread', tabindex: '-1' });
    this.picture = h('div', { class: 'stack' });
    this.numbers = h('details', { ontoggle: () => this.drawNumbers() }, h('summary', null, 'The numbers as a table'));
    this.chart = h('section', { class: 'panel stack', hidden: true, 'aria-label': 'Curves' }, this.controls, this.picture, this.numbers);
    this.parts = h('div', { class: 'stack' });
    const list = h('div', { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Runs' }, this.none, this.table);
    put(root, h('h1', null, 'Training'), h('div', { class: 'stack' }, this.start, list, this.chart, this.parts));
    addEventListener('resize', () => this.draw(), { signal });
  }

  async offerStart() {
    const found = await get('/starters', this.signal).catch(() => null);
    if (!found) return;
    if (!found.may_train) {
      put(this.start, h('p', { class: 'quiet' }, 'This server shows runs; ', h('code', null, 'adept serve http --train'), ' starts them too.'));
      return;
    }
    const summary = h('summary', null, 'Start a run');
    const began = async (id) => {
      details.open = false;
      summary.focus();
      announce(`${id} has begun`);
      this.choose([id], true);
      await this.refresh().catch(() => {});
      this.rows.get(id)?.row.scrollIntoView({ block: 'nearest' });
    };
    const details = h('details', { class: 'panel', open: this.runs.length === 0 }, summary, startForm(found.starters, began, this.signal));
    put(this.start, details);
  }

  /** Asks again while the page is seen. */
  watch() {
    const timer = setInterval(async () => {
      if (document.hidden || this.isAsking) return;
      this.isAsking = true;
      // If it fails, the next try may do.
      await this.refresh().catch(() => {});
      this.isAsking = false;
    }, EVERY);
    this.signal.addEventListener('abort', () => clearInterval(timer));
  }

  async refresh() {
    const { runs } = await get('/runs', this.signal);
    const said = JSON.stringify(runs);
    const isNew = said !== this.said;
    if (isNew) {
      this.said = said;
      this.take(runs.map(readRun));
    }
    // The curve of a run grows before its checkpoint does.
    if (isNew || this.runs.some((run) => run.status === 'running' && this.chosen.has(run.id))) await this.load();
  }

  take(runs) {
    for (const run of runs) {
      if (!run.here) this.stopping.delete(run.id);
      const before = this.runs.find(({ id }) => id === run.id);
      if (before?.here && !run.here) announce(`${run.id}: ${run.failed ?? run.status}`);
    }
    this.runs = runs;
    this.none.hidden = runs.length > 0;
    this.table.hidden = runs.length === 0;
    const rows = runs.map((run) => this.rowOf(run));
    const isSame = rows.length === this.body.children.length && rows.every((row, i) => row === this.body.children[i]);
    if (!isSame) put(this.body, rows);
  }

  /** The row of a run. It stays the same element, so that it can be pressed while it changes. */
  rowOf(run) {
    if (!this.rows.has(run.id)) this.rows.set(run.id, this.newRow(run.id));
    const { row, check, cells, act, play } = this.rows.get(run.id);
    check.checked = this.chosen.has(run.id);
    const { status, step, games, seconds, here } = run;
    put(cells[0], h('span', { class: `state ${STATES.has(status) ? status : 'stopped'}` }, status), run.failed && h('p', { class: 'fault' }, run.failed));
    put(cells[1], step === games ? count(step) : `${count(step)} of ${count(games)}`, here && h('progress', { max: games, value: step, 'aria-label': `${run.id} so far` }));
    put(cells[2], duration(seconds), here && step > 0 && h('span', { class: 'quiet' }, `, ${duration((seconds / step) * (games - step))} to go`));
    put(cells[3], typeof run.value === 'number' ? [h('strong', null, number(run.value)), h('span', { class: 'quiet' }, ` ${run.measure}`)] : '–');
    this.drawAct(run, act, check);
    play.hidden = run.step === 0 || status === 'failed';
    return row;
  }

  newRow(id) {
    const check = h('input', { type: 'checkbox', onchange: () => this.choose([id], check.checked) });
    const cells = Array.from({ length: 4 }, () => h('td'));
    const act = button('', () => this.act(id));
    const play = button('Play against it', () => this.playAgainst(id, play), { 'aria-label': `Play against it: ${id}`, hidden: true });
    const row = h('tr', null, h('th', { scope: 'row' }, h('label', { class: 'check' }, check, id)), cells, h('td', null, h('div', { class: 'row' }, act, play)));
    return { row, check, cells, act, play };
  }

  /** Goes to a game against the latest checkpoint of a run. */
  async playAgainst(id, control) {
    const { game } = this.runs.find((run) => run.id === id);
    const done = await ask(control, () => post(`${pathOf(id)}/play`, {}, this.signal));
    if (!done) return;
    await allAgents(this.signal).catch(() => {});
    // The view of new games begins with what was chosen last.
    kept.set(`choice.${game}`, { opponent: id });
    location.hash = `#/new/${encodeURIComponent(game)}`;
  }

  drawAct(run, act, check) {
    const isStopping = this.stopping.has(run.id);
    const text = run.here ? (isStopping ? 'Stopping …' : 'Stop') : 'Go on';
    if (act.textContent !== text) act.textContent = text;
    act.setAttribute('aria-label', `${text}: ${run.id}`);
    act.setAttribute('aria-disabled', isStopping);
    const isGone = !run.here && !run.can_resume;
    if (isGone && document.activeElement === act) check.focus();
    act.hidden = isGone;
  }

  /** Stops a run of this server, or goes on with it. */
  async act(id) {
    if (this.stopping.has(id)) return;
    const now = () => this.runs.find((run) => run.id === id);
    if (!now()) return;
    const { here } = now();
    if (here) this.stopping.add(id);
    this.rowOf(now());
    const done = await ask(null, () => post(`${pathOf(id)}/${here ? 'stop' : 'resume'}`, {}, this.signal));
    if (!done) this.stopping.delete(id);
    if (this.signal.aborted) return;
    if (now()) this.rowOf(now());
    if (!here) this.choose([id], true);
    this.refresh().catch(() => {});
  }

  choose(ids, isChosen) {
    for (const id of ids) {
      if (isChosen) this.chosen.add(id);
      else this.chosen.delete(id);
      const check = this.rows.get(id)?.check;
      if (check) check.checked = isChosen;
    }
    history.replaceState(null, '', this.chosen.size ? `#/runs?run=${[...this.chosen].map(encodeURIComponent).join(',')}` : '#/runs');
    this.load();
  }

  /** Loads the curves of chosen runs that have changed. */
  async load() {
    const wanted = this.runs.filter((run) => this.chosen.has(run.id));
    await Promise.all(wanted.map(async (run) => {
      const said = JSON.stringify(run);
      if (run.status !== 'running' && this.loaded.get(run.id)?.said === said) return;
      const found = await get(pathOf(run.id), this.signal).catch(() => null);
      if (found) this.loaded.set(run.id, { ...found, status: run.status, said, curves: readCurves(found) });
    }));
    if (!this.signal.aborted) this.draw();
  }

  /** Pixels of a chart, so that its text keeps its size. */
  width() {
    return Math.min(960, Math.max(260, document.getElementById('main').clientWidth - 72));
  }

  shown() {
    return [...this.chosen].map((id) => this.loaded.get(id)).filter(Boolean);
  }

  draw() {
    const runs = this.shown();
    this.chart.hidden = runs.length === 0;
    const names = [...new Set(runs.flatMap((run) => [...run.curves.keys()]))];
    if (!names.includes(this.figure)) [this.figure] = names;
    this.drawControls(runs, names);
    this.series = this.seriesOf(runs);
    if (runs.length > 0) this.drawChart(runs.map((run) => run.curves.get(this.figure)).filter(Boolean));
    this.drawNumbers();
    const sections = runs.map((run) => this.sectionOf(run));
    const isSame = sections.length === this.parts.children.length && sections.every((one, i) => one === this.parts.children[i]);
    if (!isSame) put(this.parts, sections);
  }

  drawChart(curves) {
    const chart = lineChart(this.series, {
      across: LEARNED,
      up: this.figure ?? '',
      width: this.width(),
      height: HEIGHT,
      log: curves.some(({ log }) => log),
      marks: marksOf(curves).filter(({ value }) => !curves.some(({ log }) => log) || value > 0),
      reading: this.reading,
    });
    keepFocus(this.picture, () => put(this.picture, chart, legend(this.series.map((one) => one.name))));
  }

  drawControls(runs, names) {
    const groups = Map.groupBy(runs, (run) => run.group);
    const hasSeeds = [...groups.values()].some((group) => group.length > 1);
    if (!hasSeeds) this.isMean = false;
    const others = this.runs.filter((run) => groups.has(run.group) && !this.chosen.has(run.id));
    const said = JSON.stringify([names, hasSeeds, others.length]);
    if (said === this.saidControls) return;
    this.saidControls = said;
    const mean = h('input', { type: 'checkbox', 'data-key': 'mean', checked: this.isMean, onchange: () => {
      this.isMean = mean.checked;
      this.draw();
    } });
    const figure = h('select', { 'data-key': 'figure', onchange: () => {
      this.figure = figure.value;
      this.draw();
    } }, names.map((name) => h('option', { value: name, selected: name === this.figure }, name)));
    keepFocus(this.controls, () => put(
      this.controls,
      names.length > 1 && h('label', { class: 'field' }, h('span', null, 'Figure'), figure),
      hasSeeds && h('label', { class: 'check' }, mean, 'Mean of seeds'),
      others.length > 0 && button(`Choose the other seeds (${others.length})`, () => this.choose(others.map(({ id }) => id), true)),
    ));
  }

  /** A line for each run, or for the seeds of each experiment. */
  seriesOf(runs) {
    const line = (run) => ({ name: run.id, points: [], ...run.curves.get(this.figure) });
    if (!this.isMean) return runs.map(line);
    return [...Map.groupBy(runs, (run) => run.group).values()].flatMap((group) => {
      const lines = group.map(line).filter(({ points }) => points.length > 0);
      return lines.length > 1 ? meanOf(group[0].name, lines.map(({ points }) => points)) : lines;
    });
  }

  /** The table keeps its place and the focus while it grows. */
  drawNumbers() {
    const before = this.numbers.querySelector('.scroll');
    const [place, isHeld] = [before?.scrollTop, before === document.activeElement];
    before?.remove();
    if (!this.numbers.open) return;
    const after = numberTable(this.series, LEARNED);
    this.numbers.append(after);
    after.scrollTop = place ?? 0;
    if (isHeld) after.focus({ preventScroll: true });
  }

  /** What belongs to one run: its experts' shares, its config, and how to meet its network. */
  sectionOf(run) {
    if (!this.sections.has(run.id)) this.sections.set(run.id, this.newSection(run));
    const section = this.sections.get(run.id);
    const [first] = run.shares;
    put(section.shares, first && h('h3', null, 'Shares of the experts'), first && shareChart(
      first[1].map((_, i) => ({ name: `expert ${i + 1}`, points: run.shares.map(([step, shares]) => [step, shares[i]]) })),
      { across: LEARNED, up: 'share', width: this.width() },
    ));
    if (run.status === 'finished' && !run.here && !section.isOffered) {
      section.isOffered = true;
      this.offer(run, section.links).catch(() => { section.isOffered = false; });
    }
    // Both come with the first checkpoint of a run.
    if (run.maps?.length && !section.maps.hasChildNodes()) put(section.maps, h('h3', null, 'Learned cells'), run.maps.map((map) => cellMap(map).element));
    if (section.text.textContent !== (run.config ?? '')) section.text.textContent = run.config ?? '';
    section.config.hidden = !run.config;
    section.root.hidden = !first && !run.config && !section.links.hasChildNodes();
    return section.root;
  }

  newSection(run) {
    const [links, shares, maps] = [h('div', { class: 'row' }), h('div', { class: 'stack' }), h('div', { class: 'stack' })];
    const text = h('pre', { class: 'plain', tabindex: '0', role: 'region', 'aria-label': `Config of ${run.id}` });
    const config = h('details', { hidden: true }, h('summary', null, 'Config'), text);
    return { links, shares, maps, text, config, root: h('section', { class: 'panel stack' }, h('h2', null, run.id), links, shares, maps, config) };
  }

  /** A link to what the network of a run says about positions, if the server knows it as an agent. */
  async offer(run, place) {
    const agent = (await allAgents(this.signal)).find(({ id }) => id === run.id);
    if (!agent) return;
    const { hides } = await gameInfo(agent.game);
    const url = `#/position/${encodeURIComponent(agent.game)}?agent=${encodeURIComponent(run.id)}`;
    put(place, agent.values && !hides && h('a', { class: 'button', href: url }, 'Show its evaluation'));
    place.parentElement.hidden = false;
  }
}
