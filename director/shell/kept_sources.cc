#include "director/shell/kept_sources.h"

#include <chrono>
#include <memory>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/record/kept_action.h"
#include "common/record/observed_value.h"
#include "common/record/recipe.h"
#include "director/core/packages/package_data.h"
#include "director/shell/sources.h"

namespace galley::director {
namespace {

constexpr std::chrono::milliseconds kIdleLookInterval(100);
// Larger files are put in pieces; smaller ones together.
constexpr uint64_t kSmallBytesMax = 1 << 20;
constexpr uint64_t kPutBytesMax = 16 << 20;
constexpr size_t kTakenAtOnce = 256;
// Known blobs, at some 20 bytes each; when there are more, all are asked for again.
constexpr size_t kKnownMax = 4'000'000;

// The store has no more space, or is not there. All other errors are about one file.
bool IsOfStore(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
         absl::IsPermissionDenied(status) || absl::IsInternal(status);
}

// A file that cannot be read, or is larger than its digest says, is no trouble of the store.
absl::Status OfOneFile(const absl::Status& unread) {
  return absl::IsCancelled(unread) ? unread : absl::AbortedError(MessageOf(unread));
}

}  // namespace

KeptSources::KeptSources(store::Store& store, Options options)
    : store_(store), options_(std::move(options)), thread_([this] { Run(); }) {}

KeptSources::~KeptSources() {
  End();
  thread_.join();
}

void KeptSources::End() {
  stop_.Cancel();
  {
    base::MutexLock lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
    waiting_digests_.clear();
  }
  changed_.NotifyAll();
}

void KeptSources::KeepSoon(WorldPtr world, std::string_view path, const Digest& digest) {
  const uint64_t fingerprint = DigestHash()(digest);
  {
    base::MutexLock lock(mutex_);
    if (is_ending_ || known_.contains(fingerprint)) return;
    if (waiting_.size() >= options_.waiting_max) return;
    if (!waiting_digests_.insert(fingerprint).second) return;
    waiting_.push_back({.world = std::move(world),
                        .file = {.path = std::string(path), .host_path = "", .digest = digest}});
  }
  changed_.NotifyAll();
}

void KeptSources::AwaitIdle(const Cancellation& stop) {
  while (!stop.is_cancelled()) {
    base::MutexLock lock(mutex_);
    if (waiting_.empty() && !is_busy_) return;
    changed_.WaitFor(mutex_, kIdleLookInterval);
  }
}

void KeptSources::Run() {
  while (true) {
    std::vector<Waiting> waiting;
    {
      base::MutexLock lock(mutex_);
      while (waiting_.empty() && !is_ending_) changed_.Wait(mutex_);
      if (is_ending_) return;
      is_busy_ = true;
      waiting = TakeWaiting();
    }
    KeepWaiting(std::move(waiting));
    {
      base::MutexLock lock(mutex_);
      is_busy_ = false;
    }
    changed_.NotifyAll();
  }
}

std::vector<KeptSources::Waiting> KeptSources::TakeWaiting() {
  std::vector<Waiting> taken;
  while (!waiting_.empty() && taken.size() < kTakenAtOnce) {
    waiting_digests_.erase(DigestHash()(waiting_.front().file.digest));
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return taken;
}

// Files of one world mostly lie together.
void KeptSources::KeepWaiting(std::vector<Waiting> waiting) {
  for (size_t begin = 0; begin < waiting.size();) {
    const WorldPtr world = waiting[begin].world;
    std::vector<Wanted> files;
    for (; begin < waiting.size() && waiting[begin].world == world; ++begin)
      files.push_back(std::move(waiting[begin].file));
    PutFiles(*world, files, Ask::kForUnknown, stop_);
  }
}

KeptSources::Kept KeptSources::KeepFiles(const World& world, std::span<const std::string> paths,
                                         const Cancellation& stop) {
  std::vector<Wanted> files;
  for (const std::string& path : paths) {
    if (stop.is_cancelled()) break;
    const absl::StatusOr<Digest> digest = world.snapshot->DigestOf(path, &stop);
    // A file that changed is looked at in the next world; one that cannot be read is nobody's
    // input.
    if (digest.ok()) files.push_back({.path = path, .host_path = "", .digest = *digest});
  }
  PutFiles(world, files, Ask::kForUnknown, stop);
  Kept kept;
  base::MutexLock lock(mutex_);
  for (const Wanted& file : files) {
    if (!known_.contains(DigestHash()(file.digest))) continue;
    ++kept.files;
    kept.bytes += file.digest.size_bytes();
  }
  return kept;
}

void KeptSources::NoteKept(const Digest& digest) {
  base::MutexLock lock(mutex_);
  known_.insert(DigestHash()(digest));
}

// A collection, or damage, may have dropped what was known.
void KeptSources::ForgetIfLost() {
  const absl::StatusOr<store::StoreInfo> info = store_.Info();
  if (!info.ok()) return;
  std::pair<std::string, uint64_t> now(info->store_id, info->loss_epoch);
  base::MutexLock lock(mutex_);
  if (known_in_ == now && known_.size() < kKnownMax) return;
  known_.clear();
  known_in_ = std::move(now);
}

absl::flat_hash_set<Digest> KeptSources::Missing(const std::vector<Digest>& digests, Ask ask) {
  ForgetIfLost();
  std::vector<Digest> asked;
  {
    base::MutexLock lock(mutex_);
    for (const Digest& digest : digests) {
      if (ask == Ask::kForAll || !known_.contains(DigestHash()(digest))) asked.push_back(digest);
    }
  }
  absl::flat_hash_set<Digest> missing;
  if (asked.empty()) return missing;
  const absl::StatusOr<std::vector<Digest>> absent = store_.FindMissing(asked);
  const std::vector<Digest>& all = absent.ok() ? *absent : asked;
  missing.insert(all.begin(), all.end());
  base::MutexLock lock(mutex_);
  for (const Digest& digest : asked) {
    if (!missing.contains(digest)) known_.insert(DigestHash()(digest));
  }
  return missing;
}

bool KeptSources::PutFiles(const World& world, const std::vector<Wanted>& files, Ask ask,
                           const Cancellation& stop) {
  std::vector<Digest> digests;
  for (const Wanted& file : files) digests.push_back(file.digest);
  absl::flat_hash_set<Digest> missing = Missing(digests, ask);
  ToPut small;
  bool is_whole = true;
  absl::Status full;  // of a store that takes nothing more: no file is read in vain
  const auto note = [&](const absl::Status& put, uint64_t count) {
    if (!IsOfStore(put)) return;
    NoteTrouble(count, put);
    is_whole = false;
    if (absl::IsResourceExhausted(put)) full = put;
  };
  for (const Wanted& file : files) {
    if (stop.is_cancelled()) break;
    if (missing.erase(file.digest) == 0) continue;
    const bool is_alone = !full.ok() || file.digest.size_bytes() > kSmallBytesMax;
    const uint64_t count = is_alone ? 1 : small.digests.size() + 1;
    note(full.ok() ? PutFile(world, file, stop, small) : full, count);
  }
  const uint64_t count = small.digests.size();
  note(PutSmall(small), count);
  return is_whole;
}

absl::Status KeptSources::PutFile(const World& world, const Wanted& file, const Cancellation& stop,
                                  ToPut& small) {
  if (file.digest.size_bytes() > kSmallBytesMax) return PutLarge(world, file, stop);
  absl::StatusOr<std::string> bytes = ReadSmall(world, file);
  if (!bytes.ok()) return OfOneFile(bytes.status());
  if (Digest::Of(*bytes) != file.digest)
    return AbortedError("{}{} has changed", file.path, file.host_path);
  small.size_bytes += bytes->size();
  small.digests.push_back(file.digest);
  small.bytes.push_back(*std::move(bytes));
  return small.size_bytes < kPutBytesMax ? absl::OkStatus() : PutSmall(small);
}

absl::StatusOr<std::string> KeptSources::ReadSmall(const World& world, const Wanted& file) {
  if (!file.host_path.empty()) return ReadFile(file.host_path, kSmallBytesMax);
  ASSIGN_OR_RETURN(const content::Snapshot::Content content,
                   world.snapshot->Read(file.path, kSmallBytesMax));
  return *content.bytes;
}

absl::Status KeptSources::PutSmall(ToPut& small) {
  const ToPut taken = std::exchange(small, {});
  std::vector<store::BlobView> views;
  for (size_t i = 0; i < taken.bytes.size(); ++i)
    views.push_back({.digest = taken.digests[i], .bytes = taken.bytes[i]});
  absl::Status first;
  const std::vector<absl::Status> outcomes = store_.PutMany(views);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    first.Update(outcomes[i]);
    if (outcomes[i].ok()) NoteKept(taken.digests[i]);
  }
  return first;
}

// The writer refuses bytes that are not those of the digest.
absl::Status KeptSources::PutLarge(const World& world, const Wanted& file,
                                   const Cancellation& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::BlobWriter> writer, store_.NewWriter(file.digest));
  absl::Status appended;
  const auto append = [&](std::string_view piece) {
    if (appended.ok()) appended = writer->Append(piece);
  };
  const auto append_to_end = [&](std::string_view piece) -> absl::Status {
    append(piece);
    if (stop.is_cancelled()) return absl::CancelledError("nobody waits for it");
    return appended;
  };
  const absl::Status read = file.host_path.empty()
                                ? world.snapshot->Stream(file.path, append, &stop).status()
                                : ReadInPieces(file.host_path, append_to_end);
  RETURN_IF_ERROR(appended);
  if (!read.ok()) return OfOneFile(read);
  RETURN_IF_ERROR(writer->Finish());
  NoteKept(file.digest);
  return absl::OkStatus();
}

