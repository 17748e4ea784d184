#include "common/store/reapi/server/requests.h"

#include <optional>
#include <string>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"

namespace galley::store {
namespace {

using Field = WireReader::Field;
using tree::BoolOf;
using tree::BytesOf;
using tree::VarintOf;

// Takes each field of this number with `take`, which gets `to` besides.
template <typename Take, typename... To>
auto Each(uint32_t number, Take take, To&&... to) {
  return [number, take, &to...](const Field& field, uint32_t&) {
    return field.number == number ? take(field, to...) : absl::OkStatus();
  };
}

// Takes the one field of this number. INVALID_ARGUMENT: it comes a second time.
template <typename Take, typename... To>
auto Once(uint32_t number, Take take, To&&... to) {
  return [number, take, &to...](const Field& field, uint32_t& seen) {
    if (field.number != number) return absl::OkStatus();
    if ((seen >> number & 1) != 0)
      return InvalidArgumentError("field {} comes twice, expected it once", number);
    seen |= 1u << number;
    return take(field, to...);
  };
}

// Reads the fields that one of `takers` takes, each an Each or Once, and skips all others.
template <typename... Takers>
absl::Status ReadFields(std::string_view bytes, const Takers&... takers) {
  uint32_t seen = 0;  // the numbers of fields that stand once
  return tree::ForEachField(bytes, [&](const Field& field) {
    absl::Status status;
    (status.Update(takers(field, seen)), ...);
    return status;
  });
}

absl::Status TakeInstance(const Field& field, std::string_view& instance) {
  ASSIGN_OR_RETURN(instance, BytesOf(field, "instance_name"));
  return CheckInstanceName(instance);
}

// A name or a path: what is stored, compared or told must be text.
absl::Status TakeText(const Field& field, std::string_view name, std::string_view& text) {
  ASSIGN_OR_RETURN(text, BytesOf(field, name));
  if (IsUtf8(text)) return absl::OkStatus();
  return InvalidArgumentError("{}: no UTF-8", name);
}

absl::Status TakeBytes(const Field& field, std::string_view name, std::string_view& bytes) {
  ASSIGN_OR_RETURN(bytes, BytesOf(field, name));
  return absl::OkStatus();
}

absl::Status TakeFlag(const Field& field, std::string_view name, bool& flag) {
  ASSIGN_OR_RETURN(flag, BoolOf(field, name));
  return absl::OkStatus();
}

absl::Status TakeNumber(const Field& field, std::string_view name, int64_t& number) {
  ASSIGN_OR_RETURN(const uint64_t value, VarintOf(field, name));
  number = static_cast<int64_t>(value);
  return absl::OkStatus();
}

absl::Status TakeDigest(const Field& field, std::string_view name, std::optional<Digest>& digest) {
  ASSIGN_OR_RETURN(digest, tree::DigestOf(field, name));
  return Annotate(CheckEmptyDigest(*digest), name);
}

absl::Status AppendDigest(const Field& field, std::string_view name, std::vector<Digest>& digests) {
  std::optional<Digest> digest;
  RETURN_IF_ERROR(TakeDigest(field, name, digest));
  digests.push_back(*digest);
  return absl::OkStatus();
}

absl::StatusOr<Digest> Present(const std::optional<Digest>& digest, std::string_view name) {
  if (digest.has_value()) return *digest;
  return InvalidArgumentError("{}: expected a digest, there is none", name);
}

absl::Status CheckFunction(const Field& field) {
  ASSIGN_OR_RETURN(const uint64_t function, VarintOf(field, "digest_function"));
  if (function <= 1) return absl::OkStatus();  // UNKNOWN (by the hash's length), SHA256
  return InvalidArgumentError("digest_function {}: the only one that is spoken is SHA256",
                              function);
}

absl::Status TakeCompressor(const Field& field, Compressor& compressor) {
  ASSIGN_OR_RETURN(const uint64_t value, VarintOf(field, "compressor"));
  if (value > 1) {
    return InvalidArgumentError("compressor {}: the only one that is spoken is ZSTD", value);
  }
  compressor = static_cast<Compressor>(value);
  return absl::OkStatus();
}

// A list of numbers may come as one field (packed) or one field each.
absl::Status TakeAcceptable(const Field& field, bool& takes_zstd) {
  const auto take = [&](uint64_t value) { takes_zstd |= value == 1; };
  if (field.type == WireReader::Type::kVarint) {
    take(field.value);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string_view packed, BytesOf(field, "acceptable_compressors"));
  uint64_t value = 0;
  int shift = 0;
  for (const char c : packed) {
    if (shift > 63)
      return absl::InvalidArgumentError("acceptable_compressors: a number of more than 64 bits");
    value |= (uint64_t{static_cast<uint8_t>(c)} & 0x7f) << shift;
    shift += 7;
    if ((c & 0x80) != 0) continue;
    take(value);
    value = 0;
    shift = 0;
  }
  if (shift == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("acceptable_compressors: ends inside a number");
}

absl::StatusOr<BatchUpdateRequest::Blob> DecodeBatchBlob(std::string_view bytes) {
  BatchUpdateRequest::Blob blob;
  std::optional<Digest> digest;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeDigest, "digest", digest),
                             Once(2, TakeBytes, "data", blob.data),
                             Once(3, TakeCompressor, blob.compressor)));
  ASSIGN_OR_RETURN(blob.digest, Present(digest, "requests.digest"));
  return blob;
}

