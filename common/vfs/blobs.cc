#include "common/vfs/blobs.h"

#include <chrono>
#include <utility>

#include "common/vfs/download.h"
#include "common/vfs/retry.h"

namespace galley::vfs {

Blobs::Blobs(Ground& ground)
    : ground_(ground),
      cache_({.disk = ground.options.disk,
              .folder = ground.options.cache_folder,
              .bytes_max = ground.options.cache_bytes_max,
              .now_s = ground.options.now_s}) {}

Result<std::shared_ptr<OpenFile>> Blobs::Open(const BlobId& blob, bool may_fetch,
                                              const Waiting& waiting) {
  return Get<std::shared_ptr<OpenFile>>([&] { return cache_.Open(blob); }, blob, may_fetch,
                                        waiting);
}

Result<std::string> Blobs::Read(const BlobId& blob, bool may_fetch, const Waiting& waiting) {
  return Get<std::string>([&] { return cache_.Read(blob); }, blob, may_fetch, waiting);
}

// Others may evict a blob between its coming and its use, where the quota is small.
template <typename Value, typename Look>
Result<Value> Blobs::Get(const Look& look, const BlobId& blob, bool may_fetch,
                         const Waiting& waiting) {
  for (int tries = 1;; ++tries) {
    Result<Value> got = look();
    if (got.ok() || got.fault().code != kNotCached) return got;
    if (tries > kTriesMax)
      return Fault{GALLEY_VFS_NO_SPACE, "the cache is too small for what is read at a time"};
    if (const Outcome failed = Fetch(blob, may_fetch, waiting)) return *failed;
  }
}

Outcome Blobs::Fetch(const BlobId& blob, bool may_fetch, const Waiting& waiting) {
  if (!may_fetch)
    return Fault{GALLEY_VFS_OFFLINE, "the cache does not have it, and the director is away"};
  if (Outcome failed = BeginFetch(blob, waiting)) return failed;
  const FetchEnd end{*this, blob};
  // Another thread may have fetched it before this one could begin. A try that brought something is
  // no failure: the next one goes on behind it.
  uint64_t had = 0;
  for (int tries = 1; !cache_.Has(blob); ++tries) {
    uint64_t have = 0;
    const Outcome failed = FetchOnce(blob, waiting, have);
    if (!failed) break;
    if (have > had) tries = 1;
    had = have;
    if (tries == kTriesMax || !MayTryAgain(ground_, *failed, waiting)) return failed;
  }
  return std::nullopt;
}

void Blobs::EndFetch(const BlobId& blob) {
  const std::lock_guard lock(mutex_);
  fetches_.erase(blob);
  fetch_ended_.notify_all();
}

// Waits until no other thread fetches it.
Outcome Blobs::BeginFetch(const BlobId& blob, const Waiting& waiting) {
  std::unique_lock lock(mutex_);
  while (fetches_.contains(blob)) {
    fetch_ended_.wait_for(lock, std::chrono::milliseconds(Waiting::kPieceMs));
    if (waiting.is_cancelled()) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
    if (waiting.is_over()) return Fault{GALLEY_VFS_TIMED_OUT, "another thread fetches it still"};
  }
  fetches_.insert(blob);
  return std::nullopt;
}

Outcome Blobs::FetchOnce(const BlobId& blob, const Waiting& waiting, uint64_t& had) {
  Download download(cache_);
  if (Outcome failed = download.Begin(blob)) return failed;
  const uint64_t have = download.have();
  if (have == blob.size) return download.Finish();
  Request request{.target = "/v1/blob/" + blob.ToText()};
  if (have > 0) request.fields = {{"Range", "bytes=" + std::to_string(have) + "-"}};
  Download problem(cache_);
  const auto take_head = [&](const ResponseHead& head) -> Outcome {
    download.SetHead(head);
    download.BeginBodyAt(head.status == 206 ? have : 0);
    const std::string begin = "bytes " + std::to_string(have) + "-";
    if (head.status == 206 && !head.Find("content-range").starts_with(begin))
      return Fault{GALLEY_VFS_SERVER, "another range came than was asked for"};
    return std::nullopt;
  };
  const auto take_body = [&](std::string_view bytes) {
    const bool has_file = download.head().status == 200 || download.head().status == 206;
    return has_file ? download.TakeBody(bytes) : problem.TakeBody(bytes);
  };
  const Result<ResponseHead> done = ground_.Do(
      request, waiting, {.head = take_head, .body = take_body, .silence_max_ms = kSilenceMaxMs});
  had = download.have();
  if (!done.ok() && done.fault().code == GALLEY_VFS_DAMAGED) download.Drop();
  if (!done.ok() && done.fault().code != kStopped) return done.fault();
  const ResponseHead& head = download.head();
  if (head.status == 416) {
    download.Drop();
    return Fault{GALLEY_VFS_DAMAGED, "the part that is here is not one of " + blob.ToText()};
  }
  if (head.status == 404) return Fault{kNotCached, "the director has lost it"};
  if (head.status != 200 && head.status != 206)
    return FaultOf("blob " + blob.ToText(), head, problem.problem());
  if (download.have() < blob.size) {
    return Fault{.code = GALLEY_VFS_OFFLINE, .text = "the answer ended too early", .is_cut = true};
  }
  ++ground_.fetched_files;
  return download.Finish();
}

}  // namespace galley::vfs
