import { expect, it } from "vitest";
import { GateStory, gatedTemplate } from "../team/gate-story.ts";
import { approval, completion, rejection } from "../team/team-scenario.ts";
import { Story } from "../run/make-run.ts";
import { teamLines } from "../../src/cli/terminal/team-lines.ts";

function reviewed(verdict: object): GateStory {
  const gate = { environments: { staging: { override: true } } };
  const story = new GateStory(gatedTemplate({ gate, team: { rejectionLimit: 0 } }));
  story.begin("developer");
  story.speak("developer", JSON.stringify(completion("DEVELOPER")), "abcdef0123456789");
  story.begin("review", "abcdef0123456789");
  story.speak("review", JSON.stringify(verdict));
  return story;
}

it("the status of a team shows its gate, the states of its messages and its metrics", () => {
  const { run, now } = reviewed(approval());
  expect(teamLines(run, now)).toEqual([
    "gate of staging: open for abcdef012345, approved by SECURITY_AUDITOR",
    "messages: 5 acted",
    "tasks: 0 % rejected, completed in 0:00 on average",
  ]);
  expect(teamLines(new Story().run, 0)).toEqual([]);
});

it("the status of a team says why its gate is closed, and by whom it was overridden", () => {
  const story = reviewed(rejection("it leaks"));
  expect(teamLines(story.run, story.now)[0]).toMatch(
    /^gate of staging: closed: The review says "REJECTED"\..*"critical_issues" is not empty: \["it leaks"\]\./,
  );
  story.do({ type: "overrideGate", environment: "staging", by: "ann", reason: "an outage" });
  expect(teamLines(story.run, story.now).slice(0, 2)).toEqual([
    "gate of staging: overridden: an outage",
    "gate of staging: overridden by ann for abcdef012345: an outage",
  ]);
});
