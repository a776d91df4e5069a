'use strict';
// Puts the page together, and draws its charts again when the legend, the colour scheme or the medium changes.

const kCharts = [drawCurves, drawRates, drawForest, drawFirstNorms, drawNorms];

function drawCharts() {
  for (const draw of kCharts) draw();
}

/** One after the other, with the page usable in between. */
function drawOneByOne([first, ...rest]) {
  first();
  if (rest.length) setTimeout(() => drawOneByOne(rest));
  else document.documentElement.dataset.drawn = Math.round(performance.now());
}

function drawAgain() {
  legend.draw();
  drawCharts();
}

drawHeadline();
legend.draw();
startCurves();
drawForestTable();
drawResults();
startNorms();
drawConfigs();
drawHashes();
drawRuns();
drawOrigin();
drawOneByOne(kCharts);

legend.listeners.push(drawCharts);
darkScheme.addEventListener('change', drawAgain);
for (const [event, value] of [['beforeprint', true], ['afterprint', false]]) {
  window.addEventListener(event, () => {
    onPaper = value;
    drawAgain();
  });
}
