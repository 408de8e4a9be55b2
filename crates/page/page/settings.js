// How the board looks and moves, as this browser remembers it, and the dialog that changes it.

import { button, calm, h, kept, put } from './dom.js';

/** Each setting: its name, its question, and its choices, the usual one first. */
const SETTINGS = [
  ['pace', 'Pace of moves', { normal: 'normal', slow: 'slow', fast: 'fast', off: 'no animation' }],
  ['bears-off', 'Bear off on the', { right: 'right', left: 'left' }],
  ['colours', 'Colours of the board', { plain: 'as the page', green: 'green felt', blue: 'blue', contrast: 'high contrast' }],
  ['confirm', 'Complete moves', { ask: 'wait for “Confirm move”', go: 'are made at once' }],
  ['roll', 'Before a roll', { ask: 'I may double', go: 'roll for me: I never double' }],
  ['forced', 'With no choice', { go: 'the only move is made for me', ask: 'I make it myself' }],
];

/** The choice of a setting. */
export function setting(name) {
  const choices = Object.keys(SETTINGS.find(([known]) => known === name)[2]);
  const chosen = kept.get(`set.${name}`);
  return choices.includes(chosen) ? chosen : choices[0];
}

/** How long movements take, times the usual; 0 if nothing shall move. */
export const pace = () => (calm() ? 0 : { slow: 1.8, normal: 1, fast: 0.45, off: 0 }[setting('pace')]);

/** Puts the chosen colours on. */
function wearColours() {
  document.documentElement.dataset.board = setting('colours');
}

wearColours();

/** Shows the dialog; `onchange` is called after each change. */
export function showSettings(onchange) {
  const dialog = h('dialog', { class: 'settings', 'aria-label': 'Settings of the board' });
  const row = ([name, label, choices]) => {
    const select = h('select', {
      'data-key': `set-${name}`,
      onchange: () => {
        kept.set(`set.${name}`, select.value);
        wearColours();
        onchange();
      },
    }, Object.entries(choices).map(([value, text]) => h('option', { value, selected: value === setting(name) }, text)));
    return h('label', { class: 'field' }, h('span', null, label), select);
  };
  put(
    dialog,
    h('h2', null, 'Board'),
    h('div', { class: 'stack' }, SETTINGS.map(row)),
    h('p', { class: 'quiet' }, 'A double click on a checker, or Enter, plays the larger die. Escape takes a step back.'),
    button('Close', () => dialog.close(), { class: 'main' }),
  );
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
