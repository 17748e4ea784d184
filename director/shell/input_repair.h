// InputRepair: blobs of the store that a job could not read are distrusted, and their packages are
// made again, whatever else the job failed for. When a job failed for its machine's sake, somebody
// looks whether that machine is ours and has no room.
//
// Threads: any; what it posts runs on the thread of the commits.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/active_cooks.h"
#include "director/shell/inbox.h"
#include "director/shell/report_reader.h"
#include "director/shell/tasks.h"

namespace galley::director {

class InputRepair {
 public:
  // All outlive it.
  struct Deps {
    store::Store& store;
    Journal& journal;
    Tasks& tasks;
    Inbox& inbox;
    ActiveCooks& cooks;
    const ReportReader& reports;
    std::function<absl::Status()> has_room;  // as ShellOptions says; null: nobody looks
    // Whether the bytes of a blob lie where the store says.
    std::function<bool(const Digest& digest, const store::BlobLocation& location)> lies_at;
  };
  explicit InputRepair(Deps deps) : deps_(std::move(deps)) {}

  void LookAtReport(const WorkerReport& report);
  // Cooks end if our disk has no room: a process ended, maybe for that.
  void EndIfDiskIsFull();

 private:
  void Distrust(const std::vector<GivenBlob>& blobs);

  const Deps deps_;
};

}  // namespace galley::director
