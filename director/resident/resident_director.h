// ResidentDirector: a director with its doors for clients.
//
//   Open, Live          `galley serve`: stays, and cooks for many clients
//   Open, CookHosted    `galley cook`: one cook; clients may ask only for the status
//
// ResidentCooks are the cooks of a director, ResidentDevices what its devices see.
//
// Threads: Open and Live: one; ClientCalls: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "director/host/director.h"
#include "director/host/open_metrics.h"
#include "director/resident/present_world.h"
#include "director/resident/project_reader.h"
#include "director/resident/resident_cook.h"
#include "director/resident/resident_cooks.h"
#include "director/resident/resident_devices.h"
#include "director/resident/resident_doors.h"
#include "director/resident/session_renewal.h"
#include "director/resident/shown_commands.h"
#include "director/resident/source_keeping.h"
#include "director/resident/store_size.h"
#include "director/serve/client_calls.h"
#include "director/shell/trace.h"
#include "director/standing/watched_tables.h"

namespace galley::director {

class ResidentDirector final : public ClientCalls {
 public:
  struct Options {
    DirectorOptions director;
    ProjectReader::Load load;  // loads the project again
    v1::BuildIdentity build;
    // The workers end after this time without a cook, and without a device that waits for a
    // package.
    absl::Duration rests_after = absl::Minutes(10);
    // Writes the files of a detached cook that has ended: CookAsk::summary_file and trace_file.
    // Called on the cook's own thread.
    std::function<void(uint64_t cook, const v1::CookAsk& ask)> write_files;
    ShownCommands::Run show;  // null: no command is run for clients
    bool is_hosted = false;   // by a command, for one cook
    std::string listen;       // address for clients of other machines, "host:port"; empty: none
    // Keeps a world current for devices, without any cook (PresentWorld). Not with is_hosted. True
    // in any case with [director] http.
    bool serves_devices = false;
  };
  // Opens the project, answers Prometheus if the project says so, and listens. Errors:
  // outcome_status.h.
  static absl::StatusOr<std::unique_ptr<ResidentDirector>> Open(Options options,
                                                                CookEventSink& sink,
                                                                Cancellation& stop);
  ~ResidentDirector() override;

  // Returns the director's figures for metrics. Any thread. Waits while Open opens the doors.
  metrics::Figures Figures();

  // The address at which the director listens: "unix:/...".
  const std::string& address() const { return doors_->door->address(); }
  // The address for clients of other machines; empty: none.
  std::string client_address() const { return doors_->client_address(); }
  // The URL for devices; empty: none.
  std::string device_url() const { return doors_->device_url(); }
  // The world of devices; null: the director serves none. From Open until Live begins to end.
  PresentWorld* present_world() { return doors_->present_world.get(); }
  // Answers devices; null: the director serves none. From Open until Live begins to end.
  DeviceCalls* devices() { return devices_.calls(); }

  // Runs the cook of the command that hosts this director, on this thread, and closes the director.
  // REQUIRES: Options::is_hosted.
  CookReport CookHosted(const v1::CookAsk& ask, ResidentCook::Host host) {
    return cooks_.RunHosted(ask, std::move(host));
  }

  // Ending: functions that are called once `stop` is cancelled.
  struct Ending {
    // True: the workers' jobs are left to the next director. Clients are told; otherwise the
    // director ends as if it were killed.
    std::function<bool()> hands_over;
    std::function<std::string()> why;  // text for the log: "it was interrupted (SIGINT)"
  };
  // Waits for `stop`, or until a client stops the director; then ends all cooks and closes.
  // UNAVAILABLE: the director ended because another director has the project now.
  absl::Status Live(CookEventSink& sink, Cancellation& stop, const Ending& ending);
  // The numbers of the detached cooks that this director took over from an earlier director.
  const std::vector<uint64_t>& taken_up() const { return cooks_.taken_up(); }
  // True: jobs were left to the next director, so the process must end now by _exit, because a
  // destructor would end the workers.
  bool has_left() const { return has_left_; }

  absl::StatusOr<v1::HelloAnswer> Hello(const v1::HelloAsk& ask) override;
  absl::StatusOr<uint64_t> Cook(const v1::CookAsk& ask) override;
  absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t cook) override {
    AwaitOpen();
    return cooks_.Read(cook);
  }
  absl::Status Cancel(uint64_t cook) override {
    AwaitOpen();
    return cooks_.Cancel(cook);
  }
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) override;
  absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk& ask) override;
  absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk& ask) override;
  v1::StopAnswer Stop(const std::string& who) override;
  absl::Status Show(const v1::ShowAsk& ask, Audience& audience) override {
    return shown_.Show(ask, audience);
  }

 private:
  ResidentDirector(Options options, std::unique_ptr<Director> director);
  // Null: no cook has begun yet, the director rests, or its end has begun.
  std::shared_ptr<DirectorShell> Shell();
  std::string WhoStopped();
  void AwaitOpen();
  void RestIfIdle();
  std::unique_ptr<CookPermit> EnterSoon();
  void KeepSources();

  const bool is_hosted_;
  const v1::BuildIdentity build_;
  const absl::Time started_;
  const absl::Duration rests_after_;
  ShownCommands shown_;
  const std::unique_ptr<Director> director_;
  ProjectReader project_;
  const std::unique_ptr<WatchedTables> watched_;  // null: the director is hosted
  StoreSize store_size_;
  Trace trace_;
  Cancellation asked_to_stop_;
  FiguresBoard figures_;
  // Outlives the doors, whose calls end with them; stopped before their present world ends.
  ResidentDevices devices_;
  std::unique_ptr<ResidentDoors> doors_;  // from Open until the end
  // Used by the thread of Live.
  bool has_left_ = false;
  absl::Time busy_at_;  // when a cook was last seen, or the director last rested
  SessionRenewal session_renewal_;

  base::Mutex mutex_;
  std::string stopped_by_ GALLEY_GUARDED_BY(mutex_);  // the first client that stopped the director
  ResidentCooks cooks_;
  // From Open on; null: sources are not kept, or the director is hosted. Its thread asks for the
  // shell and the cooks.
  std::unique_ptr<SourceKeeping> keeping_;

  // May be null. Destroyed first, because it calls Figures.
  std::unique_ptr<metrics::MetricsDoor> metrics_;
};

}  // namespace galley::director
