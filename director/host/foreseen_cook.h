// ForeseenCook: predicts the outcome of a cook. As in a cook, the core decides what is in the cook,
// what is looked up, what conflicts, what is warned of, and what the roots hold. Look-ups are
// answered from the journal's records of the last cook and the present files. A package that would
// be cooked is assumed to have the same outcome as the last time.
//
// So the prediction is exact except for new bytes of sources, and for packages that were never
// cooked, which are assumed to refer to nothing and to have no output.
//
// Threads: none. Nothing is written, and no store is asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/recipe.h"
#include "common/record/warning.h"
#include "director/core/cook_core.h"
#include "director/journal/journal.h"
#include "director/shell/sources.h"

namespace galley::director {

struct ForeseenDeps {
  std::shared_ptr<const Catalog> catalog;
  const Sources& sources;
  // Returns the journal's record of a package; empty: none.
  std::function<absl::StatusOr<PackageRecord>(const std::string& package)> record_of;
  // Says whether the record may still be the package's result, judged by the record alone.
  std::function<bool(const PlatformRecord& record)> may_hold;
  // Says whether a file that the package observed came, went or changed. Then the record holds only
  // if the observed files have the same values.
  std::function<bool(const std::string& package)> is_touched;
};

struct ForeseenWarning {
  std::string package, platform;  // no platform: all platforms
  record::Warning warning;
  bool operator==(const ForeseenWarning&) const = default;
};

struct ForeseenFailure {
  enum Stage stage = Stage::kRequest;  // `enum`, because a function has the same name
  std::string error;
  bool operator==(const ForeseenFailure&) const = default;
};

struct ForeseenCook {
  uint64_t in_cook = 0;          // packages
  std::set<std::string> cooked;  // packages that are cooked on at least one platform
  // Packages that are cooked only if outputs of other cooked packages differ.
  std::set<std::string> perhaps;
  // By package and platform; an empty platform: the package fails on all platforms.
  std::map<std::pair<std::string, std::string>, ForeseenFailure> failures;
  std::vector<ForeseenWarning> warnings;  // also of results that hold
  // The packages in the root that would be published, by platform.
  std::map<std::string, std::set<std::string>> roots;
};

// Says whether packages of this cooker never refer to packages and never generate any.
bool LeadsNowhere(std::string_view cooker);

// Says whether a cook by the recipe `now` may read a cooked input that a cook by the recipe
// `before` has read: the settings of a recipe name the inputs.
bool MayStillRead(const record::Recipe& before, const record::Recipe& now, std::string_view input);

// Predicts the outcome of the request. INTERNAL: the core did not come to an end.
absl::StatusOr<ForeseenCook> ForeseeCook(const ForeseenDeps& deps, const CookRequested& request);

}  // namespace galley::director
