#include "director/cli/device/sync_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"

namespace galley::device {
namespace {

constexpr std::string_view kGenerated = "/_gen/";
constexpr int kRoundsMax = 5;  // an edit in each of them

bool IsIn(const std::string& path, const std::string& scope) {
  return path == scope || (path.starts_with(scope) && path[scope.size()] == '/');
}

bool IsInAny(const std::string& path, const std::vector<std::string>& scopes) {
  return scopes.empty() ||
         std::ranges::any_of(scopes, [&](const std::string& one) { return IsIn(path, one); });
}

// True: the path, or a folder on the way to it, is one of these.
bool IsIn(const std::string& path, const std::set<std::string>& paths) {
  if (paths.contains(path)) return true;
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (paths.contains(path.substr(0, slash))) return true;
  return false;
}

// Going by its name, a folder of which only a cook tells what it has.
bool IsOfPackage(const std::string& path) {
  return path.ends_with(".d") || path.ends_with("/_gen");
}

// True: the next file will fail in the same way.
bool EndsAll(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      return false;
    default:
      return true;
  }
}

struct Task {
  std::string path;
  bool is_folder = false;
};

// TaskList: what is to be done; doing it may add more. Threads: any.
class TaskList {
 public:
  void Add(Task task) {
    const base::MutexLock lock(mutex_);
    ++open_;
    waiting_.push_back(std::move(task));
    changed_.NotifyOne();
  }
  // nullopt: all is done, or it has ended.
  std::optional<Task> Next() {
    const base::MutexLock lock(mutex_);
    while (waiting_.empty() && open_ > 0 && !has_ended_) changed_.Wait(mutex_);
    if (waiting_.empty() || has_ended_) return std::nullopt;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    return task;
  }
  void Done() {
    const base::MutexLock lock(mutex_);
    if (--open_ == 0) changed_.NotifyAll();
  }
  void End() {
    const base::MutexLock lock(mutex_);
    has_ended_ = true;
    changed_.NotifyAll();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Task> waiting_ GALLEY_GUARDED_BY(mutex_);
  size_t open_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
};

// SyncRound: one walk over the tree of one world.
//
// Threads: those of Work share the fields that mutex_ guards; otherwise one.
class SyncRound {
 public:
  // `difference`: how the tree differs from the copy; nullopt: anything may.
  SyncRound(Handle& handle, TargetFolder& folder, const SyncOptions& options,
            std::optional<Handle::Difference> difference, SyncReport& report)
      : handle_(handle),
        folder_(folder),
        options_(options),
        difference_(std::move(difference)),
        report_(report) {}

  // Returns what ended the round early.
  absl::Status Run();
  // True: the world changed meanwhile, and something of it cannot be had any more.
  bool is_outdated() const { return is_outdated_; }
  void TellFailures();

 private:
  std::vector<Task> FirstTasks() const;
  std::vector<Task> TasksOfDifference() const;
  absl::Status Work(const std::vector<Task>& first);
  void Do(const Task& task);
  absl::Status ListFolder(const std::string& path);
  absl::Status BringFile(const std::string& path);
  absl::Status LeaveScope(const std::string& scope, const absl::Status& why);
  absl::Status RemoveRest();
  bool MayDiffer(const std::string& path) const;
  bool IsScope(const std::string& path) const {
    return std::ranges::find(options_.scopes, path) != options_.scopes.end();
  }
  void NoteSeen(const std::string& path);
  void NotePut(const std::string& path, TargetFolder::Put put, const Handle::File& file);
  void NoteFailed(const Task& task, const absl::Status& why);
  void End(const absl::Status& why);

