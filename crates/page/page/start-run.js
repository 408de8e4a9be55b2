// The form that starts a training run from a game's starter config.

import { post } from './api.js';
import { titleOf, variantOf } from './boards.js';
import { h, kept, put } from './dom.js';

const METHODS = {
  td: 'TD(λ), along whole games',
  expectation: 'expected values of the best replies',
  supervised: 'exact values of positions',
  regrets: 'counterfactual regrets',
};
const WHOLE = '[0-9]{1,15}';
const NUMBER = '[0-9]*[.]?[0-9]+(e-?[0-9]+)?';
const LIST = '([0-9]+( *, *[0-9]+)*)?';

const nameOf = (game) => [titleOf(game), variantOf(game)].filter(Boolean).join(', ');

const sentence = (about) => about.charAt(0).toUpperCase() + about.slice(1).split(/[,;(]/)[0];

/** The architecture that a starter has by itself. */
const ownOf = ({ text, architectures = [] }) => architectures.find((one) => text.includes(one.text));

/** The values in a config by their keys, as far as they stand in one line. */
function readConfig(text) {
  const found = new Map();
  let section = '';
  for (const line of text.split('\n')) {
    section = /^\[(.+?)\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^(\w+) *= *([^#]*)/.exec(line) ?? [];
    if (!name) continue;
    found.set(`${section}.${name}`, value.trim());
    for (const [, part, inner] of value.matchAll(/(\w+) = ([\d._e-]+)/g)) found.set(`${section}.${name}.${part}`, inner);
  }
  return found;
}

/** What can be changed: key, label, value, and the pattern of values. */
function fieldsOf({ key, learns }, text) {
  const found = readConfig(text);
  const hidden = [...found.keys()].find((name) => /^architecture\..*\.hidden$/.test(name));
  const experts = [...found.keys()].find((name) => /^architecture\..*\.experts$/.test(name));
  const unit = key.split('.').at(-1);
  return [
    [key, `${unit.charAt(0).toUpperCase()}${unit.slice(1)} to learn from`, String(learns), WHOLE],
    ['learn.rate', 'Learning rate', found.get('learn.rate'), NUMBER],
    ['learn.rate.from', 'Learning rate at the start', found.get('learn.rate.from'), NUMBER],
    ['learn.rate.to', 'Learning rate at the end', found.get('learn.rate.to'), NUMBER],
    [experts, 'Experts', found.get(experts), WHOLE],
    [hidden, experts ? 'Hidden units of each layer of an expert' : 'Hidden units of each layer', found.get(hidden)?.replace(/[[\]]/g, ''), LIST],
    ['evaluate.every', `${unit.charAt(0).toUpperCase()}${unit.slice(1)} between measurements`, found.get('evaluate.every')?.replaceAll('_', ''), WHOLE],
  ].filter(([, , value, pattern]) => value !== undefined && new RegExp(`^${pattern}$`).test(value));
}

const labelled = (label, input) => h('label', { class: 'field' }, h('span', null, label), input);

/** A field of text. What it holds is sent only if it was changed. */
const textField = (label, value, pattern, attributes) => labelled(label, h('input', { type: 'text', autocomplete: 'off', value, pattern, ...attributes }));

function select(options, value, onchange) {
  return h('select', { onchange }, options.map(([name, text]) => h('option', { value: name, selected: name === value }, text)));
}

/** The form. Calls `onstart` with the name of a run that has begun. */
export function startForm(starters, onstart, signal) {
  const before = kept.get('train', {});
  const games = [...new Set(starters.map(({ game }) => game))];
  const game = select(games.map((name) => [name, nameOf(name)]), before.game, () => drawMethods());
  const method = h('select', { onchange: () => drawNetworks() });
  const network = h('select', { onchange: () => drawFields() });
  const fields = h('div', { class: 'fields' });
  const text = h('pre', { class: 'plain', tabindex: '0', 'aria-label': 'Config', role: 'region' });
  const fault = h('p', { class: 'fault', role: 'alert' });
  const start = h('button', { type: 'submit', class: 'main' }, 'Start the run');

  function drawMethods() {
    const known = starters.filter((one) => one.game === game.value).map((one) => one.method);
    put(method, known.map((name) => h('option', { value: name, selected: name === before.method }, METHODS[name] ?? name)));
    drawNetworks();
  }

  const chosen = () => starters.find((one) => one.game === game.value && one.method === method.value);

  function drawNetworks() {
    const { architectures = [] } = chosen();
    put(network, architectures.map(({ kind, about }) => h('option', { value: kind, selected: ownOf(chosen())?.kind === kind }, sentence(about))));
    network.closest('label').hidden = architectures.length < 2;
    drawFields();
  }

  /** The starter with the chosen architecture. */
  function configOf(starter) {
    const [own, other] = [ownOf(starter), starter.architectures?.find(({ kind }) => kind === network.value)];
    return own && other ? starter.text.replace(own.text, () => other.text) : starter.text;
  }

  function drawFields() {
    const starter = chosen();
    const config = configOf(starter);
    text.textContent = config;
    put(
      fields,
      fieldsOf(starter, config).map(([key, label, value, pattern]) => textField(label, value, pattern, { name: key, inputmode: pattern === LIST ? 'text' : 'decimal', required: pattern !== LIST })),
      textField('Seed', '', WHOLE, { name: 'seed', inputmode: 'numeric', placeholder: '1' }),
    );
    const [learns, every] = [starter.key, 'evaluate.every'].map((name) => fields.querySelector(`[name="${name}"]`));
    // A shorter run is measured as many times, unless the person says how often.
    learns.addEventListener('input', () => {
      if (every && !every.isTouched) every.value = Math.max(1, Math.round((every.defaultValue * learns.value) / learns.defaultValue)) || every.defaultValue;
    });
    every?.addEventListener('input', () => { every.isTouched = true; });
  }

  function asked() {
    const settings = {};
    for (const { name, value, defaultValue, pattern } of fields.querySelectorAll('input:not([name=seed])')) {
      if (value === defaultValue) continue;
      settings[name] = pattern === LIST ? value.split(',').filter((part) => part.trim()).map(Number) : Number(value);
    }
    const seed = fields.querySelector('[name=seed]').value;
    const isOther = network.value && network.value !== ownOf(chosen())?.kind;
    return { game: game.value, method: method.value, settings, ...(isOther && { architecture: network.value }), ...(seed && { seed: Number(seed) }) };
  }

  async function submit(event) {
    event.preventDefault();
    fault.textContent = '';
    start.disabled = true;
    try {
      const body = asked();
      kept.set('train', { game: body.game, method: body.method });
      onstart((await post('/runs', { ...body, key: String(Math.random()) }, signal)).id);
    } catch (error) {
      if (!signal.aborted) fault.textContent = error.message;
    } finally {
      start.disabled = false;
    }
    if (fault.textContent) start.focus();
  }

  const networks = labelled('Network', network);
  drawMethods();
  return h(
    'form',
    { class: 'two', onsubmit: submit },
    h('div', { class: 'stack' }, h('div', { class: 'fields' }, labelled('Game', game), labelled('Learns from', method), networks), fields, fault, h('div', { class: 'row' }, start)),
    h('div', { class: 'stack' }, h('p', { class: 'quiet' }, 'The run uses this config with your changes.'), text),
  );
}
