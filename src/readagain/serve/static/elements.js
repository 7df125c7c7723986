// Elements: finding and making them. Text becomes text here, never HTML.

export const at = (id) => document.getElementById(id);

/** Make an element. Attributes are set by name; children are elements or plain text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
