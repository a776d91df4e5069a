'use strict';
// Colours of arms and of the page, for light, dark and paper.

const kArmColours = {
  light: ['#1f6fd6', '#d9480f', '#2b8a3e', '#9c36b5', '#a67c00', '#0c8599', '#c2255c', '#5c5f66'],
  dark: ['#6ea8fe', '#ff922b', '#69db7c', '#da77f2', '#ffd43b', '#3bc9db', '#f783ac', '#ced4da'],
};
const kDashes = [null, [7, 3], [2, 3], [10, 3, 2, 3], [14, 4], [2, 6]];

const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');
let onPaper = false;
const isDark = () => darkScheme.matches && !onPaper;

/** Six hexadecimal digits, as both libraries understand. */
function hexOfHsl(hue, saturation, lightness) {
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    const value = lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, '0');
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/** Beyond the chosen colours, hues a golden angle apart. */
function colourOfArm(arm) {
  const index = study.arms.findIndex(({name}) => name === arm);
  const chosen = kArmColours[isDark() ? 'dark' : 'light'];
  return chosen[index] ?? hexOfHsl((index * 137.5) % 360, 0.6, isDark() ? 0.68 : 0.42);
}

const dashOfPoint = (row) => kDashes[points.indexOf(pointLabel(row.sweep)) % kDashes.length];

/** From blue at the bottom of the model to red at its top. */
const colourOfDepth = (index, count) =>
    hexOfHsl(220 - (220 * index) / Math.max(1, count - 1), 0.7, isDark() ? 0.65 : 0.42);

function pageColours() {
  return isDark() ? {text: '#d5dae1', faint: '#333b47', line: '#7a8594'} :
                    {text: '#333a44', faint: '#e3e7ec', line: '#7a8594'};
}
