// A game in progress: the board, what happened, what an agent thinks, and the analysis after the end.

import { agents, gameInfo, games, get, post } from './api.js';
import { boardFor, inBlinds, isCheckers, opponentTitle, seatName, titleOf, variantOf } from './boards.js';
import { button, h, kept, put } from './dom.js';
import { announce, ask, showRules, tell } from './frame.js';
import { copyOf, hearTabs, isLost, knownPlays, markLost, remember, restorePlay, tellTabs } from './saves.js';
import { pace, setting, showSettings } from './settings.js';
import { gameEnds, resignationWords, stakesOf, toldOf } from './stakes.js';
import { Thoughts, unitOf } from './thoughts.js';

/** What the status says while a move is made for the person. */
const FORCED = { pass: 'No checker can move: you pass', roll: 'You roll' };
const PAUSE = { chance: 520, move: 300, end: 1800, forced: 1100, all: 5000 };

/** A game that was just begun, so that its view need not ask for it. */
let fresh = null;

/** Begins a game and goes to it. */
export async function beginPlay(settings, signal) {
  fresh = await post('/plays', settings, signal);
  location.hash = `#/play/${fresh.id}`;
}

const SUITS = { s: '♠', h: '♥', d: '♦', c: '♣' };

/** A game from the server, which gets it back from this browser if it has lost it, or its last moves. */
async function look(id, signal) {
  try {
    const play = await get(`/plays/${id}`, signal);
    return copyOf(id)?.turn > play.turn ? await restorePlay(id, null, signal).catch(() => play) : play;
  } catch (error) {
    if (!isLost(error)) throw error;
    return restorePlay(id, error, signal);
  }
}

export async function playView(root, [id], signal) {
  const asked = fresh?.id === id ? fresh : look(id, signal);
  const about = games().catch(() => []);
  fresh = null;
  let play;
  try {
    play = await asked;
  } catch (error) {
    if (!isLost(error)) throw error;
    gone(root, id, signal, error);
    return 'A lost game';
  }
  const view = new PlayView(root, play, signal);
  view.start();
  about.then(() => gameInfo(play.game)).then((info) => view.learn(info)).catch(() => {});
  return titleOf(play.game);
}

/** Says why a game cannot be played on. */
function gone(root, id, signal, { status, message }) {
  const settings = knownPlays().find((play) => play.id === id);
  put(
    root,
    h('h1', null, status === 410 ? 'This game cannot go on' : 'This game is no longer there'),
    h('p', null, status === 404 ? 'The server does not have it, and there is no copy of it in this browser.' : message.charAt(0).toUpperCase() + message.slice(1)),
    h(
      'p',
      { class: 'row' },
      settings && button(`New game of ${titleOf(settings.game)} with the same settings`, (event) => ask(event.target, () => beginPlay({ game: settings.game, opponent: settings.opponent, seat: settings.seat }, signal)), { class: 'main' }),
      h('a', { class: 'button', href: '#/' }, 'Choose a game'),
      h('a', { class: 'button', href: '#/games' }, 'Your games'),
    ),
  );
  if (status === 404) markLost(id);
}

class PlayView {
  constructor(root, play, signal) {
    this.signal = signal;
    this.play = play;
    this.info = { name: play.game, hides: true, zero_sum: false, classes: [], scale: 1, rules: null };
    this.at = play.events.length;
    this.agents = [];
    this.showing = 0;
    this.ends = new Map();
    this.root = root;
  }

