'use strict';
// The first screen: the question, its answer in words, and how far the study is.

const kSentencesAtOnce = 6;

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
  const said = study.runs.some(({status}) => status === 'finished' || status === 'diverged')
    ? study.judgement.sentences
    : ['No run has finished yet, so there is no answer yet.'];
  const items = said.map((sentence) => element('li', {}, sentence));
  byId('verdict').replaceChildren(...items.slice(0, kSentencesAtOnce));
  if (items.length > kSentencesAtOnce) {
    byId('verdict').after(element('details', {class: 'more'},
      element('summary', {}, `${items.length - kSentencesAtOnce} more sentences`),
      element('ul', {}, ...items.slice(kSentencesAtOnce))));
  }
  byId('progress').textContent = progressText();
}
