// Making elements: texts become text, never HTML.

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

export function button(text, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, text);
}

// Ids are made of labels, so that a field which is drawn again is found again.
export function field(label, control, hint = "") {
  control.id ||= `field-${label.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  // Names of options are not broken.
  const texts = hint.split(/(\(--[a-z-]+\))/).map((text) => (text.startsWith("(--") ? make("span", {}, text) : text));
  const below = hint && make("small", { id: `${control.id}-hint` }, texts);
  if (below) control.setAttribute("aria-describedby", below.id);
  return make("div", { class: "field" }, make("label", { for: control.id }, label), control, below);
}

export function select(options, value, onchange, attributes = {}) {
  const made = make("select", { ...attributes });
  for (const [key, text] of options) made.append(make("option", { value: key }, text));
  made.value = value;
  made.addEventListener("change", () => onchange(made.value));
  return made;
}

export function notice(text, kind = "") {
  const box = document.getElementById("notices");
  const made = make("p", { class: `notice ${kind}` }, text,
    button("Close", () => made.remove(), { class: "plain" }));
  box.replaceChildren(made);
  if (!kind) setTimeout(() => made.remove(), 8000);
  return made;
}

export function bytes(size) {
  if (size >= 2 ** 30) return `${(size / 2 ** 30).toFixed(1)} GB`;
  if (size >= 2 ** 20) return `${(size / 2 ** 20).toFixed(1)} MB`;
  return `${Math.max(1, Math.round(size / 1024))} KB`;
}

export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
