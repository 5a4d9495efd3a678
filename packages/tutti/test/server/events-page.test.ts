// The page of events: up to date, and complete.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventsFile, renderEvents } from "../../../../scripts/generate-events.mjs";
import { EVENTS } from "../../src/schema/event.ts";

const page = readFileSync(eventsFile, "utf8");

describe("docs/events.md", () => {
  it("is what the generator makes of the schemas; if not, npm run schemas writes it", () => {
    expect(page).toBe(renderEvents());
  });

  it("has every type of event with every member, and the comments beside them (E68)", () => {
    const sections = new Map(page.split("\n## ").map((part) => [part.split("\n")[0]!.replaceAll("`", ""), part]));
    for (const [type, schema] of Object.entries(EVENTS)) {
      for (const member of Object.keys(schema.shape)) expect(sections.get(type), type).toContain(`| \`${member}\` |`);
    }
    expect(sections.get("worker:lost")).toContain("The session of an attempt is gone without an answer");
    expect(sections.get("orchestrator:error")).toContain("Whether the run ends here");
    expect(sections.get("log:removed")).toContain("No members.");
    expect(sections.get("worker:progress")).toContain("It only tells");
  });
});
