// FollowedPlatform: a platform as its director serves it, in the newest version of the project; or,
// where a root is given, one version of it.
//
// A thread hears of changes; another one goes to the newest version, and then tells what differs.
// Threads: as MountSource; Follow: one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/vfs/client.h"
#include "director/mount/mount_log.h"
#include "director/mount/mount_source.h"

namespace galley::mount {

class FollowedPlatform final : public MountSource {
 public:
  // `paths` may show something else. `is_all`: any path may.
  struct Changes {
    std::vector<std::string> paths;
    bool is_all = false;
  };

  // `log` outlives this object.
  FollowedPlatform(vfs::ClientOptions options, MountLog& log)
      : wait_ms_(options.wait_ms), client_(std::move(options)), log_(log) {}
  ~FollowedPlatform() override { Stop(); }

  // Makes the cache's folder. Called before everything else.
  vfs::Outcome Begin() { return client_.Begin(); }
  // Calls `changed` after each step to a newer version, until Stop. What it returns is told again
  // after a while.
  using Changed = std::function<std::vector<std::string>(const Changes& changes)>;
  void Follow(Changed changed);
  void Stop();
  std::string root() const { return client_.status().session.view.root.ToText(); }

  vfs::Result<vfs::ShownPath> LookHere(const std::string& path) override;
  vfs::Result<vfs::ShownPath> Look(const std::string& path, const std::atomic<bool>& stop) override;
  vfs::Result<std::vector<vfs::ShownEntry>> List(const std::string& path,
                                                 const std::atomic<bool>& stop) override;
  vfs::Outcome Cook(const std::string& ask, const std::atomic<bool>& stop) override;
  vfs::Result<OpenedFile> Open(const std::string& path, const std::atomic<bool>& stop) override;
  vfs::Result<std::shared_ptr<vfs::OpenFile>> OpenBlob(const vfs::BlobId& blob,
                                                       const std::atomic<bool>& stop) override;
  void Cancel() override { client_.Cancel(); }

 private:
  // Goes to the newest version, and calls once more, where the project has changed and the stream
  // of changes has not said so yet.
  template <typename Call>
  auto InNewest(const std::atomic<bool>& stop, const Call& call) -> decltype(call());
  void Hear();
  void GoOn(const Changed& changed);
  bool AwaitChanges(Changes& changes);
  void Note(const vfs::Change& change);

  const int wait_ms_;
  vfs::Client client_;
  MountLog& log_;
  std::mutex mutex_;
  std::condition_variable noted_;
  Changes changes_;           // not told yet; guarded by mutex_
  bool has_stopped_ = false;  // guarded by mutex_
  bool follows_ = false;
  std::mutex stop_mutex_;  // held by Stop
  std::thread hearer_, teller_;
};

}  // namespace galley::mount
