import { describe, expect, test } from "vitest";
import { classifyFailure } from "../../src/session/classify-failure.ts";

const NOW = Date.UTC(2026, 10, 15, 12);

describe("The text of a failure", () => {
  test.each([
    ["API Error: 400 messages: bad request", { cause: "invalid_request" }],
    ["unexpected status 401 Unauthorized", { cause: "auth" }],
    ["API key not valid. Please pass a valid API key.", { cause: "auth" }],
    ["API Error: 403 forbidden", { cause: "auth" }],
    ["API Error: 404 no such model", { cause: "invalid_request" }],
    ["Your credit balance is too low to access the API. Please purchase credits.", { cause: "billing" }],
    ["prompt is too long: 250000 tokens > 200000 maximum", { cause: "context" }],
    ["This model's maximum context length is 128000 tokens", { cause: "context" }],
    ["The input token count (1200000) exceeds the maximum", { cause: "context" }],
    ["API Error: 429 This request would exceed your rate limit", { cause: "rate_limit" }],
    ["rate limit reached, try again in 17 seconds", { cause: "rate_limit", retryAfterMs: 17_000 }],
    ["You exceeded your current quota. Please retry in 1.5s.", { cause: "rate_limit", retryAfterMs: 1500 }],
    ['RESOURCE_EXHAUSTED {"retryDelay":"20s"}', { cause: "rate_limit", retryAfterMs: 20_000 }],
    ["You exceeded your current quota, please check your plan", { cause: "usage_limit" }],
    ["You exceeded your daily quota, try again in 9h", { cause: "usage_limit", retryAfterMs: 32_400_000 }],
    ["AI usage limit reached|1763218800", { cause: "usage_limit", resetAt: 1_763_218_800_000 }],
    ["You've hit your weekly limit, resets 3pm (UTC)", { cause: "usage_limit", resetAt: Date.UTC(2026, 10, 15, 15) }],
    ["API Error: 529 Overloaded", { cause: "overloaded" }],
    ["The model is overloaded. Please try again later.", { cause: "overloaded" }],
    ["got status: 503 Service Unavailable", { cause: "overloaded" }],
    ["API Error: 500 Internal server error", { cause: "api" }],
    ["stream disconnected before completion", { cause: "api" }],
    ["TypeError: fetch failed", { cause: "api" }],
    ["connect ECONNREFUSED 127.0.0.1:1", { cause: "api" }],
    ["something else went wrong", {}],
    ["", {}],
  ])("%j means %j", (text, meaning) => {
    expect(classifyFailure(text, undefined, NOW)).toEqual(meaning);
  });

  test("is classified by the HTTP status if the agent reports it separately", () => {
    const causes = [400, 401, 402, 403, 408, 422, 429, 500, 502, 503, 529].map(
      (status) => classifyFailure("no", status).cause,
    );
    expect(causes.join(" ")).toBe(
      "invalid_request auth billing auth api invalid_request rate_limit api api overloaded overloaded",
    );
    expect(classifyFailure("prompt is too long", 400).cause).toBe("context");
  });
});
