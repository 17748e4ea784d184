// PastReads: answers to sessions of worlds that are not the present one: what their trees have,
// what the action cache has of a world that is held, and else that the world can no longer make it.
//
// Threads: any; the functions block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/store_answers.h"
#include "director/resident/waiting_reads.h"
#include "director/shell/kept_sources.h"
#include "director/shell/tool_digests.h"

namespace galley::director {

// The world of the session can no longer make the file: 409 with the newest root; not ready, when
// there is none yet.
DeviceRefusal Superseded(const devices::SessionView& session, std::string text);

class PastReads {
 public:
  // Everything in Deps outlives PastReads.
  struct Deps {
    store::Store& store;
    Journal& journal;
    const StoreAnswers& answers;
    SharedSessions& shared;
    KeptSources* kept = nullptr;
    std::string trust_domain;
    std::vector<std::string> read_trust;
  };
  explicit PastReads(Deps deps) : deps_(std::move(deps)) {}

  // The answer to a session of an older world, or of one that is not held.
  DeviceAnswer Answer(const SharedSessions::Seen& seen, const FileRead& read,
                      const Cancellation& stop);

 private:
  DeviceAnswer AnswerFrozen(const SharedSessions::Seen& seen, const FileRead& read);
  DeviceAnswer AnswerHeld(const SharedSessions::Seen& seen, const FileRead& read,
                          const Cancellation& stop);
  // The file of a generated package, which has no link: by the names of the present world.
  std::optional<DeviceAnswer> FindGenerated(const SharedSessions::Seen& seen,
                                            const FileRead& read) const;
  std::optional<DeviceAnswer> AnswerOfCache(const SharedSessions::Seen& seen, const FileRead& read,
                                            const PathOwners& owners, const Cancellation& stop);

  const Deps deps_;
  ToolDigests tools_;
};

}  // namespace galley::director
