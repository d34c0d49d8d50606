// Light or dark: as the system says, until somebody chooses.

import { useState } from "react";

const KEY = "perdure-theme";
const ORDER = ["system", "light", "dark"] as const;
export type Theme = (typeof ORDER)[number];

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return ORDER.find((each) => each === kept) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(chosenTheme);
  const next = () => {
    const chosen = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system";
    localStorage.setItem(KEY, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}
