// Any bytes as each of the requests: an accepted request has the fields that protobuf's parser
// finds. First byte: the request.
#include <cstdint>
#include <string>
#include <string_view>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/status_macros.h"
#include "common/store/reapi/server/requests.h"
#include "common/store/reapi/server/testing/resource_names.h"

namespace {

using namespace galley::store;
namespace reapi = build::bazel::remote::execution::v2;

bool Equal(const galley::Digest& digest, const reapi::Digest& wire) {
  return wire.hash() == digest.hex() &&
         wire.size_bytes() == static_cast<int64_t>(digest.size_bytes());
}

template <typename Message>
Message Parsed(std::string_view bytes) {
  Message message;
  GALLEY_CHECK(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message;
}

void FindMissing(std::string_view bytes) {
  const auto request = DecodeFindMissing(bytes);
  if (!request.ok()) return;
  const auto wire = Parsed<reapi::FindMissingBlobsRequest>(bytes);
  GALLEY_CHECK(wire.instance_name() == request->instance);
  GALLEY_CHECK(static_cast<size_t>(wire.blob_digests_size()) == request->digests.size());
  for (int i = 0; i < wire.blob_digests_size(); ++i)
    GALLEY_CHECK(Equal(request->digests[static_cast<size_t>(i)], wire.blob_digests(i)));
}

void BatchUpdate(std::string_view bytes) {
  const auto request = DecodeBatchUpdate(bytes);
  if (!request.ok()) return;
  const auto wire = Parsed<reapi::BatchUpdateBlobsRequest>(bytes);
  GALLEY_CHECK(static_cast<size_t>(wire.requests_size()) == request->blobs.size());
  for (int i = 0; i < wire.requests_size(); ++i) {
    const BatchUpdateRequest::Blob& blob = request->blobs[static_cast<size_t>(i)];
    GALLEY_CHECK(Equal(blob.digest, wire.requests(i).digest()));
    GALLEY_CHECK(blob.data == wire.requests(i).data());
    GALLEY_CHECK(static_cast<int>(blob.compressor) == wire.requests(i).compressor());
  }
}

void BatchRead(std::string_view bytes) {
  const auto request = DecodeBatchRead(bytes);
  if (!request.ok()) return;
  const auto wire = Parsed<reapi::BatchReadBlobsRequest>(bytes);
  GALLEY_CHECK(static_cast<size_t>(wire.digests_size()) == request->digests.size());
  bool takes_zstd = false;
  for (const int compressor : wire.acceptable_compressors())
    takes_zstd |= compressor == reapi::Compressor::ZSTD;
  GALLEY_CHECK(takes_zstd == request->takes_zstd);
}

void GetTree(std::string_view bytes) {
  const auto request = DecodeGetTree(bytes);
  if (!request.ok()) return;
  // The token is any bytes here, text there.
  reapi::GetTreeRequest wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  GALLEY_CHECK(Equal(request->root, wire.root_digest()));
  GALLEY_CHECK(wire.page_size() == request->page_size);
  GALLEY_CHECK(wire.page_token() == request->page_token);
}

void GetActionResult(std::string_view bytes) {
  const auto request = DecodeGetActionResult(bytes);
  if (!request.ok()) return;
  const auto wire = Parsed<reapi::GetActionResultRequest>(bytes);
  GALLEY_CHECK(Equal(request->action, wire.action_digest()));
  GALLEY_CHECK(wire.inline_stdout() == request->inline_stdout);
  GALLEY_CHECK(wire.inline_stderr() == request->inline_stderr);
  GALLEY_CHECK(static_cast<size_t>(wire.inline_output_files_size()) ==
               request->inline_output_files.size());
}

void Streams(std::string_view bytes) {
  const auto read = DecodeRead(bytes);
  const auto write = DecodeWrite(bytes);
  if (read.ok()) GALLEY_CHECK(ParseReadName(FormatResourceName(read->name)).ok());
  if (write.ok()) GALLEY_CHECK(write->data.size() < bytes.size() || bytes.empty());
  static_cast<void>(DecodeQueryWriteStatus(bytes));
  static_cast<void>(DecodeGetCapabilities(bytes));
  // The result inside is not read here, and may be no message.
  static_cast<void>(DecodeUpdateActionResult(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      FindMissing(bytes);
      break;
    case 1:
      BatchUpdate(bytes);
      break;
    case 2:
      BatchRead(bytes);
      break;
    case 3:
      GetTree(bytes);
      break;
    case 4:
      GetActionResult(bytes);
      break;
    default:
      Streams(bytes);
  }
  return 0;
}