  start() {
    const { play } = this;
    this.board = boardFor({ game: { name: play.game }, seat: play.seat, players: play.players, onmove: (move) => this.move(move), stays: true }, play.position);
    this.thoughts = new Thoughts({ game: this.info, onpeek: (move) => this.peek(move), onpick: (move) => this.move(move) });
    this.parts = {
      status: h('p', { class: 'status' }),
      tools: h('div', { class: 'row tools' }),
      steps: h('div', { class: 'row steps', role: 'group', 'aria-label': 'Step through the game' }),
      news: h('div', { class: 'news' }),
      list: h('ol', { class: 'events' }),
      agent: h('select', { 'aria-label': 'Agent that evaluates', onchange: () => this.think() }),
      analysis: h('p', { class: 'row', hidden: true }),
    };
    this.thinking = h(
      'details',
      { class: 'panel', open: kept.get('thinks', false) },
      h('summary', null, h('h2', null, 'Evaluation')),
      h('div', { class: 'stack' }, this.parts.agent, this.thoughts.element),
    );
    this.thinking.addEventListener('toggle', () => {
      kept.set('thinks', this.thinking.open);
      this.think();
    });
    put(
      this.root,
      h('header', { class: 'page-head' }, h('h1', null, titleOf(play.game)), h('p', { class: 'quiet' }, this.subtitle()), this.parts.tools),
      h(
        'div',
        { class: 'play' },
        h('div', { class: 'board-side' }, this.parts.status, this.parts.analysis, this.board.element, this.parts.news),
        h(
          'div',
          { class: 'text-side' },
          this.thinking,
          h('section', { class: 'panel' }, h('h2', null, 'Moves'), this.parts.steps, this.parts.list),
        ),
      ),
    );
    for (const name of ['pointerdown', 'keydown']) this.root.addEventListener(name, () => this.hurry());
    hearTabs((news) => this.hear(news), this.signal);
    document.addEventListener('visibilitychange', () => this.catchUp(), { signal: this.signal });
    this.fillAgents();
    this.update(play, false);
  }

  subtitle() {
    const { game, opponent, seat, players } = this.play;
    return [variantOf(game), `against ${opponentTitle(opponent)}`, (players > 2 || !isCheckers(game)) && `you are ${seatName(game, seat)}`].filter(Boolean).join(' · ');
  }

  /** More about the game has become known. */
  learn(info) {
    Object.assign(this.info, info);
    this.drawTools();
    this.drawAnalysis();
    this.think();
  }

  async fillAgents() {
    const { opponent, game } = this.play;
    const all = await agents(game).catch(() => []);
    this.agents = all;
    const names = new Set([opponent, ...all.filter((agent) => agent.values).map((agent) => agent.id)]);
    put(this.parts.agent, [...names].map((name) => h('option', { value: name }, name)));
    this.think();
  }

  /** Takes over a new state of the game and shows what happened, step by step if it may. */
  async update(play, stepwise) {
    const before = this.play.events.length;
    if (play.turn !== this.play.turn) tellTabs({ play });
    this.play = play;
    this.ends = gameEnds(play);
    remember(play);
    const news = play.events.slice(before);
    const isMore = stepwise && news.length > 0;
    if (isMore) announce(this.told(news, before));
    if (isMore && pace() > 0) {
      this.drawTools();
      await this.replay(before + 1);
      if (this.play !== play || this.signal.aborted) return;
    } else this.go(play.events.length);
    this.drawTools();
    this.drawAnalysis();
    if (stepwise) this.force();
  }

  /** What the page does for the person: the only move, in a game in which luck often leaves no choice, or the roll of who never doubles. */
  get forcedMove() {
    const { your_turn: yours, moves } = this.play;
    if (!yours || !this.isNow || !this.isCheckers) return null;
    if (setting('roll') === 'go' && moves.some(({ move }) => move === 'roll')) return 'roll';
    return moves.length === 1 && setting('forced') === 'go' ? moves[0].move : null;
  }

  /** After a short moment, makes the move that the person leaves to the page. */
  force() {
    // The person may have been faster than what was to come.
    clearTimeout(this.forcing);
    const { forcedMove: move, play } = this;
    this.willMove = move;
    this.drawStatus();
    if (!move) return;
    const wait = (move === 'roll' ? PAUSE.move : PAUSE.forced) * (pace() || 0.5);
    this.forcing = setTimeout(() => {
      const goesOn = this.play === play && this.isNow && !this.signal.aborted;
      this.willMove = null;
      if (goesOn) this.move(move);
    }, wait);
  }

