// What surrounds every view: announcements, messages, the banner of a lost connection, and the dialog of rules.

import { connection } from './api.js';
import { button, h, prose, put } from './dom.js';

const byId = (id) => document.getElementById(id);

/** Says something to screen readers when they are free. */
export function announce(text) {
  const region = byId('live');
  region.textContent = '';
  // A region that changes twice within a moment is read once.
  setTimeout(() => { region.textContent = text; }, 60);
}

let hiding = 0;

/** Shows a message for a while. */
export function tell(text, isError = true) {
  const box = byId('message');
  const close = () => { box.hidden = true; };
  box.className = isError ? 'bad' : '';
  box.hidden = false;
  put(box, h('span', null, text), button('Close', close, { class: 'link' }));
  clearTimeout(hiding);
  hiding = setTimeout(close, 12_000);
}

/** Runs a request for a control, which waits meanwhile. Errors are shown; then the result is undefined. */
export async function ask(control, request) {
  if (control) control.disabled = true;
  try {
    return await request();
  } catch (error) {
    if (error.name !== 'AbortError') tell(error.message);
    return undefined;
  } finally {
    if (control) control.disabled = false;
  }
}

/** Tells when the connection is lost and when it is back. */
export function watchConnection() {
  const banner = byId('banner');
  let shown = 0;
  connection.addEventListener('lost', ({ detail }) => {
    const show = () => {
      banner.hidden = false;
      banner.textContent = `No connection to the server. Trying again in ${detail} s; nothing is lost.`;
    };
    clearTimeout(shown);
    // A short break needs no banner.
    shown = setTimeout(show, banner.hidden ? 400 : 0);
  });
  connection.addEventListener('back', () => {
    clearTimeout(shown);
    banner.hidden = true;
  });
}

/** Copies a text. Says whether it could: pages without encryption may not. */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} is copied.`, false);
    return true;
  } catch {
    return false;
  }
}

/** Shows a dialog, which a click beside it closes. */
export function dialogOf(title, ...parts) {
  const dialog = h('dialog', { 'aria-label': title }, h('h2', null, title), ...parts);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Shows the rules of a game in a dialog. */
export function showRules(title, text) {
  const dialog = dialogOf(`Rules of ${title}`, prose(text), button('Close', () => dialog.close(), { class: 'main' }));
  dialog.classList.add('rules');
}
