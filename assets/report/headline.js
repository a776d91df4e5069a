'use strict';
// The first screen: the question, its answer in words, and how far the study is.

const kSentencesAtOnce = 4;

const listed = (names) => (names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`);

/** What became of every arm, in one sentence; empty when there is nothing to compare. */
function answer() {
  const {base, best_against_best: arms} = study.judgement;
  const is = (names) => (names.length > 1 ? 'are' : 'is');
  const words = {
    'better': (names) => `${listed(names)} ${is(names)} better`,
    'worse': (names) => `${listed(names)} ${is(names)} worse`,
    'no difference shown': (names) => `no difference is shown for ${listed(names)}`,
    'diverged': (names) => `${listed(names)} diverged`,
    'not comparable': (names) => `${listed(names)} cannot be compared`,
  };
  const parts = Object.entries(words).flatMap(([word, say]) => {
    const names = arms.filter(({verdict}) => verdict === word).map(({arm}) => arm);
    return names.length ? [say(names)] : [];
  });
  if (!base || parts.length === 0) return '';
  return `Against ${base}${study.swept.length ? ', each arm at its best' : ''}: ${parts.join('; ')}.`;
}

function progressText() {
  const counts = new Map();
  for (const {status} of study.runs) counts.set(status, (counts.get(status) ?? 0) + 1);
  const total = study.runs.length;
  const finished = counts.get('finished') ?? 0;
  const others = [...counts].filter(([status]) => status !== 'finished').map(([status, count]) => `${count} ${status}`);
  const text = `${finished} of ${total} runs finished${others.length ? `, ${others.join(', ')}` : ''}.`;
  const open = total - finished - (counts.get('diverged') ?? 0);
  return open > 0 ? `${text} The answer may change while ${open === 1 ? 'one is' : `${open} are`} open.` : text;
}

function drawHeadline() {
  byId('name').textContent = study.name;
  byId('question').textContent = study.question || study.name;
  const begun = study.runs.some(({status}) => status === 'finished' || status === 'diverged');
  byId('answer').textContent = begun ? answer() : 'No run has finished yet, so there is no answer yet.';
  const said = begun ? study.judgement.sentences : [];
  const items = said.map((sentence) => element('li', {}, sentence));
  byId('verdict').replaceChildren(...items.slice(0, kSentencesAtOnce));
  if (items.length > kSentencesAtOnce) {
    byId('verdict').after(element(
        'details', {class: 'more'}, element('summary', {}, `${items.length - kSentencesAtOnce} more sentences`),
        element('ul', {}, ...items.slice(kSentencesAtOnce))));
  }
  byId('progress').textContent = progressText();
  byId('cautions').append(...study.fairness.filter(isCaution).map((sentence) => element('li', {}, sentence)));
}