  Handle& handle_;
  TargetFolder& folder_;
  const SyncOptions& options_;
  const std::optional<Handle::Difference> difference_;
  TaskList* tasks_ = nullptr;  // of the present Work
  base::Mutex mutex_;
  // Guarded by mutex_ while there are threads:
  SyncReport& report_;
  std::set<std::string> seen_;
  std::map<std::string, std::string> failures_;
  std::vector<std::string> failed_folders_;
  std::vector<Task> blocked_;
  absl::Status ended_by_;
  bool is_outdated_ = false;
};

absl::Status SyncRound::Run() {
  RETURN_IF_ERROR(Work(FirstTasks()));
  if (is_outdated_) return absl::OkStatus();
  RETURN_IF_ERROR(RemoveRest());
  // A file may have to lie where a folder of files that are gone now was.
  RETURN_IF_ERROR(Work(std::exchange(blocked_, {})));
  for (const Task& task : blocked_) {
    NoteFailed(task, absl::FailedPreconditionError(
                         "something lies there that no sync put there: move it away"));
  }
  return absl::OkStatus();
}

std::vector<Task> SyncRound::FirstTasks() const {
  if (difference_) return TasksOfDifference();
  if (options_.scopes.empty()) return {{.path = "", .is_folder = true}};
  std::vector<Task> first;
  for (const std::string& scope : options_.scopes)
    first.push_back({.path = scope, .is_folder = true});
  return first;
}

// The files that the copy has to have, without the folders of the tree: those that it had, and what
// differs. Only a listing tells what lies in the folders of a package.
std::vector<Task> SyncRound::TasksOfDifference() const {
  std::set<std::string> folders, files;
  for (const std::string& path : difference_->changed) {
    if (IsInAny(path, options_.scopes)) (IsOfPackage(path) ? folders : files).insert(path);
  }
  for (std::string& path : folder_.ListPaths()) {
    if (!IsInAny(path, options_.scopes) || IsIn(path, difference_->removed)) continue;
    if (const size_t at = path.find(kGenerated); at != std::string::npos) {
      folders.insert(path.substr(0, at + kGenerated.size() - 1));
    } else if (!IsIn(path, folders)) {
      files.insert(std::move(path));
    }
  }
  for (const std::string& scope : options_.scopes) {
    const auto is_in_scope = [&](const std::string& path) { return IsIn(path, scope); };
    const std::vector<std::string> copied = folder_.ListPaths();
    const bool has_any = std::ranges::any_of(copied, is_in_scope) ||
                         std::ranges::any_of(difference_->changed, is_in_scope);
    if (!has_any) folders.insert(scope);  // it may be no path of the tree
  }
  std::vector<Task> tasks;
  for (const std::string& path : folders) tasks.push_back({.path = path, .is_folder = true});
  for (const std::string& path : files) tasks.push_back({.path = path});
  return tasks;
}

absl::Status SyncRound::Work(const std::vector<Task>& first) {
  TaskList tasks;
  tasks_ = &tasks;
  for (const Task& task : first) tasks.Add(task);
  RunOnThreads(options_.threads, [&](size_t) {
    while (const std::optional<Task> task = tasks.Next()) {
      Do(*task);
      tasks.Done();
    }
  });
  return ended_by_;
}

void SyncRound::Do(const Task& task) {
  const absl::Status done = task.is_folder ? ListFolder(task.path) : BringFile(task.path);
  if (done.ok()) return;
  if (EndsAll(done)) {
    End(done);
  } else {
    NoteFailed(task, done);
  }
}

void SyncRound::End(const absl::Status& why) {
  tasks_->End();
  const base::MutexLock lock(mutex_);
  if (ended_by_.ok()) ended_by_ = why;
}

absl::Status SyncRound::ListFolder(const std::string& path) {
  const absl::StatusOr<std::vector<Handle::Entry>> entries = handle_.List(path);
  const bool is_no_folder =
      absl::IsNotFound(entries.status()) || absl::IsInvalidArgument(entries.status());
  // A scope may be a file; so may a path that is only named as a folder of a package.
  const bool is_file = absl::IsInvalidArgument(entries.status()) && !path.empty();
  if (is_file || (is_no_folder && IsScope(path))) {
    tasks_->Add({.path = path});
    return absl::OkStatus();
  }
  // A package may have no further outputs, and no folder for them.
  if (absl::IsNotFound(entries.status())) return absl::OkStatus();
  RETURN_IF_ERROR(entries.status());
  const std::string prefix = path.empty() ? "" : path + "/";
  for (const Handle::Entry& entry : *entries)
    tasks_->Add({.path = prefix + entry.name, .is_folder = entry.is_folder});
  return absl::OkStatus();
}

// Generated packages are in no list of changes.
bool SyncRound::MayDiffer(const std::string& path) const {
  if (!difference_ || path.find(kGenerated) != std::string::npos) return true;
  return IsIn(path, difference_->changed);
}

absl::Status SyncRound::BringFile(const std::string& path) {
  const std::optional<SyncedFile> there = folder_.FindAsPut(path);
  if (there && !MayDiffer(path)) {
    NoteSeen(path);
    return absl::OkStatus();
  }
  const absl::StatusOr<Handle::File> file = handle_.Open(path);
  if (absl::IsNotFound(file.status()) && IsScope(path)) return LeaveScope(path, file.status());
  NoteSeen(path);
  RETURN_IF_ERROR(file.status());
  ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(file->digest()));
  TargetFolder::Put put = TargetFolder::Put::kAdopted;
  if (!there || there->digest != digest) {
    ASSIGN_OR_RETURN(
        put, folder_.PutFile(path, digest, [&](const auto& take) { return file->ReadAll(take); }));
  }
  NotePut(path, put, *file);
  return absl::OkStatus();
}

// A scope that the tree has no more is copied by removing it here.
absl::Status SyncRound::LeaveScope(const std::string& scope, const absl::Status& why) {
  const std::vector<std::string> paths = folder_.ListPaths();
  if (std::ranges::any_of(paths, [&](const std::string& path) { return IsIn(path, scope); }))
    return absl::OkStatus();
  End(why);
  return absl::OkStatus();
}

void SyncRound::NoteSeen(const std::string& path) {
  const base::MutexLock lock(mutex_);
  seen_.insert(path);
  report_.files = seen_.size();
}

void SyncRound::NotePut(const std::string& path, TargetFolder::Put put, const Handle::File& file) {
  const base::MutexLock lock(mutex_);
  if (put == TargetFolder::Put::kBlocked) {
    blocked_.push_back({.path = path});
    return;
  }
  if (file.is_last_good()) ++report_.last_good;
  if (put == TargetFolder::Put::kWritten) {
    ++report_.written;
    report_.bytes += file.size();
    options_.tell({.kind = SyncEvent::Kind::kWritten, .path = path, .text = file.digest()});
  }
  options_.progress(report_);
}

void SyncRound::NoteFailed(const Task& task, const absl::Status& why) {
  const base::MutexLock lock(mutex_);
  if (absl::IsOutOfRange(why)) is_outdated_ = true;
  if (task.is_folder) failed_folders_.push_back(task.path);
  failures_.insert_or_assign(task.path, MessageOf(why));
}

absl::Status SyncRound::RemoveRest() {
  for (const std::string& path : folder_.ListPaths()) {
    const bool is_gone = !seen_.contains(path) && IsInAny(path, options_.scopes);
    const bool is_known = std::ranges::none_of(failed_folders_, [&](const std::string& folder) {
      return folder.empty() || IsIn(path, folder);
    });
    if (!is_gone || !is_known) continue;
    ASSIGN_OR_RETURN(const bool is_removed, folder_.RemoveFile(path));
    ++(is_removed ? report_.removed : report_.kept);
    options_.tell({.kind = is_removed ? SyncEvent::Kind::kRemoved : SyncEvent::Kind::kKept,
                   .path = path,
                   .text = is_removed ? "" : "it was changed here, and stays"});
  }
  return absl::OkStatus();
}

void SyncRound::TellFailures() {
  report_.failed = failures_.size();
  for (const auto& [path, text] : failures_)
    options_.tell({.kind = SyncEvent::Kind::kFailed, .path = path, .text = text});
}

// nullopt: nothing is known of what changed since the last sync.
absl::StatusOr<std::optional<Handle::Difference>> FindDifference(
    Handle& handle, const TargetFolder& folder, const std::vector<std::string>& scopes) {
  using Found = std::optional<Handle::Difference>;
  const bool is_within_package = std::ranges::any_of(scopes, [](const std::string& scope) {
    const std::string path = scope + "/";
    return path.find(".d/") != std::string::npos || path.find(kGenerated) != std::string::npos;
  });
  if (folder.root_before().empty() || is_within_package) return Found();
  absl::StatusOr<Handle::Difference> difference = handle.Compare(folder.root_before());
  if (difference.ok()) return Found(*std::move(difference));
  if (absl::IsCancelled(difference.status())) return difference.status();
  return Found();
}

}  // namespace

