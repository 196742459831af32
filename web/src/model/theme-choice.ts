// Dark or light, or as the system: what a person chose, and what it means.

export type ThemeChoice = "system" | "dark" | "light";

const ORDER: readonly ThemeChoice[] = ["system", "dark", "light"];
const WORDS: Record<ThemeChoice, string> = { system: "as the system", dark: "dark", light: "light" };

/** Whatever was kept, also by another version or by hand. */
export function themeChoice(kept: string | null): ThemeChoice {
  return ORDER.find((choice) => choice === kept) ?? "system";
}

export function nextChoice(choice: ThemeChoice): ThemeChoice {
  return ORDER[(ORDER.indexOf(choice) + 1) % ORDER.length] ?? "system";
}

export function shownTheme(choice: ThemeChoice, systemIsDark: boolean): "dark" | "light" {
  if (choice !== "system") return choice;
  return systemIsDark ? "dark" : "light";
}

export function themeWords(choice: ThemeChoice): string {
  return `Colours: ${WORDS[choice]}`;
}
