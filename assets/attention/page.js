'use strict';
// Starts the parts of the page, and draws anew when colours or width change.

function summary() {
  const {heads, induction} = attention;
  const layers = new Set(heads.map(({layer}) => layer)).size;
  const shown = count > 0 ? `${count} tokens; ${heads.length} heads of ${layers} ${layers === 1 ? 'layer' : 'layers'}.` : '';
  if (induction === null) return shown;
  const found = induction.heads.filter((head) => head.found).map(({layer, head}) => `${layer}.${head}`);
  const chance = Math.max(...induction.heads.map((head) => head.chance));
  return `${shown} Induction heads, as layer.head: ${found.length > 0 ? found.join(', ') : 'none'} (of ${
      induction.heads.length} heads; ${induction.sequences} random sequences of ${induction.length} tokens, twice each, seed ${
      induction.seed}; at least ${induction.found_at} more weight than without the repeat, even weights would have ${digits(chance)}).`;
}

function drawAll() {
  drawScale();
  drawSmallMaps();
  paintMap(onePixels, one.head);
  drawOneMap();
  shadeText();
}

byId('model').textContent = attention.model;
byId('summary').textContent = summary();
startSmallMaps();
startHeadTable();
startOneMap();
const firstFound = attention.heads.find((head) => inductionOf(head)?.found);
showHead(firstFound ?? attention.heads[0]);
drawAll();
darkScheme.addEventListener('change', drawAll);
window.addEventListener('resize', drawOneMap);
document.documentElement.dataset.drawn = Math.ceil(performance.now());
