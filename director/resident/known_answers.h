// KnownAnswers: answers with files of which all is known, on the thread that asks: without a turn,
// and without a look at the store.
//
//   Present    by what is known to be cooked in the present world
//   InSession  by the view of the session alone, so that its root stays
//
// Threads: any.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "director/devices/device_tree.h"
#include "director/resident/cooked_tables.h"
#include "director/resident/found_paths.h"
#include "director/resident/path_read.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_world.h"
#include "director/resident/waiting_reads.h"
#include "director/serve/device_calls.h"

namespace galley::director {

class KnownAnswers {
 public:
  // Told of each package of the present world whose file is given. Any thread.
  using NoteAsked = std::function<void(const std::string& platform, const std::string& package)>;
  // `shared` and `cooked` outlive this object.
  KnownAnswers(SharedSessions& shared, CookedTables& cooked, NoteAsked note_asked)
      : shared_(shared), cooked_(cooked), note_asked_(std::move(note_asked)) {}

  // nullopt: the file has to be cooked or looked for, or `present` is not the present world any
  // more.
  std::optional<DeviceAnswer> Present(const ShownWorldPtr& present, const FileRead& read);
  // nullopt: the file has to be cooked or looked for. `view`: nullptr: there is none.
  std::optional<DeviceAnswer> InSession(const SharedSessions::Seen& seen, const FileRead& read,
                                        const devices::DeviceViewPtr& view);

 private:
  SharedSessions& shared_;
  CookedTables& cooked_;
  const NoteAsked note_asked_;
  FoundPaths found_;
};

}  // namespace galley::director
