// Finds secrets in bytes: the known values in all their forms, and the shapes of secret-shapes.ts. One pass of an
// Aho–Corasick automaton over the anchors finds all of them, so the time does not depend on the number of secrets.
//
// The bytes may end in the middle of a secret. So `find` returns `settled`, the position up to which its result is
// final; the caller passes the rest again, together with the bytes that follow.
import { LOOK_BACK, NOTHING, SHAPES, UNDECIDED, type SecretShape } from "./secret-shapes.ts";
import { formsOf } from "./secrets.ts";

/** The anchor of a known value has `ANCHOR_BYTES`. The rest of the value is compared. */
const ANCHOR_BYTES = 8;
/** Callers pass `CONTEXT_BYTES` settled bytes again, because shapes examine the bytes before their anchor. */
export const CONTEXT_BYTES = LOOK_BACK + 8;

interface Found {
  /** Alternating starts and ends, in order, without overlaps; all before `settled`. */
  regions: number[];
  settled: number;
}

export interface Secrets {
  /** `isAll`: no bytes follow. The bytes before `from` are context from the last call. */
  find(bytes: Uint8Array, from: number, isAll: boolean): Found;
}

/**
 * `find` searches `LANES` parts of the bytes in turns: each step of an automaton waits for the state before it, and the
 * processor takes the steps of four automata in nearly the time of one.
 */
const LANES = 4;
/** A lane is longer than every anchor, so the state at its end is the one that a search from the start would reach. */
const MIN_LANE = 64;

export function createSecrets(values: Iterable<string>): Secrets {
  const known = [...values].flatMap(formsOf).map(knownForm);
  const shapes = [...known, ...SHAPES.map((shape) => ({ anchor: Buffer.from(shape.anchor), shape }))];
  const { next, depth, ends, accepting } = buildAutomaton(shapes.map(({ anchor }) => anchor));
  const none: number[] = [];

  function find(bytes: Uint8Array, from: number, isAll: boolean): Found {
    const search: Search = { bytes, isAll, hits: [], settled: bytes.length };
    const lane = Math.trunc((bytes.length - from) / LANES);
    let state = 0;
    let at = from;
    if (lane >= MIN_LANE) {
      state = findInLanes(search, from, lane);
      at = from + LANES * lane;
    }
    for (; at < bytes.length; at++) {
      state = next[(state << 8) | bytes[at]!]!;
      if (state >= accepting) accept(search, state, at);
    }
    if (!isAll) search.settled = Math.min(search.settled, bytes.length - depth[state]!);
    const { hits, settled } = search;
    return hits.length === 0 ? { regions: none, settled } : settle(hits, settled);
  }

  /** Returns the state at the end of the last lane. */
  function findInLanes(search: Search, from: number, lane: number): number {
    const { bytes } = search;
    const [second, third, fourth] = [from + lane, from + 2 * lane, from + 3 * lane];
    const table = next;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < lane; i++) {
      a = table[(a << 8) | bytes[from + i]!]!;
      b = table[(b << 8) | bytes[second + i]!]!;
      c = table[(c << 8) | bytes[third + i]!]!;
      d = table[(d << 8) | bytes[fourth + i]!]!;
      if (a < accepting && b < accepting && c < accepting && d < accepting) continue;
      if (a >= accepting) accept(search, a, from + i);
      if (b >= accepting) accept(search, b, second + i);
      if (c >= accepting) accept(search, c, third + i);
      if (d >= accepting) accept(search, d, fourth + i);
    }
    finishLane(search, a, second);
    finishLane(search, b, third);
    finishLane(search, c, fourth);
    return d;
  }

  /** Follows an anchor that begins before `end` and continues in the next lane, which finds only its own anchors. */
  function finishLane(search: Search, last: number, end: number): void {
    let state = last;
    for (let at = end; depth[state]! > at - end && at < search.bytes.length; at++) {
      state = next[(state << 8) | search.bytes[at]!]!;
      if (state >= accepting) accept(search, state, at);
    }
  }

  /** Examines the anchors that end with the byte at `at`. A hit that two lanes report is merged. */
  function accept(search: Search, state: number, at: number): void {
    for (const index of ends[state]!) {
      const { anchor, shape } = shapes[index]!;
      const start = at + 1 - anchor.length;
      const end = shape.look(search.bytes, start, search.isAll, position);
      if (end === UNDECIDED) search.settled = Math.min(search.settled, start);
      else if (end !== NOTHING) search.hits.push({ start, from: position.from, end });
    }
  }

  return { find };
}

