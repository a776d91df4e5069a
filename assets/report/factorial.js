'use strict';
// Effects of the factors of a factorial study, as a table.

/** The word for a main effect, and for what levels do together beyond their own effects. */
function effectWord({factors, verdict}) {
  if (factors === 1) return verdict;
  const words = {
    'better': 'together better than the sum',
    'worse': 'together worse than the sum',
    'no difference shown': 'no interaction shown',
  };
  return words[verdict] ?? verdict;
}

function effectLine(one) {
  const {difference} = one;
  return [
    cell(one.of, {head: true}),
    cell(one.factors === 1 ? 'main effect' : 'interaction'),
    numberCell(difference?.mean ?? null, signed(difference?.mean)),
    cell(interval(difference?.interval)),
    cell(interval(one.windows)),
    numberCell(difference?.p ?? null, chance(difference?.p)),
    numberCell(difference?.adjusted_p ?? null, chance(difference?.adjusted_p)),
    cell(one.reason ? `${effectWord(one)}: ${one.reason}` : effectWord(one), {words: Boolean(one.reason)}),
  ];
}

function drawFactorial() {
  const effects = study.judgement.factorial;
  byId('factorial').hidden = effects.length === 0;
  if (effects.length === 0) return;
  const head = ['Level', 'Effect', 'Difference', '95 % (seeds)', '95 % (windows)', 'p', 'p, Holm', 'Verdict'];
  byId('factorial-table')
      .append(sortableTable(
          `Effects of the factors on the validation loss, ${study.judgement.measure}`, head.map((text) => ({text})),
          effects.map(effectLine)));
}
