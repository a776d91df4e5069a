'use strict';
// Lines with bands over x, drawn by dygraphs: zoom, log axes, and the values of every line under the pointer.

const ownTouch = {
  active: false
};
/** One finger scrolls the page, as everywhere; two fingers zoom and pan. */
function touchModel() {
  const model = Dygraph.defaultInteractionModel;
  return {
    ...model,
    touchstart(event, graph, context) {
      ownTouch.active = event.touches.length > 1;
      if (ownTouch.active) model.touchstart(event, graph, context);
    },
    touchmove(event, graph, context) {
      if (ownTouch.active) model.touchmove(event, graph, context);
    },
    touchend(event, graph, context) {
      if (ownTouch.active) model.touchend(event, graph, context);
      ownTouch.active = false;
    },
  };
}

function nearest(xs, x) {
  let low = 0;
  let high = xs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
}

/**
 * `series` are {label, colour, dash, x, low, middle, high, counts, seeds} with lists of equal length and rising x.
 */
class LineChart {
  constructor(frame, values) {
    this.frame = frame;
    this.values = values;
    this.graph = null;
    this.series = [];
  }

  draw(series, {xLabel, yLabel, logX, logY}) {
    this.series = series.filter(({x}) => x.length > 0);
    this.xLabel = xLabel;
    this.graph?.destroy();
    this.graph = null;
    if (this.series.length === 0) {
      this.frame.replaceChildren(element('p', {class: 'nothing'}, 'Nothing to draw yet.'));
      this.values.replaceChildren();
      return;
    }
    this.frame.replaceChildren();
    const colours = pageColours();
    const axis = {axisLabelFontSize: 12, axisLineColor: colours.line, gridLineColor: colours.faint};
    const perSeries = {};
    this.series.forEach(({dash}, i) => {
      if (dash) perSeries[`s${i}`] = {strokePattern: dash};
    });
    this.graph = new Dygraph(this.frame, this.table(), {
      labels: ['x', ...this.series.map((_, i) => `s${i}`)],
      colors: this.series.map(({colour}) => colour),
      series: perSeries,
      customBars: true,
      connectSeparatedPoints: true,
      legend: 'never',
      logscale: logY,
      axes: {
        x: {...axis, logscale: logX, axisLabelFormatter: brief, axisLabelWidth: 64},
        y: {...axis, axisLabelFormatter: brief, axisLabelWidth: 52},
      },
      xlabel: xLabel,
      ylabel: yLabel,
      xLabelHeight: 18,
      yLabelWidth: 18,
      fillAlpha: 0.16,
      strokeWidth: 1.6,
      highlightCircleSize: 3,
      interactionModel: touchModel(),
      highlightCallback: (_, x) => this.showValues(x),
      unhighlightCallback: () => this.showValues(null),
    });
    if (onPaper) this.copyCanvases();
    this.showValues(null);
  }

  /** Chromium prints what dygraphs has just drawn as blank, but a copy of it whole. */
  copyCanvases() {
    for (const drawn of this.frame.querySelectorAll('canvas')) {
      const copy = element('canvas', {width: drawn.width, height: drawn.height, style: drawn.getAttribute('style')});
      copy.getContext('2d').drawImage(drawn, 0, 0);
      drawn.replaceWith(copy);
    }
  }

  resetZoom() {
    this.graph?.resetZoom();
  }

  /** One line for each x that any series has; null for those that have no value there, which does not break them. */
  table() {
    const xs = [...new Set(this.series.flatMap(({x}) => x))].sort((a, b) => a - b);
    const lineOf = new Map(xs.map((x, i) => [x, i]));
    const table = xs.map((x) => [x, ...new Array(this.series.length).fill(null)]);
    this.series.forEach(({x, low, middle, high}, s) => {
      x.forEach((at, i) => {
        table[lineOf.get(at)][s + 1] = [low[i], middle[i], high[i]];
      });
    });
    return table;
  }

  /** Each line's values nearest to x, or its last ones. */
  showValues(x) {
    const lines = this.series.map((one) => {
      const at = x === null ? one.x.length - 1 : nearest(one.x, x);
      const band = one.counts && one.counts[at] > 1 ? `${brief(one.low[at])} to ${brief(one.high[at])}` : '';
      const seeds = one.counts ? `${one.counts[at]} of ${one.seeds} seed${one.seeds === 1 ? '' : 's'}` : '';
      return element(
          'tr', {}, element('th', {scope: 'row'}, swatch(one.colour, Boolean(one.dash)), one.label),
          element('td', {class: 'number roomy'}, brief(one.x[at])),
          element('td', {class: 'number'}, brief(one.middle[at])), element('td', {class: 'number'}, band),
          element('td', {class: 'roomy'}, seeds));
    });
    const heads = [
      ['', ''], [this.xLabel, 'number roomy'], [x === null ? 'last value' : 'value', 'number'],
      ['seeds’ range', 'number'], ['', 'roomy']
    ];
    const head = heads.map(([text, kind]) => element('th', {scope: 'col', class: kind}, text));
    this.values.replaceChildren(element(
        'table', {},
        element(
            'caption', {},
            x === null ? 'Point at the chart for its values; here are the last ones.' :
                         `At ${this.xLabel} ${brief(x)}`),
        element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines)));
  }
}
