#include "director/stage/put_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/digest_cache.h"
#include "common/content/ignore_rules.h"
#include "common/content/name.h"
#include "common/content/stable_read.h"
#include "common/content/walk.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/open.h"
#include "common/tree/plain_name.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/blob_groups.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// The name of the top folder while it is walked.
constexpr std::string_view kTop = "/tree";
// Larger files go to the disk piece by piece, before it is known whether the store has them.
constexpr uint64_t kInMemoryBytesMax = 16 << 20;
constexpr size_t kPart = 8192;       // of files, for one thread
constexpr size_t kFilesAtOnce = 16;  // neighbours that a thread takes together
constexpr size_t kFilesOfAThread = 64;
constexpr unsigned kThreadsMax = 8;
constexpr size_t kDigestFilesMax = 256;
constexpr absl::Duration kProgressInterval = absl::Milliseconds(200);

// Item: a file of the tree, and its outcome.
struct Item {
  content::FileEntry entry;
  std::string error;             // empty: the file can be put
  std::optional<Digest> digest;  // none: not read yet
  int64_t hashed_ns = 0;         // wall time before the file was read; 0: an earlier put read it

  std::string_view path() const { return std::string_view(entry.path).substr(kTop.size() + 1); }
};

absl::Status Stopped() {
  return absl::CancelledError("the put was interrupted; what is in the store stays for a day");
}

absl::StatusOr<std::vector<Item>> FindFolder(const std::string& path, Clock& clock,
                                             unsigned threads, const Cancellation* stop) {
  const std::vector<content::Mount> mounts = {{.path = std::string(kTop), .directory = path}};
  const content::IgnoreRules ignore = content::IgnoreRules::Nothing();
  absl::StatusOr<std::vector<content::SeenFile>> walked = content::Walk({.mounts = mounts,
                                                                         .ignore = ignore,
                                                                         .clock = clock,
                                                                         .threads = threads,
                                                                         .stop = stop,
                                                                         .follow_links = false});
  if (absl::IsCancelled(walked.status())) return Stopped();
  RETURN_IF_ERROR(walked.status());
  std::vector<content::SeenFile>& seen = *walked;
  std::vector<content::SeenFile*> order;
  order.reserve(seen.size());
  for (content::SeenFile& file : seen) order.push_back(&file);
  std::ranges::sort(order,
                    [](const auto* a, const auto* b) { return a->entry.path < b->entry.path; });
  std::vector<Item> items;
  items.reserve(seen.size());
  for (content::SeenFile* file : order) {
    std::string error = std::move(file->entry.error);
    // Errors about names have the path under kTop, which nobody knows.
    const std::string shown = fmt::format("`{}/", kTop);
    if (const size_t at = error.find(shown); at != std::string::npos)
      error.replace(at + 1, kTop.size(), EscapeControl(path));
    items.push_back({.entry = std::move(file->entry), .error = std::move(error)});
  }
  return items;
}

absl::StatusOr<std::vector<Item>> FindItems(const PutTreeOptions& options, Clock& clock,
                                            unsigned threads) {
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(options.path));
  if (S_ISDIR(stat.mode)) return FindFolder(options.path, clock, threads, options.stop);
  const std::string name = options.path.substr(options.path.rfind('/') + 1);
  if (!S_ISREG(stat.mode)) return InvalidArgumentError("{} is no file and no folder", options.path);
  if (!tree::IsPlainSegment(name))
    return InvalidArgumentError("{}: no tree can hold this name", options.path);
  std::vector<Item> items(1);
  items[0].entry.path = fmt::format("{}/{}", kTop, name);
  items[0].entry.host_path = options.path;
  items[0].entry.stat = stat;
  return items;
}

absl::Status CheckApart(const std::string& path, const std::string& store_directory) {
  std::error_code error;
  const std::string tree = std::filesystem::weakly_canonical(path, error).string();
  const std::string store = std::filesystem::weakly_canonical(store_directory, error).string();
  if (!content::IsUnder(store, tree)) return absl::OkStatus();
  return InvalidArgumentError(
      "{} holds the store itself, {}: put what lies beside it, or choose another store "
      "with --store",
      path, store_directory);
}