  /** What others did and what chance brought, in sentences. */
  told(events, before) {
    const said = events.map((event, i) => (event.player === this.play.seat ? this.ends.get(before + i + 1)?.told : this.said(event, before + i + 1)));
    const { over, outcome, your_turn: yours } = this.play;
    return inBlinds([...said, over ? outcome?.text : yours && 'Your turn.'].filter(Boolean).join(' '));
  }

  /** A sentence about the event that led to a place, with the end of a game of a match. */
  said({ text }, at) {
    const end = this.ends.get(at);
    const told = this.named(this.isCheckers && text ? toldOf(text) : text ?? '');
    return end ? `${told} ${end.told}` : told;
  }

  /** The words of the server with the opponent's name, and with suits as cards show them. */
  named(text) {
    const { game, players, seat } = this.play;
    const suited = /^holdem/.test(game) ? text.replace(/\b([2-9TJQKA])([shdc])\b/g, (_, rank, suit) => (rank === 'T' ? '10' : rank) + SUITS[suit]) : text;
    if (players !== 2) return suited;
    return suited
      .replace(/(^|[.!?:]\s+)It\b/g, '$1The opponent')
      .replace(new RegExp(`(^|[.!?]\\s+)Player ${3 - seat}\\b(?!  )`, 'g'), '$1The opponent')
      .replace(new RegExp(`\\b[Pp]layer ${3 - seat}\\b(?!  )`, 'g'), 'the opponent');
  }

  get isCheckers() {
    return isCheckers(this.play.game);
  }

  /** Waits while an event is shown, or until nobody wants to wait. */
  pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Shows one event after the other from the place `from` on. */
  async replay(from) {
    const last = this.play.events.length;
    const mine = (this.showing += 1);
    const speed = Math.min(1, PAUSE.all / ((last - from + 1) * 2 * PAUSE.move)) * pace();
    for (let at = from; at <= last && this.showing === mine && !this.signal.aborted; at += 1) {
      const event = this.play.events[at - 1];
      const isNews = (event.text || event.player) && event.move !== 'roll';
      if (!isNews) continue;
      this.go(at, true);
      const { moving = 0 } = this.board;
      // The own move stands on the board already.
      const rest = event.player === this.play.seat && moving === 0 ? 0 : event.player ? PAUSE.move : PAUSE.chance;
      await this.pause(this.ends.has(at) ? PAUSE.end * pace() : at === last ? moving : moving + rest * speed);
    }
    if (this.showing === mine && !this.signal.aborted) this.go(last);
  }

  /** Ends a replay at once. */
  hurry() {
    if (this.replaying) this.go(this.play.events.length);
  }

  /** Goes to the position after so many events. */
  go(at, replaying = false) {
    this.at = Math.max(0, Math.min(at, this.play.events.length));
    this.replaying = replaying;
    if (!replaying) {
      this.showing += 1;
      this.wake?.();
    }
    this.board.show(this.scene());
    this.drawStatus();
    this.drawSteps();
    this.drawNews();
    if (this.listed !== this.play) this.drawList();
    this.markList();
    if (!replaying) this.think();
  }

  get isNow() {
    return this.at === this.play.events.length;
  }

  scene() {
    const { play, at } = this;
    const position = (i) => play.events[i - 1]?.position ?? play.begin;
    let last = at;
    while (last > 0 && play.events[last - 1].player === null) last -= 1;
    const active = this.isNow && play.your_turn && !this.replaying;
    return {
      key: `${play.id} ${play.turn} ${at} ${active}`,
      position: this.isNow ? play.position : position(at),
      next: (this.isNow ? play.next : play.events[at - 1]?.next) ?? 1,
      board: (this.isNow ? play.board : at > 0 ? play.events[at - 1].board : play.begin_board) ?? null,
      moves: active ? play.moves : [],
      active,
      before: last > 0 ? position(last - 1) : null,
      move: last > 0 ? play.events[last - 1].move : null,
      mover: last > 0 ? play.events[last - 1].player : null,
      isEnd: this.ends.has(at) && at < play.events.length,
      isOver: play.over && this.isNow,
    };
  }

