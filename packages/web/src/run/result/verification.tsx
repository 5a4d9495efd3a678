import { withDetail } from "../../../../tutti/src/run/describe-event.ts";
import { say, translate } from "../../text/language.ts";
import type { VerificationAnswer } from "../../../../tutti/src/schema/answer.ts";
import { Icon } from "../../parts/icon.tsx";
import { AgentWords } from "../../text/agent-words.tsx";

const WORDS = {
  passed: translate("Verification passed"),
  passed_with_warnings: translate("Verification passed with warnings"),
  failed: translate("Verification failed"),
} as const;
const MOST = 5;

export function Verification({ answer }: { answer: VerificationAnswer | null }) {
  if (answer === null) return null;
  const tone = answer.status === "passed" ? "good" : answer.status === "failed" ? "bad" : "warning";
  const issues = answer.issues ?? [];
  return (
    <div className="verification">
      <p>
        <span className={`inline-mark tone-${tone}`}>
          <Icon name={tone === "good" ? "check" : "warning"} size={14} />
        </span>
        {answer.summary ? withDetail(WORDS[answer.status], " ", say).trimEnd() : WORDS[answer.status]}
        {answer.summary && (
          <span className="muted">
            {" "}
            <AgentWords text={answer.summary} max={300} />
          </span>
        )}
      </p>
      {issues.length > 0 && (
        <ul className="plain-list">
          {issues.slice(0, MOST).map((issue) => (
            <li key={`${issue.description} ${issue.location ?? ""}`}>
              <AgentWords text={issue.description} max={300} />
              {issue.location && (
                <code>
                  <AgentWords text={issue.location} max={120} />
                </code>
              )}
            </li>
          ))}
          {issues.length > MOST && (
            <li className="muted">{translate("and {count} more", { count: issues.length - MOST })}</li>
          )}
        </ul>
      )}
    </div>
  );
}
