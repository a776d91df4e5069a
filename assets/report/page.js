'use strict';
// Puts the page together, and draws its charts again when the legend, the colour scheme or the medium changes.

const kCharts = [drawCurves, drawRates, drawForest, drawFirstNorms, drawNorms, drawProbes];

function drawCharts() {
  for (const draw of kCharts) draw();
}

/** One after the other, with the page usable in between. */
function drawOneByOne([first, ...rest]) {
  first();
  if (rest.length)
    setTimeout(() => drawOneByOne(rest));
  else
    document.documentElement.dataset.drawn = Math.round(performance.now());
}

function drawAgain() {
  legend.draw();
  drawCharts();
}

drawHeadline();
legend.draw();
startCurves();
drawForestTable();
drawParts();
drawFactorial();
drawResults();
drawSamples();
startNorms();
startProbes();
drawConfigs();
drawHashes();
drawRuns();
drawOrigin();
drawOneByOne(kCharts);

legend.listeners.push(drawCharts);
darkScheme.addEventListener('change', drawAgain);

/** Paper shows what is folded on a screen, is always light, and has another width. */
let unfolded = [];
window.addEventListener('beforeprint', () => {
  onPaper = true;
  document.body.classList.add('paper');
  unfolded = [...document.querySelectorAll('details:not([open])')];
  for (const details of unfolded) details.open = true;
  drawAgain();
});
window.addEventListener('afterprint', () => {
  onPaper = false;
  document.body.classList.remove('paper');
  for (const details of unfolded) details.open = false;
  drawAgain();
});
