'use strict';
// Colours of weights, for light and dark.

const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');

// From no weight to all, at equal steps of its square root.
const kRamps = {
  light: [[255, 255, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107]],
  dark: [[20, 24, 30], [38, 58, 110], [64, 112, 190], [120, 190, 235], [240, 250, 200]],
};

/** Red, green and blue of each byte, which is 255 times the root of a weight. */
function paletteOf(ramp) {
  return Array.from({length: 256}, (_, byte) => {
    const at = byte / 255 * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
    return [0, 1, 2].map((part) => Math.round(ramp[low][part] + (at - low) * (ramp[low + 1][part] - ramp[low][part])));
  });
}

const palettes = {light: paletteOf(kRamps.light), dark: paletteOf(kRamps.dark)};
const palette = () => palettes[darkScheme.matches ? 'dark' : 'light'];
const byteOf = (weight) => Math.round(255 * Math.sqrt(weight));
const colourOf = (byte) => `rgb(${palette()[byte].join(' ')})`;
/** What can be read on that colour. */
const inkOn = (byte) => {
  const [r, g, b] = palette()[byte];
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? '#101418' : '#ffffff';
};

/** A map of T by T pixels; keys after the query are left clear. */
function paintMap(canvas, head) {
  canvas.width = canvas.height = count;
  const context = canvas.getContext('2d');
  const image = context.createImageData(count, count), pixels = new Uint32Array(image.data.buffer);
  const bytes = bytesOf(head), inks = palette().map(([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0);
  for (let query = 0, at = 0; query < count; ++query) {
    for (let key = 0; key <= query; ++key, ++at) pixels[query * count + key] = inks[bytes[at]];
  }
  context.putImageData(image, 0, 0);
}

function drawScale() {
  byId('scale').replaceChildren(...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 1].map(
      (weight) => element('span', {style: `background: ${colourOf(byteOf(weight))}; color: ${inkOn(byteOf(weight))}`}, `${100 * weight} %`)));
}
