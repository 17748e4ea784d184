#include "director/shell/launches.h"

#include <utility>

#include "absl/status/statusor.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "director/core/jobs/worker_table.h"
#include "director/launch/worker_token.h"
#include "fmt/format.h"

namespace galley::director {

Launches::Launches(Options options, Deps deps)
    : options_(std::move(options)),
      deps_(std::move(deps)),
      local_(CreateLocalLauncher(options_.worker_program,
                                 [this](const WorkerExit& exit) { OnExit(exit); })),
      farm_(MakeFarmLauncher()) {}

std::unique_ptr<Launcher> Launches::MakeFarmLauncher() {
  if (options_.farm.kind.empty() || deps_.farm_door == nullptr) return nullptr;
  const std::string address = AddressFor(options_.farm, deps_.farm_door->address());
  LogInfo("farm launcher={} workers attach at {}", options_.farm.kind, address);
  return CreateFarmLauncher(
      options_.farm,
      [this, address]() -> absl::StatusOr<Ticket> {
        Ticket ticket{
            .director = address, .ca = deps_.farm_door->authority(), .offer = options_.farm_offer};
        if (ticket.ca.size() > kTicketBytesMax / 2)
          return InvalidArgumentError(
              "[farm] tls_ca holds {} bytes: too much for a ticket; leave out the "
              "authorities that are not the director's",
              ticket.ca.size());
        return ticket;
      },
      {.on_exit = [this](const WorkerExit& exit) { OnExit(exit); },
       .on_state = [this](const std::string& worker, LaunchState state,
                          const std::string& where) { OnState(worker, state, where); },
       .on_held = [this](const std::string& worker,
                         const std::string& text) { OnHeld(worker, text); },
       .on_token =
           [this](const std::vector<std::string>& workers, const std::string& token) {
             for (const std::string& worker : workers) deps_.service.Expect(worker, token);
           }});
}

std::string Launches::LogFileOf(const std::string& worker) const {
  return JoinPath(options_.state_directory, "logs/" + worker + ".log");
}

void Launches::Start(const Spawn& order) {
  const std::string name = deps_.workers.NameOf(order.worker);
  if (PoolOf(order.worker) == Pool::kLaunched) return StartOnFarm(order.worker, name, order.delay);
  StartLocal(name, order.delay);
}

void Launches::StartLocal(const std::string& name, absl::Duration delay) {
  const std::string token = NewToken();
  deps_.service.Expect(name, token);
  deps_.log_book.Note(name, LogLevel::kInfo,
                      fmt::format("starting delay={}", absl::FormatDuration(delay)));
  local_->Start({.worker_id = name,
                 .director_address = deps_.service.address(),
                 .token = token,
                 .slots = options_.slots,
                 .offer = options_.local_offer,
                 .delay = delay,
                 .log_file = LogFileOf(name),
                 .record_folder = JoinPath(options_.state_directory, kWorkersFolder)});
}

void Launches::StartOnFarm(WorkerId worker, const std::string& name, absl::Duration delay) {
  deps_.log_book.Note(name, LogLevel::kInfo,
                      fmt::format("is asked for delay={}", absl::FormatDuration(delay)));
  launching_.insert(name);
  deps_.views.Launched(name, "asked for", "", deps_.workers.LauncherOf(name));
  // The launcher of the worker may be busy for long.
  deps_.tell_core(LauncherReported{.worker = worker, .state = LauncherReported::State::kQueued});
  farm_->Start(
      {.worker_id = name, .slots = options_.slots, .delay = delay, .log_file = LogFileOf(name)});
}

void Launches::End(WorkerId worker) {
  const std::string name = deps_.workers.NameOf(worker);
  deps_.log_book.Note(name, LogLevel::kWarning, "is ended: nothing was heard of it for too long");
  if (AttachedWorkers::IsLocal(name)) return local_->Stop(name, absl::ZeroDuration());
  deps_.service.Disconnect(name);
  EndLaunched(name);
}

void Launches::EndLaunched(const std::string& worker) {
  if (PoolOf(deps_.workers.IdOf(worker)) == Pool::kLaunched)
    farm_->Stop(worker, absl::ZeroDuration());
}

void Launches::NoteAttached(const std::string& worker) {
  launching_.erase(worker);
  held_.erase(worker);
}

void Launches::Adopt(const WorkerRecord& survivor) {
  local_->Adopt(survivor, JoinPath(options_.state_directory, kWorkersFolder));
}

void Launches::EndSurvivor(const std::string& worker) {
  deps_.service.Disconnect(worker);
  local_->Stop(worker, kStopGrace);
}

WorkersOnTheWay Launches::OnTheWay() const {
  if (farm_ == nullptr) return {};
  const std::map<std::string, uint32_t> counts = deps_.views.OnTheWay();
  const auto count = [&](const char* state) {
    const auto found = counts.find(state);
    return found == counts.end() ? 0u : found->second;
  };
  return {.launcher = options_.farm.kind,
          .asked_for = count("asked for"),
          .queued = count("queued"),
          .starting = count("starting")};
}

void Launches::EndAll() {
  local_->StopAll(kStopGrace);
  if (farm_ != nullptr) farm_->StopAll(kStopGrace);
}

// The cooks go on with the workers that came, and say at their end how many were missing.
void Launches::NoteUnstarted(const WorkerExit& exit) {
  if (launching_.erase(exit.worker_id) == 0) return;  // the worker came, and went
  deps_.unstarted(exit.reason);
}

// An attached worker proves better than any launcher that it lives.
void Launches::OnState(const std::string& worker, LaunchState state, const std::string& where) {
  const bool is_queued = state == LaunchState::kQueued;
  if (!is_queued)
    deps_.log_book.Note(worker, LogLevel::kInfo, fmt::format("is starting machine={}", where));
  deps_.views.Launched(worker, is_queued ? "queued" : "starting", where,
                       deps_.workers.LauncherOf(worker));
  if (is_queued && !where.empty())
    deps_.log_book.Note(worker, LogLevel::kWarning, fmt::format("waits: {}", where));
  deps_.post([this, worker] { held_.erase(worker); });  // OnHeld comes after this
  deps_.tell_core(LauncherReported{
      .worker = deps_.workers.IdOf(worker),
      .state = is_queued ? LauncherReported::State::kQueued : LauncherReported::State::kStarting});
}

// Cooks that begin later learn of it as well, while the worker is held.
void Launches::OnHeld(const std::string& worker, const std::string& text) {
  deps_.log_book.Note(worker, LogLevel::kWarning, text);
  deps_.post([this, worker, text] {
    held_[worker] = text;
    deps_.held(text);
  });
}

void Launches::OnExit(const WorkerExit& exit) {
  if (!AttachedWorkers::IsLocal(exit.worker_id) && deps_.service.IsAttached(exit.worker_id)) {
    LogDebug("worker={} is attached, though its launcher says: {}", exit.worker_id, exit.reason);
    return;
  }
  deps_.log_book.NoteLost(exit.worker_id, fmt::format("ended: {}", exit.reason));
  deps_.look_at_disk();
  deps_.service.Disconnect(exit.worker_id);
  deps_.forget(exit.worker_id);
  const WorkerId worker = deps_.workers.IdOf(exit.worker_id);
  if (PoolOf(worker) == Pool::kLaunched) {
    deps_.post([this, exit] {
      held_.erase(exit.worker_id);
      NoteUnstarted(exit);
    });
  }
  if (exit.never_started) {
    deps_.tell_core(LauncherReported{.worker = worker, .error = exit.reason});
  } else {
    // A session parses no foreign bytes: the death of a session is never a package's fault.
    deps_.tell_core(WorkerLost{.worker = worker,
                               .reason = exit.reason,
                               .is_infrastructure = true,
                               .is_unfit = exit.is_unfit});
  }
}

}  // namespace galley::director
