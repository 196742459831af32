// What a person may do to a client, each after a question: disconnect it, or end its session.
import { postJson } from "../console-request.ts";
import { clientName, legible } from "../model/wording.ts";
import { element } from "./page.ts";

export interface ClientAction {
  name: string;
  path: string;
  warning: string;
}

export const DISCONNECT: ClientAction = {
  name: "Disconnect",
  path: "api/clients/disconnect",
  warning: "It may connect again.",
};
export const END: ClientAction = {
  name: "End session",
  path: "api/sessions/end",
  warning: "What waits in its session is gone for good.",
};

/** A button that asks the person, then the broker, and tells how it ended. */
export function actionButton(action: ClientAction, client_id: string, tell: (words: string) => void): HTMLButtonElement {
  const button = element("button", "deed", action.name);
  button.type = "button";
  button.addEventListener("click", () => {
    if (!window.confirm(`${action.name}: ${clientName(client_id)}? ${action.warning}`)) return;
    void ask(action, client_id).then(tell);
  });
  return button;
}

/** Asks the broker, and returns its answer in words. */
async function ask(action: ClientAction, client_id: string): Promise<string> {
  try {
    const answer = await postJson(action.path, { client_ids: [client_id] });
    if (!answer.ok) return legible((await answer.text()).trim());
    const { done } = (await answer.json()) as { done: string[] };
    return done.length > 0 ? `${action.name}: ${clientName(client_id)}, done` : `${clientName(client_id)} is not there any more`;
  } catch {
    return "the broker did not answer; try again";
  }
}
