// A model that obeys the orders of ../agents/orders.ts in the prompt, so that real programs can be tested like the test
// agents.
import type { Script } from "./model-endpoint.ts";
import { call, fail, run, say, usage, write, type Step } from "./step.ts";

export interface PlayOrdersOptions {
  /** Makes the program request permission before it runs a command. */
  run?: (command: string) => Step;
  /** Makes the program start a sub-agent. Without it there is none. */
  delegate?: (words: string) => Step;
  /** Makes the program wait for the sub-agent, which the results of the turn name. */
  await?: (results: readonly string[]) => Step;
}

export const delegateToClaude = (words: string): Step =>
  call("Agent", { description: "A part of it", prompt: `say ${words}`, subagent_type: "general-purpose" });

export const delegateToCodex = (words: string): Step => call("multi_agent_v1.spawn_agent", { message: `say ${words}` });
export const awaitCodex = (results: readonly string[]): Step => {
  const ids = results.flatMap((result) => /agent_id[^0-9a-f]+([0-9a-f-]{36})/.exec(result)?.[1] ?? []);
  return call("multi_agent_v1.wait_agent", { targets: ids, timeout_ms: 60_000 });
};

const TALK = "word ".repeat(400);

export function playOrders({ run: runs = run, delegate, await: awaits }: PlayOrdersOptions = {}): Script {
  /** A prompt in `talked` is answered at once when it is repeated. */
  const talked = new Set<string>();

  const stepOf = (line: string, results: readonly string[]): Step[] => {
    const [verb, ...words] = line.split(" ");
    const rest = words.join(" ");
    switch (verb) {
      case "say":
        return [say(rest)];
      case "write":
        return [write(rest, "written\n")];
      case "run":
        return [runs(rest)];
      case "delegate":
        return delegate ? [delegate(rest), ...(awaits ? [awaits(results)] : [])] : [];
      case "use":
        return [usage({ input: Number(words[0]), output: Number(words[1]) })];
      case "fail":
        return [fail("badRequest", { message: words.slice(1).join(" ") })];
      case "talk": {
        const again = talked.has(rest);
        talked.add(rest);
        return [again ? say("The last word.") : say(TALK, 50)];
      }
      default:
        return [];
    }
  };

  return ({ prompt, step, results }) => {
    const lists: Step[][] = [[]];
    // Each tool call ends an answer.
    for (const each of prompt.split("\n").flatMap((line) => stepOf(line, results))) {
      lists.at(-1)!.push(each);
      if (["write", "run", "call"].includes(each.kind)) lists.push([]);
    }
    const steps = lists[step] ?? [];
    return steps.length > 0 ? steps : [say("Noted.")];
  };
}
