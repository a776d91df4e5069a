'use strict';
// The large map of one head, its text, and what the pointer is at.

const one = {head: attention.heads[0] ?? null, query: null, key: null, held: false};

const kLabelled = 60;  // tokens that have their names beside the map
const kLabelRoom = 130;

/** Pixels of a cell and room for names, by the width there is. */
function shapeOfMap() {
  const room = count <= kLabelled ? kLabelRoom : 0;
  const width = Math.min(byId('one').clientWidth, 720) - room;
  return {room, cell: Math.max(1, Math.min(28, Math.floor(width / count)))};
}

function drawNames(context, room, cell) {
  const {color, fontFamily} = getComputedStyle(byId('text'));
  context.font = `${Math.max(8, Math.min(12, cell - 1))}px ${fontFamily}`;
  context.fillStyle = color;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (let i = 0; i < count; ++i) {
    const name = label(i).length > 14 ? `${[...label(i)].slice(0, 13).join('')}…` : label(i);
    context.fillText(name, room - 6, room + (i + 0.5) * cell, room - 8);
    context.save();
    context.translate(room + (i + 0.5) * cell, room - 6);
    context.rotate(Math.PI / 2);
    context.fillText(name, 0, 0, room - 8);
    context.restore();
  }
}

const onePixels = document.createElement('canvas');  // the head's map, a pixel a weight

function drawOneMap() {
  const {room, cell} = shapeOfMap(), canvas = byId('map'), size = room + cell * count, sharp = window.devicePixelRatio;
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name);
  canvas.width = canvas.height = Math.round(size * sharp);
  canvas.style.width = canvas.style.height = `${size}px`;
  const context = canvas.getContext('2d');
  context.scale(sharp, sharp);
  context.imageSmoothingEnabled = false;
  context.drawImage(onePixels, room, room, cell * count, cell * count);
  context.strokeStyle = colour('--line');
  context.strokeRect(room + 0.5, room + 0.5, cell * count - 1, cell * count - 1);
  if (room > 0) drawNames(context, room, cell);
  if (one.query === null) return;
  context.strokeStyle = colour('--hold');
  context.lineWidth = one.held ? 2 : 1;
  context.strokeRect(room, room + one.query * cell, (one.query + 1) * cell, cell);
  if (one.key !== null) context.strokeRect(room + one.key * cell, room + one.query * cell, cell, cell);
}

function tellPointed() {
  const {head, query, key} = one;
  if (query === null) return byId('pointed').replaceChildren('The weight under the pointer is told here.');
  const token = (index) => element('code', {}, label(index));
  if (key === null) return byId('pointed').replaceChildren(`Query ${query} `, token(query), ' reads from the tokens that are shaded in the text.');
  byId('pointed').replaceChildren(
      element('strong', {}, percent(weightOf(byteAt(head, query, key)))), element('br'), `query ${query} `, token(query),
      element('br'), `key ${key} `, token(key));
}

/** Each token is as dark as the held or pointed query's weight on it. */
function shadeText() {
  [...byId('text').children].forEach((token, key) => {
    const byte = one.query !== null && key <= one.query ? byteAt(one.head, one.query, key) : null;
    token.style.background = byte === null ? '' : colourOf(byte);
    token.style.color = byte === null ? '' : inkOn(byte);
    token.classList.toggle('query', key === one.query);
  });
}

function pointAt(query, key) {
  [one.query, one.key] = [query, query !== null && key !== null && key <= query ? key : null];
  drawOneMap();
  tellPointed();
  shadeText();
}

/** Query and key under the pointer; null beside the map. */
function cellUnder(event) {
  const {room, cell} = shapeOfMap(), box = byId('map').getBoundingClientRect();
  const [key, query] = [event.clientX - box.left, event.clientY - box.top].map((at) => Math.floor((at - room) / cell));
  return query >= 0 && query < count && key < count ? {query, key: key >= 0 ? key : null} : null;
}

function showHead(head) {
  one.head = head;
  paintMap(onePixels, head);
  byId('map').setAttribute('aria-label', `Attention weights of ${nameOf(head)}`);
  byId('one-name').textContent = `Layer ${head.layer}, head ${head.head}`;
  const induction = inductionOf(head);
  const lines = [
    ['entropy', `${digits(head.entropy_nats)} nats`], ['of the most', digits(head.entropy_share)], ['on itself', digits(head.on_self)],
    ['on the previous token', digits(head.on_previous)], ['on the first token', digits(head.on_first)],
  ];
  if (induction !== null) {
    lines.push(['induction', `${digits(induction.repeat)}${induction.found ? ', found' : ''}${induction.in_reach ? '' : ', beyond its window'}`],
        ['without repeat', digits(induction.fresh)]);
  }
  byId('figures').replaceChildren(...lines.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  pointAt(one.query, one.key);
  markShown();
}

const kSteps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

function startOneMap() {
  const map = byId('map');
  map.addEventListener('pointermove', (event) => {
    const under = cellUnder(event);
    if (one.held) pointAt(one.query, under === null ? null : under.key);
    else pointAt(under === null ? null : under.query, under === null ? null : under.key);
  });
  map.addEventListener('pointerleave', () => pointAt(one.held ? one.query : null, null));
  map.addEventListener('click', (event) => {
    const under = cellUnder(event);
    one.held = under !== null && !(one.held && one.query === under.query);
    pointAt(under === null ? null : under.query, under === null ? null : under.key);
  });
  map.addEventListener('keydown', (event) => {
    const step = kSteps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const within = (value, most) => Math.max(0, Math.min(most, value));
    const query = within((one.query ?? 0) + step[0], count - 1);
    pointAt(query, within((one.key ?? query) + step[1], query));
  });
  const move = (by) => showHead(attention.heads[(attention.heads.indexOf(one.head) + by + attention.heads.length) % attention.heads.length]);
  byId('steps').append(
      element('button', {type: 'button', onclick: () => move(-1)}, '← head before'),
      element('button', {type: 'button', onclick: () => move(1)}, 'next head →'));
  byId('text').append(...attention.tokens.map((text, index) => element('span', {
    title: `${index} ${label(index)}`,
    onpointerenter: () => one.held || pointAt(index, null),
    onclick: () => {
      one.held = !(one.held && one.query === index);
      pointAt(index, null);
    },
  }, text === '' ? '\u200b' : text)));
}