absl::StatusOr<SyncReport> Sync(Handle& handle, TargetFolder& folder, const SyncOptions& options) {
  RETURN_IF_ERROR(handle.Advance().status());
  SyncReport report;
  ASSIGN_OR_RETURN(std::optional<Handle::Difference> difference,
                   FindDifference(handle, folder, options.scopes));
  for (int rounds = 1;; ++rounds) {
    report.last_good = 0;
    SyncRound round(handle, folder, options, std::exchange(difference, std::nullopt), report);
    RETURN_IF_ERROR(round.Run());
    if (!round.is_outdated() || rounds == kRoundsMax) {
      round.TellFailures();
      break;
    }
    RETURN_IF_ERROR(handle.Advance().status());
  }
  report.root = handle.status().root;
  const absl::StatusOr<bool> is_newer = handle.Advance();
  if (absl::IsCancelled(is_newer.status())) return is_newer.status();
  // While its world is the present one, the newest root has all that was read. Another root may
  // lack some of it, and the next sync would not see that it has changed.
  const bool is_present = is_newer.ok() && !*is_newer;
  if (is_present) report.root = handle.status().root;
  const bool is_whole = is_present && report.failed == 0 && report.last_good == 0;
  RETURN_IF_ERROR(folder.Finish(is_whole ? report.root : ""));
  report.foreign = folder.CountForeign();
  return report;
}

}  // namespace galley::device
