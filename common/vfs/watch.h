// Watch: tells what differs in newer worlds from what a handle sees.
//
// A stream of changes is read until it is cut off or silent; then it is opened again, and goes on
// behind the last event that was told, also in the next session, where there is one.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <string>

#include "common/vfs/blob_id.h"
#include "common/vfs/event_parser.h"
#include "common/vfs/ground.h"
#include "common/vfs/protocol.h"
#include "common/vfs/result.h"
#include "common/vfs/session.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

struct Change {
  int kind = 0;      // galley_vfs_change_kind
  std::string path;  // empty for GALLEY_VFS_MORE
  std::string text;
};

class Watch {
 public:
  // The director writes a comment every 15 s.
  static constexpr uint64_t kSilenceMaxMs = 45'000;
  static constexpr int kPauseMs = 1'000;  // before a stream is opened again

  // Returns 0 to go on. What it returns otherwise ends Run.
  using Tell = std::function<int(const Change& change)>;

  // `ground` and `session` outlive this object.
  Watch(Ground& ground, Session& session) : ground_(ground), session_(session) {}

  // Blocks until `tell` ends it. Faults: GALLEY_VFS_CANCELLED; GALLEY_VFS_INVALID: the director has
  // no such platform; GALLEY_VFS_OFFLINE and others: there is no director, and never was one.
  Result<int> Run(const Tell& tell);

 private:
  Result<ResponseHead> ReadStream(const View& view, const Waiting& waiting, const Tell& tell);
  Outcome TakeEvents(std::string_view bytes, EventParser& parser, const Tell& tell);
  bool TellEvent(const ServerEvent& event, const Tell& tell);
  bool TellAll(int kind, const std::vector<std::string>& paths, const Tell& tell);

  Ground& ground_;
  Session& session_;
  std::string session_id_;  // of the stream
  std::string last_id_;     // of the last event that was told; empty: none was
  BlobId gone_root_;        // of which it was told that the director does not have it any more
  int ended_by_ = 0;        // what `tell` returned
};

}  // namespace galley::vfs
