// Session: which root a handle sees, and its session at the director.
//
// While the director can be reached, the view has a session there, whose tree grows; only Advance
// goes to another world. Without a director (Reach) the view is the one that was seen
// last, in this process or an earlier one. Nothing is seen before the cache has the folder of its
// root, which names the world: so what is known of that world is found without a director.
//
// Threads: any.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/vfs/blob_id.h"
#include "common/vfs/blobs.h"
#include "common/vfs/ground.h"
#include "common/vfs/last_root.h"
#include "common/vfs/protocol.h"
#include "common/vfs/result.h"
#include "common/vfs/turn.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

struct View {
  BlobId root;     // of no bytes: nothing is seen yet
  std::string id;  // of the session; empty: none, the cache alone is used
  // Why there is no session: GALLEY_VFS_OFFLINE, or GALLEY_VFS_SUPERSEDED: the director does not
  // have the root any more.
  int why_not = GALLEY_VFS_OFFLINE;

  bool is_online() const { return !id.empty(); }
};

class Session {
 public:
  // A director may take so long to open a session where something can be seen without it.
  static constexpr int kPatienceMs = 10'000;

  // `ground` and `blobs` outlive this object.
  Session(Ground& ground, Blobs& blobs);

  // Returns the view, at first that of ClientOptions::root, if there is one; opens a session if
  // there is none. Blocks. Faults: there is no director, and there never was one; or INVALID: the
  // director has no such platform.
  Result<View> Look(const Waiting& waiting);
  // Returns the session that follows `before`, which has ended at the director; otherwise nullopt.
  // Blocks. GALLEY_VFS_SUPERSEDED: the director does not have its root any more.
  Result<std::optional<View>> OpenAgain(const View& before, const Waiting& waiting);
  // Goes to the newest world. True: it is another one. `only_from`: nothing is done where another
  // session than this one is open, as somebody has gone there already. Blocks.
  Result<bool> Advance(const std::optional<std::string>& only_from, const Waiting& waiting);

  // The session's tree has grown, and is seen as it is now. Blocks. Faults as Blobs::Read: nothing
  // was done.
  Outcome MoveTo(const View& view, const BlobId& root, const Waiting& waiting);
  // The session's tree has grown. The tree that is seen stays the smaller one, as the cache may
  // lack folders of this one.
  void NoteGrown(const View& view, const BlobId& root);

  struct State {
    View view;
    bool is_frozen = false;
    BlobId grown;  // the view's root after NoteGrown; of no bytes: nobody called it

    // The tree that the session has.
    const BlobId& newest() const { return grown.size > 0 ? grown : view.root; }
  };
  State state() const;

 private:
  Result<SessionState> Open(const std::optional<BlobId>& root, const std::string& succeeds,
                            const Waiting& waiting);
  Result<View> OpenAt(const View& before, const Waiting& waiting);
  Result<View> WithoutDirector(const Fault& why);
  Outcome Keep(const BlobId& root, const Waiting& waiting);
  View Take(const SessionState& state, const std::optional<std::string>& only_behind);
  void Save();

  Ground& ground_;
  Blobs& blobs_;
  const LastRoot last_root_;
  Turn opening_;  // taken while a session is opened: one is enough for all threads
  std::mutex saving_;
  mutable std::mutex mutex_;
  State state_;  // guarded by mutex_
};

}  // namespace galley::vfs
