// PresentProject: what devices need of a director: the present world, and packages that are cooked
// in it. PresentWorld is the product's; tests have fakes.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "director/shell/package_asks.h"
#include "director/shell/world.h"

namespace galley::director {

class PresentProject {
 public:
  virtual ~PresentProject() = default;
  // UNAVAILABLE: it is not ready; the text says why, for people.
  virtual absl::StatusOr<WorldPtr> Get() const = 0;
  // Asks for a package on the platform of this name. `callback` is called once, on a thread of the
  // director or within this call, and must not block. UNAVAILABLE as Get; RESOURCE_EXHAUSTED: too
  // many wait. After an error the callback is not called.
  virtual absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                                       PackageAsks::Callback callback) = 0;
  // Like Ask, for a package for which nobody waits yet (PackageAsks::AskAhead). No workers are
  // woken: UNAVAILABLE also where they rest. When their shell ends, the outcome is AskAborted with
  // has_shell_ended.
  virtual absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                            PackageAsks::Callback callback) = 0;
  // Nobody waits any more. When the call returns, the callback is gone, or it runs or has run.
  virtual void Withdraw(uint64_t ask) = 0;
  // Names everything beside the files of the world that decides what it shows and what is cooked in
  // it: rules, mounts, platforms, cookers, environment, and the programs that rules name
  // (host/named_programs.h). Equal after a restart.
  virtual absl::StatusOr<Digest> RulesOf(const World& world) const = 0;
  // Names the programs that the rules of the world run, as they are now; RulesOf has them, too.
  virtual Digest ProgramsOf(const World& world) const = 0;
};

}  // namespace galley::director
