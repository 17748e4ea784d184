#include "director/stage/write_files.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "director/stage/plan.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kAskedAtOnce = 4096;  // blobs

bool IsLoss(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

// Lacks: the blobs that the store turns out to lack while files are written. All other files are
// still written, so that all losses are found at once. At the first loss the store looks at its
// disk for all files: a file that is gone need not be tried.
//
// Threads: any.
class Lacks {
 public:
  Lacks(store::Store& store, const std::vector<tree::TreeFile>& files)
      : store_(store), files_(files) {}

  bool Knows(const Digest& digest) {
    if (!is_any_) return false;
    const base::MutexLock lock(mutex_);
    return gone_.contains(digest);
  }
  void Note() {
    const base::MutexLock lock(mutex_);
    if (is_any_.exchange(true)) return;
    std::vector<Digest> digests;
    for (const tree::TreeFile& file : files_) digests.push_back(file.digest);
    const auto gone = store_.FindLost(digests);
    // Without the look each file is tried.
    if (!gone.ok()) return LogWarning("looking for what is lost: {}", MessageOf(gone.status()));
    gone_.insert(gone->begin(), gone->end());
  }

 private:
  store::Store& store_;
  const std::vector<tree::TreeFile>& files_;
  std::atomic<bool> is_any_ = false;
  base::Mutex mutex_;
  absl::flat_hash_set<Digest> gone_ GALLEY_GUARDED_BY(mutex_);
};

// Part: files that are neighbours, and the outcome.
struct Part {
  absl::Status status;
  absl::Status loss;  // of the first lost file
  uint64_t lost = 0;
  StageReport report;
};

absl::StatusOr<Blob> Read(const BlobSources& sources, const Digest& digest, Lacks& lacks) {
  if (lacks.Knows(digest)) return NotFoundError("blob {} is lost", digest.ToString());
  absl::StatusOr<Blob> bytes = sources.store.Get(digest);
  if (IsLoss(bytes.status())) lacks.Note();
  return bytes;
}

// Writes a large file in pieces, so that an interrupt need not wait for the end.
absl::Status WriteLarge(const BlobSources& sources, Sandbox& sandbox, const tree::TreeFile& file,
                        Lacks& lacks) {
  if (lacks.Knows(file.digest)) return DataLossError("blob {} is lost", file.digest.ToString());
  const auto note = [&](const absl::Status& status) {
    if (!IsLoss(status)) return status;
    lacks.Note();
    return AsLoss(status);
  };
  absl::StatusOr<std::unique_ptr<store::BlobReader>> reader =
      sources.store.NewReader(file.digest, 0);
  if (!reader.ok()) return note(reader.status());
  return sandbox.WritePieces(
      file.path,
      [&]() -> absl::StatusOr<std::string_view> {
        absl::StatusOr<std::string_view> piece = (*reader)->Next(Sandbox::kPieceBytes);
        if (!piece.ok()) return note(piece.status());
        return piece;
      },
      file.is_executable);
}

// DATA_LOSS: only for the store's losses.
absl::Status WriteFile(const BlobSources& sources, Sandbox& sandbox, const tree::TreeFile& file,
                       Lacks& lacks) {
  if (file.digest.size_bytes() > Sandbox::kPieceBytes)
    return WriteLarge(sources, sandbox, file, lacks);
  const absl::StatusOr<Blob> bytes = Read(sources, file.digest, lacks);
  if (!bytes.ok()) return AsLoss(bytes.status());
  return sandbox.Write(file.path, **bytes, file.is_executable);
}

absl::Status WritePart(const BlobSources& sources, Sandbox& sandbox,
                       std::span<const tree::TreeFile> files, const std::atomic<bool>* interrupted,
                       Lacks& lacks, Part& part) {
  StageReport& report = part.report;
  for (const tree::TreeFile& file : files) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted));
    auto placed = StoreFiles::Placed::kNot;
    if (sources.files != nullptr) {
      ASSIGN_OR_RETURN(placed, sources.files->Place(sandbox, file));
    }
    if (placed != StoreFiles::Placed::kNot) {
      ++report.written;
      ++(placed == StoreFiles::Placed::kLinked ? report.linked : report.cloned);
      continue;
    }
    absl::Status written = WriteFile(sources, sandbox, file, lacks);
    if (absl::IsCancelled(written)) return written;
    if (!written.ok()) {
      written = Annotate(written,
                         fmt::format("staging {}", NameWithPackage(file.path, sources.package_of)));
      if (!absl::IsDataLoss(written)) return written;
      if (part.lost++ == 0) part.loss = std::move(written);
      continue;
    }
    ++report.written;
    report.bytes_written += file.digest.size_bytes();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<tree::TreeFile>> ListFiles(store::Store& store, const Digest& root,
                                                      const std::atomic<bool>* interrupted) {
  absl::StatusOr<std::vector<tree::TreeFile>> files =
      tree::ListTree(root, [&](const Digest& digest) -> absl::StatusOr<Blob> {
        RETURN_IF_ERROR(CheckInterrupted(interrupted));
        return store.Get(digest);
      });
  if (!files.ok() && !absl::IsCancelled(files.status()))
    return Annotate(files.status(), fmt::format("reading the tree {}", root.ToString()));
  return files;
}

