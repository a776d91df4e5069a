'use strict';
// The data, and what follows from it alone. A figure that is not known is null.

const attention = JSON.parse(byId('data').textContent);
const count = attention.tokens.length;

/** A token on one line, as the terminal has it. */
const label = (index) => attention.tokens[index] === '' ? '\'\'' :
    attention.tokens[index].replace(/ /g, '␣').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t').replace(
        /[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const inductionOf = (head) =>
    attention.induction?.heads.find((one) => one.layer === head.layer && one.head === head.head) ?? null;

const nameOf = (head) => `layer ${head.layer}, head ${head.head}`;

/** The bytes of a head's weights: those of query i on the keys up to it begin at i (i + 1) / 2. */
const bytesOf = (() => {
  const known = new Map();
  return (head) => {
    if (!known.has(head)) known.set(head, Uint8Array.from(atob(head.weights), (letter) => letter.charCodeAt(0)));
    return known.get(head);
  };
})();

const byteAt = (head, query, key) => bytesOf(head)[query * (query + 1) / 2 + key];
const weightOf = (byte) => (byte / 255) ** 2;

/** One byte is all that is known of a weight, so it has no more digits than that. */
const percent = (weight) => `${(100 * weight).toFixed(weight < 0.1 ? 2 : 1)} %`;
const digits = (value, places = 3) => value === null ? '–' : value.toFixed(places);