  peek(move) {
    const shown = this.scene();
    const position = move?.afterstate;
    if (!position) {
      this.board.peek(null);
      return;
    }
    const { seat } = this.play;
    const mover = this.isNow ? seat : this.play.events[this.at]?.player;
    this.board.peek({ ...shown, position, next: mover && 3 - mover, board: null, moves: [], active: false, before: shown.position, move: move.move, mover });
  }

  drawStatus() {
    const { play } = this;
    const isOver = play.over && this.isNow && !this.replaying;
    const text = !this.isNow && !this.replaying
      ? `An earlier position, ${this.at} of ${play.events.length}`
      : this.replaying && this.ends.has(this.at) ? this.ends.get(this.at).told
        : isOver ? this.ends.get(this.at)?.told ?? inBlinds(play.outcome?.text ?? 'The game is over.')
          : this.willMove ? FORCED[this.willMove] ?? 'Only one move is possible'
            : play.your_turn && !this.replaying ? 'Your turn' : play.players === 2 ? 'Opponent’s move …' : 'Other players move …';
    const kind = isOver ? (play.outcome?.utility > 0 ? 'won' : play.outcome?.utility < 0 ? 'lost' : 'drawn') : '';
    this.parts.status.className = `status ${kind}`;
    put(this.parts.status, text);
  }

  drawTools() {
    const { play } = this;
    const settings = { game: play.game, opponent: play.opponent, seat: play.seat };
    put(
      this.parts.tools,
      button('Take back', (event) => this.change(event.target, () => post(`/plays/${play.id}/undo`, {}, this.signal)), { disabled: !play.can_undo, 'data-key': 'undo' }),
      play.resignations.length > 0 && !play.over && button('Resign', () => this.resign()),
      button('Share', () => import('./games.js').then(({ sharePlay }) => sharePlay(this.play, this.signal))),
      this.isCheckers && button('Settings', () => showSettings(() => this.board.restyle())),
      this.info.rules && button('Rules', () => showRules(titleOf(play.game), this.info.rules)),
      play.over && button('Play again', (event) => ask(event.target, () => beginPlay(settings, this.signal)), { class: 'main' }),
      h('a', { class: 'button', href: `#/new/${encodeURIComponent(play.game)}` }, 'New game'),
      !this.info.hides && h('a', { class: 'button', href: `#/position/${encodeURIComponent(play.game)}?p=${encodeURIComponent(play.position)}` }, 'Position'),
    );
  }

