'use strict';
// Makes elements of the page.

const byId = (id) => document.getElementById(id);

/** An element with attributes, event handlers (onclick, ...) and children; texts are never read as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else if (value === true)
      made.setAttribute(name, '');
    else if (value !== false && value !== undefined && value !== null)
      made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A labelled choice; `choices` are [value, text]. */
function choice(label, choices, chosen, onChange) {
  const select = element(
      'select', {onchange: () => onChange(select.value)},
      ...choices.map(([value, text]) => element('option', {value, selected: value === chosen}, text)));
  return element('label', {}, `${label} `, select);
}

function tick(label, checked, onChange) {
  const box = element('input', {type: 'checkbox', checked, onchange: () => onChange(box.checked)});
  return element('label', {}, box, ` ${label}`);
}

const swatch = (colour, dashed = false) =>
    element('span', {class: dashed ? 'swatch dashed' : 'swatch', style: `--colour: ${colour}`, 'aria-hidden': 'true'});

/** A cell of a table. `value` is what it is sorted by; `words` may take several lines. */
const cell = (text, {value = null, column = null, number = false, head = false, words = false} = {}) =>
    ({text,
      value,
      column,
      head,
      kind: number ? 'number' :
          words    ? 'words' :
                     null});
const numberCell = (value, text, column) => cell(text, {value, column, number: true});

function sortBy(table, index, button) {
  const descending = button.dataset.sorted === 'up';
  const key = (line) => {
    const {value} = line.cells[index].dataset;
    return value === undefined ? line.cells[index].textContent : Number(value);
  };
  const isMissing = (k) => k === '–' || k === '';
  const lines = [...table.tBodies[0].rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y);
    const order = typeof x === 'number' && typeof y === 'number' ?
        x - y :
        String(x).localeCompare(String(y), 'en', {numeric: true});
    return descending ? -order : order;
  });
  for (const other of table.querySelectorAll('th button')) delete other.dataset.sorted;
  button.dataset.sorted = descending ? 'down' : 'up';
  table.tBodies[0].append(...lines);
}

/** A table whose heads sort it. `head` is a list of {text, title}, `lines` one of lists of cells. */
function sortableTable(caption, head, lines) {
  const made = element('table', {}, element('caption', {}, caption));
  const heads = head.map(({text, title}, i) => {
    const button =
        element('button', {type: 'button', title: title ?? null, onclick: () => sortBy(made, i, button)}, text);
    return element('th', {scope: 'col', class: lines[0]?.[i].kind === 'number' ? 'number' : null}, button);
  });
  const body = lines.map(
      (line) => element(
          'tr', {},
          ...line.map(
              ({text, value, column, kind, head: isHead}) => element(
                  isHead ? 'th' : 'td', {
                    class: kind,
                    scope: isHead ? 'row' : null,
                    'data-column': column,
                    'data-value': value,
                  },
                  text))));
  made.append(element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...body));
  return made;
}
