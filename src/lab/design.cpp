#include "lab/design.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

#include "lab/sweep.h"

namespace blockzoo {
namespace {

constexpr std::string_view kBaseArm = "base";
constexpr std::string_view kRecipeArm = "recipe";
constexpr const char* kNameRule = "a name must be made of letters, digits, _ - + and .";

struct Leaf {
  std::string path;
  const Tree* value = nullptr;
};

void collect_leaves(const Tree& tree, const std::string& path, std::vector<Leaf>& leaves) {
  if (!tree.is_map()) leaves.push_back({path, &tree});
  for (const auto& [key, value] : tree.entries) collect_leaves(value, path.empty() ? key : path + "." + key, leaves);
}

bool is_within(const std::string& path, const std::string& outer) {
  return path == outer || path.starts_with(outer + ".");
}

class Designer {
 public:
  Designer(const StudyConfig& config, const Tree& file, Notes& notes) : config_(config), file_(file), notes_(notes) {}

  Design design() {
    if (config_.leave_one_out.is_map()) return leave_one_out();
    if (config_.factorial.is_map()) return factorial();
    if (config_.additions.is_map()) return each_alone("additions", config_.additions);
    return each_alone("arms", config_.arms);
  }

 private:
  DesignedArm base() const { return {std::string(kBaseArm), std::string(kBaseArm), file_.place, {}}; }

  /// The entries of a map of named patches whose names are sound.
  std::vector<Part> named_parts(const std::string& owner, const Tree& map) {
    std::vector<Part> parts;
    for (const auto& [name, patch] : map.entries) {
      Part part{owner, name, &patch};
      if (is_file_name(name)) {
        parts.push_back(std::move(part));
      } else {
        notes_.add({patch.place, part.path(), kNameRule});
      }
    }
    return parts;
  }

  Design each_alone(const std::string& path, const Tree& map) {
    Design design{.reference = base(), .arms = {}, .parts = named_parts(path, map), .factors = {}};
    for (const auto& part : design.parts) design.arms.push_back({part.name, part.path(), part.patch->place, {part}});
    return design;
  }

  Design leave_one_out() {
    const std::string path = "leave_one_out";
    Design design{.reference = {std::string(kRecipeArm), path, config_.leave_one_out.place, {}},
                  .arms = {},
                  .parts = named_parts(path, config_.leave_one_out),
                  .factors = {}};
    refuse_conflicts(design.parts);
    design.reference.parts = design.parts;
    for (const auto& left_out : design.parts) {
      DesignedArm arm{"without_" + left_out.name, left_out.path(), left_out.patch->place, {}};
      for (const auto& part : design.parts) {
        if (part.name != left_out.name) arm.parts.push_back(part);
      }
      design.arms.push_back(std::move(arm));
    }
    return design;
  }

  Design factorial() {
    Design design;
    std::vector<std::vector<Part>> levels;
    for (const auto& [factor, map] : config_.factorial.entries) {
      const auto path = "factorial." + factor;
      if (!is_file_name(factor)) {
        notes_.add({map.place, path, kNameRule});
      } else if (!map.is_map() || map.entries.size() < 2) {
        notes_.add({map.place, path, "must name two levels at least, as in {off: {}, on: {...}}"});
      } else {
        levels.push_back(named_parts(path, map));
        design.factors.push_back({factor, {}});
        for (const auto& part : levels.back()) design.factors.back().levels.push_back(part.name);
      }
    }
    if (design.factors.size() < 2) {
      notes_.add({config_.factorial.place, "factorial", "needs two factors at least; one factor is `arms`"});
      return design;
    }
    for (const auto& parts : levels) design.parts.insert(design.parts.end(), parts.begin(), parts.end());
    refuse_conflicts(design.parts);
    for (auto& parts : products(levels)) {
      std::vector<std::string> names;
      for (const auto& part : parts) names.push_back(part.name);
      const auto name = factorial_arm(names);
      if (!names_.insert(name).second)
        notes_.add({config_.factorial.place, "factorial", "two combinations are both called " + name});
      design.arms.push_back({name, "factorial: " + name, parts.back().patch->place, std::move(parts)});
    }
    if (design.arms.empty()) return design;  // a factor without a sound level
    design.reference = design.arms.front();
    design.arms.erase(design.arms.begin());
    return design;
  }

  static std::vector<std::vector<Part>> products(const std::vector<std::vector<Part>>& levels) {
    std::vector<std::vector<Part>> all{{}};
    for (const auto& parts : levels) {
      std::vector<std::vector<Part>> longer;
      for (const auto& start : all) {
        for (const auto& part : parts) {
          longer.push_back(start);
          longer.back().push_back(part);
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  /// Parts that are laid over one another must not set the same key to different values: which of them won would depend
  /// on their order. Levels of one factor never meet.
  void refuse_conflicts(const std::vector<Part>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      for (size_t j = i + 1; j < parts.size(); ++j) {
        const bool can_meet = config_.leave_one_out.is_map() || parts[i].owner != parts[j].owner;
        if (can_meet) refuse_conflict(parts[i], parts[j]);
      }
    }
  }

  void refuse_conflict(const Part& first, const Part& second) {
    std::vector<Leaf> ours, theirs;
    collect_leaves(*first.patch, "", ours);
    collect_leaves(*second.patch, "", theirs);
    for (const auto& one : ours) {
      for (const auto& other : theirs) {
        if (one.path.empty() || other.path.empty()) continue;
        if (!is_within(one.path, other.path) && !is_within(other.path, one.path)) continue;
        if (one.path == other.path && *one.value == *other.value) continue;
        notes_.add({other.value->place, second.path(),
                    fmt::format("sets {}, which {} sets to another value", other.path, first.path())});
      }
    }
  }

  const StudyConfig& config_;
  const Tree& file_;
  Notes& notes_;
  std::set<std::string> names_;
};

}  // namespace

Design design_of(const StudyConfig& config, const Tree& file, Notes& notes) {
  return Designer(config, file, notes).design();
}

std::string factorial_arm(const std::vector<std::string>& levels) { return fmt::format("{}", fmt::join(levels, "+")); }

}  // namespace blockzoo
