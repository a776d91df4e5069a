'use strict';
// Gradient norms by layer, before the first update and over time.

const layerOrder = (layer) => {
  if (layer.startsWith('blocks.')) return Number(layer.slice(7));
  return layer.includes('embedding') || layer === 'position' ? -1 : Infinity;
};
const sortedLayers = (layers) => [...new Set(layers)].sort((a, b) => {
  const [x, y] = [layerOrder(a), layerOrder(b)];
  return x === y ? a.localeCompare(b) : x - y;
});

/** Means over the runs of a row; null for a layer that none of them has. */
function firstNorms(row, layers) {
  const norms = runsOf(row).map((run) => run.first_gradient_norms ?? {});
  return layers.map((layer) => {
    const known = norms.map((one) => one[layer]).filter(isKnown);
    return known.length ? mean(known) : null;
  });
}

/** The sweep seldom changes the first gradient: where it does not, an arm is one line. */
function firstNormLines(layers) {
  const lines = [];
  for (const {name} of study.arms) {
    const rows = study.rows.filter((row) => row.arm === name && !legend.hidden.has(name));
    const distinct = new Map(rows.map((row) => [JSON.stringify(firstNorms(row, layers)), row]));
    for (const [norms, row] of distinct) {
      const data = JSON.parse(norms);
      if (data.every((value) => value === null)) continue;
      const alone = distinct.size === 1;
      const dash = alone ? null : dashOfPoint(row);
      lines.push({label: alone ? name : rowLabel(row), data, colour: colourOfArm(name), dash});
    }
  }
  return lines;
}

function drawFirstNorms() {
  const layers = sortedLayers(study.runs.flatMap((run) => Object.keys(run.first_gradient_norms ?? {})));
  const lines = firstNormLines(layers);
  byId('first-norm-chart').parentElement.hidden = lines.length === 0;
  byId('first-norm-note').hidden = layers.length === 0;
  byId('first-norm-nothing').hidden = layers.length > 0;
  if (lines.length === 0) return;
  drawOnCanvas('first-norm-chart', {
    type: 'line',
    data: {
      labels: layers,
      datasets: lines.map(({label, data, colour, dash}) => ({
                            label,
                            data,
                            borderColor: colour,
                            backgroundColor: colour,
                            borderDash: dash ?? [],
                            borderWidth: 2,
                            pointRadius: 3
                          })),
    },
    options: {
      interaction: {mode: 'index', intersect: false},
      scales: {
        x: {ticks: {maxRotation: 60}},
        y: {
          type: 'logarithmic',
          title: axisTitle('gradient norm'),
          ticks: {callback: (value) => (/^[125]e/.test(value.toExponential()) ? brief(value) : null)}
        },
      },
      plugins: {tooltip: {callbacks: {label: ({dataset, raw}) => `${dataset.label}: ${brief(raw)}`}}},
    },
  });
}

const kAllLayers = 'together';
const normView = {
  what: kAllLayers,
  x: 'steps',
  logX: false,
  logY: true
};
let normChart;

function layerSeries(row) {
  const {training, layers} = row.curves;
  const names = sortedLayers(Object.keys(layers));
  return names.map((name, i) => {
    const at = layers[name].flatMap((value, j) => (value === null ? [] : [j]));
    const norms = at.map((j) => layers[name][j]);
    const colour = colourOfDepth(i, names.length);
    const x = xOf(training, normView.x, at);
    return {label: name, colour, dash: null, x, low: norms, middle: norms, high: norms, counts: null};
  });
}

function drawNorms() {
  const row = study.rows.find((one) => rowLabel(one) === normView.what);
  const series = row ? layerSeries(row) :
                       legend.shownRows().map(
                           (one) => seriesOf(one, one.curves.training, one.curves.training.gradient_norm, normView.x));
  normChart.draw(
      series, {xLabel: kAxes[normView.x], yLabel: 'gradient norm', logX: normView.logX, logY: normView.logY});
}

function startNorms() {
  normChart = new LineChart(byId('norm-chart'), byId('norm-values'));
  const withLayers = study.rows.filter((row) => Object.keys(row.curves.layers).length);
  const each = withLayers.map((row) => [rowLabel(row), `each, ${rowLabel(row)}`]);
  const choices = [[kAllLayers, 'all together, every arm'], ...each];
  const set = (key) => (value) => {
    normView[key] = value;
    drawNorms();
  };
  byId('norm-controls')
      .append(
          choice('Layers:', choices, kAllLayers, set('what')),
          choice('over', Object.entries(kAxes), normView.x, set('x')),
          tick('log x', normView.logX, set('logX')),
          tick('log y', normView.logY, set('logY')),
          element('button', {type: 'button', onclick: () => normChart.resetZoom()}, 'whole range'),
      );
  byId('norm-note').textContent = withLayers.length ? 'Layers are means over the seeds.' :
                                                      'These runs recorded it by layer only before the first update.';
}
