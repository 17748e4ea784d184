#include "common/store/reapi/client/reapi_client.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/store/interface/check_bytes.h"
#include "common/store/reapi/client/blob_trust.h"
#include "common/store/reapi/client/reapi_caller.h"
#include "common/store/reapi/client/reapi_downloader.h"
#include "common/store/reapi/client/reapi_uploader.h"
#include "common/store/reapi/client/retry.h"
#include "common/store/reapi/client/waited_read.h"
#include "common/wire/digest_messages.h"

namespace galley::store {
namespace {

constexpr size_t kDigestsAtOnce = 20'000;  // a digest is about 75 bytes, a message at most 4 MiB
constexpr uint64_t kResultBytesUsual = 16 << 10;

// A store of one blob, which is in memory.
class OnlyBlob final : public BlobStore {
 public:
  OnlyBlob(const Digest& digest, std::string_view bytes) : digest_(digest), bytes_(bytes) {}
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest>) override {
    return std::vector<Digest>();
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    if (digest != digest_) return absl::NotFoundError("another blob");
    return MakeBlob(std::string(bytes_));
  }
  absl::Status Put(const Digest&, std::string_view) override {
    return absl::PermissionDeniedError("it is only read");
  }

 private:
  const Digest digest_;
  const std::string_view bytes_;
};

class ReapiClient final : public RemoteCache {
 public:
  explicit ReapiClient(ReapiClientOptions options)
      : caller_(std::move(options)),
        trust_(caller_.options().stream_bytes_min, caller_.options().verdict) {}

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return FindMissing(digests, RemoteLimits());
  }

