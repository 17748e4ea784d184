// DirectorProject: the PresentProject of a resident director: its PresentWorld, which begins after
// the service of devices is made.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "director/host/director.h"
#include "director/resident/present_project.h"
#include "director/resident/present_world.h"
#include "director/shell/tool_digests.h"

namespace galley::director {

class DirectorProject final : public PresentProject {
 public:
  // `director` outlives this object.
  explicit DirectorProject(const Director& director) : director_(director) {}

  // From now on `world` is asked. It outlives all calls.
  void Attach(PresentWorld& world);
  // `changed` is called by NoteChange. It must not call this object.
  void SetListener(std::function<void()> changed);
  // PresentWorld::Deps::changed.
  void NoteChange();

  absl::StatusOr<WorldPtr> Get() const override;
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                               PackageAsks::Callback callback) override;
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    PackageAsks::Callback callback) override;
  void Withdraw(uint64_t ask) override;
  // UNAVAILABLE: the director has taken up newer rules, and their world is about to come.
  absl::StatusOr<Digest> RulesOf(const World& world) const override;
  Digest ProgramsOf(const World& world) const override;

 private:
  // nullptr: there is none yet.
  PresentWorld* world() const;

  const Director& director_;
  mutable ToolDigests tools_;
  mutable base::Mutex mutex_;
  PresentWorld* world_ GALLEY_GUARDED_BY(mutex_) = nullptr;
  base::Mutex listener_mutex_;
  std::function<void()> changed_ GALLEY_GUARDED_BY(listener_mutex_);
};

}  // namespace galley::director