// Returns the unfinished work of Galley in whose folder this file lies, and how a person finishes
// it; empty: none.
std::string UnfinishedWork(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == kCheckoutName)
    return "a checkout to this folder was cut off, or is still at work: check the tree out again";
  if (name == kPendingName)
    return "a cook was cut off while it staged to this folder, or is still at work: cook again";
  const std::string_view folder = path.substr(0, path.size() - name.size());
  if (folder.starts_with(fmt::format("{}/", kApplyFolder)) ||
      folder.find(fmt::format("/{}/", kApplyFolder)) != std::string_view::npos)
    return "a patch was not applied to its end in this folder: apply it again";
  return "";
}

// If half a tree were put as if it were whole, only its users would find out.
absl::Status CheckFinished(const std::vector<Item>& items) {
  for (const Item& item : items) {
    const std::string work = UnfinishedWork(item.path());
    if (work.empty()) continue;
    return InvalidArgumentError(
        "{}: {}, or remove this file if the folder is whole without it, then put it again",
        EscapeControl(item.entry.host_path), work);
  }
  return absl::OkStatus();
}

content::DigestCache LoadCache(const std::string& file) {
  if (file.empty()) return content::DigestCache();
  absl::StatusOr<content::DigestCache> cache = content::DigestCache::Load(file);
  if (cache.ok()) return *std::move(cache);
  LogWarning("digest_cache=dropped reason=\"{}\"", MessageOf(cache.status()));
  return content::DigestCache();
}

// Removes digests of paths that nobody puts any more.
void RemoveOldest(const std::string& folder) {
  std::error_code error;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    files.emplace_back(entry.last_write_time(error), entry.path());
  if (files.size() <= kDigestFilesMax) return;
  std::ranges::sort(files);
  files.resize(files.size() - kDigestFilesMax);
  for (const auto& [time, path] : files) std::filesystem::remove(path, error);
}

class Putter {
 public:
  Putter(store::Store& store, std::string store_directory, const PutTreeOptions& options,
         Clock& clock, std::vector<Item> items)
      : options_(options),
        clock_(clock),
        items_(std::move(items)),
        groups_(store, std::move(store_directory), {}) {}

  absl::StatusOr<PutTreeReport> Run(const content::DigestCache& cache, unsigned threads) {
    RETURN_IF_ERROR(Progress());
    RETURN_IF_ERROR(AskForKnown(cache, threads));
    RETURN_IF_ERROR(ReadUnknown(threads));
    SaveCache(cache.size());
    PutTreeReport report;
    RETURN_IF_ERROR(PutFolders(report));
    // The flush also covers what others have put: it was asked for here.
    RETURN_IF_ERROR(groups_.Flush());
    for (const Item& item : items_) {
      if (!item.error.empty()) report.errors.push_back(item.error);
      report.bytes += item.digest.has_value() ? item.digest->size_bytes() : 0;
    }
    if (!report.errors.empty()) report.root.reset();
    report.files = items_.size();
    report.read_files = read_files_;
    report.read_bytes = read_bytes_;
    report.stored_blobs = groups_.blobs();
    report.stored_bytes = groups_.bytes();
    return report;
  }