  absl::StatusOr<Blob> Get(const Digest& digest) override { return Get(digest, RemoteLimits()); }
  absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits) override {
    return downloader_.Get(digest, limits);
  }

  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    if (!AreBytesOf(digest, bytes)) {
      return InvalidArgumentError("blob {}: the {} bytes given are not those of this digest",
                                  digest.ToString(), bytes.size());
    }
    OnlyBlob from(digest, bytes);
    return Send(std::span(&digest, 1), from, RemoteLimits());
  }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests,
                                                  const RemoteLimits& limits) override {
    std::vector<Digest> missing;
    for (size_t begin = 0; begin < digests.size(); begin += kDigestsAtOnce) {
      const auto part = digests.subspan(begin, std::min(kDigestsAtOnce, digests.size() - begin));
      RETURN_IF_ERROR(FindMissingOf(part, limits, missing));
    }
    return missing;
  }

  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, BlobStore& into,
                                            const RemoteLimits& limits) override {
    return downloader_.Fetch(digests, into, limits);
  }

  absl::Status Send(std::span<const Digest> digests, BlobStore& from,
                    const RemoteLimits& limits) override {
    RETURN_IF_ERROR(uploader_.Send(digests, from, limits));
    for (const Digest& digest : trust_.ToReadBack(digests)) {
      const std::optional<bool> is_right = downloader_.IsRightThere(digest, limits);
      if (is_right) trust_.ReadBack(digest, *is_right);
    }
    trust_.Sent(digests);
    return absl::OkStatus();
  }

  std::vector<Digest> Doubted(std::span<const Digest> digests) override {
    return trust_.Doubted(digests);
  }

  std::vector<std::optional<std::string>> ActionResults(std::span<const Digest> keys,
                                                        const RemoteLimits& limits) override {
    std::vector<std::optional<std::string>> answer(keys.size());
    std::atomic<size_t> next = 0;
    RunOnThreads(std::min(keys.size(), caller_.options().calls_at_once), [&](size_t) {
      for (size_t i = next++; i < keys.size(); i = next++)
        answer[i] = ActionResultOf(keys[i], limits);
    });
    return answer;
  }

  absl::Status UpdateActionResult(const Digest& key, std::string_view result,
                                  const RemoteLimits& limits) override {
    ASSIGN_OR_RETURN(const ReapiCapabilities server, caller_.Capabilities(limits));
    if (!server.takes_results)
      return absl::PermissionDeniedError("the server lets us only read results");
    reapi::UpdateActionResultRequest request;
    request.set_instance_name(caller_.options().instance);
    wire::SetHexDigest(key, request.mutable_action_digest());
    if (!request.mutable_action_result()->ParseFromArray(result.data(),
                                                         static_cast<int>(result.size())))
      return absl::InvalidArgumentError("no ActionResult");
    reapi::ActionResult reply;
    return caller_.Call(
        "UpdateActionResult", result.size(), limits, [&](grpc::ClientContext& context) {
          return caller_.action_cache().UpdateActionResult(&context, request, &reply);
        });
  }

  RemoteState State() const override {
    RemoteState state = caller_.State();
    const BlobTrust::Counts counts = trust_.counts();
    state.blobs_came = counts.blobs_came;
    state.blobs_wrong = counts.blobs_wrong;
    state.lost = counts.lost;
    state.blobs_repaired = counts.blobs_repaired;
    state.blobs_kept_wrong = counts.blobs_kept_wrong;
    switch (counts.given_up) {
      case RemoteVerdict::Reason::kNone:
        break;
      case RemoteVerdict::Reason::kWrong:
        state.given_up = RemoteState::GivenUp::kWrongBlobs;
        break;
      case RemoteVerdict::Reason::kSlow:
        state.given_up = RemoteState::GivenUp::kSlow;
        break;
    }
    return state;
  }
  void Stop() override { caller_.Stop(); }

 private:
  absl::Status FindMissingOf(std::span<const Digest> digests, const RemoteLimits& limits,
                             std::vector<Digest>& missing) {
    reapi::FindMissingBlobsRequest request;
    request.set_instance_name(caller_.options().instance);
    for (const Digest& digest : digests) {
      if (digest != Digest()) wire::SetHexDigest(digest, request.add_blob_digests());
    }
    if (request.blob_digests().empty()) return absl::OkStatus();
    reapi::FindMissingBlobsResponse reply;
    RETURN_IF_ERROR(caller_.Call("FindMissingBlobs", 0, limits, [&](grpc::ClientContext& context) {
      return caller_.cas().FindMissingBlobs(&context, request, &reply);
    }));
    std::set<Digest> answered;
    for (const reapi::Digest& one : reply.missing_blob_digests()) {
      const absl::StatusOr<Digest> digest = wire::HexDigestOf(one);
      if (!digest.ok()) return absl::InternalError("FindMissingBlobs: answered no digest of ours");
      answered.insert(*digest);
    }
    // In the order given, and nothing that was not asked for.
    std::copy_if(digests.begin(), digests.end(), std::back_inserter(missing),
                 [&](const Digest& digest) { return answered.contains(digest); });
    return absl::OkStatus();
  }

  // A server may take inline contents out of a result unless it is asked for them (bazel-remote).
  std::optional<std::string> ActionResultOf(const Digest& key, const RemoteLimits& limits) {
    if (limits.is_waited_for && trust_.has_given_up()) return std::nullopt;
    reapi::GetActionResultRequest request;
    request.set_instance_name(caller_.options().instance);
    wire::SetHexDigest(key, request.mutable_action_digest());
    request.add_inline_output_files("out/details");
    request.add_inline_output_files("observation-sets");
    reapi::ActionResult reply;
    WaitedRead read(limits, trust_);
    const absl::Status status = caller_.Call(
        "GetActionResult", kResultBytesUsual, read.limits(), [&](grpc::ClientContext& context) {
          reply.Clear();
          return caller_.action_cache().GetActionResult(&context, request, &reply);
        });
    read.Ended(kResultBytesUsual, /*is_of_use=*/!IsWorthRetrying(status.code()), caller_.is_down());
    if (!status.ok()) return std::nullopt;
    return reply.SerializeAsString();
  }

  ReapiCaller caller_;
  BlobTrust trust_;
  ReapiDownloader downloader_{caller_, trust_};
  ReapiUploader uploader_{caller_};
};

}  // namespace

std::unique_ptr<RemoteCache> CreateReapiClient(ReapiClientOptions options) {
  return std::make_unique<ReapiClient>(std::move(options));
}

}  // namespace galley::store
