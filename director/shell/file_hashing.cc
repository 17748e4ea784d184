#include "director/shell/file_hashing.h"

namespace galley::director {
namespace {

constexpr size_t kLargeThreads = 2;
constexpr size_t kHugeThreads = 1;

}  // namespace

void FileHashing::HashNext(SourcesPtr sources, std::vector<std::string> paths, FailedHashes failed,
                           Done done) {
  if (paths.empty()) return done(std::move(failed));
  std::string path = std::move(paths.back());
  paths.pop_back();
  Waiter waiter = [this, sources, path, paths = std::move(paths), failed = std::move(failed),
                   done = std::move(done)](const absl::Status& hashed) mutable {
    if (!hashed.ok()) failed.emplace(path, hashed);
    HashNext(sources, std::move(paths), std::move(failed), std::move(done));
  };
  const base::MutexLock lock(mutex_);
  std::vector<Waiter>& waiters = waiting_[{sources->number(), path}];
  waiters.push_back(std::move(waiter));
  if (waiters.size() > 1) return;  // another call hashes the file
  Post(sources->SizeOf(path), [this, sources, path] { HashOne(sources, path); });
}

void FileHashing::HashOne(const SourcesPtr& sources, const std::string& path) {
  const absl::Status hashed = sources->DigestOf(path, &stop_).status();
  std::vector<Waiter> waiters;
  {
    const base::MutexLock lock(mutex_);
    const auto found = waiting_.find({sources->number(), path});
    waiters = std::move(found->second);
    waiting_.erase(found);
  }
  for (const Waiter& waiter : waiters) waiter(hashed);
}

void FileHashing::Post(uint64_t size_bytes, std::function<void()> task) {
  const bool is_huge = size_bytes >= kHugeBytes;
  std::optional<base::TaskPool>& pool = is_huge ? huge_ : large_;
  if (!pool) pool.emplace(is_huge ? kHugeThreads : kLargeThreads);
  pool->Post(std::move(task));
}

}  // namespace galley::director
