'use strict';
// The first screen: the question, its answer in words, and how far the study is.

const kVerdictLines = 12;  // more stand under the differences

const listed = (names) => (names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`);

const be = (names) => (names.length > 1 ? 'are' : 'is');
const kWordsForArms = {
  'better': (names) => `${listed(names)} ${be(names)} better`,
  'worse': (names) => `${listed(names)} ${be(names)} worse`,
  'no difference shown': (names) => `no difference is shown for ${listed(names)}`,
  'diverged': (names) => `${listed(names)} diverged`,
  'not comparable': (names) => `${listed(names)} cannot be compared`,
};
const kWordsForInteractions = {
  ...kWordsForArms,
  'better': (names) => `${listed(names)} ${be(names)} together better than the sum of their effects`,
  'worse': (names) => `${listed(names)} ${be(names)} together worse than the sum of their effects`,
  'no difference shown': (names) => `none is shown for ${listed(names)}`,
};

/** "a and b are better; no difference is shown for c" of judgements that `nameOf` names. */
function grouped(judged, nameOf, words) {
  const parts = Object.entries(words).flatMap(([word, say]) => {
    const names = judged.filter(({verdict}) => verdict === word).map(nameOf);
    return names.length ? [say(names)] : [];
  });
  return parts.join('; ');
}

/** What became of every arm, or of every effect of a factorial study; empty when there is nothing to compare. */
function answer() {
  const {base, best_against_best: arms, factorial} = study.judgement;
  const atBest = study.swept.length ? ', each arm at its best' : '';
  if (factorial.length > 0) {
    const said = (title, effects, words) =>
        (effects.length ? [`${title}: ${grouped(effects, ({of}) => of, words)}.`] : []);
    return [
      ...said(`Main effects${atBest}`, factorial.filter(({factors}) => factors === 1), kWordsForArms),
      ...said('Interactions', factorial.filter(({factors}) => factors > 1), kWordsForInteractions),
    ].join(' ');
  }
  if (!base || arms.length === 0) return '';
  return `Against ${base}${atBest}: ${grouped(arms, ({arm}) => arm, kWordsForArms)}.`;
}

/** The interval of a difference as a bar, on a scale that all of them share. */
function intervalBar({mean: middle, interval: ends}, low, high) {
  const at = (value) => `${(100 * (value - low)) / (high - low)}%`;
  return element('span', {
    class: 'interval',
    style: `--from: ${at(ends[0])}; --to: ${at(ends[1])}; --mean: ${at(middle)}; --zero: ${at(0)}`,
    'aria-hidden': 'true',
  });
}

/** One line for each judgement: what it is of, its loss where it has one, its difference and the word. */
function verdictTable(judged, nameOf, lossOf, wordOf) {
  const {base} = study.judgement;
  const all = judged.filter(hasInterval).flatMap(({difference}) => difference.interval).concat(0);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const line = (one) => {
    const known = hasInterval(one);
    const ends = known ? one.difference.interval.map((end) => signed(end, 3)).join(' to ') : '';
    return element(
        'tr', {}, element('th', {scope: 'row'}, nameOf(one)),
        element('td', {class: 'number roomy'}, lossOf ? lossOf(one) : ''),
        element('td', {class: 'number'}, known ? signed(one.difference.mean, 3) : '–'),
        element('td', {class: 'number'}, ends),
        element('td', {class: 'roomy'}, known && high > low ? intervalBar(one.difference, low, high) : ''),
        element('td', {class: 'number roomy'}, known ? chance(one.difference.adjusted_p) : ''),
        element('td', {class: `word ${one.verdict.replaceAll(' ', '-')}`}, wordOf(one)));
  };
  const heads = [
    [lossOf ? 'arm' : 'effect', null], [lossOf ? 'loss' : '', 'number roomy'], ['difference', 'number'],
    ['95 % interval', 'number'], ['', 'roomy'], ['p, Holm', 'number roomy'], ['verdict', 'word']
  ].map(([text, kind]) => element('th', {scope: 'col', class: kind}, text));
  const atBase = {arm: base, sweep: bestRow(base)?.sweep ?? []};
  const baseLine = lossOf &&
      element('tr', {}, element('th', {scope: 'row'}, nameOf(atBase)),
              element('td', {class: 'number roomy'}, lossOf(atBase)),
              element('td', {colspan: 5}, 'what the others are held against'));
  return element(
      'table', {class: 'verdicts'}, element('caption', {}, `Validation loss, ${study.judgement.measure}; below zero is better`),
      element('thead', {}, element('tr', {}, ...heads)),
      element('tbody', {}, ...(baseLine ? [baseLine] : []), ...judged.slice(0, kVerdictLines).map(line)));
}

const lossOfPoint = ({arm, sweep}) => {
  const row = study.rows.find((one) => samePoint(one, {arm, sweep}));
  return row ? fixed(lossSpread(row).mean, 3) : '–';
};

function verdicts() {
  const {base, best_against_best: arms, factorial} = study.judgement;
  if (factorial.length > 0) return [verdictTable(factorial, ({of}) => of, null, effectWord)];
  if (!base || arms.length === 0) return [];
  const more = arms.length - kVerdictLines;
  return [
    verdictTable(arms, ({arm, sweep}) => atPoint(arm, sweep), lossOfPoint, ({verdict}) => verdict),
    element(
        'p', {class: 'note', hidden: more <= 0}, `${more} more stand under `,
        element('a', {href: '#differences'}, 'Differences'), '.'),
  ];
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
  const [first, ...rest] = said[0]?.startsWith('Hypothesis') ? said : [null, ...said];
  byId('hypothesis').textContent = first ?? '';
  byId('verdict').replaceChildren(...(begun ? verdicts() : []));
  if (rest.length > 0) {
    byId('verdict').append(element(
        'details', {class: 'more'}, element('summary', {}, `In full sentences (${rest.length})`),
        element('ul', {}, ...rest.map((sentence) => element('li', {}, sentence)))));
  }
  byId('progress').textContent = progressText();
  byId('cautions')
      .append(...study.fairness.filter(isCaution).map(
          (sentence) => element('li', {class: isAlarm(sentence) ? 'unfair' : null}, sentence)));
}
