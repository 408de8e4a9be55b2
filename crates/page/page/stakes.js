// The cube and the score of backgammon: read from positions, and told in words.

import { plural } from './dom.js';

/** Whether a rule set has the cube: money games and matches. */
export const hasCube = (game) => /^(back|hyper)gammon:m/.test(game);

/** Points of the match that a rule set is; 0 of money games. */
const lengthOf = (game) => Number(/:match-(\d+)/.exec(game)?.[1] ?? 0);

/**
 * Whose turn it is, the cube and the score in an XGID, or at the start of a `game`; null of other texts. Players are 1 and 2, and 0 where
 * the opening roll or nothing more is to come.
 */
export function stakesOf(text, game = '') {
  if (text === 'start' && hasCube(game)) return { turn: 0, owner: null, doublings: 0, offered: 0, scores: [0, 0], length: lengthOf(game), isCrawford: false };
  const found = /^XGID=[-A-Oa-o]{26}:(\d+):(-?[01]):(-?1):([^:]*):(\d+):(\d+):(\d+):(\d+):\S*\s*(\S*)/.exec(text ?? '');
  if (!found) return null;
  const [doublings, owner, turn, , first, second, rules, length] = found.slice(1, 9).map(Number);
  const player = (sign) => (sign === 1 ? 1 : 2);
  return {
    turn: found[9] && found[9] !== 'roll' ? 0 : player(turn),
    // The side that the text shows first.
    first: player(turn),
    owner: owner === 0 ? null : player(owner),
    doublings,
    // A double, a beaver or a raccoon that waits for an answer.
    offered: Math.max(0, ' DBR'.indexOf(found[4] || ' ')),
    scores: [first, second],
    length,
    isCrawford: length > 0 && rules % 2 === 1,
  };
}

/** The player who decides: a double is answered by the other side, a beaver by the side that doubled. */
export const actorOf = ({ turn, offered }) => (offered === 1 && turn ? 3 - turn : turn);

/** The value of the cube, with what is offered. */
export const valueOf = ({ doublings, offered }) => 2 ** (doublings + offered);

/** A sentence about an action of a game, in the words of players and without the score. */
export const toldOf = (text) => text.replace(/\s+The score is [\s\S]*$/, '').replace('drops and', 'passes and').replace('drop and', 'pass and');

const SIZES = ['', '', ' with a gammon', ' with a backgammon'];

/** The ends of the games of a match: places of events to what a person in a seat is told. */
export function gameEnds({ game, begin, events, seat }) {
  const ends = new Map();
  let before = stakesOf(begin, game);
  if (!before?.length) return ends;
  events.forEach(({ position }, i) => {
    const after = stakesOf(position, game);
    const winner = after ? [1, 2].find((player) => after.scores[player - 1] > before.scores[player - 1]) : 0;
    if (winner) {
      const points = after.scores[winner - 1] - before.scores[winner - 1];
      const [mine, theirs] = seat === 1 ? after.scores : after.scores.toReversed();
      const isLast = after.scores[winner - 1] >= after.length;
      const who = winner === seat ? 'You win' : 'The opponent wins';
      const number = ends.size + 1;
      const told = isLast
        ? `${who} game ${number} and the match, ${Math.max(mine, theirs)} to ${Math.min(mine, theirs)}.`
        : `${who} game ${number}${SIZES[points / 2 ** before.doublings] ?? ''}: ${plural(points, 'point')}. The score is ${mine} to ${theirs}${mine === theirs ? '' : mine > theirs ? ' for you' : ' for the opponent'}.${after.isCrawford ? ' Nobody doubles in the next game, the Crawford game.' : ''}`;
      ends.set(i + 1, { number, winner, isLast, told, score: `${mine}–${theirs}` });
    }
    before = after ?? before;
  });
  return ends;
}

/** What an action of the cube is called. */
export const cubeWords = (action, stakes) => ({
  roll: 'Roll',
  double: `Double to ${2 * valueOf(stakes)}`,
  take: 'Take',
  drop: 'Pass',
  beaver: `Beaver to ${2 * valueOf(stakes)}`,
})[action];

/** What a candidate is called in an evaluation. */
export const candidateName = (action, game) => (hasCube(game) ? { roll: 'no double', drop: 'pass' }[action] : null) ?? action;

/** What a player is asked about the cube. */
export function cubeQuestion(stakes, opponent) {
  const value = valueOf(stakes);
  if (stakes.offered === 0) return `Roll, or double to ${2 * value}?`;
  return `${opponent} ${stakes.offered === 1 ? 'doubles' : 'beavers'} to ${value}. Passing loses ${plural(value / 2, 'point')}.`;
}

/** Sizes of a resignation with the points that they lose. */
export function resignationWords(name, stakes) {
  const size = ['loss', 'loss_gammon', 'loss_backgammon'].indexOf(name);
  const what = ['Single game', 'Gammon', 'Backgammon'][size];
  return what && stakes ? `${what}: ${plural((size + 1) * 2 ** stakes.doublings, 'point')}` : what ?? name.replaceAll('_', ' ');
}
