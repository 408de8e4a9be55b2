// The analysis of a finished game: what decisions lost, and luck and skill of each player.

import { get } from './api.js';
import { button, h, put, signed } from './dom.js';
import { ask } from './frame.js';

const LARGE = 0.05; // share of the largest loss below which a loss is not marked

/** A panel that asks for the analysis when the person wants it. `onchoose` gets the event of a decision and the agent that judged it. */
export function analysisPanel({ play, judges, signal, onchoose }) {
  const panel = h('div', { class: 'stack' });
  const result = h('div', { class: 'stack' });
  const select = h('select', { 'aria-label': 'Agent for the analysis' });
  const go = button('Analyse the game', async () => {
    const found = await ask(go, () => get(`/plays/${play.id}/analysis?by=${encodeURIComponent(select.value)}`, signal));
    if (found) put(result, report(play, found, onchoose));
  }, { class: 'main' });
  put(panel, h('h2', null, 'Analysis'), h('div', { class: 'row' }, select, go), result);
  judges().then((all) => {
    // Exact values judge best, then networks, then samples.
    const rank = ({ exact, kind }) => (exact ? 0 : kind === 'checkpoint' ? 1 : 2);
    const sorted = [...all].sort((a, b) => rank(a) - rank(b));
    const named = (one) => [one.id, ['exact values', null, 'estimates from samples'][rank(one)]].filter(Boolean).join(', ');
    put(select, sorted.map((one) => h('option', { value: one.id }, named(one))));
    if (all.length === 0) put(panel, h('h2', null, 'Analysis'), h('p', { class: 'quiet' }, 'No agent on this server can analyse this game.'));
  }).catch(() => {});
  return panel;
}

const who = (play, player) => (player === play.seat ? 'You' : 'Opponent');

function report(play, found, onchoose) {
  const unit = found.unit ? ` in ${found.unit}` : '';
  const tables = found.references ? ` and, where they know the value, ${found.references.join(', ')}` : '';
  const decisions = h('div');
  let worstFirst = true;
  const order = button('', () => {
    worstFirst = !worstFirst;
    draw();
  }, { class: 'link' });
  const draw = () => {
    order.textContent = worstFirst ? 'Show in order' : 'Show worst first';
    const sorted = [...found.decisions].sort((a, b) => (worstFirst ? Number(a.undecided) - Number(b.undecided) || b.loss - a.loss : a.event - b.event));
    put(decisions, decisionTable(play, sorted, (event) => onchoose(event, found.by)));
  };
  draw();
  return [
    h('p', { class: 'quiet' }, `Analysed by ${found.by}${found.exact ? ', whose values are exact' : ''}${tables}; losses and luck${unit}.`),
    found.players.some(({ undecided }) => undecided > 0) && h('p', { class: 'quiet' }, 'The values are estimates from samples. A decision is undecided if its loss lies within the error of the estimates (95 %); such losses are not counted.'),
    playerTable(play, found.players),
    h('div', { class: 'row spread' }, h('h3', null, 'Decisions'), order),
    decisions,
  ];
}

function playerTable(play, players) {
  const figure = (value, digits = 3) => (typeof value === 'number' ? signed(value, digits) : '–');
  const error = (half) => (typeof half === 'number' ? ` ± ${half.toFixed(3)}` : '');
  const rows = [
    ['decisions', ({ decisions }) => String(decisions)],
    ['wrong decisions', ({ wrong }) => String(wrong)],
    players.some(({ undecided }) => undecided > 0) && ['undecided', ({ undecided }) => String(undecided)],
    ['lost by decisions', (one) => figure(-one.loss) + error(one.loss_ci95)],
    ['lost by one, on average', (one) => figure(one.loss_per_decision === null ? null : -one.loss_per_decision, 4)],
    ['luck', (one) => figure(one.luck) + error(one.luck_ci95)],
  ].filter(Boolean);
  const row = ([name, of]) => h('tr', null, h('th', { scope: 'row' }, name), players.map((one) => h('td', null, of(one))));
  return h(
    'table',
    { class: 'numbers' },
    h('thead', null, h('tr', null, h('td'), players.map(({ player }) => h('th', { scope: 'col' }, who(play, player))))),
    h('tbody', null, rows.map(row)),
  );
}

function decisionTable(play, decisions, choose) {
  if (decisions.length === 0) return h('p', { class: 'quiet' }, 'No decisions to analyse.');
  const largest = Math.max(...decisions.filter(({ undecided }) => !undecided).map(({ loss }) => loss), 1e-9);
  const row = (one) => h(
    'li',
    null,
    button(
      [
        h('span', { class: 'rank' }, `${one.event}`),
        h('span', { class: 'move-name' }, `${who(play, one.player)}: ${one.move}`, one.loss > 0 && !one.undecided && one.best !== one.move && h('span', { class: 'quiet' }, ` best ${one.best}`)),
        one.undecided ? h('span', { class: 'figure quiet' }, 'undecided') : h('span', { class: `figure${one.loss > LARGE * largest && one.loss > 1e-6 ? ' bad' : ''}` }, one.loss > 1e-9 ? signed(-one.loss) : 'best'),
      ],
      () => choose(one.event),
      { class: 'candidate' },
    ),
  );
  return h('ol', { class: 'candidates decisions' }, decisions.map(row));
}
