'use strict';
// The table of results.csv: its numbers, rounded for reading, with the whole value in each cell.

const kMeasures = [
  {key: 'loss_nats', text: 'loss', spread: true, digits: 4, unit: 'nats per token',
    convention: 'Cross entropy on the validation windows after the last step, natural logarithm, mean over all their tokens. Lower is better.'},
  {key: 'bits_per_byte', text: 'bits per byte', spread: true, digits: 4, unit: '',
    convention: 'The same loss divided by log 2 and by the mean number of bytes of a token, so that it compares across vocabularies. Absent where the bytes are not known. Lower is better.'},
  {key: 'repeated_names_nats', name: 'repeated names', text: 'repeated', spread: true, digits: 4, unit: 'nats per token',
    convention: 'The loss on names that were said before in the story, which must be copied from there. Absent for corpora that mark none. Lower is better.'},
  {key: 'elsewhere_nats', text: 'elsewhere', spread: true, digits: 4, unit: 'nats per token',
    convention: 'The loss on all other tokens. Lower is better.'},
  {key: 'parameters', text: 'parameters', digits: 0, unit: '',
    convention: 'Numbers that are trained, embeddings included; shared ones count once.'},
  {key: 'parameters_without_embeddings', name: 'parameters without embeddings', text: 'non-embedding', digits: 0, unit: '',
    convention: 'Parameters of layers and norms: neither the token table nor learned positions nor the head.'},
  {key: 'training_flops', name: 'training FLOPs', text: 'FLOPs', brief: true, unit: '',
    convention: `Of one run: ${study.flops_convention}.`},
  {key: 'tokens_per_s', text: 'tokens/s', name: 'tokens per second', mean: true, digits: 0, unit: '',
    convention: 'Training tokens over the seconds spent in updates; validation and saving left out. Runs share the machine, so it compares only where they did so alike. Higher is better.'},
  {key: 'spike_score', text: 'spikes', name: 'spike score', mean: true, digits: 4, unit: 'share of logged steps', optional: true,
    convention: 'Share of logged training losses 7 or more standard deviations away from the mean of the 1,000 before them, mean over the seeds (OLMo 2, arXiv:2501.00656); those with fewer than 100 before them are left out. Lower is better.'},
];
const measures = kMeasures.filter(({key, optional}) => !optional || study.rows.some((row) => row[key].mean !== null));

const kSensitivity =
  'Mean over the learning rates of the smaller of final and first loss, minus the best final loss (Wortsman et al. 2023, arXiv:2309.14322): how much a wrong rate costs. Lower is better.';

function measureCells(row, {key, spread, mean: hasMean, digits, brief: isBrief}) {
  const shown = (value) => (isBrief ? brief(value) : digits ? fixed(value, digits) : whole(value));
  if (!spread && !hasMean) return [numberCell(row[key], shown(row[key]), key)];
  const cells = [numberCell(row[key].mean, shown(row[key].mean), `${key}_mean`)];
  if (spread) cells.push(numberCell(row[key].sd, shown(row[key].sd), `${key}_sd`));
  return cells;
}

function drawResults() {
  const head = [
    {text: 'arm'}, ...study.swept.map((path) => ({text: lastPart(path), title: path})),
    ...measures.flatMap(({text, spread, unit, convention}) =>
      (spread ? [{text, title: unit ? `${unit}. ${convention}` : convention}, {text: '± sd', title: 'sample standard deviation over the seeds'}] : [{text, title: convention}])),
    {text: 'status'},
  ];
  const lines = study.rows.map((row) => [
    cell(row.arm, {head: true, column: 'arm'}),
    ...row.sweep.map((value, i) => cell(value, {column: study.swept[i], value: Number.isNaN(Number(value)) ? null : Number(value), number: true})),
    ...measures.flatMap((measure) => measureCells(row, measure)),
    cell(row.status, {column: 'status'}),
  ]);
  byId('results-table').append(sortableTable('Means over the seeds that finished: the numbers of results.csv, rounded', head, lines));
  byId('table-note').textContent = 'A dash is a value that is not known: no seed finished, or one seed has no spread. Click a head to sort.';
  byId('conventions').append(
    ...measures.flatMap(({text, name, unit, convention}) =>
      [element('dt', {}, unit ? `${name ?? text}, ${unit}` : name ?? text), element('dd', {}, convention)]),
    element('dt', {}, '± sd'), element('dd', {}, 'Sample standard deviation over the seeds that finished: squares are divided by their number less one.'),
    element('dt', {}, 'sensitivity to the learning rate, nats per token'),
    element('dd', {}, kSensitivity, Object.keys(study.judgement.sensitivity).length
      ? '' : ' Not known here: it needs a sweep over learning rates alone, with every run ended.'),
  );
}
