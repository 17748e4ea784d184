// Client: what a handle of galley_vfs.h does: the files of one world of a platform, from the cache
// or from the director.
//
// Threads: any. Each function blocks, unless it says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/vfs/blob_cache.h"
#include "common/vfs/blob_id.h"
#include "common/vfs/blobs.h"
#include "common/vfs/download.h"
#include "common/vfs/folder_cache.h"
#include "common/vfs/ground.h"
#include "common/vfs/protocol.h"
#include "common/vfs/result.h"
#include "common/vfs/seen_files.h"
#include "common/vfs/session.h"
#include "common/vfs/session_tree.h"
#include "common/vfs/told_files.h"
#include "common/vfs/tree_path.h"
#include "common/vfs/waiting.h"
#include "common/vfs/watch.h"

namespace galley::vfs {

class Client {
 public:
  explicit Client(ClientOptions options)
      : ground_(std::move(options)),
        blobs_(ground_),
        session_(ground_, blobs_),
        folders_(ground_.options.folders_bytes_max),
        opened_(ground_.options.disk, ground_.options.cache_folder + "/seen"),
        listed_(ground_.options.disk, ground_.options.cache_folder + "/listed"),
        told_(ground_.options.told_paths_max),
        watch_(ground_, session_) {}

  // Makes the cache folder. Called before everything else. Does not block.
  Outcome Begin();

  struct Opened {
    std::shared_ptr<OpenFile> file;
    BlobId blob;
    BlobId root;  // of a tree of the world in which it was found
    bool is_last_good = false;
  };
  // `path`: plain. `stop` ends this call alone, when it becomes true; nullptr: nothing does.
  Result<Opened> Open(const std::string& path, const std::atomic<bool>* stop = nullptr);
  // A file that was opened before: its bytes, whatever is seen now.
  Result<std::shared_ptr<OpenFile>> OpenBlob(const BlobId& blob, const std::atomic<bool>* stop);

  // Says what is at the path, which is plain, or empty for the top. Cooks nothing.
  // `is_from_cache`: does not block; kNotCached: the cache does not tell.
  Result<ShownPath> Look(const std::string& path, bool is_from_cache,
                         const std::atomic<bool>* stop = nullptr);

  // Returns the entries of the folder, by name. `path`: plain, or empty for the top. A folder of
  // which only a cook tells what it has is cooked.
  Result<std::vector<ShownEntry>> List(const std::string& path,
                                       const std::atomic<bool>* stop = nullptr);

  // Watch::Run. One thread at a time.
  Result<int> WatchChanges(const Watch::Tell& tell) { return watch_.Run(tell); }

  // Tells which paths differ from those of an older root (tree_difference.h), until `tell` returns
  // something else than 0, which is returned. GALLEY_VFS_SUPERSEDED: that root is gone.
  Result<int> Compare(const BlobId& older, const Watch::Tell& tell);

  // Goes to the newest world. False: it is the one that is seen. `only_from`: Session::Advance.
  Result<bool> Advance(const std::optional<std::string>& only_from = std::nullopt,
                       const std::atomic<bool>* stop = nullptr);
  // Cooks what a NotCookedAt asks for, so that Look tells more afterwards.
  Outcome Cook(const std::string& ask, const std::atomic<bool>* stop);

  // Does not block.
  void Cancel() { ground_.is_cancelled = true; }
  void Resume() { ground_.is_cancelled = false; }

  struct Status {
    Session::State session;
    BlobCacheCounts cache;
    uint64_t fetched_files = 0, fetched_bytes = 0;
    bool is_away = false;  // the director is taken to be away
  };
  // Does not block.
  Status status() const;

 private:
  Result<Opened> OpenIn(const View& view, const std::string& path, const Waiting& waiting);
  Result<Opened> OpenBlobAt(const View& view, const std::string& path, const BlobId& blob,
                            const Waiting& waiting);
  Result<Opened> AskFor(const View& view, const std::string& path, const Waiting& waiting);
  Result<View> AskForFolder(const View& view, const std::string& path, const Waiting& waiting);
  Outcome Ask(View& view, const std::string& path, const Waiting& waiting,
              std::optional<Download>& download);
  Outcome AskOnce(const View& view, const std::string& path, const Waiting& waiting,
                  Download& download);
  Result<Opened> TakeAnswer(const View& view, const std::string& path, Download& download,
                            const Waiting& waiting);
  Result<Opened> TakeFile(const View& view, Download& download, const Waiting& waiting);
  void NoteTold(const View& view, const std::string& path, const BlobId& blob, const BlobId& root,
                const Waiting& waiting);
  Result<bool> IsInTree(const BlobId& root, const std::string& path, const BlobId& blob,
                        const Waiting& waiting);
  Result<BlobId> FindSeen(SeenFiles& seen, const View& view, const std::string& path,
                          const Waiting& waiting);
  std::optional<ToldFiles::Told> FindTold(const View& view, const std::string& path) const;
  Result<Opened> OpenSeen(const View& view, const std::string& path, const Waiting& waiting);
  void NoteSeen(SeenFiles& seen, const View& view, const BlobId& root, const std::string& path,
                const BlobId& blob, const Waiting& waiting);
  void NoteListed(const View& view, const std::string& path, const Waiting& waiting);
  Result<BlobId> WorldOf(const BlobId& root, bool may_fetch, const Waiting& waiting);
  static Fault OfView(const View& view, Fault fault);
  // Reads the folders of the view's tree.
  ReadFolder FoldersOf(const View& view, const Waiting& waiting);
  Result<ShownPath> Find(const View& view, const std::string& path, const Waiting& waiting);
  Fault NoFolder(const View& view, const std::string& path, const Waiting& waiting);
  // nullopt: the director does not tell.
  Result<std::optional<RootDifference>> AskForDifference(const View& view, const BlobId& older,
                                                         const BlobId& newer,
                                                         const Waiting& waiting);
  int TellDifference(const View& view, const RootDifference& difference, const Watch::Tell& tell);
  Result<ShownListing> ListSeen(const View& view, const std::string& path, const Waiting& waiting);
  Result<ShownListing> ListIn(View& seen, const std::string& path, const Waiting& waiting);

  Ground ground_;
  Blobs blobs_;
  Session session_;
  FolderCache folders_;
  SeenFiles opened_;
  SeenFiles listed_;  // the roots
  ToldFiles told_;
  Watch watch_;
};

}  // namespace galley::vfs
