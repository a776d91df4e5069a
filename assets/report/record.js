'use strict';
// What the numbers rest on: config differences, hashes, every run, machine and program.

function drawConfigs() {
  const lines = study.arms.flatMap(
      ({name, differences}) =>
          (differences.length ?
               differences.map(
                   ({path, base, here}) =>
                       [cell(name, {head: true}), cell(path), cell(base || '–', {words: base.length > 40}),
                        cell(here || '–', {words: here.length > 40})]) :
               [[cell(name, {head: true}), cell('the base itself'), cell(''), cell('')]]));
  byId('config-table')
      .append(sortableTable(
          'Keys whose value is not the base’s', ['arm', 'key', 'base', 'here'].map((text) => ({text})), lines));
  byId('effects').append(
      ...Object.entries(study.effects).map(([arm,
                                             effect]) => element('li', {}, `${arm}, before any training: ${effect}`)),
      ...study.rows.filter(({match}) => match).map((row) => element('li', {}, `${rowLabel(row)}: ${row.match}`)));
  byId('base-yaml').textContent = study.base_yaml;
  byId('base-config').hidden = !study.base_yaml;
}

const distinct = (values) => [...new Set(values.filter(Boolean))];

function drawHashes() {
  byId('fairness')
      .append(
          ...study.fairness.map((sentence) => element('li', {class: isAlarm(sentence) ? 'unfair' : null}, sentence)));
  const seeds = [...new Set(study.runs.map(({seed}) => seed))];
  const shown = (hashes) => (hashes.length ? hashes.join(', ') : '–');
  const lines = seeds.map((seed) => {
    const runs = study.runs.filter((run) => run.seed === seed && run.status === 'finished');
    const order = distinct(runs.map((run) => run.batches_hash));
    return [
      cell(String(seed), {head: true, value: seed}),
      numberCell(runs.length, String(runs.length)),
      cell(shown(order)),
      cell(shown(distinct(runs.map((run) => run.data_hash)))),
      cell(shown(distinct(runs.map((run) => run.validation_hash)))),
      cell(
          order.length > 1    ? 'NOT the same order' :
              runs.length > 1 ? 'same order' :
                                'nothing to compare'),
    ];
  });
  byId('hash-table')
      .append(sortableTable(
          'Hashes of the finished runs: equal ones saw the same batches in the same order',
          ['seed', 'finished runs', 'batches in order', 'data', 'validation windows', ''].map((text) => ({text})),
          lines));
}

/** Where runs have more than one of these, each says its own. */
const kOrigins = [['machine', 'machine'], ['built_with', 'trained by']];

function drawRuns() {
  byId('run-summary').textContent = `${study.runs.length} runs: status, losses, time, message`;
  const origins = kOrigins.filter(([key]) => distinct(study.runs.map((run) => run[key])).length > 1);
  const lines = study.runs.map(
      (run) =>
          [cell(run.folder, {head: true}),
           cell(run.status),
           numberCell(run.step ?? null, isKnown(run.step) ? `${run.step} of ${run.steps}` : '–'),
           numberCell(run.loss_nats ?? null, fixed(run.loss_nats)),
           numberCell(run.best_loss_nats ?? null, fixed(run.best_loss_nats)),
           numberCell(run.best_step ?? null, whole(run.best_step)),
           numberCell(run.train_s ?? null, fixed(run.train_s, 1)),
           cell(run.started ?? '–'),
           cell(run.identity ?? '–'),
           ...origins.map(([key]) => cell(run[key] || '–', {words: true})),
           cell(run.message, {words: Boolean(run.message)}),
  ]);
  byId('run-table')
      .append(sortableTable(
          `Losses in nats per token${inBits ? ', which do not compare between tokenizers' : ''}; time in updates`,
          ['run', 'status', 'step', 'loss', 'best loss', 'at step', 'seconds', 'started', 'identity',
           ...origins.map(([, text]) => text), 'message'].map((text) => ({text})),
          lines));
}

function drawOrigin() {
  const all = (key) => distinct(study.runs.map((run) => run[key] === undefined ? '' : String(run[key])));
  const entries = [
    ['Machine', distinct([...study.runs.map((run) => run.machine), study.machine])],
    ['Device', all('device')],
    ['Threads of each run', all('threads')],
    ['Trained by', all('built_with')],
    ['Runs started', all('started').sort().filter((_, i, list) => i === 0 || i === list.length - 1)],
    ['This page written by', [study.written_by]],
    ['on', [study.written]],
  ];
  byId('origin').append(...entries.flatMap(
      ([name,
        values]) => [element('dt', {}, name), element('dd', {}, values.length ? values.join('; ') : 'not recorded')]));
  byId('footer').textContent = `Written by ${study.written_by} on ${
      study.written}. This file needs no network. Charts by dygraphs and Chart.js (MIT licence).`;
}
