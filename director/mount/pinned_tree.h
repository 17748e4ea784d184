// PinnedTree: one root that a cook has published, whose blobs a director serves. Nothing is cooked.
//
// Threads: as MountSource.
#pragma once

#include <optional>
#include <string>

#include "common/vfs/blobs.h"
#include "common/vfs/folder_cache.h"
#include "common/vfs/ground.h"
#include "common/vfs/waiting.h"
#include "director/mount/mount_source.h"

namespace galley::mount {

class PinnedTree final : public MountSource {
 public:
  PinnedTree(vfs::ClientOptions options, const vfs::BlobId& root)
      : ground_(std::move(options)),
        blobs_(ground_),
        folders_(ground_.options.folders_bytes_max),
        root_(root) {}

  // Makes the cache's folder. Called before everything else.
  vfs::Outcome Begin() { return blobs_.Begin(); }
  // The file `world` of a root of a session, in which files may still be cooked: such a root is for
  // FollowedPlatform. nullopt: it is a root of a cook. Faults: the director does not have the root,
  // or it is no folder.
  vfs::Result<std::optional<std::string>> WorldOfSession();

  vfs::Result<vfs::ShownPath> LookHere(const std::string& path) override;
  vfs::Result<vfs::ShownPath> Look(const std::string& path, const std::atomic<bool>& stop) override;
  vfs::Result<std::vector<vfs::ShownEntry>> List(const std::string& path,
                                                 const std::atomic<bool>& stop) override;
  vfs::Outcome Cook(const std::string&, const std::atomic<bool>&) override { return std::nullopt; }
  vfs::Result<OpenedFile> Open(const std::string& path, const std::atomic<bool>& stop) override;
  vfs::Result<std::shared_ptr<vfs::OpenFile>> OpenBlob(const vfs::BlobId& blob,
                                                       const std::atomic<bool>& stop) override;
  void Cancel() override { ground_.is_cancelled = true; }

 private:
  vfs::Result<vfs::FolderBytes> ReadFolder(const vfs::BlobId& folder, bool may_fetch,
                                           const vfs::Waiting& waiting);
  vfs::Result<vfs::ShownPath> Find(const std::string& path, bool may_fetch,
                                   const vfs::Waiting& waiting);
  bool MayFetch() const { return ground_.reach.MayAsk(ground_.options.clock()); }

  vfs::Ground ground_;
  vfs::Blobs blobs_;
  vfs::FolderCache folders_;
  const vfs::BlobId root_;
};

}  // namespace galley::mount
