import { expect, it } from "vitest";
import { expectLinear } from "../../lab/growth.ts";
import { findMessages } from "../../../src/protocol/messages/find-messages.ts";

const MESSAGE = '{"message_type":"TASK_ACKNOWLEDGMENT","task_id":"a"}';

it("finds a message after a megabyte of braces, however they are nested", () => {
  const half = 500_000;
  for (const braces of ["{}".repeat(half), "{".repeat(half) + "}".repeat(half)])
    expect(findMessages(`${braces}\n${MESSAGE}`, "")).toMatchObject([{ body: { task_id: "a" }, exact: true }]);
});

it("reads a megabyte of braces that never close, or close around a message, as nothing that counts", () => {
  expect(findMessages("{".repeat(1_000_000), "")).toEqual([]);
  const around = "{".repeat(500_000) + MESSAGE + "}".repeat(500_000);
  expect(findMessages(around, "").filter(({ exact }) => exact)).toEqual([]);
});

it("reads objects inside each other in linear time, and takes no message for exact among more than it can read", () => {
  const nested = (depth: number): string => '{"message_type":1,"x":'.repeat(depth) + "1" + "}".repeat(depth);
  expectLinear((depth) => findMessages(nested(depth), ""), 4000);
  for (const text of [`${MESSAGE}\n${nested(2000)}`, `${nested(2000)}\n${MESSAGE}`])
    expect(findMessages(text, "").filter(({ exact }) => exact)).toEqual([]);
  expect(findMessages(`${nested(20)}\n${MESSAGE}`, "").map(({ body }) => body)).toEqual([JSON.parse(MESSAGE)]);
});
