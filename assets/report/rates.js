'use strict';
// Loss against the learning rate, for each arm; and what charts drawn by Chart.js share.

const canvasCharts = new Map();

/** Draws on a canvas, in place of what was there. */
function drawOnCanvas(id, config) {
  const colours = pageColours();
  Chart.defaults.color = colours.text;
  Chart.defaults.borderColor = colours.faint;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;
  const drawn = canvasCharts.get(id);
  if (!drawn) {
    canvasCharts.set(id, new Chart(byId(id), config));
    return;
  }
  drawn.data = config.data;
  drawn.options = config.options;
  drawn.resize();
  drawn.update('none');
}

const axisTitle = (text) => ({display: true, text});

const isRate = (path) => lastPart(path) === 'lr';

/** Lines of the chart: an arm, and one value of whatever else is swept. */
function rateLines(rateIndex) {
  const lines = new Map();
  for (const row of study.rows) {
    if (legend.hidden.has(row.arm)) continue;
    const rest =
        row.sweep.map((value, i) => (i === rateIndex ? '' : `${lastPart(study.swept[i])} ${value}`)).filter(Boolean);
    const label = [row.arm, ...rest].join(', ');
    if (!lines.has(label)) lines.set(label, {label, arm: row.arm, rest: rest.join(), rows: []});
    lines.get(label).rows.push(row);
  }
  return [...lines.values()];
}

function rateDatasets(lines, rateIndex) {
  const rests = [...new Set(lines.map(({rest}) => rest))];
  return lines.flatMap(({label, arm, rest, rows}) => {
    const colour = colourOfArm(arm);
    const complete = rows.filter((row) => lossSpread(row).mean !== null);
    const means = complete.map((row) => ({x: Number(row.sweep[rateIndex]), y: lossSpread(row).mean, row}));
    const seeds = complete.flatMap(
        (row) => runsOf(row)
                     .filter((run) => run.status === 'finished' && isKnown(lossOfRun(run)))
                     .map((run) => ({x: Number(row.sweep[rateIndex]), y: lossOfRun(run), run})));
    const dash = kDashes[rests.indexOf(rest) % kDashes.length] ?? [];
    return [
      {
        label,
        data: means.sort((a, b) => a.x - b.x),
        borderColor: colour,
        backgroundColor: colour,
        borderDash: dash,
        borderWidth: 2,
        pointRadius: 4,
      },
      {
        label,
        data: seeds,
        borderColor: colour,
        backgroundColor: 'transparent',
        showLine: false,
        pointRadius: 2.5,
        pointHoverRadius: 4,
      },
    ];
  });
}

let divergedMarks = [];  // {rate, arm}

/** A cross at the top for every arm and rate at which seeds diverged: they have no loss to draw. */
const crosses = {
  id: 'crosses',
  afterDatasetsDraw({ctx, chartArea, scales: {x}}) {
    const placed = new Map();
    ctx.save();
    ctx.lineWidth = 2;
    for (const {rate, arm} of divergedMarks) {
      const row = placed.get(rate) ?? 0;
      placed.set(rate, row + 1);
      const [left, top] = [x.getPixelForValue(rate), chartArea.top + 8 + 12 * row];
      ctx.strokeStyle = colourOfArm(arm);
      ctx.beginPath();
      for (const [dx, dy] of [[4, 4], [4, -4]]) {
        ctx.moveTo(left - dx, top - dy);
        ctx.lineTo(left + dx, top + dy);
      }
      ctx.stroke();
    }
    ctx.restore();
  },
};

function rateTip({raw, dataset}) {
  if (raw.run) return `${dataset.label}, seed ${raw.run.seed}: ${fixed(raw.y)}`;
  const {sd, count} = lossSpread(raw.row);
  return `${dataset.label}: mean ${fixed(raw.y)}${sd === null ? '' : ` ± ${fixed(sd)}`} of ${count} seed${
      count === 1 ? '' : 's'}`;
}

function drawRates() {
  const rateIndex = study.swept.findIndex(isRate);
  if (rateIndex < 0) {
    byId('rates').querySelector('.chart').hidden = true;
    byId('rate-legend').hidden = true;
    byId('rate-note').textContent = 'This study does not sweep the learning rate.';
    return;
  }
  const lines = rateLines(rateIndex);
  const rateOf = (row) => Number(row.sweep[rateIndex]);
  const diverged = ({status}) => status === 'diverged';
  const known =
      lines.flatMap(({rows}) => rows).filter((row) => lossSpread(row).mean !== null || runsOf(row).some(diverged));
  divergedMarks = known.filter((row) => runsOf(row).some(diverged)).map((row) => ({rate: rateOf(row), arm: row.arm}));
  const rates = [...new Set(known.map(rateOf))].sort((a, b) => a - b);
  const frame = byId('rates').querySelector('.chart');
  frame.hidden = rates.length === 0;
  if (rates.length) drawRateChart(lines, rates, rateIndex);
  noteOnRates();
}

function drawRateChart(lines, rates, rateIndex) {
  const margin = Math.max(1.2, (rates.at(-1) / rates[0]) ** 0.03);
  drawOnCanvas('rate-chart', {
    type: 'line',
    data: {datasets: rateDatasets(lines, rateIndex)},
    options: {
      scales: {
        x: {
          type: 'logarithmic',
          min: rates[0] / margin,
          max: rates.at(-1) * margin,
          title: axisTitle(study.swept[rateIndex]),
          ticks: {callback: (value) => brief(value)},
          afterBuildTicks: (axis) => {
            axis.ticks = rates.map((value) => ({value}));
          },
        },
        y: {title: axisTitle(`validation loss, ${study.judgement.measure}`)},
      },
      plugins: {tooltip: {callbacks: {title: (items) => `rate ${items[0].raw.x}`, label: rateTip}}},
    },
    plugins: [crosses],
  });
}

function noteOnRates() {
  const incomplete = study.rows.filter((row) => !isComplete(row));
  const sensitivities = Object.entries(study.judgement.sensitivity).map(([arm, nats]) => `${arm} ${fixed(nats)}`);
  const notes = [];
  if (divergedMarks.length) notes.push('A cross at the top: seeds of that arm diverged at that rate.');
  if (incomplete.length)
    notes.push(
        `Not every seed finished at: ${incomplete.map((row) => `${rowLabel(row)} (${row.status})`).join('; ')}.`);
  if (sensitivities.length)
    notes.push(`Sensitivity to the rate, nats per token (see Results): ${sensitivities.join(', ')}.`);
  byId('rate-note').textContent = notes.join(' ');
}