void KeptSources::KeepRecords(const World& world, std::span<const StoredResultPtr> results) {
  std::vector<Digest> keys;
  for (const StoredResultPtr& stored : results) {
    if (stored != nullptr && !stored->result.is_verdict) keys.push_back(stored->action_key);
  }
  absl::flat_hash_set<Digest> missing = Missing(keys, Ask::kForAll);
  std::vector<Wanted> inputs;
  std::vector<std::string> blobs;
  for (const StoredResultPtr& stored : results) {
    if (stored == nullptr || missing.erase(stored->action_key) == 0) continue;
    const absl::StatusOr<record::Action> action = ActionOf(*stored);
    if (!action.ok()) {
      LogWarning("package={} platform={} its sources are not kept: {}", stored->package,
                 stored->platform_name, MessageOf(action.status()));
      continue;
    }
    for (const std::string_view bytes : record::BlobsToKeep(*action)) blobs.emplace_back(bytes);
    for (Wanted& input : InputsOf(world, *stored)) inputs.push_back(std::move(input));
  }
  // An Action in the store says that its inputs were dealt with.
  if (!PutFiles(world, inputs, Ask::kForAll, stop_)) return;
  ToPut small;
  std::vector<Digest> digests;
  for (const std::string& bytes : blobs) digests.push_back(Digest::Of(bytes));
  absl::flat_hash_set<Digest> absent = Missing(digests, Ask::kForAll);
  for (size_t i = 0; i < blobs.size(); ++i) {
    if (absent.erase(digests[i]) == 0) continue;
    small.digests.push_back(digests[i]);
    small.bytes.push_back(std::move(blobs[i]));
  }
  const uint64_t count = small.digests.size();
  if (const absl::Status put = PutSmall(small); !put.ok()) NoteTrouble(count, put);
}

