'use strict';
// Which arms and which points of the sweep the charts show: one legend for all of them.

const kBest = 'best';
const kAll = 'all';

const legend = {
  hidden: new Set(),
  point: study.rows.some(isComplete) && points.length > 1 ? kBest : kAll,
  listeners: [],

  isShown(row) {
    if (this.hidden.has(row.arm)) return false;
    if (this.point === kAll) return true;
    // An arm without a best point is still shown, or it would be forgotten.
    if (this.point === kBest) return (bestRow(row.arm) ?? row) === row;
    return pointLabel(row.sweep) === this.point;
  },
  shownRows() {
    return study.rows.filter((row) => this.isShown(row));
  },
  /** Points of the sweep differ by their dashes, where more than one of an arm is shown. */
  dashOf(row) {
    return this.point === kAll ? dashOfPoint(row) : null;
  },
  tell() {
    for (const listener of this.listeners) listener();
  },

  draw() {
    const toggle = (arm) => {
      if (!this.hidden.delete(arm)) this.hidden.add(arm);
      this.draw();
      this.tell();
    };
    const arms = study.arms.map(
        ({name}) => element(
            'button', {
              type: 'button',
              class: 'arm',
              'data-arm': name,
              'aria-pressed': String(!this.hidden.has(name)),
              title: 'Show or hide this arm in every chart',
              onclick: () => toggle(name),
            },
            swatch(colourOfArm(name)), name));
    const frame = byId('legend');
    const focused = document.activeElement?.dataset?.arm;
    frame.replaceChildren();
    if (points.length > 1) {
      const choices = [[kBest, 'each arm at its best'], [kAll, 'all'], ...points.map((label) => [label, label])];
      frame.append(choice('Swept values:', choices, this.point, (value) => {
        this.point = value;
        this.tell();
      }));
    }
    frame.append(...arms);
    if (focused) frame.querySelector(`[data-arm="${CSS.escape(focused)}"]`)?.focus();
  },
};
