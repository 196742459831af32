// A sentence with answers to choose from, in the page and not above it. One at a time.
import { element } from "./page.ts";
import { deed } from "./layout-bar.ts";

export interface QuestionAnswer {
  readonly text: string;
  readonly act: () => void;
}

export class Question {
  readonly root = element("div", "question");
  readonly #sentence = element("p");
  readonly #answers = element("div", "layout-deeds");

  constructor() {
    this.root.role = "alert";
    this.root.hidden = true;
    this.root.append(this.#sentence, this.#answers);
  }

  /** Each answer ends the question. */
  ask(sentence: string, answers: readonly QuestionAnswer[]): void {
    this.#sentence.textContent = sentence;
    const buttons = answers.map(({ text, act }) =>
      deed(text, () => {
        this.end();
        act();
      }),
    );
    this.#answers.replaceChildren(...buttons);
    this.root.hidden = false;
  }

  /** Says something that a person only has to know. */
  tell(sentence: string): void {
    this.ask(sentence, [{ text: "Close", act: () => undefined }]);
  }

  end(): void {
    this.root.hidden = true;
  }
}
