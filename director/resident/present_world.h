// PresentWorld: keeps the world of a resident director current for devices, without any cook, and
// passes their asks for packages to the shell.
//
//   look       at the project file and the folders of the mounts (WorldWatch)
//   renew      a DevicePermit; the world of the present files (cook_world.h); the shell follows it
//   hand over  the asks that wait for a shell
//
// The shell tells the core which packages changed (FilesChanged), as when a cook has scanned: the
// journal distrusts their records first. No cook is counted, and no standing is written. Cooks find
// what devices asked for, and devices what was cooked.
//
// Whoever asks waits for the shell when the workers rest. When the workers must be replaced first,
// because a cook runs that needs others, nobody waits: the answer is UNAVAILABLE, with the reason.
// When nothing can be watched, all files are looked at again every kScanInterval, as long as
// somebody uses the world.
//
// Cost: of an edit: linear in the changed files; else as a cook's scan.
// Threads: any. PresentWorld has one thread, on which Deps::changed is called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "director/host/cook_admission.h"
#include "director/host/director.h"
#include "director/host/world_watch.h"
#include "director/resident/pending_asks.h"
#include "director/resident/project_reader.h"
#include "director/shell/package_asks.h"
#include "director/shell/world.h"

namespace galley::director {

class PresentWorld {
 public:
  static constexpr absl::Duration kScanInterval = absl::Seconds(2);  // when nothing is watched
  static constexpr absl::Duration kRetryInterval = absl::Seconds(5);

  // Everything in Deps outlives PresentWorld.
  struct Deps {
    Director& director;
    CookAdmission& admission;
    ProjectReader& project;
    Clock& clock;
    // Called when another world is the present one, also after a cook has brought it. Null: nobody
    // wants to know.
    std::function<void(const WorldPtr& world)> changed = nullptr;
  };
  explicit PresentWorld(Deps deps);
  // Calls End.
  ~PresentWorld();
  PresentWorld(const PresentWorld&) = delete;
  PresentWorld& operator=(const PresentWorld&) = delete;

  // Returns the present world. UNAVAILABLE: it is not ready; the text says why, for people.
  absl::StatusOr<WorldPtr> Get() const;
  // Asks for a package on the platform of this name, beside the cooks; returns a number for
  // Withdraw. `callback` is called once, on a thread of the director or within this call, and must
  // not block.
  // UNAVAILABLE: as Get. RESOURCE_EXHAUSTED: too many wait. After an error the callback is not
  // called.
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                               PackageAsks::Callback callback);
  // Like Ask, for a package for which nobody waits yet (PackageAsks::AskAhead). The ask goes to the
  // shell that there is, brings no workers back, and ends with that shell.
  // UNAVAILABLE: as Get, or the workers rest.
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    PackageAsks::Callback callback);
  void Withdraw(uint64_t ask) { asks_->Withdraw(ask); }

  // When somebody waited for a package last; InfinitePast: nobody ever did. While somebody waits:
  // now. Asks ahead of need do not count.
  absl::Time awaited_at() const;

  // Ends the thread, and aborts all asks. REQUIRES: the admission is not closed yet.
  void End();

 private:
  void Run();
  void Look();
  void LookAtFiles(absl::Time now);
  bool IsProjectFileAnother() const;
  bool NeedsShell() const;
  void Sleep();
  void Renew();
  absl::Status TakePresentFiles();
  SetupPtr TakeUpProject();
  absl::Status FollowIn(DevicePermit& permit);
  absl::StatusOr<std::shared_ptr<World>> MakeWorldIn(const DevicePermit& permit);
  absl::StatusOr<std::shared_ptr<World>> ScanIn(const DevicePermit& permit);
  void BeginWatch(const Setup& setup);
  void TakeShell();
  void TellNotReady(const std::string& why);
  void TellWorld();
  std::shared_ptr<DirectorShell> OwnShell() const;

  const Deps deps_;
  const std::shared_ptr<PendingAsks> asks_ = std::make_shared<PendingAsks>();
  Cancellation stop_;

  // The own thread only.
  std::unique_ptr<WorldWatch> watch_;                // null: nothing is watched
  std::shared_ptr<const project::Project> watched_;  // whose mounts are watched
  bool is_heard_ = false;                            // the watch may have something to tell
  absl::Time looked_at_ = absl::InfinitePast();
  std::vector<std::string> unseen_;  // virtual paths that changed since the last world
  bool is_all_unseen_ = true;        // any file may have changed
  bool is_due_ = true;               // the world is to be made again
  bool has_watch_failed_ = false;    // so that it is said once
  absl::Time scanned_at_ = absl::InfinitePast();
  absl::Time retry_at_ = absl::InfiniteFuture();
  absl::StatusOr<FileStat> project_file_;
  WorldPtr told_;

  mutable base::Mutex mutex_;
  std::string why_not_ GALLEY_GUARDED_BY(mutex_);  // why there is no world; empty: there is one
  WorldPtr world_ GALLEY_GUARDED_BY(mutex_);       // the last one of a shell
  std::weak_ptr<DirectorShell> shell_ GALLEY_GUARDED_BY(mutex_);  // that follows the files
  absl::Time awaited_at_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  mutable absl::Time used_at_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();

  std::thread thread_;
};

}  // namespace galley::director
