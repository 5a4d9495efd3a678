// The work of every engine: 1,000 tasks in 10 layers of 100, each with three dependencies in the previous layer, at
// most 20 at a time.
const LAYERS = 10;
const WIDTH = 100;
const NEEDS = [0, 33, 67];

export const CAP = 20;

export interface GraphTask {
  id: string;
  needs: readonly string[];
}

export const GRAPH: readonly GraphTask[] = Array.from({ length: LAYERS * WIDTH }, (_, place) => {
  const layer = Math.floor(place / WIDTH);
  const needs = layer === 0 ? [] : NEEDS.map((step) => idOf(layer - 1, (place + step) % WIDTH));
  return { id: idOf(layer, place % WIDTH), needs };
});

function idOf(layer: number, place: number): string {
  return `t${layer * WIDTH + place}`;
}
