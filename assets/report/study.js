'use strict';
// The data, and what follows from it alone. A number that is not known is null throughout.

const study = JSON.parse(document.getElementById('data').textContent);

const lastPart = (path) => path.split('.').pop();

/** "lr 1e-3, width 64"; empty when nothing is swept. */
const pointLabel = (sweep) => sweep.map((value, i) => `${lastPart(study.swept[i])} ${value}`).join(', ');

const rowLabel = ({arm, sweep}) => (sweep.length ? `${arm}, ${pointLabel(sweep)}` : arm);

const samePoint = (a, b) => a.arm === b.arm && a.sweep.join('\n') === b.sweep.join('\n');

const runsOf = (row) => study.runs.filter((run) => samePoint(run, row));

/** The sweep's points, in the study's order. */
const points = [...new Map(study.rows.map((row) => [pointLabel(row.sweep), row.sweep])).keys()];

/** Of a row, in the measure that the study's arms are compared in. */
const inBits = study.judgement.measure === 'bits per byte';
const lossSpread = (row) => inBits ? row.bits_per_byte : row.loss_nats;
const lossOfRun = (run) => inBits ? run.bits_per_byte : run.loss_nats;

const isComplete = (row) => row.finished === row.seeds && lossSpread(row).mean !== null;

/** The point at which every seed of the arm finished with the lowest mean loss; undefined when there is none. */
const bestRow = (arm) =>
    study.rows.filter((row) => row.arm === arm && isComplete(row))
        .reduce((best, row) => (best && lossSpread(best).mean <= lossSpread(row).mean ? best : row), undefined);

const isKnown = (value) => typeof value === 'number' && Number.isFinite(value);

/** A sentence on fairness that asks for caution. */
const isCaution = (sentence) => /^(NOT|ALARM)/.test(sentence);
const isAlarm = (sentence) => sentence.startsWith('ALARM');

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Missing values are a dash. */
const fixed = (value, digits = 4) => (isKnown(value) ? value.toFixed(digits) : '–');
const signed = (value, digits = 4) => (isKnown(value) && value >= 0 ? '+' : '') + fixed(value, digits);
const whole = (value) => (isKnown(value) ? Math.round(value).toLocaleString('en') : '–');
/** A probability. */
const chance = (value) =>
    (isKnown(value) && value < 1e-4 ? '< 0.0001' :
         isKnown(value)             ? String(Number(value.toPrecision(2))) :
                                      '–');
/** Four significant digits, with a power of ten where that is shorter. */
const brief = (value) => {
  if (!isKnown(value)) return '–';
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? Number(value.toPrecision(3)).toExponential() :
                                                      String(Number(value.toPrecision(4)));
};
