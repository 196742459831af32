// An identity provider for tests: a certified OpenID Connect provider as a process, with two people and one client.
// It prints its address when it listens. Arguments: the redirect address of the client, and its secret.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [redirect, secret] = process.argv.slice(2);
const ROLES = { olga: ["operator"], stranger: [] };

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "slipring",
        client_secret: secret,
        redirect_uris: [redirect],
        grant_types: ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    claims: { openid: ["sub", "roles", "site"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ["only of a test"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, roles: ROLES[id] ?? [], site: "linkoping" }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
