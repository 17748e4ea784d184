// CleanPath: what a path of the cooked tree is in a project that keeps still, as devices ask for
// it, when nothing goes wrong. The answer follows from the files alone, as that of CleanAskOf.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/base/digest.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

struct CleanPath {
  std::string package;           // that has the path; empty: none may have it
  std::optional<Digest> file;    // what a cook of the package makes, whether or not it may be shown
  std::set<std::string> errors;  // the beginnings of the errors of its failure
  bool is_poison = false;
  bool is_never_cooked = false;

  bool fails() const { return !errors.empty() || is_poison; }
  bool is_absent() const { return !fails() && !file.has_value(); }
};

// `path`: "Game/p1.out", "Game/p1/_gen/a.out", "Game/plain/p3.txt". `platform`: its name.
CleanPath CleanPathOf(const World& world, const Files& files, const std::string& path,
                      const std::string& platform);

}  // namespace galley::simulation
