'use strict';
// What runs saw when they looked inside, layer by layer over the steps.

const kProbeFigures = {
  activation_rms: 'activation rms',
  gradient_norm: 'gradient norm',
  update_ratio: 'update ratio',
  attention_logit_max: 'largest attention logit',
  attention_entropy: 'attention entropy, nats',
  dead_units: 'share of dead units',
};

const probeView = {
  figure: 'activation_rms',
  row: null,
  logY: false
};
let probeChart;

const probedRows = study.rows.filter(({probes}) => probes !== null);

function probeSeries({probes}, figure) {
  const names = Object.keys(probes.layers).filter((name) => probes.layers[name][figure].some(isKnown));
  return names.map((name, i) => {
    const values = probes.layers[name][figure];
    const at = values.flatMap((value, j) => (isKnown(value) ? [j] : []));
    const middle = at.map((j) => values[j]);
    const x = at.map((j) => probes.steps[j]);
    return {
      label: name,
      colour: colourOfDepth(i, names.length),
      dash: null,
      x,
      low: middle,
      middle,
      high: middle,
      counts: null
    };
  });
}

function drawProbes() {
  if (probedRows.length === 0) return;
  const row = probedRows.find((one) => rowLabel(one) === probeView.row);
  probeChart.draw(
      probeSeries(row, probeView.figure),
      {xLabel: 'steps', yLabel: kProbeFigures[probeView.figure], logX: false, logY: probeView.logY});
}

/** A line for each arm: how it stood before the first update. */
function probeStartLine(row) {
  const {probes} = row;
  const first = (values) => (probes.steps[0] === 0 ? values[0] : null);
  return [
    cell(rowLabel(row), {head: true}),
    ...[probes.activation_growth, probes.gradient_growth, probes.mean_log_z].map(
        (values) => numberCell(first(values), signed(first(values), 3))),
  ];
}

function startProbes() {
  byId('probes').hidden = probedRows.length === 0;
  if (probedRows.length === 0) return;
  probeView.row = rowLabel(probedRows[0]);
  probeChart = new LineChart(byId('probe-chart'), byId('probe-values'));
  const set = (key) => (value) => {
    probeView[key] = value;
    drawProbes();
  };
  const labels = probedRows.map(rowLabel);
  byId('probe-controls')
      .append(
          choice('Figure:', Object.entries(kProbeFigures), probeView.figure, set('figure')),
          choice('of', labels.map((label) => [label, label]), probeView.row, set('row')),
          tick('log y', probeView.logY, set('logY')),
          element('button', {type: 'button', onclick: () => probeChart.resetZoom()}, 'whole range'),
      );
  const head = ['Arm', 'Activations grow as l^', 'Gradients go as l^', 'Mean log Z'].map((text) => ({text}));
  byId('probe-table')
      .append(sortableTable('Before the first update, means over the seeds', head, probedRows.map(probeStartLine)));
}