 private:
  // Files whose digests are known need not be read if the store has them; the question tells the
  // store that they are used.
  absl::Status AskForKnown(const content::DigestCache& cache, unsigned threads) {
    std::vector<std::optional<Digest>> digest_of(items_.size());
    RETURN_IF_ERROR(InParts(items_.size(), threads, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const content::FileEntry& entry = items_[i].entry;
        if (items_[i].error.empty()) digest_of[i] = cache.Find(entry.host_path, entry.stat);
      }
      return absl::OkStatus();
    }));
    // Sorted, because neighbours lie together in the store's index.
    std::vector<std::pair<Digest, size_t>> known;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (digest_of[i].has_value()) known.emplace_back(*digest_of[i], i);
    }
    std::ranges::sort(known);
    RETURN_IF_ERROR(InParts(known.size(), threads, [&](size_t begin, size_t end) {
      return AskFor(std::span(known).subspan(begin, end - begin));
    }));
    return Progress();
  }

  absl::Status AskFor(std::span<const std::pair<Digest, size_t>> known) {
    std::vector<Digest> digests;
    for (const auto& [digest, i] : known) {
      if (digests.empty() || digests.back() != digest) digests.push_back(digest);
    }
    ASSIGN_OR_RETURN(const std::vector<Digest> absent, groups_.store().FindMissing(digests));
    const absl::flat_hash_set<Digest> missing(absent.begin(), absent.end());
    for (const auto& [digest, i] : known) {
      if (missing.contains(digest)) continue;
      items_[i].digest = digest;
      ++done_files_;
      done_bytes_ += digest.size_bytes();
    }
    return absl::OkStatus();
  }

  // Runs the parts on the threads.
  static absl::Status InParts(size_t count, unsigned threads,
                              const std::function<absl::Status(size_t, size_t)>& work) {
    std::vector<absl::Status> outcomes(threads);
    std::atomic<size_t> next = 0;
    RunOnThreads(std::min<size_t>(threads, count / kPart + 1), [&](size_t thread) {
      while (outcomes[thread].ok()) {
        const size_t begin = next.fetch_add(kPart);
        if (begin >= count) return;
        outcomes[thread] = work(begin, std::min(begin + kPart, count));
      }
    });
    for (const absl::Status& outcome : outcomes) RETURN_IF_ERROR(outcome);
    return absl::OkStatus();
  }

  absl::Status ReadUnknown(unsigned threads) {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].error.empty() && !items_[i].digest.has_value()) unread_.push_back(i);
    }
    const size_t count =
        std::clamp<size_t>(unread_.size() / kFilesOfAThread, 1, std::max(1u, threads));
    std::vector<absl::Status> outcomes(count);
    RunOnThreads(count, [&](size_t thread) {
      outcomes[thread] = ReadSome(/*tells=*/thread == 0);
      if (!outcomes[thread].ok()) is_stopped_ = true;
    });
    for (const absl::Status& outcome : outcomes) RETURN_IF_ERROR(outcome);
    return absl::OkStatus();
  }

  absl::Status ReadSome(bool tells) {
    BlobLane lane(groups_);
    std::string large;
    while (!is_stopped_) {
      const size_t begin = next_.fetch_add(kFilesAtOnce);
      if (begin >= unread_.size()) break;
      for (size_t at = begin; at < std::min(begin + kFilesAtOnce, unread_.size()); ++at) {
        if (IsStopped()) return Stopped();
        if (tells) RETURN_IF_ERROR(Progress());
        Item& item = items_[unread_[at]];
        item.hashed_ns = absl::ToUnixNanos(clock_.Now());
        RETURN_IF_ERROR(Read(item, lane, large));
        ++done_files_, ++read_files_;
        done_bytes_ += item.entry.stat.size_bytes;
        read_bytes_ += item.entry.stat.size_bytes;
      }
    }
    return lane.Flush();
  }

  // Returns an error of the store, or of the machine as a whole. An error of the file is noted.
  absl::Status Read(Item& item, BlobLane& lane, std::string& large) {
    const uint64_t size = item.entry.stat.size_bytes;
    if (size > kInMemoryBytesMax) return ReadInPieces(item);
    const bool is_small = size <= store::kSmallBlobBytesMax;
    std::string& bytes = is_small ? lane.Begin() : large;
    if (!is_small) bytes.clear();
    ASSIGN_OR_RETURN(const bool is_read,
                     ReadStable(item, [&](std::string_view piece) { bytes.append(piece); }));
    if (!is_read) return absl::OkStatus();
    if (is_small) {
      ASSIGN_OR_RETURN(item.digest, lane.Take());
      return absl::OkStatus();
    }
    item.digest = Digest::Of(bytes);
    return lane.PutLarge(*item.digest, bytes);
  }

  absl::Status ReadInPieces(Item& item) {
    RETURN_IF_ERROR(groups_.CheckSpace(item.entry.stat.size_bytes));
    ASSIGN_OR_RETURN(store::HashedFile file, store::HashedFile::Create(groups_.store_directory()));
    absl::Status written;
    ASSIGN_OR_RETURN(const bool is_read, ReadStable(item, [&](std::string_view piece) {
                       if (written.ok()) written = file.Append(piece);
                     }));
    RETURN_IF_ERROR(written);
    if (!is_read) return absl::OkStatus();
    item.digest = file.Finish();
    const Digest& digest = *item.digest;
    if (!groups_.Claim(digest)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<Digest> missing,
                     groups_.store().FindMissing(std::span(&digest, 1)));
    if (missing.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(file.KeepAs(digest));
    return groups_.Add(digest, store::BlobLocation());
  }

  // False: the file could not be read, or changed meanwhile; the error is noted.
  absl::StatusOr<bool> ReadStable(Item& item,
                                  const std::function<void(std::string_view)>& take) const {
    const absl::Status status = content::StableRead(item.entry, take, options_.stop);
    if (absl::IsCancelled(status)) return Stopped();
    if (absl::IsResourceExhausted(status)) return status;
    if (!status.ok()) item.error = MessageOf(status);
    return status.ok();
  }

  // Without the digest cache the next put reads more, which is no reason to fail.
  void SaveCache(size_t size_before) const {
    if (options_.digest_cache_file.empty()) return;
    if (unread_.empty() && size_before == items_.size()) return;
    content::DigestCache cache;
    for (const Item& item : items_) {
      const FileStat& stat = item.entry.stat;
      // A known file is not racy: all that matters is that it was hashed late enough.
      const int64_t hashed_ns = item.hashed_ns != 0
                                    ? item.hashed_ns
                                    : std::max(stat.mtime_ns, stat.ctime_ns) + kRacyWindowNanos;
      if (item.digest.has_value()) cache.Add(item.entry.host_path, stat, *item.digest, hashed_ns);
    }
    const std::string& file = options_.digest_cache_file;
    absl::Status saved = CreateDirectories(file.substr(0, file.rfind('/')));
    if (saved.ok()) saved = cache.Save(file);
    if (!saved.ok()) LogWarning("digest_cache=not_saved reason=\"{}\"", MessageOf(saved));
    RemoveOldest(file.substr(0, file.rfind('/')));
  }

  absl::Status PutFolders(PutTreeReport& report) {
    std::vector<tree::TreeFile> files;
    std::vector<size_t> index;
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (!item.digest.has_value()) continue;
      files.push_back({.path = std::string(item.path()),
                       .digest = *item.digest,
                       .is_executable = (item.entry.stat.mode & S_IXUSR) != 0});
      index.push_back(i);
    }
    const tree::BuiltTree built = tree::BuildTree(files, content::FoldName);
    for (const tree::Conflict& conflict : built.conflicts) {
      Item& second = items_[index[conflict.second]];
      second.error = fmt::format("{} and {}: {}; a tree holds only one of them",
                                 items_[index[conflict.first]].entry.host_path,
                                 second.entry.host_path, conflict.reason);
    }
    if (!built.conflicts.empty()) return absl::OkStatus();
    BlobLane lane(groups_);
    for (const auto& [digest, bytes] : built.directories) {
      if (bytes.size() <= store::kSmallBlobBytesMax) {
        RETURN_IF_ERROR(lane.PutSmall(bytes));
      } else {
        RETURN_IF_ERROR(lane.PutLarge(digest, bytes));
      }
    }
    report.root = built.root;
    return lane.Flush();
  }

  bool IsStopped() const { return options_.stop != nullptr && options_.stop->is_cancelled(); }

  absl::Status Progress() {
    if (IsStopped()) return Stopped();
    if (!options_.on_progress || clock_.Monotonic() < told_ + kProgressInterval)
      return absl::OkStatus();
    told_ = clock_.Monotonic();
    if (options_.on_progress(
            {.files = done_files_, .files_total = items_.size(), .bytes = done_bytes_}))
      return absl::OkStatus();
    return Stopped();
  }

  const PutTreeOptions& options_;
  Clock& clock_;
  std::vector<Item> items_;  // by path; one thread uses an item
  std::vector<size_t> unread_;
  std::atomic<size_t> next_ = 0;  // index in unread_
  std::atomic<bool> is_stopped_ = false;
  std::atomic<uint64_t> done_files_ = 0, done_bytes_ = 0, read_files_ = 0, read_bytes_ = 0;
  absl::Time told_ = absl::InfinitePast();
  BlobGroups groups_;
};

}  // namespace

absl::StatusOr<PutTreeReport> PutTree(store::Store& store, const PutTreeOptions& options) {
  SystemClock system;
  Clock& clock = options.clock != nullptr ? *options.clock : system;
  const unsigned threads = options.threads != 0
                               ? options.threads
                               : std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax);
  ASSIGN_OR_RETURN(const store::StoreInfo info, store.Info());
  RETURN_IF_ERROR(CheckApart(options.path, info.directory));
  absl::StatusOr<std::vector<Item>> items = absl::UnknownError("not looked for");
  content::DigestCache cache;
  std::atomic<int> next = 0;
  RunOnThreads(2, [&](size_t) {
    for (int step = next++; step < 2; step = next++) {
      if (step == 0) {
        items = FindItems(options, clock, threads);
      } else {
        cache = LoadCache(options.digest_cache_file);
      }
    }
  });
  RETURN_IF_ERROR(items.status());
  RETURN_IF_ERROR(CheckFinished(*items));
  return Putter(store, info.directory, options, clock, *std::move(items)).Run(cache, threads);
}

}  // namespace galley::director
