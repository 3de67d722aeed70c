// Session storage of the pages: small JSON values, deleted with the tab.

const PREFIX = "shopkeeper.";

/// The value of this key, or `undefined`.
export function recall(name) {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/// Stores a value under this key; `undefined` deletes it.
export function remember(name, value) {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage, the page works but does not survive a reload.
  }
}
