// Maps of learned cells: the expert of each pair of classes, with a position and a candidate on them.

import { get } from './api.js';
import { h, put, svg, words } from './dom.js';

const SIZE = 320; // of a map, in units of its drawing
const LEFT = 52; // room for the numbers of the rows
const BELOW = 40; // room for those of the columns
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const known = new Map();

/** The maps of an agent; none if the server knows none. */
function mapsOf(agent, game) {
  const path = `/agents/${encodeURIComponent(agent)}/cells?game=${encodeURIComponent(game)}`;
  if (!known.has(path)) known.set(path, get(path).then(({ maps }) => maps, (error) => {
    // Another try may do, unless there are none.
    if (error.status !== 404) known.delete(path);
    return [];
  }));
  return known.get(path);
}

// Hues a golden angle apart differ most between neighbours in number.
const colour = (expert) => `hsl(${(expert * 137.508) % 360} 55% ${42 + 11 * (expert % 4)}%)`;

/** The values of a class, from the first values of all classes. */
function valuesOf(starts, i) {
  if (i + 1 === starts.length) return `from ${starts[i]}`;
  const last = starts[i + 1] - 1;
  return last < starts[i] ? 'no value' : last === starts[i] ? `${last}` : `${starts[i]}–${last}`;
}

/** Outlines of the cells of each expert, and the borders between experts. */
function shapesOf(cells, width, height) {
  const regions = new Map();
  let borders = '';
  cells.forEach((line, row) => line.forEach((expert, col) => {
    const [x, y] = [col * width, row * height];
    regions.set(expert, `${regions.get(expert) ?? ''}M${x} ${y}h${width}v${height}h${-width}z`);
    if (col > 0 && line[col - 1] !== expert) borders += `M${x} ${y}v${height}`;
    if (row > 0 && cells[row - 1][col] !== expert) borders += `M${x} ${y}h${width}`;
  }));
  return { regions, borders };
}

const ring = () => [svg('circle', { class: 'halo', r: 9 }), svg('circle', { r: 9 })];
const diamond = () => svg('path', { class: 'full', d: 'M0 -7L7 0L0 7L-7 0Z' });

/** A mark as in the map, for the text below it. */
const sample = (shape) => svg('svg', { class: 'cell-mark', viewBox: '-12 -12 24 24', 'aria-hidden': 'true' }, shape);

/** The parts of an explanation that have a `cell` and the name of their `node`, from the top down. */
const cellsOf = (part) => (part ? [part.cell && part, ...(part.experts ?? []).flatMap(cellsOf)].filter(Boolean) : []);

/** The name of a node for people: `top.expert.0` becomes `top, expert 1`. */
const nodeName = (node) => node.replace(/\.(\d+)/g, (_, number) => ` ${Number(number) + 1}`).replaceAll('.', ', ');

class CellMap {
  constructor(map, hasMarks = true) {
    this.map = map;
    this.name = map.nodes.map(nodeName).filter(Boolean).join('; ');
    this.rows = map.cells.length;
    this.columns = map.cells[0].length;
    this.pointed = null;
    this.marks = { here: svg('g', { class: 'cell-mark' }, ring()), peek: svg('g', { class: 'cell-mark' }, diamond()) };
    this.outline = svg('rect', { class: 'cell-outline', width: SIZE / this.columns, height: SIZE / this.rows });
    this.said = { here: h('span'), peek: h('span', { class: 'quiet' }), pointed: h('span', { class: 'quiet', role: 'status' }) };
    this.element = h(
      'figure',
      { class: 'cells' },
      this.name && h('p', { class: 'quiet' }, this.name),
      this.draw(),
      h(
        'figcaption',
        null,
        hasMarks && h('p', null, sample(ring()), this.said.here),
        hasMarks && h('p', null, sample(diamond()), this.said.peek),
        h('p', null, sample(svg('rect', { class: 'cell-outline', x: -8, y: -8, width: 16, height: 16 })), this.said.pointed),
      ),
    );
    this.place('peek', null, '');
    this.point(null);
  }

  draw() {
    const { cells, channels, experts } = this.map;
    const { regions, borders } = shapesOf(cells, SIZE / this.columns, SIZE / this.rows);
    this.regions = new Map([...regions].map(([expert, d]) => [expert, svg('path', { class: 'region', d, fill: colour(expert) })]));
    this.field = svg('rect', { class: 'hit', width: SIZE, height: SIZE });
    const [down, across] = channels.map(words);
    const about = `${this.name && `${this.name}: `}${regions.size} of ${experts} experts in ${this.rows} × ${this.columns} cells, ${down} down, ${across} across`;
    this.drawing = svg(
      'svg',
      {
        viewBox: `${-LEFT} -8 ${LEFT + SIZE + 14} ${SIZE + BELOW + 8}`,
        tabindex: '0',
        role: 'application',
        'aria-roledescription': 'map',
        'aria-label': `${about}. Arrow keys go from cell to cell.`,
        onpointermove: (event) => this.point(this.cellAt(event)),
        onpointerdown: (event) => this.point(this.cellAt(event)),
        onpointerleave: (event) => event.pointerType === 'mouse' && this.point(null),
        onfocus: () => this.point(this.pointed ?? this.here ?? [0, 0]),
        onblur: () => this.point(null),
        onkeydown: (event) => this.step(event),
      },
      [...this.regions.values()],
      svg('path', { class: 'borders', d: borders }),
      svg('g', { 'aria-hidden': 'true' }, this.numbers()),
      svg('text', { x: SIZE / 2, y: SIZE + 34 }, across),
      svg('text', { transform: `translate(${12 - LEFT} ${SIZE / 2}) rotate(-90)` }, down),
      this.outline,
      this.marks.here,
      this.marks.peek,
      this.field,
    );
    return this.drawing;
  }

