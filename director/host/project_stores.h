// ProjectStores: the stores of a director, for as long as it lives.
//
//   store()    FencedStore -> TieredStore (only with a remote) -> the project's store directory
//   remote()   the upstream cache behind the store, as galley.toml names it
//
// A session of the store protects the blobs that cooks use from collection, and a thread keeps the
// store within [store] max_size.
//
// Threads: store() and remote(): see their classes; CheckFolder, RemoteDown: any; the other
// functions: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
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

// Returns the configuration of the remote store that a project names.
store::RemoteConfig RemoteConfigOf(const project::RemoteSection& section);

class ProjectStores {
 public:
  // Makes the store if there is none, or connects to the store's owner. Nothing is written when
  // `may_write` returns an error. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<ProjectStores>> Open(
      const project::Project& project, std::function<absl::Status()> may_write,
      CookEventSink& sink);

  store::Store& store() { return *store_; }
  // The administration of the store directory; not fenced.
  store::StoreAdmin& admin() { return *admin_; }
  // Null: there is no upstream cache.
  store::RemoteCache* remote() { return remote_.cache.get(); }
  store::BlobStore* known_of_remote() { return remote_.known.get(); }

  // FAILED_PRECONDITION: the store's folder was deleted or replaced while this process owned it.
  // Any thread.
  absl::Status CheckFolder() const;
  // Opens the store that is in the directory now, in place of the old store. REQUIRES: nothing else
  // uses the store.
  absl::Status OpenWhatIsThere();

  // Lets collections drop the blobs that the store told of, and that were used, more than `keeps`
  // ago. Called when nobody needs them.
  void RenewSession(absl::Duration keeps = absl::ZeroDuration());
  // RESOURCE_EXHAUSTED: the store's disk has no room for `bytes` beside the reserve.
  absl::Status CheckSpace(uint64_t bytes) const;
  // Bytes fetched from the remote since the director began.
  uint64_t BytesFetched() const;
  // Returns "down since 14:05"; empty: the remote is not down, or there is none.
  std::string RemoteDown() const;
  // Warns of problems with the remote.
  void TellRemote(CookEventSink& sink);
  // Cancels the calls to the remote, and makes no further calls.
  void LeaveRemote();

  // Collects until the store is within [store] max_size, as the thread does now and then.
  void KeepWithinSize(Cancellation& stop, CookEventSink& sink);
  // Ends the session, which may read segments, and then gives back the dead bytes in the store's
  // segments. REQUIRES: no cook is left.
  void GiveBackDeadBytes(Cancellation& stop, CookEventSink& sink);

 private:
  ProjectStores(std::string directory, std::string project_name)
      : directory_(std::move(directory)), project_name_(std::move(project_name)) {}
  absl::Status Hold();
  absl::Status OpenRemote(const project::RemoteSection& section, CookEventSink& sink);

  const std::string directory_, project_name_;
  std::unique_ptr<store::Store> store_;
  store::StoreAdmin* admin_ = nullptr;      // in store_
  store::DeadBytes* dead_bytes_ = nullptr;  // in store_; null: another process owns the directory
  store::ReplacedFolder* replaced_folder_ = nullptr;  // in store_; null: store_ cannot tell
  std::optional<store::Session> session_;
  store::Remote remote_;
  std::unique_ptr<store::QuotaKeeper> quota_;
};

}  // namespace galley::director
