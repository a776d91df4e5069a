'use strict';
// Loss over steps, tokens or wall clock, with bands over the seeds.

const kAxes = {
  steps: 'steps',
  tokens: 'tokens',
  seconds: 'seconds of training',
};

const curveView = {
  what: 'training',
  x: 'steps',
  smooth: '1',
  logX: false,
  logY: false
};
let curveChart;

/** Running mean of the last `count` known values; null stays null. */
function smoothed(values, count) {
  if (count < 2) return values;
  const last = [];
  return values.map((value) => {
    if (value === null) return null;
    last.push(value);
    if (last.length > count) last.shift();
    return mean(last);
  });
}

/**
 * Mean, lowest and highest over the seeds at each step. Steps that a seed skipped although it has later ones are left
 * out, for the mean would jump there; after a seed's last step the others go on without it.
 */
function overSeeds(track, seeds) {
  const lastKnown = seeds.map((values) => values.findLastIndex((value) => value !== null));
  const result = {at: [], low: [], middle: [], high: [], counts: []};
  track.steps.forEach((_, i) => {
    const known = seeds.map((values) => values[i]).filter((value) => value !== null);
    const going = lastKnown.filter((last) => last >= i).length;
    if (known.length === 0 || known.length < going) return;
    result.at.push(i);
    result.low.push(Math.min(...known));
    result.middle.push(mean(known));
    result.high.push(Math.max(...known));
    result.counts.push(known.length);
  });
  return result;
}

/** The x of each point: what the seeds share, or their mean time. */
function xOf(track, x, at) {
  if (x !== 'seconds') return at.map((i) => track[x][i]);
  const times = at.map((i) => {
    const known = track.seconds.map((seconds) => seconds[i]).filter((value) => value !== null);
    return known.length ? mean(known) : null;
  });
  for (let i = 1; i < times.length; ++i)
    if (times[i] !== null) times[i] = Math.max(times[i], times[i - 1] ?? 0);
  return times;
}

/** One series of LineChart. */
function seriesOf(row, track, seeds, x) {
  const {at, ...bands} = overSeeds(track, seeds);
  const xs = xOf(track, x, at);
  const usable = xs.map((value, i) => [value, i]).filter(([value]) => value !== null).map(([, i]) => i);
  const pick = (list) => usable.map((i) => list[i]);
  return {
    label: rowLabel(row),
    colour: colourOfArm(row.arm),
    dash: legend.dashOf(row),
    seeds: row.seeds,
    x: pick(xs),
    low: pick(bands.low),
    middle: pick(bands.middle),
    high: pick(bands.high),
    counts: pick(bands.counts),
  };
}

function drawCurves() {
  const series = legend.shownRows().map((row) => {
    const track = row.curves[curveView.what];
    return seriesOf(row, track, track.loss.map((seed) => smoothed(seed, Number(curveView.smooth))), curveView.x);
  });
  curveChart.draw(series, {
    xLabel: kAxes[curveView.x],
    yLabel: `${curveView.what} loss, nats per token${inBits ? ', whose tokens differ' : ''}`,
    logX: curveView.logX,
    logY: curveView.logY,
  });
}

/** Losses that span decades are unreadable on a linear axis. */
function startsOnLogAxis() {
  let low = Infinity;
  let high = -Infinity;
  for (const row of study.rows) {
    for (const seed of row.curves.training.loss) {
      for (const value of seed) {
        if (value === null || value <= 0) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  return high / low > 50;
}

function thinningNote() {
  const most = Math.max(0, ...study.rows.map((row) => row.curves.logged));
  const drawn = Math.max(0, ...study.rows.map((row) => row.curves.training.steps.length));
  if (most <= drawn) return '';
  return `Of ${whole(most)} logged steps up to ${drawn} are drawn: the first, the last, and in each stretch between ` +
      'them those at which loss and gradient norm are lowest and highest.';
}

function startCurves() {
  curveChart = new LineChart(byId('curve-chart'), byId('curve-values'));
  curveView.logY = startsOnLogAxis();
  const set = (key) => (value) => {
    curveView[key] = value;
    drawCurves();
  };
  byId('curve-controls')
      .append(
          choice('Loss:', [['training', 'training'], ['validation', 'validation']], curveView.what, set('what')),
          choice('over', Object.entries(kAxes), curveView.x, set('x')),
          choice(
              'smoothed over', ['1', '5', '20', '50'].map((n) => [n, n === '1' ? 'nothing' : `${n} points`]), '1',
              set('smooth')),
          tick('log x', curveView.logX, set('logX')),
          tick('log y', curveView.logY, set('logY')),
          element('button', {type: 'button', onclick: () => curveChart.resetZoom()}, 'whole range'),
      );
  byId('thinning').textContent = thinningNote();
}
