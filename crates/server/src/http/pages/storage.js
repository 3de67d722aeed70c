// What does a page remember in this tab? Small values under names of our own, gone with the tab.

const PREFIX = "shopkeeper.";

/// The value under this name, or nothing.
export function recall(name) {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/// Keeps a value under this name; `undefined` forgets it.
export function remember(name, value) {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A full or forbidden store costs the memory of this tab, not the work in it.
  }
}
