#include "director/serve/http/body_work.h"

#include <memory>
#include <span>
#include <variant>

#include "common/base/status_macros.h"
#include "director/serve/http/body_coding.h"
#include "director/serve/http/response_plan.h"

namespace galley::director {
namespace {

absl::StatusOr<std::string> ReadPiece(HttpBlobSource& source, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(source.ReadAt(offset, std::span<char>(bytes.data(), bytes.size())));
  return bytes;
}

absl::StatusOr<std::string> CodeWhole(const HttpBody& body, http::ContentCoding coding) {
  if (const auto* blob = std::get_if<Blob>(&body)) return CodeBody(**blob, coding).value_or("");
  ASSIGN_OR_RETURN(const std::string bytes,
                   ReadPiece(*std::get<std::shared_ptr<HttpBlobSource>>(body), 0, SizeOf(body)));
  return CodeBody(bytes, coding).value_or("");
}

}  // namespace

BodyWork ReadingWork(HttpBody body, uint64_t offset, uint64_t size) {
  return [body = std::move(body), offset, size] {
    return ReadPiece(*std::get<std::shared_ptr<HttpBlobSource>>(body), offset, size);
  };
}

BodyWork CodingWork(HttpBody body, http::ContentCoding coding) {
  return [body = std::move(body), coding] { return CodeWhole(body, coding); };
}

}  // namespace galley::director
