#include "common/store/reapi/server/resource_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::array<std::string_view, 7> kKeywords = {
    "blobs",      "uploads",      "actions",         "actionResults",
    "operations", "capabilities", "compressed-blobs"};

bool IsKeyword(std::string_view segment) {
  return std::ranges::find(kKeywords, segment) != kKeywords.end();
}

absl::Status Invalid(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

absl::Status CheckSegment(std::string_view segment, std::string_view of) {
  if (segment.empty()) return Invalid(fmt::format("{}: an empty segment", of));
  const bool is_plain = std::ranges::none_of(
      segment, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!is_plain) return Invalid(fmt::format("{}: a control character", of));
  if (!IsUtf8(segment)) return Invalid(fmt::format("{}: no UTF-8", of));
  return absl::OkStatus();
}

// A name's segments, one after the other.
class Segments {
 public:
  explicit Segments(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return !rest_.has_value(); }
  // INVALID_ARGUMENT: there is no further one.
  absl::StatusOr<std::string_view> Next(std::string_view expected) {
    if (AtEnd()) return Invalid(fmt::format("resource name: expected {} at its end", expected));
    const size_t slash = rest_->find('/');
    const std::string_view segment = rest_->substr(0, slash);
    rest_ =
        slash == std::string_view::npos ? std::nullopt : std::optional(rest_->substr(slash + 1));
    return segment;
  }

 private:
  std::optional<std::string_view> rest_;
};

// Takes the instance and the keyword behind it, which is answered.
absl::StatusOr<std::string_view> TakeInstance(Segments& segments, std::string& instance) {
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view segment,
                     segments.Next("blobs, compressed-blobs or uploads"));
    if (IsKeyword(segment)) {
      RETURN_IF_ERROR(CheckInstanceName(instance));
      return segment;
    }
    RETURN_IF_ERROR(CheckSegment(segment, "instance name"));
    if (!instance.empty()) instance += '/';
    instance += segment;
  }
}

// Takes the digest, which stands behind `blobs` or `compressed-blobs/zstd`.
absl::Status TakeBlob(Segments& segments, std::string_view keyword, ResourceName& name) {
  if (keyword == "compressed-blobs") {
    ASSIGN_OR_RETURN(const std::string_view compressor, segments.Next("a compressor"));
    if (compressor != "zstd")
      return Invalid("resource name: the only compressor that is spoken is zstd");
    name.compressor = Compressor::kZstd;
  } else if (keyword != "blobs") {
    return Invalid("resource name: expected blobs or compressed-blobs");
  }
  ASSIGN_OR_RETURN(const std::string_view hash, segments.Next("a hash"));
  ASSIGN_OR_RETURN(const std::string_view size, segments.Next("a size"));
  absl::StatusOr<Digest> digest = Digest::Parse(fmt::format("{}/{}", hash, size));
  if (!digest.ok()) return Annotate(digest.status(), "resource name");
  name.digest = *digest;
  return CheckEmptyDigest(name.digest);
}

absl::Status CheckLength(std::string_view name) {
  if (name.size() <= kResourceNameBytesMax) return absl::OkStatus();
  return Invalid(fmt::format("resource name: more than {} bytes", kResourceNameBytesMax));
}

}  // namespace

absl::Status CheckInstanceName(std::string_view instance) {
  if (instance.empty()) return absl::OkStatus();
  if (instance.size() > kInstanceBytesMax)
    return Invalid(fmt::format("instance name: more than {} bytes", kInstanceBytesMax));
  Segments segments(instance);
  while (!segments.AtEnd()) {
    ASSIGN_OR_RETURN(const std::string_view segment, segments.Next("a segment"));
    RETURN_IF_ERROR(CheckSegment(segment, "instance name"));
    if (IsKeyword(segment))
      return Invalid(fmt::format("instance name: \"{}\" is a word of resource names", segment));
  }
  return absl::OkStatus();
}

absl::Status CheckEmptyDigest(const Digest& digest) {
  if (digest.size_bytes() != 0 || digest == Digest()) return absl::OkStatus();
  return Invalid(fmt::format("the digest {} is not that of no bytes", digest.ToString()));
}

absl::StatusOr<ResourceName> ParseReadName(std::string_view text) {
  RETURN_IF_ERROR(CheckLength(text));
  ResourceName name;
  Segments segments(text);
  ASSIGN_OR_RETURN(const std::string_view keyword, TakeInstance(segments, name.instance));
  RETURN_IF_ERROR(TakeBlob(segments, keyword, name));
  if (!segments.AtEnd()) return Invalid("resource name: expected nothing behind the size");
  return name;
}

absl::StatusOr<ResourceName> ParseWriteName(std::string_view text) {
  RETURN_IF_ERROR(CheckLength(text));
  ResourceName name;
  Segments segments(text);
  ASSIGN_OR_RETURN(const std::string_view uploads, TakeInstance(segments, name.instance));
  if (uploads != "uploads") return Invalid("resource name: expected uploads/{uuid} of a write");
  ASSIGN_OR_RETURN(const std::string_view id, segments.Next("an upload's id"));
  RETURN_IF_ERROR(CheckSegment(id, "upload id"));
  name.upload_id = id;
  ASSIGN_OR_RETURN(const std::string_view keyword, segments.Next("blobs or compressed-blobs"));
  RETURN_IF_ERROR(TakeBlob(segments, keyword, name));
  return name;
}

}  // namespace galley::store
