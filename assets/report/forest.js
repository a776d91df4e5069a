'use strict';
// Paired differences to the base: a forest plot, and the same as a table.

const kAtBest = 'each at its best';
const comparisons = [
  ...study.judgement.best_against_best.map(
      (one) => ({...one, kind: study.swept.length ? kAtBest : 'arm against base'})),
  ...study.judgement.same_point.map((one) => ({...one, kind: 'same setting'})),
];

const atPoint = (arm, sweep) => (sweep.length ? `${arm} at ${pointLabel(sweep)}` : arm);

/** The interval of each point, and the line at no difference. */
const whiskers = {
  id: 'whiskers',
  beforeDatasetsDraw({ctx, chartArea, scales: {x, y}, data}) {
    ctx.save();
    ctx.strokeStyle = pageColours().line;
    ctx.beginPath();
    ctx.moveTo(x.getPixelForValue(0), chartArea.top);
    ctx.lineTo(x.getPixelForValue(0), chartArea.bottom);
    ctx.stroke();
    ctx.lineWidth = 2;
    for (const {one, y: at} of data.datasets[0].data) {
      const [left, right] = one.difference.interval.map((value) => x.getPixelForValue(value));
      const height = y.getPixelForValue(at);
      ctx.strokeStyle = colourOfArm(one.arm);
      ctx.beginPath();
      ctx.moveTo(left, height);
      ctx.lineTo(right, height);
      for (const end of [left, right]) {
        ctx.moveTo(end, height - 5);
        ctx.lineTo(end, height + 5);
      }
      ctx.stroke();
    }
    ctx.restore();
  },
};

const hasInterval = (one) => one.difference && isKnown(one.difference.mean) && one.difference.interval?.every(isKnown);

const interval = (ends) => (ends ? `${signed(ends[0])} to ${signed(ends[1])}` : '–');

function forestTip({raw: {one}}) {
  const {mean: middle, interval: ends, adjusted_p: p} = one.difference;
  return [
    `${atPoint(one.arm, one.sweep)} − ${atPoint(study.judgement.base, one.base_sweep)}`,
    `${signed(middle)} (${interval(ends)}), p ${chance(p)}: ${one.verdict}`,
  ];
}

/** The arm, and on a second line its point. */
function forestLabel({arm, sweep, kind}) {
  if (sweep.length === 0) return [arm];
  return [arm, kind === kAtBest ? `${pointLabel(sweep)} (best)` : pointLabel(sweep)];
}

function drawForest() {
  const drawn = comparisons.filter((one) => hasInterval(one) && !legend.hidden.has(one.arm));
  byId('forest-frame').hidden = drawn.length === 0;
  if (drawn.length === 0) return;
  byId('forest-frame').style.height = `${drawn.length * 42 + 70}px`;
  const ends = drawn.flatMap((one) => one.difference.interval).concat(0);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const margin = (high - low || 1) * 0.06;
  drawOnCanvas('forest-chart', {
    type: 'scatter',
    data: {
      datasets: [{
        data: drawn.map((one, i) => ({x: one.difference.mean, y: i, one})),
        pointStyle: 'rect',
        pointRadius: 6,
        pointHoverRadius: 7,
        backgroundColor: drawn.map((one) => colourOfArm(one.arm)),
        borderColor: 'transparent',
      }]
    },
    options: {
      scales: {
        x: {
          suggestedMin: low - margin,
          suggestedMax: high + margin,
          title: axisTitle(`arm − base, ${study.judgement.measure}: left of zero is better`)
        },
        y: {
          min: -0.6,
          max: drawn.length - 0.4,
          reverse: true,
          grid: {display: false},
          afterBuildTicks: (axis) => {
            axis.ticks = drawn.map((_, value) => ({value}));
          },
          ticks: {autoSkip: false, callback: (i) => forestLabel(drawn[i])},
        },
      },
      plugins: {tooltip: {callbacks: {label: forestTip}}},
    },
    plugins: [whiskers],
  });
}

function forestLine(one) {
  const {difference} = one;
  return [
    cell(atPoint(one.arm, one.sweep), {head: true}),
    cell(atPoint(study.judgement.base, one.base_sweep)),
    cell(one.kind),
    numberCell(difference?.pairs ?? null, difference ? String(difference.pairs) : '–'),
    numberCell(difference?.mean ?? null, signed(difference?.mean)),
    cell(interval(difference?.interval)),
    cell(interval(one.windows)),
    numberCell(difference?.p ?? null, chance(difference?.p)),
    numberCell(difference?.adjusted_p ?? null, chance(difference?.adjusted_p)),
    cell(one.reason ? `${one.verdict}: ${one.reason}` : one.verdict, {words: Boolean(one.reason)}),
  ];
}

function noiseNote() {
  const {base, smallest_difference: smallest} = study.judgement.noise;
  const spread = base.sd === null ?
      '' :
      `The base’s own losses have a standard deviation of ${fixed(base.sd)} over ${base.count} seeds.`;
  const power = smallest === null ?
      '' :
      `With so many seeds, a true difference of ${fixed(smallest)} would be shown four times in five.`;
  return `${spread} ${power}`;
}

function drawForestTable() {
  const nothing = comparisons.length === 0;
  byId('forest-note').hidden = nothing;
  byId('forest-nothing').hidden = !nothing;
  byId('forest-nothing').textContent = study.judgement.base ?
      'There is no other arm to compare with the base.' :
      'No arm is the base itself, so there is nothing to take differences to.';
  if (nothing) return;
  byId('forest-noise').textContent = noiseNote();
  const head = [
    'Arm', 'Base', 'Compared', 'Pairs', 'Difference', '95 % (seeds)', '95 % (windows)', 'p', 'p, Holm', 'Verdict'
  ].map((text) => ({text}));
  byId('forest-table')
      .append(sortableTable(
          `Differences of validation loss to the base, ${study.judgement.measure}`, head, comparisons.map(forestLine)));
}
