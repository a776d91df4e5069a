'use strict';
// What each arm's model wrote behind the same prompt, side by side.

/** One run for each row: the first seed that has a text. */
const sampledRuns = study.rows.map((row) => [row, runsOf(row).find(({sample}) => sample)]).filter(([, run]) => run);

function drawSamples() {
  byId('samples').hidden = sampledRuns.length === 0;
  byId('sample-texts').append(...sampledRuns.map(([row, {seed, sample}]) => element(
      'figure', {}, element('figcaption', {}, `${rowLabel(row)}, seed ${seed}`),
      element('blockquote', {}, element('b', {}, sample.prompt), sample.text))));
}
