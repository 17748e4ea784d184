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
  // Cost: nothing for a result without such observations.
  void Note(const std::vector<record::Observed>& observed) {
    for (const record::Observed& one : observed) {
      if (one.what.kind == record::ObservationKind::kTool) Note(tools_, one);
      if (one.what.kind == record::ObservationKind::kEnv) Note(environment_, one);
    }
  }

  // By path, which is relative to galley.toml unless absolute.
  const std::map<std::string, std::string>& tools() const { return tools_; }
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Says whether a tool or variable had two values, because it changed while the cook ran.
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
