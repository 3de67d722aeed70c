// The language of the page: chosen by `?lang=`, then as remembered, then by the browser.

import { byId, fill, h } from "./dom.js";
import { recall, remember } from "./storage.js";
import de from "./texts-de.js";
import en from "./texts-en.js";
import es from "./texts-es.js";
import fr from "./texts-fr.js";
import { text, useTexts } from "./texts.js";

const LANGUAGES = { en: ["English", en], de: ["Deutsch", de], es: ["Español", es], fr: ["Français", fr] };
const REMEMBERED = "language";

const baseOf = (tag) => tag.toLowerCase().split("-")[0];

/// The language of the first of these tags that the page is available in; English otherwise.
function chosen(tags) {
  return tags.filter((tag) => typeof tag === "string").map(baseOf).find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/// Shows the page in its language, and again whenever the user chooses another one; `onChange` then
/// draws what is made of texts.
export function followLanguage(onChange) {
  const asked = new URLSearchParams(location.search).get("lang");
  const code = chosen([asked, recall(REMEMBERED, "localStorage"), ...navigator.languages]);
  speak(code);
  const select = byId("language");
  fill(select, Object.entries(LANGUAGES).map(([value, [name]]) => h("option", { value, lang: value }, name)));
  select.value = code;
  select.addEventListener("change", () => {
    remember(REMEMBERED, select.value, "localStorage");
    // The choice replaces the one in the URL, which would win at the next visit.
    const url = new URL(location.href);
    url.searchParams.delete("lang");
    history.replaceState(history.state, "", url);
    speak(select.value);
    onChange();
  });
}

function speak(code) {
  // The tags of browsers are not always well-formed: "en-US@posix".
  const regional = navigator.languages.find((tag) => baseOf(tag) === code && /^[a-z]{2}(?:-[a-z\d]{2,8})*$/i.test(tag));
  useTexts(LANGUAGES[code][1], regional ?? code);
  document.documentElement.lang = code;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
  for (const element of document.querySelectorAll("[data-placeholder]")) element.placeholder = text(element.dataset.placeholder);
}
