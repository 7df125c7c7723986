// Functions to find and create elements. Text is inserted as text, never as HTML.

export const at = (id) => document.getElementById(id);

/** Create an element; children are elements or plain text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
