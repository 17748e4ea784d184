#include "director/resident/status_view.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>

#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kStateRoomMin = 4 << 20;

uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void ViewJobs(const WorkerStatus& view, v1::StatusAnswer::Worker& out) {
  for (const auto& [attempt, job] : view.in_hand) {
    v1::StatusAnswer::Job& of_worker = *out.add_in_hand();
    of_worker.set_package(job.package);
    of_worker.set_given_us(absl::ToUnixMicros(job.given));
  }
}

}  // namespace

void ViewProcess(const Director& director, const v1::BuildIdentity& build, absl::Time started,
                 v1::StatusAnswer& answer) {
  *answer.mutable_director() = build;
  answer.set_process(static_cast<uint32_t>(::getpid()));
  answer.set_started_us(absl::ToUnixMicros(started));
  answer.set_project(director.project().name);
  answer.set_root(director.project().root);
  answer.set_memory_bytes(ResidentBytes());
}

void ViewWorkers(const DirectorShell& shell, const v1::StatusAsk& ask, v1::StatusAnswer& answer) {
  for (const WorkerStatus& view : shell.Workers()) {
    v1::StatusAnswer::Worker& out = *answer.add_workers();
    out.set_name(view.name);
    out.set_process(view.process);
    out.set_slots(view.slots);
    out.set_jobs(view.jobs);
    out.set_memory_bytes(view.memory_bytes);
    out.set_is_draining(view.is_draining);
    out.set_state(view.is_draining && view.note.empty() ? "draining" : view.state);
    out.set_machine(view.machine);
    out.set_runs_as(view.runs_as);
    out.set_note(view.note);
    for (const std::string& label : view.offer.labels) out.add_labels(label);
    for (const std::string& text : record::ResourceTexts(view.offer.resources))
      out.add_resources(text);
    if (ask.worker() == view.name) ViewJobs(view, out);
  }
}

void ViewStore(const Director& director, uint64_t bytes, v1::StatusAnswer& answer) {
  v1::StatusAnswer::Store& store = *answer.mutable_store();
  const project::StoreSection& section = director.project().store;
  store.set_directory(section.directory);
  store.set_bytes(bytes);
  store.set_bytes_max(section.size_bytes_max);
  const absl::StatusOr<bool> is_another = director.IsStoreAnother();
  if (!is_another.ok()) answer.add_wrong(fmt::format("store: {}", MessageOf(is_another.status())));
  if (is_another.value_or(false))
    answer.add_wrong(
        fmt::format("store: the one in {} was deleted or replaced, or files in it were, while this "
                    "director used it: the next cook "
                    "uses what is there now, and cooks what that lacks",
                    section.directory));
  struct statvfs disk {};
  if (::statvfs(section.directory.c_str(), &disk) == 0)
    store.set_free_bytes(static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize);
  store.set_remote_down(director.RemoteDown());
  if (!store.remote_down().empty())
    answer.add_wrong(fmt::format("the remote store is {}", store.remote_down()));
  const std::string state = director.project().state_directory();
  if (const auto left = FreeBytesAt(state); left.ok() && *left < kStateRoomMin) {
    answer.add_wrong(fmt::format("{} has {} of space left: what is cooked cannot be kept", state,
                                 HumanBytes(*left)));
  }
}

void ViewKeptSources(const std::optional<SourceKeeping::Progress>& progress,
                     v1::StatusAnswer& answer) {
  if (!progress.has_value()) return;
  v1::StatusAnswer::KeptSources& kept = *answer.mutable_store()->mutable_kept_sources();
  kept.set_files(progress->files);
  kept.set_files_kept(progress->files_kept);
  kept.set_bytes(progress->bytes);
  kept.set_bytes_kept(progress->bytes_kept);
}

void ViewDevices(const DeviceDoor& door, v1::StatusAnswer& answer) {
  const HttpDoorFigures figures = door.figures();
  v1::StatusAnswer::Devices& devices = *answer.mutable_devices();
  devices.set_url(door.url());
  devices.set_connections(figures.open);
  devices.set_streams(figures.streams);
}

void ViewAhead(const AheadFigures& figures, uint64_t killed, v1::StatusAnswer& answer) {
  v1::StatusAnswer::Ahead& ahead = *answer.mutable_devices()->mutable_ahead();
  ahead.set_made(figures.counts.made);
  ahead.set_hits(figures.counts.hits);
  ahead.set_wasted(figures.counts.wasted);
  ahead.set_unasked(figures.unasked);
  ahead.set_waiting(figures.waiting);
  ahead.set_open(figures.open);
  ahead.set_killed(killed);
  ahead.set_pause(figures.pause);
}

}  // namespace galley::director
