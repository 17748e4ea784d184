#include "director/host/inheritance.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/process_handle.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

void RemoveOldScratch(const std::string& state, const std::vector<WorkerRecord>& survivors) {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(JoinPath(state, kScratchFolder), error)) {
    const std::string name = entry.path().filename().string();
    const bool is_used = name.find_first_not_of("0123456789") != std::string::npos ||
                         std::ranges::any_of(survivors, [&](const WorkerRecord& one) {
                           return fmt::format("{}", one.pid) == name;
                         });
    if (!is_used) (void)RemoveAll(entry.path().string());
  }
}

}  // namespace

std::vector<WorkerRecord> FindInheritedWorkers(const std::string& state_directory) {
  std::vector<WorkerRecord> survivors = FindSurvivors(JoinPath(state_directory, kWorkersFolder));
  RemoveOldScratch(state_directory, survivors);
  return survivors;
}

void EndInheritedWorkers(const std::string& state_directory,
                         std::span<const WorkerRecord> survivors) {
  for (const WorkerRecord& survivor : survivors) {
    const ProcessHandle process = ProcessHandle::Open(survivor.pid);
    // Another process may have the number by now.
    if (process.valid() && StartOf(survivor.pid) == survivor.started) process.KillTree();
    RemoveWorkerRecord(JoinPath(state_directory, kWorkersFolder), survivor.worker_id);
  }
}

absl::StatusOr<Inheritance> TakeOver(std::vector<WorkerRecord> survivors, uint32_t term,
                                     Journal& journal) {
  Inheritance left{.survivors = std::move(survivors)};
  ASSIGN_OR_RETURN(left.progress, journal.Progress());
  if (!left.progress.empty()) {
    LogInfo("term={} goes on after a cook that did not end: attempts={} blamed={}", term,
            left.progress.given.size(), left.progress.blamed.size());
  }
  JournalProgress dead;
  std::erase_if(left.progress.given, [&](const AttemptRecord& given) {
    const bool is_alive = std::ranges::any_of(
        left.survivors, [&](const WorkerRecord& one) { return one.worker_id == given.worker; });
    if (!is_alive) dead.over.push_back(given.attempt);
    return !is_alive;
  });
  RETURN_IF_ERROR(journal.RecordProgress(dead));
  return left;
}

}  // namespace galley::director