interface Search {
  bytes: Uint8Array;
  isAll: boolean;
  hits: Hit[];
  settled: number;
}

/** `look` sets `position.from`. */
const position = { from: 0 };

/** A `Hit` is a secret from `from` to `end`; its anchor is at `start`. */
interface Hit {
  start: number;
  from: number;
  end: number;
}

/** Lowers `settled` so that it splits no hit: a hit is settled together with its anchor, or found again. */
function settle(hits: readonly Hit[], undecided: number): Found {
  let settled = undecided;
  for (const { start, end } of hits.toSorted((a, b) => b.start - a.start))
    if (start < settled && settled < end) settled = start;
  return { regions: merge(hits.filter(({ start }) => start < settled)), settled };
}

function merge(hits: readonly Hit[]): number[] {
  const merged: number[] = [];
  for (const { from, end } of hits.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from < last) merged[merged.length - 1] = Math.max(last, end);
    else merged.push(from, end);
  }
  return merged;
}

function knownForm(form: Buffer): { anchor: Buffer; shape: Pick<SecretShape, "look"> } {
  const look: SecretShape["look"] = (bytes, start, isAll, found) => {
    const length = Math.min(form.length, bytes.length - start);
    if (Buffer.compare(form.subarray(0, length), bytes.subarray(start, start + length)) !== 0) return NOTHING;
    if (length < form.length) return isAll ? NOTHING : UNDECIDED;
    found.from = start;
    return start + form.length;
  };
  return { anchor: form.subarray(0, ANCHOR_BYTES), shape: { look } };
}

interface Automaton {
  /** The following state is at `(state << 8) | byte`. */
  next: Uint16Array | Uint32Array;
  /** The number of last bytes that may be the start of an anchor, by state. */
  depth: Uint8Array;
  /** The anchors that end in a state. Empty for states below `accepting`. */
  ends: number[][];
  accepting: number;
}

interface Node {
  children: Map<number, Node>;
  fallback: Node | null;
  depth: number;
  ends: number[];
  id: number;
}

const newNode = (depth: number): Node => ({ children: new Map(), fallback: null, depth, ends: [], id: 0 });

function buildAutomaton(anchors: readonly Uint8Array[]): Automaton {
  const root = newNode(0);
  for (const [index, anchor] of anchors.entries()) {
    let node = root;
    for (const byte of anchor) {
      const child = node.children.get(byte) ?? newNode(node.depth + 1);
      node.children.set(byte, child);
      node = child;
    }
    node.ends.push(index);
  }
  const nodes = linkFallbacks(root);
  // Accepting states get the highest numbers, so that `find` needs one comparison per byte.
  const ordered = [...nodes.filter(({ ends }) => ends.length === 0), ...nodes.filter(({ ends }) => ends.length > 0)];
  for (const [id, node] of ordered.entries()) node.id = id;
  const next = ordered.length > 0xffff ? new Uint32Array(ordered.length << 8) : new Uint16Array(ordered.length << 8);
  // `nodes` is sorted by depth, so the row of a fallback is complete before it is copied.
  for (const node of nodes) {
    const row = node.id << 8;
    if (node.fallback) next.copyWithin(row, node.fallback.id << 8, (node.fallback.id + 1) << 8);
    for (const [byte, child] of node.children) next[row + byte] = child.id;
  }
  return {
    next,
    depth: Uint8Array.from(ordered, (node) => node.depth),
    ends: ordered.map(({ ends }) => ends),
    accepting: ordered.findIndex(({ ends }) => ends.length > 0),
  };
}

/** Returns all nodes by depth. A `fallback` is the longest suffix of a path that is a prefix of another anchor. */
function linkFallbacks(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) {
    for (const [byte, child] of node.children) {
      let fallback = node.fallback;
      while (fallback && !fallback.children.has(byte)) fallback = fallback.fallback;
      child.fallback = fallback?.children.get(byte) ?? root;
      child.ends.push(...child.fallback.ends);
      nodes.push(child);
    }
  }
  return nodes;
}
