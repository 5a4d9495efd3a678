// p-graph: a graph of promises in memory. Nothing is durable.
import { PGraph } from "p-graph";
import { CAP, GRAPH } from "../layered-graph.ts";
import type { Participant } from "../participant.ts";

export const pGraph: Participant = async (_, recorder) => {
  const nodes = GRAPH.map(({ id }): [string, { run: () => Promise<void> }] => {
    const run = async (): Promise<void> => {
      recorder.started(id);
      recorder.work(id);
      recorder.ended(id);
    };
    return [id, { run }];
  });
  const edges = GRAPH.flatMap(({ id, needs }) => needs.map((needed): [string, string] => [needed, id]));
  recorder.begin();
  await new PGraph(new Map(nodes), edges).run({ concurrency: CAP });
};
