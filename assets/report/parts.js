'use strict';
// Differences to the base on each part of the validation text.

function partLine({part, arm, sweep, base_loss: baseLoss, loss, difference, verdict}) {
  return [
    cell(part, {head: true}),
    cell(atPoint(arm, sweep)),
    numberCell(baseLoss.mean, fixed(baseLoss.mean)),
    numberCell(loss.mean, fixed(loss.mean)),
    numberCell(difference?.mean ?? null, signed(difference?.mean)),
    cell(interval(difference?.interval)),
    numberCell(difference?.adjusted_p ?? null, chance(difference?.adjusted_p)),
    cell(verdict),
  ];
}

function drawParts() {
  const parts = study.judgement.by_part;
  byId('parts').hidden = parts.length === 0;
  if (parts.length === 0) return;
  const head = [
    'Part', 'Arm', study.judgement.base, 'Arm’s loss', 'Difference', '95 % (seeds)', 'p, Holm', 'Verdict'
  ].map((text) => ({text}));
  byId('parts-table').append(sortableTable('Differences by part, bits per byte', head, parts.map(partLine)));
}
