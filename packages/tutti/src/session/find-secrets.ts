// Finds secrets in bytes: the known values in all their forms, and whatever looks like one. All of them are searched for at
// once, in one pass (an Aho–Corasick automaton over the first bytes of each), so that the time taken depends on the bytes
// alone and not on how many secrets there are.
//
// Where the bytes go on elsewhere, a secret may be cut. So every answer says up to where it is final; what comes after
// that is to be given again, together with what follows.
import { LOOK_BACK, NOTHING, SHAPES, UNDECIDED, type Shape } from "./secret-shapes.ts";
import { formsOf } from "./secrets.ts";

/** As much of a known value as is searched for; then the rest is compared. */
const ANCHOR_BYTES = 8;
/** What a caller keeps of the bytes before, because it decides what begins after them. */
export const CONTEXT_BYTES = LOOK_BACK + 8;

export interface Found {
  /** Beginnings and ends by turns, in order, without overlaps; all before `settled`. */
  regions: number[];
  settled: number;
}

export interface Secrets {
  /** `isAll`: nothing comes after these bytes. What is before `from` was given before and is only looked back at. */
  find(bytes: Uint8Array, from: number, isAll: boolean): Found;
}

export function createSecrets(values: Iterable<string>): Secrets {
  const known = [...values].flatMap(formsOf).map(knownForm);
  const shapes = [...known, ...SHAPES.map((shape) => ({ anchor: Buffer.from(shape.anchor), shape }))];
  const { next, depth, ends, accepting } = buildAutomaton(shapes.map(({ anchor }) => anchor));
  const none: number[] = [];

  function find(bytes: Uint8Array, from: number, isAll: boolean): Found {
    const found = { from: 0 };
    const all: Hit[] = [];
    let settled = bytes.length;
    let state = 0;
    for (let at = from; at < bytes.length; at++) {
      state = next[(state << 8) | bytes[at]!]!;
      if (state < accepting) continue;
      for (const index of ends[state]!) {
        const { anchor, shape } = shapes[index]!;
        const start = at + 1 - anchor.length;
        const end = shape.look(bytes, start, isAll, found);
        if (end === NOTHING) continue;
        if (end === UNDECIDED) settled = Math.min(settled, start);
        else all.push({ start, from: found.from, end });
      }
    }
    if (!isAll) settled = Math.min(settled, bytes.length - depth[state]!);
    return all.length === 0 ? { regions: none, settled } : settle(all, settled);
  }

  return { find };
}

/** A secret from `from` to `end`, found by what begins at `start`. */
interface Hit {
  start: number;
  from: number;
  end: number;
}

/** A secret is settled as a whole, together with what it was found by, or found again as a whole. */
function settle(hits: readonly Hit[], undecided: number): Found {
  let settled = undecided;
  for (const { start, end } of hits.toSorted((a, b) => b.start - a.start))
    if (start < settled && settled < end) settled = start;
  return { regions: merge(hits.filter(({ start }) => start < settled)), settled };
}

/** Overlapping ones become one, and all of them stand in order. */
function merge(hits: readonly Hit[]): number[] {
  const merged: number[] = [];
  for (const { from, end } of hits.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from < last) merged[merged.length - 1] = Math.max(last, end);
    else merged.push(from, end);
  }
  return merged;
}

function knownForm(form: Buffer): { anchor: Buffer; shape: Pick<Shape, "look"> } {
  const look: Shape["look"] = (bytes, start, isAll, found) => {
    const there = Math.min(form.length, bytes.length - start);
    if (Buffer.compare(form.subarray(0, there), bytes.subarray(start, start + there)) !== 0) return NOTHING;
    if (there < form.length) return isAll ? NOTHING : UNDECIDED;
    found.from = start;
    return start + form.length;
  };
  return { anchor: form.subarray(0, ANCHOR_BYTES), shape: { look } };
}

interface Automaton {
  /** The state that follows, by state and byte. */
  next: Uint16Array | Uint32Array;
  /** How many of the last bytes may be the beginning of an anchor. */
  depth: Uint8Array;
  /** Which anchors end in a state; only states from `accepting` on have any. */
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
  // Numbered so that one comparison tells whether anything ends in a state.
  const ordered = [...nodes.filter(({ ends }) => ends.length === 0), ...nodes.filter(({ ends }) => ends.length > 0)];
  for (const [id, node] of ordered.entries()) node.id = id;
  const next = ordered.length > 0xffff ? new Uint32Array(ordered.length << 8) : new Uint16Array(ordered.length << 8);
  // By depth: the row of a fallback is complete before it is copied.
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

/** All nodes, those nearer to the root first; each knows the longest end of its path that is a beginning elsewhere. */
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
