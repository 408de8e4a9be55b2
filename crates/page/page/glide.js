// Checkers that glide to where they stand now.

const TIME = 380; // milliseconds of a flight
const APART = 130; // milliseconds between the starts of two
const MOST = 8; // more checkers that stand elsewhere are another position, not a move

/** Pairs of places of the checkers of a side that stand elsewhere than before. */
function pairs(before, after) {
  const changed = (more, less) => more.flatMap((count, place) => Array.from({ length: Math.max(0, count - less[place]) }, (_, i) => ({ place, n: count - 1 - i })));
  const from = changed(before, after);
  const to = changed(after, before);
  return from.length === to.length ? from.map((start, i) => ({ start, goal: to[i] })) : [];
}

/** The flights between two positions, first those of the side that moved. */
export function flights(before, after, isMine) {
  const side = (mine) => pairs(...[before, after].map(({ mine: own, theirs }) => (mine ? own : theirs))).map((pair) => ({ ...pair, isMine: mine })).reverse();
  const all = [...side(isMine), ...side(!isMine)];
  return all.length <= MOST ? all : [];
}

/**
 * Moves checkers over a drawing: `spot` gives the middle of the n-th checker of a place, `make` draws one. What already stands at its goal
 * is hidden meanwhile. Returns how long it takes.
 */
export function glide(drawing, all, pace, spot, make) {
  all.forEach(({ isMine, start, goal }, i) => {
    const flying = make(isMine);
    const goals = drawing.querySelectorAll(`[data-spot="${isMine ? 'm' : 't'}${goal.place}.${goal.n}"]`);
    const at = ({ place, n }) => ({ transform: `translate(${spot(place, isMine, n).map((x) => `${x}px`).join()})` });
    for (const standing of goals) standing.style.visibility = 'hidden';
    drawing.append(flying);
    const flight = flying.animate([at(start), at(goal)], { duration: TIME * pace, delay: APART * pace * i, easing: 'cubic-bezier(0.4, 0, 0.2, 1)', fill: 'both' });
    flight.finished.catch(() => {}).then(() => {
      for (const standing of goals) standing.style.visibility = '';
      flying.remove();
    });
  });
  return all.length > 0 ? (TIME + APART * (all.length - 1)) * pace : 0;
}
