// Functions to find and create elements. Text is inserted as text, never as HTML.

/** Return the element with an id. */
export const at = (id) => document.getElementById(id);

/** Create an element with attributes and children, which are elements or plain text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