absl::Status AppendBatchBlob(const Field& field, std::vector<BatchUpdateRequest::Blob>& blobs) {
  ASSIGN_OR_RETURN(const std::string_view blob, BytesOf(field, "requests"));
  ASSIGN_OR_RETURN(blobs.emplace_back(), DecodeBatchBlob(blob));
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> DecodeOneName(std::string_view bytes, std::string_view name) {
  std::string_view text;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeText, name, text)));
  return text;
}

}  // namespace

absl::StatusOr<FindMissingRequest> DecodeFindMissing(std::string_view bytes) {
  FindMissingRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeInstance, request.instance),
                             Each(2, AppendDigest, "blob_digests", request.digests),
                             Once(3, CheckFunction)));
  return request;
}

absl::StatusOr<BatchUpdateRequest> DecodeBatchUpdate(std::string_view bytes) {
  BatchUpdateRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeInstance, request.instance),
                             Each(2, AppendBatchBlob, request.blobs), Once(5, CheckFunction)));
  return request;
}

absl::StatusOr<BatchReadRequest> DecodeBatchRead(std::string_view bytes) {
  BatchReadRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeInstance, request.instance),
                             Each(2, AppendDigest, "digests", request.digests),
                             Each(3, TakeAcceptable, request.takes_zstd), Once(4, CheckFunction)));
  return request;
}

absl::StatusOr<GetTreeRequest> DecodeGetTree(std::string_view bytes) {
  GetTreeRequest request;
  std::optional<Digest> root;
  int64_t page_size = 0;
  RETURN_IF_ERROR(ReadFields(
      bytes, Once(1, TakeInstance, request.instance), Once(2, TakeDigest, "root_digest", root),
      Once(3, TakeNumber, "page_size", page_size),
      Once(4, TakeBytes, "page_token", request.page_token), Once(5, CheckFunction)));
  if (page_size < 0 || page_size > INT32_MAX)
    return absl::InvalidArgumentError("page_size: expected 0 or more");
  request.page_size = static_cast<int32_t>(page_size);
  ASSIGN_OR_RETURN(request.root, Present(root, "root_digest"));
  return request;
}

absl::StatusOr<GetActionResultRequest> DecodeGetActionResult(std::string_view bytes) {
  GetActionResultRequest request;
  std::optional<Digest> action;
  const auto append_path = [&](const Field& field) {
    return TakeText(field, "inline_output_files", request.inline_output_files.emplace_back());
  };
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeInstance, request.instance),
                             Once(2, TakeDigest, "action_digest", action),
                             Once(3, TakeFlag, "inline_stdout", request.inline_stdout),
                             Once(4, TakeFlag, "inline_stderr", request.inline_stderr),
                             Each(5, append_path), Once(6, CheckFunction)));
  ASSIGN_OR_RETURN(request.action, Present(action, "action_digest"));
  return request;
}

absl::StatusOr<UpdateActionResultRequest> DecodeUpdateActionResult(std::string_view bytes) {
  UpdateActionResultRequest request;
  std::optional<Digest> action;
  bool has_result = false;
  const auto take_result = [&](const Field& field) {
    has_result = true;
    return TakeBytes(field, "action_result", request.result);
  };
  const auto skip = [](const Field&) { return absl::OkStatus(); };
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeInstance, request.instance),
                             Once(2, TakeDigest, "action_digest", action), Once(3, take_result),
                             Once(4, skip), Once(5, CheckFunction)));
  if (!has_result) return absl::InvalidArgumentError("action_result: expected one");
  ASSIGN_OR_RETURN(request.action, Present(action, "action_digest"));
  return request;
}

absl::StatusOr<std::string_view> DecodeGetCapabilities(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string_view instance, DecodeOneName(bytes, "instance_name"));
  RETURN_IF_ERROR(CheckInstanceName(instance));
  return instance;
}

absl::StatusOr<ReadRequest> DecodeRead(std::string_view bytes) {
  ReadRequest request;
  std::string_view name;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeText, "resource_name", name),
                             Once(2, TakeNumber, "read_offset", request.offset),
                             Once(3, TakeNumber, "read_limit", request.limit)));
  ASSIGN_OR_RETURN(request.name, ParseReadName(name));
  return request;
}

absl::StatusOr<WriteRequest> DecodeWrite(std::string_view bytes) {
  WriteRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, TakeText, "resource_name", request.name),
                             Once(2, TakeNumber, "write_offset", request.offset),
                             Once(3, TakeFlag, "finish_write", request.finish),
                             Once(10, TakeBytes, "data", request.data)));
  return request;
}

absl::StatusOr<std::string_view> DecodeQueryWriteStatus(std::string_view bytes) {
  return DecodeOneName(bytes, "resource_name");
}

}  // namespace galley::store
