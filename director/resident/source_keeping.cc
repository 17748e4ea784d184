#include "director/resident/source_keeping.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/low_priority.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "common/tree/plain_name.h"
#include "common/tree/tree.h"

namespace galley::director {
namespace {

constexpr absl::Duration kQuietLookInterval = absl::Milliseconds(200);
constexpr size_t kBlobsAtOnce = 1024;

// Files that cannot be used are no sources.
bool IsSource(const content::FileEntry& file) { return file.error.empty(); }

}  // namespace

std::string SourcesPinOf(const std::string& project_id) { return "sources/" + project_id; }

SourceKeeping::SourceKeeping(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(options),
      thread_([this] { RunAtLowPriority([this] { Run(); }); }) {}

SourceKeeping::~SourceKeeping() { End(); }

void SourceKeeping::End() {
  ending_.Cancel();
  Interrupt();
  if (thread_.joinable()) thread_.join();
}

void SourceKeeping::Interrupt() {
  base::MutexLock lock(mutex_);
  if (portion_ != nullptr) portion_->Cancel();
}

std::optional<SourceKeeping::Progress> SourceKeeping::progress() const {
  base::MutexLock lock(mutex_);
  return progress_;
}

void SourceKeeping::Run() {
  while (!ending_.is_cancelled()) {
    if (!IsQuiet() || !DoPortion()) ending_.Pause(kQuietLookInterval);
  }
}

bool SourceKeeping::IsQuiet() {
  const absl::Time now = absl::Now();
  if (deps_.is_busy()) quiet_from_ = now + options_.quiet;
  return now >= quiet_from_;
}

// Null: the end has begun.
std::shared_ptr<Cancellation> SourceKeeping::BeginPortion() {
  auto stop = std::make_shared<Cancellation>();
  base::MutexLock lock(mutex_);
  if (ending_.is_cancelled()) return nullptr;
  portion_ = stop;
  return stop;
}

// False: there is nothing to do, or somebody else goes first.
bool SourceKeeping::DoPortion() {
  if (!BeginPassIfDue()) return false;
  const std::shared_ptr<Cancellation> stop = BeginPortion();
  // A cook that came before the portion could be interrupted.
  if (stop == nullptr || deps_.is_busy()) return false;
  return next_ < world_->snapshot->files().size() ? KeepNext(*stop) : EndPass(*stop);
}

// False: the portion was interrupted, and is begun again.
bool SourceKeeping::KeepNext(const Cancellation& stop) {
  size_t next = next_;
  const std::vector<std::string> paths = NextPaths(next);
  const KeptSources::Kept kept = deps_.kept.KeepFiles(*world_, paths, stop);
  if (stop.is_cancelled()) return false;
  next_ = next;
  uncommitted_bytes_ += kept.bytes;
  if (uncommitted_bytes_ >= options_.commit_bytes) CommitKept();
  base::MutexLock lock(mutex_);
  progress_->files_kept += kept.files;
  progress_->bytes_kept += kept.bytes;
  return true;
}

void SourceKeeping::CommitKept() {
  uncommitted_bytes_ = 0;
  if (const absl::Status committed = deps_.store.Commit({}); !committed.ok())
    LogWarning("kept sources may be lost by a power cut: {}", MessageOf(committed));
}

// False: the present world was gone through.
bool SourceKeeping::BeginPassIfDue() {
  const WorldPtr present = deps_.world();
  const bool is_another = present != nullptr && present != world_ && present != done_.lock();
  if (!is_another) return world_ != nullptr;
  Progress progress;
  for (const content::FileEntry& file : present->snapshot->files()) {
    if (!IsSource(file)) continue;
    ++progress.files;
    progress.bytes += file.stat.size_bytes;
  }
  world_ = present;
  next_ = 0;
  // The files that the last pass could not put are tried again, and counted again.
  static_cast<void>(deps_.kept.TakeTrouble());
  base::MutexLock lock(mutex_);
  progress_ = progress;
  return true;
}

std::vector<std::string> SourceKeeping::NextPaths(size_t& next) const {
  std::vector<std::string> paths;
  uint64_t bytes = 0;
  const content::FileList files = world_->snapshot->files();
  for (; next < files.size() && paths.size() < options_.portion_files; ++next) {
    const content::FileEntry& file = files[next];
    if (!IsSource(file)) continue;
    bytes += file.stat.size_bytes;
    if (bytes > options_.portion_bytes && !paths.empty()) break;
    paths.push_back(file.path);
  }
  return paths;
}

// False: interrupted.
bool SourceKeeping::EndPass(const Cancellation& stop) {
  CommitKept();
  const absl::Status pinned = Pin(stop);
  if (absl::IsCancelled(pinned)) return false;
  if (!pinned.ok()) LogWarning("the kept sources are not pinned: {}", MessageOf(pinned));
  done_ = std::exchange(world_, nullptr);
  base::MutexLock lock(mutex_);
  progress_->is_over = true;
  return true;
}

absl::Status SourceKeeping::Pin(const Cancellation& stop) {
  if (absl::Now() < pinned_ + options_.pin_interval) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Digest root, PutTree(stop));
  if (root == Digest()) return absl::OkStatus();  // there is no file
  const std::string name = SourcesPinOf(deps_.project_id);
  ASSIGN_OR_RETURN(const std::vector<store::Pin> pins, store::Pins(deps_.store));
  for (const store::Pin& pin : pins) {
    if (pin.name == name && pin.root == root) return absl::OkStatus();
  }
  RETURN_IF_ERROR(store::SetPin(deps_.store, {.name = name, .root = root, .time = absl::Now()}));
  pinned_ = absl::Now();
  return absl::OkStatus();
}

// The tree of the files that the store has, at their virtual paths.
absl::StatusOr<Digest> SourceKeeping::PutTree(const Cancellation& stop) {
  std::vector<tree::TreeFile> files;
  std::vector<Digest> digests;
  for (const content::FileEntry& file : world_->snapshot->files()) {
    if (stop.is_cancelled()) return absl::CancelledError("somebody else goes first");
    const std::optional<Digest> digest = world_->snapshot->KnownDigest(file.path);
    if (!IsSource(file) || !digest.has_value() || !tree::IsPlainPath(file.path.substr(1))) continue;
    files.push_back({.path = file.path.substr(1), .digest = *digest});
    digests.push_back(*digest);
  }
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, deps_.store.FindMissing(digests));
  const absl::flat_hash_set<Digest> absent(missing.begin(), missing.end());
  std::erase_if(files, [&](const tree::TreeFile& file) { return absent.contains(file.digest); });
  if (files.empty()) return Digest();
  const tree::BuiltTree built = tree::BuildTree(files, nullptr);
  if (!built.conflicts.empty())
    return InternalError("{}: {}", built.conflicts[0].path, built.conflicts[0].reason);
  std::vector<Digest> folders;
  for (const auto& [digest, bytes] : built.directories) folders.push_back(digest);
  ASSIGN_OR_RETURN(const std::vector<Digest> new_folders, deps_.store.FindMissing(folders));
  for (size_t begin = 0; begin < new_folders.size(); begin += kBlobsAtOnce) {
    std::vector<store::BlobView> blobs;
    for (size_t i = begin; i < std::min(begin + kBlobsAtOnce, new_folders.size()); ++i)
      blobs.push_back({.digest = new_folders[i], .bytes = built.directories.at(new_folders[i])});
    for (const absl::Status& put : deps_.store.PutMany(blobs)) RETURN_IF_ERROR(put);
  }
  return built.root;
}

}  // namespace galley::director
