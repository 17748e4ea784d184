// InputRepair: when a job failed because of its machine, checks the blobs that the job got to read,
// and has the packages of lost blobs made again. It also ends the cooks if the disk of this machine
// is full.
//
// Threads: any; posted tasks run on the thread of the commits.
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
  // Everything in Deps outlives InputRepair.
  struct Deps {
    store::Store& store;
    Journal& journal;
    Tasks& tasks;
    Inbox& inbox;
    ActiveCooks& cooks;
    const ReportReader& reports;
    std::function<absl::Status()> has_room;  // as in ShellOptions; null: not checked
    // Says whether there are bytes at the location of a blob.
    std::function<bool(const Digest& digest, const store::BlobLocation& location)> lies_at;
  };
  explicit InputRepair(Deps deps) : deps_(std::move(deps)) {}

  void LookAtReport(const WorkerReport& report);
  // Ends the cooks if the disk has no room, which may be why a process has ended.
  void EndIfDiskIsFull();

 private:
  void Distrust(const std::vector<GivenBlob>& blobs);

  const Deps deps_;
};

}  // namespace galley::director
