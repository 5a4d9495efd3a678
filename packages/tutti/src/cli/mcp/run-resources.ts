import type { RunsLink } from "./runs-link.ts";
import type { Resources } from "../../mcp/tool-server.ts";
import { TuttiError } from "../../schema/error.ts";

const JSON_TYPE = "application/json";
const RUN = /^tutti:\/\/runs\/([^/]+)$/;
const TRANSCRIPT = /^tutti:\/\/runs\/([^/]+)\/tasks\/([^/]+)\/transcript$/;
/** Names the main session in the URI of a `TRANSCRIPT`. No task can have this id. */
const MAIN = "main";

export function runResources(link: RunsLink, token: string | null): Resources {
  const readRun = (id: string) => link.use(token, ({ client }) => client.get(id));

  const readTranscript = (id: string, taskId: string) =>
    link.use(token, async ({ client, runs }) => {
      const { workers, main } = await client.get(id);
      const session = taskId === MAIN ? (main as { sessionId: string } | null)?.sessionId : workers[taskId];
      if (session !== undefined) return runs.transcript(id, session);
      const message = `Run "${id}" has no session of task "${taskId}". Read tutti://runs/${id} for its tasks.`;
      throw new TuttiError("task_not_found", message);
    });

  return {
    templates: [
      { uriTemplate: "tutti://runs/{id}", name: "Run", description: "The state of a run.", mimeType: JSON_TYPE },
      {
        uriTemplate: "tutti://runs/{id}/tasks/{task}/transcript",
        name: "Transcript",
        description: "Everything that the agent of a task said and did. The task `main` is the main session.",
        mimeType: JSON_TYPE,
      },
    ],
    list: () =>
      link.use(token, async ({ client }) =>
        (await client.list()).map(({ id, userRequest, status }) => ({
          uri: `tutti://runs/${id}`,
          name: id,
          description: `${status}: ${userRequest}`,
          mimeType: JSON_TYPE,
        })),
      ),
    read: async (uri) => {
      const [, id] = RUN.exec(uri) ?? [];
      if (id !== undefined) return { mimeType: JSON_TYPE, text: JSON.stringify(await readRun(decodeURIComponent(id))) };
      const [, runId, taskId] = TRANSCRIPT.exec(uri) ?? [];
      if (runId === undefined) return null;
      const entries = await readTranscript(decodeURIComponent(runId), decodeURIComponent(taskId!));
      return { mimeType: JSON_TYPE, text: JSON.stringify(entries) };
    },
  };
}