  resign() {
    const { id, resignations } = this.play;
    const dialog = h('dialog', { 'aria-label': 'Resign' });
    const stakes = stakesOf(this.play.position, this.play.game);
    const choose = (name) => button(resignations.length > 1 ? resignationWords(name, stakes) : 'Resign', (event) => {
      dialog.close();
      this.change(event.target, () => post(`/plays/${id}/resign`, { class: name }, this.signal));
    });
    put(dialog, h('h2', null, 'Resign?'), resignations.length > 1 && h('p', null, stakes?.length ? 'What do you give up in this game?' : 'What do you give up?'), h('div', { class: 'row' }, resignations.map(choose), button('Play on', () => dialog.close(), { class: 'main' })));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  /** Another tab has changed or deleted this game. */
  hear({ play, left }) {
    if (left === this.play.id) gone(this.root, left, this.signal, { status: 'left', message: 'It was deleted in another tab.' });
    if (play?.id === this.play.id) this.follow(play);
  }

  /** Shows what was done elsewhere, without telling those who did it. */
  follow(play) {
    this.heard = play;
    // An answer that is still awaited comes first.
    if (this.isSending || play.turn <= this.play.turn) return;
    const isLonger = play.events.length > this.play.events.length;
    this.play = { ...this.play, turn: play.turn };
    this.update(play, isLonger);
  }

  /** An answer has come. */
  sent() {
    this.isSending = false;
    if (this.heard) this.follow(this.heard);
  }

  /** The game may have gone on in another browser while this tab was hidden. */
  async catchUp() {
    // Without a connection the question before is still asked again and again.
    if (document.hidden || this.isCatchingUp) return;
    this.isCatchingUp = true;
    const play = await get(`/plays/${this.play.id}`, this.signal).catch(() => null);
    this.isCatchingUp = false;
    if (play) this.follow(play);
  }

  async change(control, request) {
    this.isSending = true;
    try {
      const play = await ask(control, () => request().catch((error) => this.resume(error, request)));
      // A resignation in a match begins the next game.
      if (play) await this.update(play, play.events.length > this.play.events.length);
    } finally {
      this.sent();
    }
  }

  async move(move) {
    if (!this.isNow || !this.play.your_turn || this.isSending) return;
    this.isSending = true;
    this.board.element.classList.add('waits');
    const { id, turn } = this.play;
    const send = () => post(`/plays/${id}/moves`, { move, turn }, this.signal);
    try {
      const play = await ask(null, () => send().catch((error) => this.resume(error, send, move)));
      // Not awaited: the next move may end the replay of the answer.
      if (play) this.update(play, true);
    } finally {
      this.sent();
      this.board.element.classList.remove('waits');
    }
  }

  /** The game went on meanwhile, such as after an answer that was lost; or the server has lost it. */
  async resume(error, send, move) {
    const { id, turn, seat, events } = this.play;
    if (error.status === 409) {
      const play = await look(id, this.signal);
      if (play.turn === turn) return send();
      const next = play.events[events.length];
      // A move that was made, and whose answer was lost, needs no words.
      if (next?.player !== seat || next.move !== move) tell('This game went on in another tab or browser. Your move was not made; this is the position now.', false);
      return play;
    }
    if (!isLost(error)) throw error;
    try {
      const play = await restorePlay(id, error, this.signal);
      return play.turn === turn ? send() : play;
    } catch (refused) {
      if (isLost(refused)) gone(this.root, id, this.signal, refused);
      throw refused;
    }
  }

  drawSteps() {
    const last = this.play.events.length;
    const step = (name, label, at, possible) => button(name, () => this.go(at), { 'aria-label': label, disabled: !possible, 'data-key': label });
    const held = document.activeElement?.getAttribute('data-key');
    put(
      this.parts.steps,
      step('«', 'First position', 0, this.at > 0),
      step('‹', 'Previous position', this.at - 1, this.at > 0),
      h('span', { class: 'quiet step-count' }, `${this.at} of ${last}`),
      step('›', 'Next position', this.at + 1, this.at < last),
      step('»', 'Current position', last, this.at < last),
    );
    if (held) this.parts.steps.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
  }

  /** Sentences about what happened since the person's last move. */
  drawNews() {
    const { play } = this;
    if (!this.isNow && !this.replaying) {
      put(this.parts.news, button('Back to the current position', () => this.go(play.events.length), { class: 'main' }));
      return;
    }
    const until = play.events.slice(0, this.at);
    const mine = until.findLastIndex(({ player }) => player === play.seat);
    // A text such as 2,2,2/1,3,2 says nothing that the board does not show.
    const first = Math.max(mine, 0);
    const shown = until.slice(first).map((event, i) => ({ ...event, said: this.said(event, first + i + 1) }));
    const isNews = ({ player, move, text }) => text && !(player === null && text.includes('/')) && !(this.isCheckers && player && move === 'roll');
    put(this.parts.news, shown.filter(isNews).slice(-12).map(({ said }) => h('p', null, said)));
  }

  line(event, at) {
    const { player, move, text } = event;
    if (player === null) return text ? this.said(event, at) : null;
    if (this.isCheckers && /^(double|take|drop|beaver|resign)/.test(move)) return this.named(toldOf(text));
    // Bids and bets are read more easily as words, without the table of what was revealed.
    if (/^(liars-dice|holdem|leduc|kuhn)/.test(this.play.game) && text) return this.named(text.split('\n').filter((line) => !/^\s/.test(line)).join(' '));
    const who = player === this.play.seat ? 'You' : this.play.players === 2 ? 'Opponent' : `Player ${player}`;
    return [h('strong', null, who), this.play.game === 'connect-four' ? ` column ${move}` : ` ${move}`];
  }

  drawList() {
    const items = [];
    this.listed = this.play;
    const { isCheckers: isDice } = this;
    this.play.events.forEach((event, i) => {
      const line = this.line(event, i + 1);
      const roll = isDice && event.player !== null ? this.play.events[i - 1] : null;
      const isSilent = isDice && (event.player === null ? this.play.events[i + 1] : event.move === 'roll');
      if (line && !isSilent) {
        const dice = roll?.player === null && h('span', { class: 'roll' }, roll.move.slice(-2));
        items.push(h('li', { 'data-at': i + 1 }, button([dice, line], () => this.go(i + 1), { class: `event${event.player === this.play.seat ? ' mine' : ''}` })));
      }
      const end = this.ends.get(i + 1);
      if (end) items.push(h('li', { class: 'game-end' }, end.told));
    });
    put(this.parts.list, items.length ? items : h('li', { class: 'quiet' }, 'Nothing has happened yet.'));
  }

  markList() {
    let shown = null;
    for (const item of this.parts.list.querySelectorAll('[data-at]')) {
      item.firstChild.removeAttribute('aria-current');
      if (Number(item.getAttribute('data-at')) <= this.at) shown = item;
    }
    shown?.firstChild.setAttribute('aria-current', 'step');
    const { list } = this.parts;
    requestAnimationFrame(() => {
      if (shown) list.scrollTop = shown.offsetTop - list.clientHeight / 2;
    });
  }

  /** Asks for what an agent thinks of the position that is shown. */
  async think() {
    const by = this.parts.agent.value;
    if (!this.thinking.open || !by) return;
    const { play, at } = this;
    const isMine = this.isNow && play.your_turn;
    const mover = isMine ? play.seat : play.events[at]?.player;
    const key = `${play.id} ${play.turn} ${at} ${by}`;
    if (this.thought === key) return;
    this.thought = key;
    if (!mover || (!isMine && this.info.hides)) {
      this.thoughts.say(this.info.hides ? 'Advice is for your own turns.' : 'No decisions to analyse here.');
      return;
    }
    this.thoughts.say('Thinking …');
    const { position } = this.scene();
    try {
      const found = isMine
        ? await get(`/plays/${play.id}/hints?by=${encodeURIComponent(by)}`, this.signal)
        : { value: await post('/moves', { agent: by, game: play.game, position }, this.signal) };
      if (this.thought !== key) return;
      const names = mover === play.seat ? ['You', 'Opponent'] : ['Opponent', 'You'];
      this.thoughts.show({ ...found, by, unit: unitOf(this.agents, by), mover: names[0], other: names[1], done: isMine ? null : play.events[at]?.move, canPick: isMine });
    } catch (error) {
      if (this.thought === key && !this.signal.aborted) this.thoughts.say(error.message);
    }
  }

  drawAnalysis() {
    const { play, info, parts } = this;
    const fits = play.over && !info.hides && info.zero_sum;
    parts.analysis.hidden = !fits;
    if (!fits || this.analysed === play.turn) return;
    this.analysed = play.turn;
    put(parts.analysis, h('a', { class: 'button main', href: `#/review/${play.id}` }, 'Show my worst move'));
  }
}
