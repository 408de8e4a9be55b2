// The requests that the server answers, from its OpenAPI document.

import { get, isGuarded } from './api.js';
import { button, h, prose, put } from './dom.js';
import { tell } from './frame.js';

/** Values with which examples work as they are. */
const EXAMPLES = {
  agent: 'small-88-24',
  opponent: 'small-88-24',
  game: 'backgammon',
  position: '4HPwATDgc/ABMA 31',
  positions: ['4HPwATDgc/ABMA 31'],
  trials: 324,
  plies: 1,
};
const KNOWN = { '/api/v1/runs': { game: 'tictactoe' } };

export async function apiView(root, _, signal) {
  const document = await get('/openapi.json', signal);
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
  const groups = Map.groupBy(all, groupOf);
  put(
    root,
    h('h1', null, 'HTTP API'),
    h('p', null, `${document.info.description ?? document.info.title}. Requests and answers are JSON. An error has a status and `, h('code', null, '{"error": {"kind", "message"}}'), '.'),
    h('p', null, h('a', { class: 'button', href: '/api/v1/openapi.json' }, 'OpenAPI document')),
    [...groups].map(([name, operations]) => h('section', { class: 'stack' }, h('h2', null, name), operations.map((one) => operationView(one, document)))),
  );
  return 'HTTP API';
}

/** The first part of the path. */
const groupOf = ({ path }) => path.replace(/^\/(api\/v1\/)?/, '').split('/')[0];

function operationView({ path, method, summary, description, parameters = [], requestBody, responses = {} }, document) {
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const command = curl(method, path, parameters, body && exampleOf(resolved(body, document), document, KNOWN[path]));
  const [said, ...more] = [summary, description].filter(Boolean).join('\n\n').split('\n\n');
  return h(
    'details',
    { class: 'panel' },
    h('summary', null, h('span', { class: 'operation' }, h('strong', null, method), ' ', h('code', null, path), ' ', h('span', { class: 'quiet' }, said.replaceAll('`', '')))),
    h(
      'div',
      { class: 'stack' },
      prose(more.filter((text) => text !== said).join('\n\n')),
      parameters.length > 0 && [h('h3', null, 'Parameters'), table('Parameters', parameters.map(({ name, in: place, required, schema, description: text }) =>
        [name, `${typeOf(schema, document)}, in the ${place}`, required, text]))],
      body && schemaView('Body', body, document),
      answers(responses, document),
      h('h3', null, 'Example'),
      h('div', { class: 'example' }, h('pre', { class: 'plain', tabindex: '0' }, command), button('Copy', (event) => copy(event.target.previousSibling), { 'aria-label': `Copy the example of ${method} ${path}` })),
    ),
  );
}

/** Rows of name, type, whether it is required, and text. */
const table = (title, rows) => h(
  'table',
  { class: 'keys', 'aria-label': title },
  h('tbody', null, rows.map(([name, type, isRequired, text]) =>
    h('tr', null, h('th', { scope: 'row' }, h('code', null, name)), h('td', null, type, isRequired && ', required'), h('td', null, prose(text ?? ''))))),
);

function answers(responses, document) {
  const rows = Object.entries(responses).map(([status, { description, content = {} }]) => {
    const [kind, { schema } = {}] = Object.entries(content)[0] ?? ['nothing'];
    return [status, kind === 'application/json' ? typeOf(schema, document) : kind, false, description];
  });
  return [h('h3', null, 'Answers'), table('Answers', rows)];
}

const resolved = (schema, document) => (schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema);

/** The alternatives of a schema, without `null`. */
const choices = (schema) => (schema?.oneOf ?? schema?.anyOf ?? []).filter((one) => one.type !== 'null');

function typeOf(schema, document) {
  if (!schema || Object.keys(schema).length === 0) return 'JSON';
  const parts = choices(schema);
  if (parts.length > 0) return parts.map((part) => typeOf(part, document)).join(' or ');
  const found = resolved(schema, document) ?? {};
  if (found.enum) return found.enum.map((one) => JSON.stringify(one)).join(' or ');
  const [type = 'JSON'] = [found.type ?? []].flat().filter((one) => one !== 'null');
  if (type === 'array') return `list of ${typeOf(found.items, document)}`;
  if (type === 'object' && found.additionalProperties) return `object of ${typeOf(found.additionalProperties, document)}`;
  return type;
}

/** The properties of an object, or those of each alternative. */
function schemaView(title, schema, document) {
  const found = resolved(schema, document) ?? {};
  const parts = choices(found);
  if (parts.length > 0) return parts.map((part, i) => schemaView(`${title}, form ${i + 1} of ${parts.length}`, part, document));
  const rows = Object.entries(found.properties ?? {}).map(([name, of]) =>
    [name, typeOf(of, document), found.required?.includes(name), of.description ?? resolved(of, document)?.description]);
  return [h('h3', null, title), prose(found.description ?? ''), rows.length > 0 ? table(title, rows) : h('p', null, typeOf(schema, document))];
}

/** A body with all that is required. */
function exampleOf(schema, document, known = {}) {
  const [first] = choices(schema);
  if (first) return exampleOf(resolved(first, document), document, known);
  const values = { ...EXAMPLES, ...known };
  return Object.fromEntries((schema.required ?? []).map((name) => {
    const of = resolved(schema.properties?.[name], document) ?? {};
    return [name, of.example ?? of.enum?.[0] ?? values[name] ?? (of.type === 'string' ? name.toUpperCase() : 1)];
  }));
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl(method, path, parameters, body) {
  const query = parameters.filter(({ in: place, required }) => place === 'query' && required);
  const asked = query.map(({ name }) => `${name}=${encodeURIComponent(EXAMPLES[name] ?? name.toUpperCase())}`).join('&');
  const url = `${location.origin}${path.replace(/\{\*?(\w+)\}/g, (_, name) => name.toUpperCase())}${asked && `?${asked}`}`;
  return [
    `curl -s${method === 'DELETE' ? ' -X DELETE' : ''} ${quoted(url)}`,
    isGuarded() && '-H "Authorization: Bearer $TOKEN"',
    method === 'POST' && "-H 'Content-Type: application/json'",
    method === 'POST' && `-d ${quoted(JSON.stringify(body ?? {}))}`,
  ].filter(Boolean).join(' \\\n  ');
}

/** Copies a text, or selects it where the browser forbids that, as it does without encryption. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    tell('Copied.', false);
  } catch {
    getSelection().selectAllChildren(element);
    tell('The example is selected: copy it with Ctrl-C.', false);
  }
}
