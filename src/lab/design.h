#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/study.h"
#include "lab/notes.h"

namespace blockzoo {

/// What a study lays over its base, and where it says so.
struct Part {
  std::string owner;  // "leave_one_out", "factorial.layout"
  std::string name;
  const Tree* patch = nullptr;

  std::string path() const { return owner + "." + name; }
};

/// An arm before its sweep: the study's base with these parts laid over it, one after the other.
struct DesignedArm {
  std::string name;
  std::string path;  // what problems of the arm are called by
  Place place;
  std::vector<Part> parts;
};

/// The arms of a study, as its design makes them.
struct Design {
  DesignedArm reference;          // what the others are held against
  std::vector<DesignedArm> arms;  // the others; of `arms`, one of them may be the reference under another name
  std::vector<Part> parts;        // each part once
  std::vector<Factor> factors;    // of a factorial design
};

/// Notes every problem; then the design has only what is sound.
/// Trees of `config` are pointed to.
Design design_of(const StudyConfig& config, const Tree& file, Notes& notes);

/// "post_norm+long": the name of the factorial arm with these levels.
std::string factorial_arm(const std::vector<std::string>& levels);

}  // namespace blockzoo
