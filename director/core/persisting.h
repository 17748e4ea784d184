// Persisting: results are durable, or could not be made so.
// Threads: none; owned by Core.
#pragma once

#include <string>
#include <vector>

#include "director/core/part.h"

namespace galley::director {

class Persisting : Part {
 public:
  explicit Persisting(Core& core) : Part(core) {}

  void OnPersisted(const Persisted& event);

 private:
  void OnRefused(PackageId package, PlatformIndex platform, const std::string& why);
  void JudgeWorker(WorkerId worker, const Persisted::Item& item);
  void StandInstead(PackageId package, PlatformIndex platform, const ResultViewPtr& instead);
  void Uncommit(const std::vector<Persisted::Item>& items);
};

}  // namespace galley::director
