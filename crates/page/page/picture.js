// Pictures of a position to share: the drawing of the board as an SVG file, as a PNG file, and on paper.

import { saveFile, svg } from './dom.js';

const WIDTH = 1200; // pixels of a PNG
const LINE = 26; // room for a line of text below the board, in units of the drawing
/** What the looks of the page say about the parts of a drawing. */
const LOOKS = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'paint-order'];
const KEPT = new Set(['viewBox', 'd', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'width', 'height', 'transform', 'points']);

/** The drawing by itself, with a line of text below it: it needs no style sheet. */
function standalone(drawing, text) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((part, i) => {
    if (part.matches('.hit')) {
      part.remove();
      return;
    }
    const looks = getComputedStyle(originals[i]);
    for (const { name } of [...part.attributes]) if (!KEPT.has(name)) part.removeAttribute(name);
    for (const name of LOOKS) if (looks.getPropertyValue(name)) part.setAttribute(name, looks.getPropertyValue(name));
  });
  const looks = getComputedStyle(document.body);
  const { x, y, width, height } = drawing.viewBox.baseVal;
  const ground = svg('rect', { x, y, width, height: height + LINE, fill: looks.backgroundColor });
  const title = svg('title', null, text);
  const line = svg('text', { x: x + width / 2, y: y + height + LINE * 0.7, 'text-anchor': 'middle', 'font-size': Math.min(14, (1.75 * width) / Math.max(1, text.length)), fill: looks.color }, text);
  copy.prepend(title, ground);
  copy.append(line);
  const whole = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `${x} ${y} ${width} ${height + LINE}`, width, height: height + LINE, role: 'img', 'font-family': 'system-ui, sans-serif' };
  for (const [name, value] of Object.entries(whole)) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(drawing, name, text) {
  saveFile(`${name}.svg`, standalone(drawing, text), 'image/svg+xml');
}

export async function savePng(drawing, name, text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(drawing, text))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: WIDTH, height: Math.round((WIDTH * image.height) / image.width) });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  saveFile(`${name}.png`, await new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); }), 'image/png');
}
