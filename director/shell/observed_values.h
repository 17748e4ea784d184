// ObservedValues: the tools and environment variables that the results of one cook observed, with
// their values.
//
// Threads: one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/record/observation.h"

namespace galley::director {

class ObservedValues {
 public:
  // Adds the observations of a result. Cost: little for a result without tools and variables.
  void Note(const std::vector<record::Observed>& observed) {
    for (const record::Observed& one : observed) {
      if (one.what.kind == record::ObservationKind::kTool) Note(tools_, one);
      if (one.what.kind == record::ObservationKind::kEnv) Note(environment_, one);
    }
  }

  // By path; a relative path begins at the folder of galley.toml.
  const std::map<std::string, std::string>& tools() const { return tools_; }
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Says whether a tool or variable had two values, because it changed during the cook.
  bool has_conflict() const { return has_conflict_; }

 private:
  void Note(std::map<std::string, std::string>& values, const record::Observed& one) {
    const auto [at, is_new] = values.emplace(one.what.subject, one.value);
    has_conflict_ |= !is_new && at->second != one.value;
  }

  std::map<std::string, std::string> tools_;
  std::map<std::string, std::string> environment_;
  bool has_conflict_ = false;
};

}  // namespace galley::director
