#include "worker/session/byte_fetcher.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/snapshot.h"
#include "common/wire/convert.h"

namespace galley::worker {
namespace {

v1::ExecutorBytes ErrorOf(const absl::Status& status) {
  v1::ExecutorBytes bytes;
  bytes.set_code(static_cast<uint32_t>(status.code()));
  bytes.set_error(MessageOf(status));
  return bytes;
}

// The digest of the wanted bytes, if it is known.
std::optional<Digest> DigestOf(const v1::ExecutorWant& want) {
  const v1::Digest* digest = nullptr;
  if (want.has_blob()) digest = &want.blob();
  if (want.has_digest()) digest = &want.digest();
  if (digest == nullptr) return std::nullopt;
  const absl::StatusOr<Digest> known = wire::FromProto(*digest);
  if (!known.ok()) return std::nullopt;
  return *known;
}

// `unasked`: a file of unknown digest comes with its bytes up to this size.
v1::FetchItem ItemOf(uint64_t attempt, const v1::ExecutorWant& want, uint64_t unasked) {
  v1::FetchItem item;
  item.set_attempt(attempt);
  if (want.has_blob()) *item.mutable_blob() = want.blob();
  if (want.has_table()) item.set_table(want.table());
  if (want.has_tool()) item.set_tool(want.tool());
  if (want.has_looks()) *item.mutable_looks() = want.looks();
  if (want.has_path()) item.set_path(want.path());
  if (!want.has_path() && !want.has_tool()) return item;
  if (want.has_digest()) {
    *item.mutable_digest() = want.digest();
    item.set_bytes_max(UINT64_MAX);
  } else {
    item.set_bytes_max(want.is_digest_only() ? 0 : unasked);
  }
  return item;
}

// Whether `name` may be the name of a table's file, and of no file elsewhere.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

ByteFetcher::ByteFetcher(DirectorBytes& director, BlobCache& cache)
    : director_(director), cache_(cache) {
  for (int i = 0; i < kThreads; ++i)
    threads_.emplace_back([this, fetches_ahead = i > 0] { Run(fetches_ahead); });
}

ByteFetcher::~ByteFetcher() { Close(); }

void ByteFetcher::Close() {
  {
    const base::MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
  }
  closing_.Cancel();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ByteFetcher::SetTables(const std::string& directory) {
  const base::MutexLock lock(mutex_);
  tables_ = directory;
}

void ByteFetcher::SetShared(const std::string& path) {
  const base::MutexLock lock(mutex_);
  shared_path_ = path;
}

// Counts and reports files that the shared path lacks: an executor asks for a file's bytes only
// after it has looked there.
void ByteFetcher::NoteNotShared(const v1::ExecutorWant& want) {
  const base::MutexLock lock(mutex_);
  if (shared_path_.empty() || !want.has_path() || want.is_digest_only()) return;
  if (++counts_.not_shared > 1) return;
  LogWarning(
      "{} is missing at the shared path {}, or is another file there than the director's: it comes "
      "from the director, and so does all that is not there. (This is said once; how many these "
      "were is said at the end.)",
      want.path(), shared_path_);
}

ByteFetcher::Counts ByteFetcher::counts() const {
  const base::MutexLock lock(mutex_);
  return counts_;
}

std::string ByteFetcher::TablePath(const std::string& name) const {
  const base::MutexLock lock(mutex_);
  return JoinPath(tables_, name);
}

std::string ByteFetcher::MissingTable(const std::string& name) const {
  std::string missing = name;
  // The chain of tables is short: a table stands on a table that stands on none, or on a few.
  for (int i = 0; i < 8; ++i) {
    if (!IsPlainName(missing)) return missing;
    const absl::StatusOr<std::string> base = content::Snapshot::BaseOfTable(TablePath(missing));
    if (!base.ok()) return missing;
    if (base->empty()) return "";
    missing = *base;
  }
  return missing;
}

std::optional<v1::ExecutorBytes> ByteFetcher::Here(const v1::ExecutorWant& want) {
  v1::ExecutorBytes bytes;
  if (want.has_table()) {
    if (!MissingTable(want.table()).empty()) return std::nullopt;
    bytes.set_table_file(TablePath(want.table()));
    return bytes;
  }
  const std::optional<Digest> digest = DigestOf(want);
  if (!digest.has_value()) return std::nullopt;
  if (want.is_damaged()) cache_.Distrust(*digest);
  if (!want.is_digest_only() && !cache_.Use(*digest)) return std::nullopt;
  wire::ToProto(*digest, bytes.mutable_digest());
  return bytes;
}

void ByteFetcher::FetchFileAhead(uint64_t attempt, const std::string& path,
                                 const v1::Digest* digest) {
  v1::ExecutorWant want;
  want.set_path(path);
  if (digest != nullptr) *want.mutable_digest() = *digest;
  AheadKey key(attempt, path);
  {
    const base::MutexLock lock(mutex_);
    want.set_is_digest_only(!shared_path_.empty());
    // The oldest entries go; jobs whose snapshot knows the digest do not need them.
    while (ahead_.size() >= kAheadMax && ahead_.begin()->second.waiting.empty())
      ahead_.erase(ahead_.begin());
    Ahead& ahead = ahead_[key];
    if (digest != nullptr) ahead.digest = *digest;
  }
  if (digest != nullptr) return Ask(attempt, want, true, [](const v1::ExecutorBytes&) {});
  Ask(attempt, want, true,
      [this, key = std::move(key)](const v1::ExecutorBytes& bytes) { CameAhead(key, bytes); });
}

void ByteFetcher::FetchAhead(const Jobs& jobs) {
  if (jobs.empty()) return;
  {
    const base::MutexLock lock(mutex_);
    ++held_back_;
  }
  const auto fetch_blob = [&](const v1::Job& job, const v1::Digest& blob) {
    v1::ExecutorWant want;
    *want.mutable_blob() = blob;
    Ask(job.attempt(), want, true, [](const v1::ExecutorBytes&) {});
  };
  for (const v1::Job& job : jobs) {
    if (job.has_generated_source()) {
      fetch_blob(job, job.generated_source());
    } else {
      FetchFileAhead(job.attempt(), job.package(), job.has_source() ? &job.source() : nullptr);
    }
    for (const v1::LikelyRead& read : job.likely_reads()) {
      const v1::Digest* digest = read.has_digest() ? &read.digest() : nullptr;
      if (!read.path().empty()) {
        FetchFileAhead(job.attempt(), read.path(), digest);
      } else if (digest != nullptr) {
        fetch_blob(job, *digest);
      }
    }
  }
  const base::MutexLock lock(mutex_);
  --held_back_;
  changed_.NotifyAll();
}

void ByteFetcher::DropAhead(std::span<const uint64_t> attempts) {
  if (attempts.empty()) return;
  const base::MutexLock lock(mutex_);
  const auto is_dropped = [&](const Item& item) GALLEY_REQUIRES(mutex_) {
    if (std::ranges::find(attempts, item.item.attempt()) == attempts.end() || IsAwaited(item))
      return false;
    if (!item.digest.has_value()) return true;
    const auto at = behind_.find(*item.digest);
    if (at == behind_.end() || !at->second.empty()) return false;  // other jobs need it, too
    behind_.erase(at);
    return true;
  };
  std::erase_if(ahead_items_, is_dropped);
  for (const uint64_t attempt : attempts) {
    const auto begin = ahead_.lower_bound({attempt, ""});
    const auto end = ahead_.lower_bound({attempt + 1, ""});
    for (auto at = begin; at != end;) at = at->second.waiting.empty() ? ahead_.erase(at) : ++at;
  }
}

// Executors that wait for the file ask by its digest now; if the fetch failed, they ask themselves.
void ByteFetcher::CameAhead(const AheadKey& key, const v1::ExecutorBytes& bytes) {
  std::vector<std::pair<v1::ExecutorWant, Answer>> waiting;
  {
    const base::MutexLock lock(mutex_);
    const auto at = ahead_.find(key);
    if (at == ahead_.end()) return;
    waiting = std::move(at->second.waiting);
    if (bytes.code() != 0) {
      ahead_.erase(at);
    } else {
      at->second.waiting.clear();
      at->second.digest = bytes.digest();
    }
  }
  for (auto& [want, answer] : waiting) {
    if (bytes.code() == 0) *want.mutable_digest() = bytes.digest();
    Ask(key.first, want, false, std::move(answer));
  }
}

// Whether an executor waits for the bytes of a fetch ahead.
bool ByteFetcher::IsAwaited(const Item& item) const {
  const auto at = ahead_.find({item.item.attempt(), item.want.path()});
  if (at != ahead_.end() && !at->second.waiting.empty()) return true;
  const auto same = item.digest.has_value() ? behind_.find(*item.digest) : behind_.end();
  return same != behind_.end() &&
         std::ranges::any_of(same->second, [](const Item& other) { return !other.is_ahead; });
}

void ByteFetcher::Want(uint64_t attempt, const v1::ExecutorWant& asked, Answer answer) {
  NoteNotShared(asked);
  v1::ExecutorWant want = asked;
  if (want.has_path() && !want.has_digest()) {
    const base::MutexLock lock(mutex_);
    const auto at = ahead_.find({attempt, want.path()});
    if (at != ahead_.end()) {
      if (!at->second.digest.has_value()) {
        Hasten([&](const Item& item) {
          return item.item.attempt() == attempt && item.want.path() == asked.path();
        });
        at->second.waiting.emplace_back(std::move(want), std::move(answer));
        return;
      }
      *want.mutable_digest() = *at->second.digest;
    }
  }
  Ask(attempt, want, false, std::move(answer));
}

void ByteFetcher::Ask(uint64_t attempt, const v1::ExecutorWant& want, bool is_ahead,
                      Answer answer) {
  if (std::optional<v1::ExecutorBytes> here = Here(want)) return answer(*std::move(here));
  Queue({.item = ItemOf(attempt, want, UnaskedBytes()),
         .want = want,
         .digest = DigestOf(want),
         .answer = std::move(answer),
         .asked = clock_.Monotonic(),
         .is_ahead = is_ahead});
}

uint64_t ByteFetcher::UnaskedBytes() const {
  const base::MutexLock lock(mutex_);
  return luck_ < 0 ? 0 : kUnaskedBytesMax;
}

void ByteFetcher::NoteLuck(bool lay_here) {
  const base::MutexLock lock(mutex_);
  luck_ = std::clamp(luck_ + (lay_here ? -1 : 1), -kLuckMax, kLuckMax);
}

void ByteFetcher::Hasten(const std::function<bool(const Item&)>& is_it) {
  const auto at = std::ranges::find_if(ahead_items_, is_it);
  if (at == ahead_items_.end()) return;  // on its way, or already wanted
  at->is_ahead = false;
  wanted_.push_back(std::move(*at));
  ahead_items_.erase(at);
  changed_.NotifyAll();
}

void ByteFetcher::Queue(Item item) {
  if (item.want.has_table()) item.item.set_table(MissingTable(item.want.table()));
  const std::optional<Digest> digest = item.digest;
  {
    const base::MutexLock lock(mutex_);
    item.is_ahead = item.is_ahead && !IsAwaited(item);
    if (item.want.has_table()) {
      const auto [at_table, is_new] = behind_tables_.try_emplace(item.want.table());
      if (!is_new) return at_table->second.push_back(std::move(item));
    }
    const auto at = digest.has_value() ? behind_.find(*digest) : behind_.end();
    if (at != behind_.end()) {
      if (!item.is_ahead) Hasten([&](const Item& other) { return other.digest == digest; });
      return at->second.push_back(std::move(item));
    }
    // The blob may have come since the caller looked.
    if (!digest.has_value() || !cache_.Use(*digest)) {
      if (digest.has_value()) behind_.try_emplace(*digest);
      const bool wakes = !item.is_ahead || held_back_ == 0;
      (item.is_ahead ? ahead_items_ : wanted_).push_back(std::move(item));
      if (wakes) changed_.NotifyAll();
      return;
    }
  }
  v1::ExecutorBytes bytes;
  wire::ToProto(*digest, bytes.mutable_digest());
  item.answer(std::move(bytes));
}

std::vector<ByteFetcher::Item> ByteFetcher::Next(bool fetches_ahead) {
  std::vector<Item> items;
  const base::MutexLock lock(mutex_);
  const auto has_some = [&]() GALLEY_REQUIRES(mutex_) {
    return !wanted_.empty() || (fetches_ahead && held_back_ == 0 && !ahead_items_.empty());
  };
  while (!has_some() && !is_closed_) changed_.Wait(mutex_);
  Items& queue = wanted_.empty() ? ahead_items_ : wanted_;
  uint64_t sum = 0;
  while (!is_closed_ && !queue.empty() && items.size() < kItemsMax) {
    const std::optional<Digest>& digest = queue.front().digest;
    sum += digest.has_value() ? digest->size_bytes() : kUnaskedBytesMax;
    if (!items.empty() && sum > kCallBytesMax) break;
    items.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return items;
}

void ByteFetcher::Run(bool fetches_ahead) {
  while (true) {
    std::vector<Item> items = Next(fetches_ahead);
    if (items.empty()) return;
    FetchAll(std::move(items));
  }
}

void ByteFetcher::FetchAll(std::vector<Item> items) {
  std::vector<v1::FetchItem> asked;
  asked.reserve(items.size());
  for (const Item& item : items) asked.push_back(item.item);
  std::vector<Incoming> incoming(items.size());
  std::vector<bool> is_answered(items.size());
  const absl::Status status = director_.Fetch(asked, [&](const v1::FetchPiece& piece) {
    const size_t i = piece.item();
    if (i >= items.size() || is_answered[i]) return;
    TakePiece(items[i], piece, incoming[i]);
    if (!incoming[i].answer.has_value()) return;
    is_answered[i] = true;
    Resolve(std::move(items[i]), std::move(incoming[i]));
  });
  const absl::Status why =
      status.ok() ? absl::UnavailableError("the director did not answer it") : status;
  if (std::ranges::find(is_answered, false) == is_answered.end()) return;
  LogWarning("fetching {} items: {}", items.size(), MessageOf(why));
  closing_.Pause(kPause);
  if (closing_.is_cancelled()) return;
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_answered[i]) continue;
    if (clock_.Monotonic() - items[i].asked >= kPatience) {
      incoming[i].answer = ErrorOf(absl::UnavailableError(MessageOf(why)));
      Resolve(std::move(items[i]), std::move(incoming[i]));
      continue;
    }
    const base::MutexLock lock(mutex_);
    items[i].is_ahead = items[i].is_ahead && !IsAwaited(items[i]);
    (items[i].is_ahead ? ahead_items_ : wanted_).push_back(std::move(items[i]));
    changed_.NotifyAll();
  }
}

void ByteFetcher::TakePiece(const Item& item, const v1::FetchPiece& piece, Incoming& incoming) {
  if (incoming.answer.has_value()) return;
  const auto fail = [&](const absl::Status& status) { incoming.answer = ErrorOf(status); };
  if (piece.code() != 0) return fail({static_cast<absl::StatusCode>(piece.code()), piece.error()});
  incoming.bytes += piece.bytes().size();
  if (item.want.has_table()) {
    incoming.table += piece.bytes();
  } else if (!piece.bytes().empty()) {
    if (!incoming.file.has_value()) {
      absl::StatusOr<store::HashedFile> file = cache_.Create();
      if (!file.ok()) return fail(file.status());
      incoming.file.emplace(*std::move(file));
    }
    if (const absl::Status added = incoming.file->Append(piece.bytes()); !added.ok())
      return fail(added);
  }
  if (!piece.is_last()) return;
  absl::StatusOr<v1::ExecutorBytes> answer = Finish(item, piece, incoming);
  incoming.answer = answer.ok() ? *std::move(answer) : ErrorOf(answer.status());
}

absl::Status ByteFetcher::FinishTable(const std::string& name, const std::string& bytes) {
  if (!IsPlainName(name)) return InvalidArgumentError("\"{}\" is no table's name", name);
  RETURN_IF_ERROR(WriteFileAtomic(TablePath(name), bytes));
  return content::Snapshot::BaseOfTable(TablePath(name)).status();
}

// Executors have the tables that they use open; for a job of an older table the table is fetched
// again.
void ByteFetcher::RemoveOtherTables(const std::string& name) const {
  std::set<std::string> needed;
  for (std::string at = name; !at.empty();) {
    needed.insert(at);
    at = content::Snapshot::BaseOfTable(TablePath(at)).value_or("");
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(TablePath(""), error)) {
    if (!needed.contains(entry.path().filename().string())) ::unlink(entry.path().c_str());
  }
}

absl::StatusOr<v1::ExecutorBytes> ByteFetcher::Finish(const Item& item, const v1::FetchPiece& last,
                                                      Incoming& incoming) {
  v1::ExecutorBytes answer;
  if (item.want.has_table()) {
    RETURN_IF_ERROR(FinishTable(item.item.table(), incoming.table));
    answer.set_table_file(TablePath(item.want.table()));
    return answer;
  }
  if (item.want.has_looks()) {
    *answer.mutable_found() = last.found();
    return answer;
  }
  answer.set_is_absent(last.is_absent());
  answer.set_is_executable(last.is_executable());
  if (item.want.has_tool() && last.is_absent()) return answer;
  ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(last.digest()));
  const std::optional<Digest>& wanted = item.digest;
  if (wanted.has_value() && *wanted != digest)
    return AbortedError("{} was asked for, the director has {}", wanted->ToString(),
                        digest.ToString());
  incoming.is_left_out = last.is_left_out();
  if (!wanted.has_value() && !item.want.is_digest_only()) NoteLuck(cache_.Use(digest));
  if (!incoming.is_left_out && digest.size_bytes() > 0) {
    if (!incoming.file.has_value() || incoming.file->Finish() != digest)
      return UnavailableError("what came for {} are other bytes", digest.ToString());
    RETURN_IF_ERROR(incoming.file->KeepAs(digest));
    incoming.file.reset();
    cache_.Added(digest.size_bytes());
  }
  wire::ToProto(digest, answer.mutable_digest());
  return answer;
}

void ByteFetcher::Resolve(Item item, Incoming incoming) {
  std::vector<Item> behind;
  {
    const base::MutexLock lock(mutex_);
    (item.want.has_table() ? counts_.table_bytes : counts_.bytes) += incoming.bytes;
    if (is_closed_) return;
    if (item.digest.has_value()) {
      if (const auto at = behind_.find(*item.digest); at != behind_.end()) {
        behind = std::move(at->second);
        behind_.erase(at);
      }
    }
    if (const auto at = behind_tables_.find(item.want.table()); at != behind_tables_.end()) {
      behind = std::move(at->second);
      behind_tables_.erase(at);
    }
  }
  const bool is_error = incoming.answer->code() != 0;
  if (!is_error && item.want.has_table() && !MissingTable(item.want.table()).empty()) {
    Queue(std::move(item));  // now asks for the table on which it stands
  } else if (!is_error && incoming.is_left_out && !item.want.is_digest_only()) {
    // The file is large and came without bytes: now that its digest is known, it may turn out to be
    // cached.
    *item.want.mutable_digest() = incoming.answer->digest();
    Ask(item.item.attempt(), item.want, item.is_ahead, std::move(item.answer));
  } else {
    if (!is_error && item.want.has_table()) RemoveOtherTables(item.want.table());
    item.answer(*std::move(incoming.answer));
  }
  // The director may grant other attempts what it refused to this attempt.
  for (Item& one : behind) {
    one.want.set_is_damaged(false);
    Ask(one.item.attempt(), one.want, one.is_ahead, std::move(one.answer));
  }
}

}  // namespace galley::worker
