'use strict';
// The table of results.csv: its numbers, rounded for reading, with the whole value in each cell.

/** Columns beside arm, swept values and status; the text of data-measure in the page says what each means. */
const kMeasures = [
  {key: 'loss_nats', text: 'loss', statistics: ['mean', 'sd'], shown: fixed},
  {key: 'bits_per_byte', text: 'bits per byte', statistics: ['mean', 'sd'], shown: fixed},
  {key: 'repeated_names_bits_per_byte', text: 'repeated names', statistics: ['mean', 'sd'], shown: fixed},
  {key: 'elsewhere_bits_per_byte', text: 'elsewhere', statistics: ['mean', 'sd'], shown: fixed},
  {key: 'parameters', text: 'parameters', statistics: null, shown: whole},
  {key: 'parameters_without_embeddings', text: 'non-embedding', statistics: null, shown: whole},
  {key: 'training_flops', text: 'FLOPs', statistics: null, shown: brief},
  {key: 'tokens', text: 'tokens', statistics: null, shown: whole},
  {key: 'seconds', text: 'seconds', statistics: ['mean', 'sd'], shown: fixed},
  {key: 'tokens_per_s', text: 'tokens/s', statistics: ['mean'], shown: whole},
  {key: 'spike_score', text: 'spikes', statistics: ['mean'], shown: fixed},
];

/** Short runs have no spike score, and nats per token do not compare between tokenizers. */
const isShown = ({key}) => (key !== 'spike_score' || study.rows.some((row) => row[key].mean !== null)) &&
    !(inBits && key.endsWith('_nats'));
const measures = kMeasures.filter(isShown);

function measureHeads({key, text, statistics}) {
  const convention = document.querySelector(`[data-measure="${key}"]`).textContent.replace(/\s+/g, ' ');
  return (statistics ?? ['mean']).map((statistic) => (statistic === 'mean' ? {text, title: convention} : {
                                        text: '± sd',
                                        title: 'sample standard deviation over the seeds'
                                      }));
}

function measureCells(row, {key, statistics, shown}) {
  if (!statistics) return [numberCell(row[key], shown(row[key]), key)];
  return statistics.map(
      (statistic) => numberCell(row[key][statistic], shown(row[key][statistic]), `${key}_${statistic}`));
}

function drawResults() {
  byId('flops-convention').textContent = study.flops_convention;
  const head = [
    {text: 'arm'},
    ...study.swept.map((path) => ({text: lastPart(path), title: path})),
    ...measures.flatMap(measureHeads),
    {text: 'status'},
  ];
  const sweepCell = (value, i) => {
    const number = Number(value);
    return cell(value, {column: study.swept[i], value: Number.isNaN(number) ? null : number, number: true});
  };
  const lines = study.rows.map(
      (row) =>
          [cell(row.arm, {head: true, column: 'arm'}),
           ...row.sweep.map(sweepCell),
           ...measures.flatMap((measure) => measureCells(row, measure)),
           cell(row.status, {column: 'status'}),
  ]);
  const caption = 'Means over the seeds that finished: the numbers of results.csv, rounded';
  byId('results-table').append(sortableTable(caption, head, lines));
}
