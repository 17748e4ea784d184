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

// Fields that stand once, as a set of their numbers.
template <typename... Numbers>
constexpr uint32_t Once(Numbers... numbers) {
  return (0u | ... | (1u << numbers));
}

// Calls `take` for each field. INVALID_ARGUMENT: one of `once` comes a second time.
template <typename Take>
absl::Status ReadFields(std::string_view bytes, uint32_t once, const Take& take) {
  uint32_t seen = 0;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const Field field, reader.Next());
    const uint32_t bit = field.number < 32 ? 1u << field.number & once : 0;
    if ((seen & bit) != 0) {
      return InvalidArgumentError("field {} comes twice, expected it once", field.number);
    }
    seen |= bit;
    RETURN_IF_ERROR(take(field));
  }
  return absl::OkStatus();
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
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3), [&](const Field& field) -> absl::Status {
    if (field.number == 1) return TakeDigest(field, "digest", digest);
    if (field.number == 3) return TakeCompressor(field, blob.compressor);
    if (field.number != 2) return absl::OkStatus();
    ASSIGN_OR_RETURN(blob.data, BytesOf(field, "data"));
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(blob.digest, Present(digest, "requests.digest"));
  return blob;
}

absl::StatusOr<std::string_view> DecodeOneName(std::string_view bytes, std::string_view name) {
  std::string_view text;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1), [&](const Field& field) {
    return field.number == 1 ? TakeText(field, name, text) : absl::OkStatus();
  }));
  return text;
}

}  // namespace

absl::StatusOr<FindMissingRequest> DecodeFindMissing(std::string_view bytes) {
  FindMissingRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 3), [&](const Field& field) {
    if (field.number == 1) return TakeInstance(field, request.instance);
    if (field.number == 2) return AppendDigest(field, "blob_digests", request.digests);
    return field.number == 3 ? CheckFunction(field) : absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<BatchUpdateRequest> DecodeBatchUpdate(std::string_view bytes) {
  BatchUpdateRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 5), [&](const Field& field) -> absl::Status {
    if (field.number == 1) return TakeInstance(field, request.instance);
    if (field.number == 5) return CheckFunction(field);
    if (field.number != 2) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::string_view blob, BytesOf(field, "requests"));
    ASSIGN_OR_RETURN(request.blobs.emplace_back(), DecodeBatchBlob(blob));
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<BatchReadRequest> DecodeBatchRead(std::string_view bytes) {
  BatchReadRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 4), [&](const Field& field) {
    if (field.number == 1) return TakeInstance(field, request.instance);
    if (field.number == 2) return AppendDigest(field, "digests", request.digests);
    if (field.number == 3) return TakeAcceptable(field, request.takes_zstd);
    return field.number == 4 ? CheckFunction(field) : absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<GetTreeRequest> DecodeGetTree(std::string_view bytes) {
  GetTreeRequest request;
  std::optional<Digest> root;
  int64_t page_size = 0;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3, 4, 5), [&](const Field& field) -> absl::Status {
    switch (field.number) {
      case 1:
        return TakeInstance(field, request.instance);
      case 2:
        return TakeDigest(field, "root_digest", root);
      case 3:
        return TakeNumber(field, "page_size", page_size);
      case 4: {
        ASSIGN_OR_RETURN(request.page_token, BytesOf(field, "page_token"));
        return absl::OkStatus();
      }
      case 5:
        return CheckFunction(field);
      default:
        return absl::OkStatus();
    }
  }));
  if (page_size < 0 || page_size > INT32_MAX)
    return absl::InvalidArgumentError("page_size: expected 0 or more");
  request.page_size = static_cast<int32_t>(page_size);
  ASSIGN_OR_RETURN(request.root, Present(root, "root_digest"));
  return request;
}

absl::StatusOr<GetActionResultRequest> DecodeGetActionResult(std::string_view bytes) {
  GetActionResultRequest request;
  std::optional<Digest> action;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3, 4, 6), [&](const Field& field) {
    switch (field.number) {
      case 1:
        return TakeInstance(field, request.instance);
      case 2:
        return TakeDigest(field, "action_digest", action);
      case 3:
        return TakeFlag(field, "inline_stdout", request.inline_stdout);
      case 4:
        return TakeFlag(field, "inline_stderr", request.inline_stderr);
      case 5:
        return TakeText(field, "inline_output_files", request.inline_output_files.emplace_back());
      case 6:
        return CheckFunction(field);
      default:
        return absl::OkStatus();
    }
  }));
  ASSIGN_OR_RETURN(request.action, Present(action, "action_digest"));
  return request;
}

absl::StatusOr<UpdateActionResultRequest> DecodeUpdateActionResult(std::string_view bytes) {
  UpdateActionResultRequest request;
  std::optional<Digest> action;
  bool has_result = false;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3, 4, 5), [&](const Field& field) -> absl::Status {
    if (field.number == 1) return TakeInstance(field, request.instance);
    if (field.number == 2) return TakeDigest(field, "action_digest", action);
    if (field.number == 5) return CheckFunction(field);
    if (field.number != 3) return absl::OkStatus();
    ASSIGN_OR_RETURN(request.result, BytesOf(field, "action_result"));
    has_result = true;
    return absl::OkStatus();
  }));
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
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3), [&](const Field& field) {
    if (field.number == 1) return TakeText(field, "resource_name", name);
    if (field.number == 2) return TakeNumber(field, "read_offset", request.offset);
    return field.number == 3 ? TakeNumber(field, "read_limit", request.limit) : absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(request.name, ParseReadName(name));
  return request;
}

absl::StatusOr<WriteRequest> DecodeWrite(std::string_view bytes) {
  WriteRequest request;
  RETURN_IF_ERROR(ReadFields(bytes, Once(1, 2, 3, 10), [&](const Field& field) -> absl::Status {
    if (field.number == 1) return TakeText(field, "resource_name", request.name);
    if (field.number == 2) return TakeNumber(field, "write_offset", request.offset);
    if (field.number == 3) return TakeFlag(field, "finish_write", request.finish);
    if (field.number != 10) return absl::OkStatus();
    ASSIGN_OR_RETURN(request.data, BytesOf(field, "data"));
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<std::string_view> DecodeQueryWriteStatus(std::string_view bytes) {
  return DecodeOneName(bytes, "resource_name");
}

}  // namespace galley::store
