// ProjectStores: the stores of a director, for as long as it lives.
//
//   store()    FencedStore -> TieredStore (only with a remote) -> the project's store directory
//   remote()   the upstream cache behind the store, as galley.toml names it
//
// A session of the store keeps the blobs that cooks are told of, and a thread looks after [store]
// max_size.
//
// Threads: store() and remote() as they say; RemoteDown: any; the other functions: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/project/project.h"
#include "common/store/interface/dead_bytes.h"
#include "common/store/interface/replaced_folder.h"
#include "common/store/interface/store_admin.h"
#include "common/store/layers/quota_keeper.h"
#include "common/store/local/sessions.h"
#include "common/store/reapi/client/open_remote.h"
#include "director/shell/cook_event.h"

namespace galley::director {

// The remote store that a project names.
store::RemoteConfig RemoteConfigOf(const project::RemoteSection& section);

class ProjectStores {
 public:
  // Makes the store if there is none, or connects to the store's owner. Nothing is written when
  // `may_write` returns an error. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<ProjectStores>> Open(
      const project::Project& project, std::function<absl::Status()> may_write,
      CookEventSink& sink);

  store::Store& store() { return *store_; }
  // The administration of the project's store directory, unfenced.
  store::StoreAdmin& admin() { return *admin_; }
  // Null: there is no upstream cache.
  store::RemoteCache* remote() { return remote_.cache.get(); }
  store::BlobStore* known_of_remote() { return remote_.known.get(); }

  // FAILED_PRECONDITION: the store's folder was deleted or replaced while this process owned it.
  // Any thread.
  absl::Status CheckFolder() const;
  // Opens the store that is there now, in place of the old store. REQUIRES: nothing else uses the
  // store.
  absl::Status OpenWhatIsThere();

  // Called when nobody relies any more on what was told of the store: a collection may drop it.
  void RenewSession();
  // RESOURCE_EXHAUSTED: the store's disk has no room for `bytes` beside the reserve.
  absl::Status CheckSpace(uint64_t bytes) const;
  // Bytes since the director began.
  uint64_t BytesFetched() const;
  // Returns "down since 14:05"; empty: the remote is not down, or there is none.
  std::string RemoteDown() const;
  // Gives up hanging calls to the remote, for which nobody waits any more. Tells what went wrong.
  void TellRemote(CookEventSink& sink);
  // Asks the remote nothing any more.
  void LeaveRemote();

  // Keeps the store within [store] max_size. A thread looks in between as well.
  void KeepWithinSize(Cancellation& stop, CookEventSink& sink);
  // Gives back dead bytes in the store's segments, which nothing needs. First ends the session:
  // nothing is given back while a session lives, which may read the segments. REQUIRES: no cook is
  // left.
  void GiveBackDeadBytes(Cancellation& stop, CookEventSink& sink);

 private:
  ProjectStores(std::string directory, std::string project_name)
      : directory_(std::move(directory)), project_name_(std::move(project_name)) {}
  absl::Status Hold();
  absl::Status OpenRemote(const project::RemoteSection& section, CookEventSink& sink);

  const std::string directory_, project_name_;
  std::unique_ptr<store::Store> store_;
  store::StoreAdmin* admin_ = nullptr;      // of store_
  store::DeadBytes* dead_bytes_ = nullptr;  // of store_; null: another process owns the directory
  store::ReplacedFolder* replaced_folder_ = nullptr;  // of store_; null: store_ cannot tell
  std::optional<store::Session> session_;
  store::Remote remote_;
  std::unique_ptr<store::QuotaKeeper> quota_;
};

}  // namespace galley::director