absl::Status CheckPresent(store::Store& store, const std::vector<tree::TreeFile>& files,
                          const std::atomic<bool>* interrupted, const PackageOfPath& package_of) {
  std::map<Digest, const std::string*> path_of;
  for (const tree::TreeFile& file : files) path_of.emplace(file.digest, &file.path);
  std::vector<Digest> digests;
  for (const auto& [digest, path] : path_of) digests.push_back(digest);
  std::vector<Digest> missing;
  for (size_t at = 0; at < digests.size(); at += kAskedAtOnce) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted));
    const size_t count = std::min(kAskedAtOnce, digests.size() - at);
    ASSIGN_OR_RETURN(const std::vector<Digest> some,
                     store.FindMissing(std::span(digests).subspan(at, count)));
    missing.insert(missing.end(), some.begin(), some.end());
  }
  if (missing.empty()) return absl::OkStatus();
  const auto named = path_of.find(missing.front());
  return DataLossError(
      "staging {}: the store lacks its bytes, {}{}; cook again",
      named == path_of.end() ? "a file" : NameWithPackage(*named->second, package_of),
      missing.front().ToString(),
      missing.size() == 1 ? "" : fmt::format(" ({} are missing)", missing.size()));
}

absl::Status AsLoss(const absl::Status& status) {
  return IsLoss(status) ? absl::DataLossError(status.message()) : status;
}

// Writes neighbours in parts, side by side: each thread has a sandbox of its own over the same
// folder. Returns the first part's error, whichever part failed first in time.
absl::Status WriteFiles(const BlobSources& sources, Sandbox& sandbox,
                        const std::vector<tree::TreeFile>& files,
                        const std::atomic<bool>* interrupted, StageReport& report) {
  constexpr size_t kFilesOfAThread = 256;  // fewer files are not worth a thread
  const size_t threads_max =
      std::min<size_t>(Sandbox::kWritersMax, std::max(1u, std::thread::hardware_concurrency()));
  const size_t parts = std::clamp<size_t>(files.size() / kFilesOfAThread, 1, threads_max);
  Lacks lacks(sources.store, files);
  std::vector<Part> done(parts);
  const auto write = [&](size_t i, Sandbox& where) {
    const size_t begin = files.size() * i / parts;
    const size_t end = files.size() * (i + 1) / parts;
    done[i].status = WritePart(sources, where, std::span(files).subspan(begin, end - begin),
                               interrupted, lacks, done[i]);
  };
  const auto write_with_own = [&](size_t i) {
    absl::StatusOr<Sandbox> own = Sandbox::Open(sandbox.Full(""), i, sandbox.umask());
    if (!own.ok()) {
      done[i].status = own.status();
      return;
    }
    own->StopOn(interrupted);
    write(i, *own);
  };
  std::vector<std::thread> threads;
  size_t started = 1;
  try {
    for (; started < parts; ++started) threads.emplace_back(write_with_own, started);
  } catch (const std::system_error&) {
    // The system gives no further thread: the rest is written here.
  }
  write(0, sandbox);
  for (; started < parts; ++started) write(started, sandbox);
  for (std::thread& thread : threads) thread.join();
  for (const Part& part : done) {
    report.written += part.report.written;
    report.bytes_written += part.report.bytes_written;
    report.linked += part.report.linked;
    report.cloned += part.report.cloned;
  }
  for (const Part& part : done) RETURN_IF_ERROR(part.status);
  uint64_t lost = 0;
  for (const Part& part : done) lost += part.lost;
  for (const Part& part : done) {
    if (part.lost == 0) continue;
    return lost == 1 ? part.loss
                     : absl::Status(part.loss.code(), fmt::format("{} ({} files are lost)",
                                                                  MessageOf(part.loss), lost));
  }
  return absl::OkStatus();
}

}  // namespace galley::director
