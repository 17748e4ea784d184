// StatusView: fills the parts of a StatusAnswer about the director, its workers and its store, with
// what is wrong with them.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "director/host/director.h"
#include "director/resident/cook_ahead.h"
#include "director/resident/device_door.h"
#include "director/resident/source_keeping.h"
#include "director/shell/director_shell.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

void ViewProcess(const Director& director, const v1::BuildIdentity& build, absl::Time started,
                 v1::StatusAnswer& answer);
// `ask` may name a worker, whose jobs are added.
void ViewWorkers(const DirectorShell& shell, const v1::StatusAsk& ask, v1::StatusAnswer& answer);
// `bytes`: the size of the store; 0: unknown.
void ViewStore(const Director& director, uint64_t bytes, v1::StatusAnswer& answer);
// `progress`: nullopt: unknown.
void ViewKeptSources(const std::optional<SourceKeeping::Progress>& progress,
                     v1::StatusAnswer& answer);
void ViewDevices(const DeviceDoor& door, v1::StatusAnswer& answer);
// `killed`: jobs that were given up for others. REQUIRES: ViewDevices.
void ViewAhead(const AheadFigures& figures, uint64_t killed, v1::StatusAnswer& answer);

}  // namespace galley::director
