// Talks to the server: JSON requests that survive a lost connection, and events of jobs.

const BASE = '/api/v1';
const BUSY_TRIES = 4;
const LONGEST_WAIT = 10_000;

/** An answer of the server that refuses a request. */
class ApiError extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** Says `lost` with the seconds until the next try, and `back`. */
export const connection = new EventTarget();

let lost = false;
const say = (name, detail) => connection.dispatchEvent(new CustomEvent(name, { detail }));

/** Takes the token from the address of the page, where the server put it, and hides it. */
export function takeToken() {
  const found = /^#token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem('adept.token', decodeURIComponent(found[1]));
  history.replaceState(null, '', `${location.pathname}#/`);
}

const token = () => sessionStorage.getItem('adept.token');

/** Whether the server wants a token. */
export const isGuarded = () => token() !== null;

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      removeEventListener('online', wake);
      signal?.removeEventListener('abort', abort);
    };
    const wake = () => {
      stop();
      resolve();
    };
    const abort = () => {
      stop();
      reject(signal.reason);
    };
    const timer = setTimeout(wake, milliseconds);
    addEventListener('online', wake);
    signal?.addEventListener('abort', abort);
  });
}

/** Answers that the page asked for before this script was there. Each is used once. */
const early = globalThis.early ?? new Map();

async function send(method, path, body, signal) {
  const asked = method === 'GET' && early.get(path);
  early.delete(path);
  const found = await asked;
  if (found) return found;
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const isFile = body instanceof Blob;
  if (body !== undefined) headers['Content-Type'] = isFile ? 'application/octet-stream' : 'application/json';
  return fetch(BASE + path, { method, headers, signal, body: body === undefined || isFile ? body : JSON.stringify(body) });
}

/** Sends until there is an answer. A proxy without a server behind it counts as no answer. */
async function reach(method, path, body, signal) {
  for (let wait = 500; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      const response = await send(method, path, body, signal);
      if (response.status !== 502 && response.status !== 504) {
        if (lost) say('back');
        lost = false;
        return response;
      }
    } catch (error) {
      if (signal?.aborted) throw error;
    }
    lost = true;
    say('lost', Math.ceil(wait / 1000));
    await pause(wait, signal);
  }
}

async function refusal(response) {
  const said = await response.json().catch(() => null);
  if (response.status === 401) {
    return new ApiError(401, 'token', 'The server wants a token: open the address that it printed when it started.');
  }
  const message = said?.error?.message ?? `the server answered ${response.status}`;
  return new ApiError(response.status, said?.error?.kind ?? 'failed', message);
}

async function request(method, path, body, signal) {
  for (let tries = 1; ; tries += 1) {
    const response = await reach(method, path, body, signal);
    if (response.ok) return response.status === 204 ? null : response.json();
    if (response.status !== 503 || tries === BUSY_TRIES) throw await refusal(response);
    await pause(300 * 2 ** tries, signal);
  }
}

export const get = (path, signal) => request('GET', path, undefined, signal);
export const post = (path, body, signal) => request('POST', path, body ?? {}, signal);
/** Sends the bytes of a file. */
export const sendFile = (path, file, signal) => request('POST', path, file, signal);
export const remove = (path) => request('DELETE', path);

const memo = new Map();

function once(path) {
  if (!memo.has(path)) {
    const answer = get(path);
    memo.set(path, answer);
    answer.catch(() => memo.delete(path));
  }
  return memo.get(path);
}

/** All games, which the page holds unless the server wants a token. Otherwise they are asked for once. */
export const games = async () => (await once('/games')).games;
{
  const held = document.getElementById('games')?.textContent;
  if (held) memo.set('/games', Promise.resolve(JSON.parse(held)));
}

/** The agents of a game, the best default first. */
export const agents = async (game) => (await once(`/agents?game=${encodeURIComponent(game)}`)).agents;

/** All agents, asked for anew: a run that has ended may be one of them. */
export async function allAgents(signal) {
  for (const path of memo.keys()) if (path.startsWith('/agents')) memo.delete(path);
  return (await get('/agents', signal)).agents;
}

/** What is known of a game, also of one that the server does not list. */
export async function gameInfo(name) {
  const found = (await games()).find((game) => game.name === name);
  return found ?? (await once(`/games?name=${encodeURIComponent(name)}`)).games[0];
}

const UNFINISHED = ['waiting', 'running'];

/** Follows a job until its end. Calls `onprogress` with each report, and returns the last one. */
export async function follow(id, onprogress, signal) {
  const query = token() ? `?token=${encodeURIComponent(token())}` : '';
  const source = new EventSource(`${BASE}/jobs/${id}/events${query}`);
  signal.addEventListener('abort', () => source.close());
  const ended = await new Promise((resolve) => {
    source.addEventListener('progress', (event) => onprogress(JSON.parse(event.data)));
    source.addEventListener('end', (event) => resolve(JSON.parse(event.data || 'null')));
    source.addEventListener('error', () => resolve(null));
  });
  source.close();
  return ended ? ended : poll(id, onprogress, signal);
}

/** Asks for a job every second, where events do not come through. */
async function poll(id, onprogress, signal) {
  for (;;) {
    const job = await get(`/jobs/${id}`, signal);
    if (!UNFINISHED.includes(job.state)) return job;
    onprogress(job);
    await pause(1000, signal);
  }
}
