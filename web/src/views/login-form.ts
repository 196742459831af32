// The form to log in, which takes the place of everything else, and the visitor's name in the bar.
import { postJson } from "../console-request.ts";
import type { ConsoleVisitor } from "../model/contract.ts";
import { loginTrouble } from "../model/visitor-wording.ts";
import { legible } from "../model/wording.ts";
import { part, setText } from "./page.ts";

export class LoginForm {
  readonly #section = part("login");
  readonly #main = part("main");
  readonly #form = part<HTMLFormElement>("login-form");
  readonly #sentence = part("login-sentence");
  readonly #trouble = part("login-trouble");
  readonly #user = part<HTMLInputElement>("login-user");
  readonly #password = part<HTMLInputElement>("login-password");
  readonly #button = part<HTMLButtonElement>("login-button");
  readonly #provider = part<HTMLAnchorElement>("login-provider");

  constructor() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#logIn();
    });
    part("log-out").addEventListener("click", () => void logOut());
  }

  show(sentence: string, visitor: ConsoleVisitor): void {
    setText(this.#sentence, sentence);
    this.#provider.hidden = visitor.oidc === null;
    setText(this.#provider, `Log in with ${legible(visitor.oidc ?? "")}`);
    this.#main.hidden = true;
    this.#section.hidden = false;
    document.body.dataset["login"] = "needed";
    this.#user.focus();
  }

  /** Shows in the bar who has logged in. */
  renderVisitor(visitor: ConsoleVisitor): void {
    part("visitor").hidden = visitor.user === null;
    setText(part("visitor-name"), legible(visitor.user ?? ""));
    setText(part("visitor-role"), visitor.role ?? "");
    document.body.dataset["watches"] = visitor.watches;
  }

  async #logIn(): Promise<void> {
    this.#button.disabled = true;
    setText(this.#trouble, "");
    const trouble = await logIn(this.#user.value, this.#password.value);
    this.#password.value = "";
    this.#button.disabled = false;
    setText(this.#trouble, trouble ?? "");
    if (trouble === null) window.location.reload();
    else this.#password.focus();
  }
}

/** Why the login failed; null if it did not. */
async function logIn(user: string, password: string): Promise<string | null> {
  try {
    const answer = await postJson("api/login", { user, password });
    return answer.ok ? null : loginTrouble(answer.status, await answer.text());
  } catch {
    return "The broker did not answer. Try again.";
  }
}

async function logOut(): Promise<void> {
  try {
    await postJson("api/logout", {});
  } finally {
    window.location.reload();
  }
}