  /** First values of some classes along both sides. */
  numbers() {
    const some = (count) => [...new Set([0, 1, 2, 3, 4].map((k) => Math.floor(((count - 1) * k) / 4)))];
    const [down, across] = this.map.starts;
    return [
      some(this.rows).map((i) => svg('text', { class: 'end', x: -6, y: ((i + 0.5) * SIZE) / this.rows + 4 }, String(down[i]))),
      some(this.columns).map((i) => svg('text', { x: ((i + 0.5) * SIZE) / this.columns, y: SIZE + 16 }, String(across[i]))),
    ];
  }

  cellAt({ clientX, clientY }) {
    const box = this.field.getBoundingClientRect();
    const cell = [((clientY - box.top) / box.height) * this.rows, ((clientX - box.left) / box.width) * this.columns].map(Math.floor);
    return this.has(cell) ? cell : null;
  }

  has([row, col]) {
    return row >= 0 && row < this.rows && col >= 0 && col < this.columns;
  }

  step(event) {
    const by = STEPS[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const from = this.pointed ?? this.here ?? [0, 0];
    const to = [from[0] + by[0], from[1] + by[1]];
    if (this.has(to)) this.point(to);
  }

  sentence([row, col]) {
    const { cells, channels, starts } = this.map;
    const [down, across] = channels.map(words);
    return `${down} ${valuesOf(starts[0], row)}, ${across} ${valuesOf(starts[1], col)}: expert ${cells[row][col] + 1}`;
  }

  /** Reads a cell and brings out its expert. */
  point(cell) {
    this.pointed = cell;
    this.drawing.classList.toggle('points', cell !== null);
    this.outline.toggleAttribute('hidden', !cell);
    for (const [expert, region] of this.regions) region.classList.toggle('is-pointed', cell !== null && this.map.cells[cell[0]][cell[1]] === expert);
    put(this.said.pointed, cell ? this.sentence(cell) : 'Point at a cell to read it.');
    if (!cell) return;
    this.outline.setAttribute('x', (cell[1] * SIZE) / this.columns);
    this.outline.setAttribute('y', (cell[0] * SIZE) / this.rows);
  }

  /** Puts a mark on a cell, or with null takes it away. What is named without a cell does not reach this node. */
  place(kind, cell, name) {
    this[kind] = cell;
    this.marks[kind].toggleAttribute('hidden', !cell);
    put(this.said[kind], name ? [h('strong', null, name), cell ? ` ${this.sentence(cell)}` : ' has no cell here.'] : 'Point at a move to see its cell.');
    if (cell) this.marks[kind].setAttribute('transform', `translate(${((cell[1] + 0.5) * SIZE) / this.columns} ${((cell[0] + 0.5) * SIZE) / this.rows})`);
  }
}

/** A map by itself, as of a run that is learning. */
export function cellMap(map) {
  const drawn = new CellMap(map, false);
  drawn.place('here', null, '');
  return drawn;
}

/** The maps of an agent, if its values have cells. */
export class Cells {
  constructor() {
    this.element = h('div', { class: 'stack', hidden: true });
    this.maps = [];
  }

  /** Shows where a position stands, or what follows its best move. */
  async show(agent, game, value) {
    const best = value?.moves?.[0];
    const own = cellsOf(value?.after);
    const cells = own.length > 0 ? own : cellsOf(best);
    this.value = value;
    this.element.hidden = true;
    if (cells.length === 0) return;
    const found = await mapsOf(agent, game);
    if (this.value !== value || found.length === 0) return;
    if (this.found !== found) {
      this.found = found;
      this.maps = found.map((map) => new CellMap(map));
      put(this.element, h('h3', null, 'Learned cells'), this.maps.map(({ element }) => element));
    }
    this.element.hidden = false;
    this.place('here', cells, own.length > 0 ? 'Position' : `Best move ${best.move}`);
    this.peek(null);
  }

  /** Marks the cell of a candidate. */
  peek(move) {
    this.place('peek', cellsOf(move), move?.move ?? '');
  }

  /** Marks the cell in the map of each node. */
  place(kind, cells, name) {
    for (const one of this.maps) one.place(kind, cells.find(({ node }) => one.map.nodes.includes(node))?.cell ?? null, name);
  }
}
