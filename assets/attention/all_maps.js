'use strict';
// Small maps, a row for each layer, and the table of figures.

const smallMaps = new Map();  // head -> its button

function drawSmallMaps() {
  for (const [head, button] of smallMaps) paintMap(button.firstChild, head);
}

function startSmallMaps() {
  const columns = [...new Set(attention.heads.map(({head}) => head))].sort((a, b) => a - b);
  const layers = [...new Set(attention.heads.map(({layer}) => layer))];
  const grid = element('div', {class: 'grid', style: `grid-template-columns: max-content repeat(${columns.length}, max-content)`});
  grid.append(element('span'), ...columns.map((head) => element('span', {class: 'head'}, `${head}`)));
  for (const layer of layers) {
    grid.append(element('span', {}, `${layer}`));
    for (const column of columns) {
      const head = attention.heads.find((each) => each.layer === layer && each.head === column);
      if (head === undefined) {
        grid.append(element('span'));
        continue;
      }
      const button = element('button', {
        type: 'button', class: inductionOf(head)?.found ? 'found' : null, title: nameOf(head), 'aria-label': nameOf(head),
        onclick: () => {
          showHead(head);
          byId('one').scrollIntoView({block: 'start', behavior: 'smooth'});
        },
      }, element('canvas'));
      smallMaps.set(head, button);
      grid.append(button);
    }
  }
  byId('maps').append(grid);
  byId('grid-note').textContent = `A row for each layer, a column for each head; click one to see it large.${
      attention.induction === null ? '' : ' Induction heads have a border of another colour.'}`;
}

function startHeadTable() {
  const head = [
    {text: 'layer'}, {text: 'head'}, {text: 'entropy, nats'}, {text: 'of the most'}, {text: 'self'}, {text: 'previous'}, {text: 'first'},
  ];
  const induction = attention.induction !== null;
  if (induction) head.push({text: 'induction'}, {text: 'without repeat'}, {text: 'found'});
  const figure = (value, column) => numberCell(value, digits(value), column);
  const lines = attention.heads.map((each) => {
    const scores = inductionOf(each);
    const cells = [
      numberCell(each.layer, `${each.layer}`, 'layer'), numberCell(each.head, `${each.head}`, 'head'),
      ...['entropy_nats', 'entropy_share', 'on_self', 'on_previous', 'on_first'].map((name) => figure(each[name], name)),
    ];
    if (induction) cells.push(figure(scores.repeat, 'repeat'), figure(scores.fresh, 'fresh'), cell(scores.found ? 'yes' : ''));
    return cells;
  });
  const table = sortableTable(`Means over the ${count - 1} tokens after the first.`, head, lines);
  [...table.tBodies[0].rows].forEach((row, index) => {
    row.classList.toggle('found', inductionOf(attention.heads[index])?.found ?? false);
    row.addEventListener('click', () => showHead(attention.heads[index]));
  });
  byId('heads').append(table);
}

function markShown() {
  for (const [head, button] of smallMaps) button.setAttribute('aria-pressed', head === one.head);
}
