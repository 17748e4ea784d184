// CooksStore: the results of the simulation of several cooks (several_cooks.h): of what each is
// made, which of them look-ups find, and which are lost. It outlives directors.
//
// A result is known from when it is persisted. When its bytes are deleted, nobody knows that before
// somebody looks at them; then it is dropped, and look-ups find it no more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "director/core/events.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

class CooksStore {
 public:
  struct Result {
    std::string name;
    director::PlatformIndex platform = 0;
    std::string content;
    std::map<std::string, std::string> inputs;  // what it read of them
    std::string made_of;
    director::ResultViewPtr view;
  };

  // Gives it its id.
  director::ResultViewPtr Add(Result result, director::ResultView view);
  const Result& At(director::ResultId id) const { return results_.at(id); }
  void Persist(director::ResultId id);
  // Those that look-ups find, in the order in which they came.
  const std::vector<director::ResultId>& Known(const std::string& name,
                                               director::PlatformIndex platform) const;
  bool HadAny(const std::string& name, director::PlatformIndex platform) const {
    return known_.contains({name, platform});
  }

  // Somebody deletes the bytes of some results.
  void LoseSome(Random& random);
  bool IsThere(director::ResultId id) const { return !gone_.contains(id); }
  bool IsDropped(director::ResultId id) const { return dropped_.contains(id); }
  // False: its bytes are gone, and it is dropped.
  bool LookAt(director::ResultId id);

 private:
  std::map<director::ResultId, Result> results_;
  std::map<std::pair<std::string, director::PlatformIndex>, std::vector<director::ResultId>> known_;
  std::set<director::ResultId> gone_, dropped_;
};

}  // namespace galley::simulation
