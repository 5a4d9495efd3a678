import { translate } from "../text/language.ts";
import { useState } from "react";
import { CopyLine } from "../parts/copy-line.tsx";
import { FormField } from "../parts/form-field.tsx";
import { Notice } from "../parts/notice.tsx";
import { ActionError } from "../errors/action-error.tsx";
import { AskedButton } from "../shell/asked-button.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { shellQuote } from "../text/shell-quote.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { moment } from "../text/format.ts";
import { TOKEN_ROLES, type TokenRole } from "../../../tutti/src/schema/token-role.ts";

/** `secret` is shown once, after a token was created. */
export function TokensSection() {
  const [version, setVersion] = useState(0);
  const [name, setName] = useState("");
  const [role, setRole] = useState<TokenRole>("view");
  const [days, setDays] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const { value, error } = useRequest(`tokens ${version}`, (signal) => server.call("GET /api/tokens", { signal }));
  const create = async () => {
    const made = await server.call("POST /api/tokens", {
      body: { name, role, ...(days !== "" && { expiresInDays: Number(days) }) },
    });
    setSecret(made.token);
    setName("");
    setVersion(version + 1);
  };
  return (
    <section className="card" aria-labelledby="tokens-title">
      <h2 id="tokens-title" className="card-title">
        {translate("Tokens")}
      </h2>
      <ActionError error={error} />
      {value?.length === 0 && <p className="nothing-yet">{translate("Only the token of the server itself exists.")}</p>}
      <ul className="checks">
        {value?.map((token) => (
          <li key={token.name} className="token-row">
            <strong>{token.name}</strong>
            <span className="chip">{token.role}</span>
            <span className="muted">
              {token.expiresAt === null
                ? translate("does not expire")
                : translate(token.expired ? "expired {time}" : "expires {time}", {
                    time: moment(Date.parse(token.expiresAt)),
                  })}
            </span>
            <AskedButton
              word={translate("Revoke")}
              command={`tutti tokens revoke ${shellQuote(token.name)}`}
              label={translate("Revoke {name}", { name: token.name })}
              question={translate("Revoke {name}? Its connections are closed.", { name: token.name })}
              yes={translate("Yes, revoke")}
              needs="admin"
              order={async () => {
                await server.call("DELETE /api/tokens/:name", { params: { name: token.name } });
                setVersion(version + 1);
              }}
            />
          </li>
        ))}
      </ul>
      <div className="notify-test">
        <div className="token-form">
          <FormField name={translate("Name of a new token")}>
            {(id) => <input id={id} className="field" value={name} onChange={({ target }) => setName(target.value)} />}
          </FormField>
          <FormField name={translate("Role")}>
            {(id) => (
              <select
                id={id}
                className="field"
                value={role}
                onChange={({ target }) => setRole(target.value as TokenRole)}
              >
                {TOKEN_ROLES.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </FormField>
          <FormField name={translate("Days until it expires")}>
            {(id) => (
              <input
                id={id}
                className="field is-short"
                type="number"
                min="1"
                placeholder={translate("never")}
                value={days}
                onChange={({ target }) => setDays(target.value)}
              />
            )}
          </FormField>
        </div>
        <OrderButton
          word={translate("Create token")}
          needs="admin"
          command={`tutti tokens create ${shellQuote(name)} --role ${role}`}
          disabled={name.trim() === ""}
          order={create}
        />
        {secret !== null && (
          <>
            <Notice tone="warning">{translate("Copy the token now. It is not shown again.")}</Notice>
            <CopyLine label={translate("New token")} text={secret} />
          </>
        )}
      </div>
    </section>
  );
}
