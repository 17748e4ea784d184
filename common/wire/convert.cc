#include "common/wire/convert.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/wire/digest_messages.h"

namespace galley::wire {

void ToProto(const Digest& digest, v1::Digest* proto) { SetHexDigest(digest, proto); }

absl::StatusOr<Digest> FromProto(const v1::Digest& proto) {
  absl::StatusOr<Digest> digest = HexDigestOf(proto);
  if (!digest.ok()) return Annotate(digest.status(), "digest");
  return digest;
}

void ToProto(const record::Observed& observed, v1::Observed* proto) {
  proto->set_kind(static_cast<uint32_t>(observed.what.kind));
  proto->set_subject(observed.what.subject);
  proto->set_detail(observed.what.detail);
  proto->set_value(observed.value);
}

absl::StatusOr<record::Observed> FromProto(const v1::Observed& proto) {
  constexpr uint32_t kFirst = static_cast<uint32_t>(record::ObservationKind::kFile);
  constexpr uint32_t kLast = static_cast<uint32_t>(record::ObservationKind::kName);
  if (proto.kind() < kFirst || proto.kind() > kLast) {
    return InvalidArgumentError("observation of unknown kind {}", proto.kind());
  }
  return record::Observed{.what = {.kind = static_cast<record::ObservationKind>(proto.kind()),
                                   .subject = proto.subject(),
                                   .detail = proto.detail()},
                          .value = proto.value()};
}

void ToProto(const Digest& digest, const store::BlobLocation& location, v1::BlobWritten* proto) {
  ToProto(digest, proto->mutable_digest());
  proto->set_segment(location.segment);
  proto->set_offset(location.offset);
}

absl::StatusOr<BlobAt> FromProto(const v1::BlobWritten& proto) {
  ASSIGN_OR_RETURN(const Digest digest, FromProto(proto.digest()));
  return BlobAt{.digest = digest,
                .location = {.segment = proto.segment(), .offset = proto.offset()}};
}

}  // namespace galley::wire