// The key of a result that a look-up found may be of another trust domain than ours.
absl::StatusOr<record::Action> KeptSources::ActionOf(const StoredResult& stored) const {
  ASSIGN_OR_RETURN(const record::Recipe recipe, record::DecodeRecipe(stored.recipe_bytes));
  for (const std::string& domain : options_.trust_domains) {
    ASSIGN_OR_RETURN(record::Action action, record::BuildAction({.recipe = recipe,
                                                                 .source = stored.source,
                                                                 .observed = stored.observed,
                                                                 .trust_domain = domain}));
    if (action.key == stored.action_key) return action;
  }
  return NotFoundError("its key is of another trust domain");
}

// The inputs that are files of the project. The others are blobs: generated sources, and outputs.
std::vector<KeptSources::Wanted> KeptSources::InputsOf(const World& world,
                                                       const StoredResult& stored) {
  using record::ObservationKind;
  std::vector<Wanted> inputs;
  if (GeneratorName(stored.package).empty())
    inputs.push_back({.path = stored.package, .host_path = "", .digest = stored.source});
  for (const record::Observed& seen : stored.observed) {
    const auto digest = record::CheckValue(seen);
    if (!digest.ok() || !digest->has_value()) continue;
    const std::string& subject = seen.what.subject;
    if (seen.what.kind == ObservationKind::kFile) {
      auto path = AskedName(stored.package, subject);
      if (path.ok() && GeneratorName(*path).empty())
        inputs.push_back({.path = *std::move(path), .host_path = "", .digest = **digest});
    } else if (seen.what.kind == ObservationKind::kTool && !subject.starts_with('/')) {
      inputs.push_back({.path = "",
                        .host_path = AbsolutePath(subject, world.project->root),
                        .digest = **digest});
    }
  }
  return inputs;
}

void KeptSources::NoteTrouble(uint64_t files, const absl::Status& why) {
  base::MutexLock lock(mutex_);
  if (!trouble_.has_value()) trouble_ = Trouble{.files = 0, .reason = MessageOf(why)};
  trouble_->files += files;
}

std::optional<KeptSources::Trouble> KeptSources::TakeTrouble() {
  base::MutexLock lock(mutex_);
  return std::exchange(trouble_, std::nullopt);
}

}  // namespace galley::director
