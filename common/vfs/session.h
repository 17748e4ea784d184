// Session: which root a handle sees, and its session at the director.
//
// While the director can be reached, the view has a session there; growth of its tree moves the
// view, another world only Advance. Without a director the view is the one that was seen last, in
// this process or an earlier one, and the director is tried again after kRetryMs.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "common/vfs/blob_id.h"
#include "common/vfs/ground.h"
#include "common/vfs/last_root.h"
#include "common/vfs/protocol.h"
#include "common/vfs/result.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

struct View {
  BlobId root;     // of no bytes: nothing is seen yet
  std::string id;  // of the session; empty: the director is away
  bool is_online() const { return !id.empty(); }
};

class Session {
 public:
  static constexpr uint64_t kRetryMs = 5'000;

  // `ground` outlives this object.
  explicit Session(Ground& ground);

  // Returns the view; opens a session if there is none. Blocks. Faults: there is no director, and
  // there never was one; or INVALID: the director has no such platform.
  Result<View> Look(const Waiting& waiting);
  // Opens another session where `before` has ended at the director; otherwise nullopt. Blocks.
  Result<std::optional<View>> OpenAgain(const View& before, const Waiting& waiting);
  // Goes to the newest world. True: it is another one. Blocks.
  Result<bool> Advance(const Waiting& waiting);

  // The session's tree has grown.
  void MoveTo(const View& view, const BlobId& root);
  // A request came to this. A director that cannot be reached is left alone for a while.
  void NoteFault(const Fault& fault);
  // The director has told of its newest root.
  void NoteNewest(const std::optional<BlobId>& root);

  struct State {
    View view;
    std::optional<BlobId> newest_root;  // nullopt: not known
    bool is_frozen = false;
  };
  State state() const;

 private:
  Result<View> Open(const std::optional<BlobId>& root, const std::string& succeeds,
                    const Waiting& waiting);
  Result<View> WithoutDirector(const Fault& why);
  void Take(const SessionState& state);
  void Save(const BlobId& root) const;

  Ground& ground_;
  const LastRoot last_root_;
  mutable std::mutex mutex_;
  State state_;               // guarded by mutex_; the view has its session while it is tried anew
  uint64_t retry_at_ms_ = 0;  // guarded by mutex_; the director is not asked before; 0: it answers
};

}  // namespace galley::vfs
