// Small JSON values of the pages: in session storage, which is deleted with the tab, or in local
// storage.

const PREFIX = "shopkeeper.";

/// The value of this key, or `undefined`.
export function recall(name, storage = "sessionStorage") {
  try {
    const text = globalThis[storage].getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/// Stores a value under this key; `undefined` deletes it.
export function remember(name, value, storage = "sessionStorage") {
  try {
    if (value === undefined) globalThis[storage].removeItem(PREFIX + name);
    else globalThis[storage].setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage, the page works but does not survive a reload.
  }
}
