// Runs a program of WebAssembly with the files of the current folder: node wasm.mjs PROGRAM ARGUMENT…
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { WASI } from 'node:wasi';

// Node 20 may collect garbage within a fast call of WASI, and then frees what the call uses.
setFlagsFromString('--no-turbo-fast-api-calls');

const [program] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: process.argv.slice(2), preopens: { '.': '.' }, returnOnExit: true });
const [done, notSupported, none] = [() => 0, () => 58, () => 0];
// What a newer C library would answer: no threads. It could resolve paths, which only the search for priors uses.
const env = {
  pthread_attr_init: done,
  pthread_attr_setstacksize: done,
  pthread_attr_destroy: done,
  pthread_create: notSupported,
  pthread_join: notSupported,
  pthread_detach: notSupported,
  realpath: none,
};
const module = new WebAssembly.Module(readFileSync(program));
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport, env });
process.exitCode = wasi.start(instance);
